import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildPage, hasChromium, launchChromium } from '../../apps/cli/src/testing/test-browser.ts';
import { openTestStudio } from '../../apps/cli/src/testing/test-studio.ts';
import { codex, runCodex } from './codex.ts';
import { type Folders, installAgent, outcomes } from './rig.ts';

const why = '`old` would be deleted with everything in it';

beforeAll(() => installAgent(codex));

test.skipIf(!hasChromium)(
  'Codex waits for a person → the page shows it within a second, a yes lets the call through, the timeline shows why',
  async () => {
    await using cleanup = new AsyncDisposableStack();
    const page = await buildPage();
    const browser = await launchChromium();
    cleanup.defer(() => browser.close());
    let answered: Promise<{ readonly shownAfterMs: number }> = Promise.reject(new Error('not started'));
    answered.catch(() => undefined);
    const tab = await browser.newPage();
    const prepare = async ({ home, workspace }: Folders): Promise<void> => {
      await mkdir(join(workspace, 'old'));
      await writeFile(join(workspace, 'old/notes.txt'), 'notes\n');
      const studio = await openTestStudio(
        { directory: workspace, environment: { HOME: home, HOLDFAST_HOME: undefined } },
        page,
      );
      cleanup.use(studio);
      await tab.goto(studio.link);
      await tab.getByText('A call that needs a person appears here by itself').waitFor();
      answered = (async () => {
        await tab.getByText('1 call waits for an answer.').waitFor({ timeout: 120_000 });
        const seenAtMs = Date.now();
        const { questions } = (await studio.read('inbox')) as {
          readonly questions: readonly { readonly askedAtMs: number }[];
        };
        expect(existsSync(join(workspace, 'old'))).toBe(true);
        expect(await tab.locator('.card').textContent()).toContain('rm -r old');
        await tab.getByRole('button', { name: 'Approve once' }).click();
        await tab.getByText('Approved once.').waitFor();
        return { shownAfterMs: seenAtMs - (questions[0]?.askedAtMs ?? 0) };
      })();
      answered.catch(() => undefined);
    };
    const remove = { call: 'exec_command', arguments: { cmd: 'rm -r old' } };
    await using run = await runCodex([[remove], [{ text: 'Finished.' }]], { prepare, flags: ['--wait', '60'] });
    const { shownAfterMs } = await answered;
    console.log(`shown after ${shownAfterMs} ms`);
    expect(run.exitCode).toBe(0);
    expect(existsSync(join(run.workspace, 'old'))).toBe(false);
    expect(await outcomes(run)).toEqual(['bash in-doubt']);
    await tab.locator('.card a[href^="#/session/"]').click();
    const bar = tab.locator('svg a');
    await bar.waitFor();
    const told = await bar.locator('title').textContent();
    for (const text of ['for a person', 'asked: approved by person', why]) expect(told).toContain(text);
    await bar.locator('rect').first().click();
    await tab.getByRole('heading', { name: 'Why' }).waitFor();
    expect(await tab.locator('dl').textContent()).toContain(why);
    expect(shownAfterMs).toBeLessThan(1_000);
  },
);
