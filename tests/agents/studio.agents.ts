import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { codex, runCodex } from './codex.ts';
import { type Folders, installAgent, outcomes } from './rig.ts';

beforeAll(() => installAgent(codex));

const program = fileURLToPath(new URL('../../apps/cli/src/testing/test-answering.ts', import.meta.url));
const hasChromium = existsSync(process.env['CHROMIUM'] ?? '/usr/bin/chromium');
const why = '`old` would be deleted with everything in it';

/** The page in Chromium; it prints what it showed, in order. */
interface Answering {
  readonly child: ChildProcess;
  readonly closed: Promise<unknown>;
  readonly lines: AsyncIterator<string>;
}

function startAnswering({ home, workspace }: Folders): Answering {
  const words = ['--conditions=holdfast-source', program, home, workspace];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  return {
    child,
    closed: once(child, 'close'),
    lines: createInterface({ input: child.stdout })[Symbol.asyncIterator](),
  };
}

async function nextOf({ lines }: Answering): Promise<unknown> {
  const { value } = await lines.next();
  return JSON.parse(String(value));
}

test.skipIf(!hasChromium)(
  'Codex waits for a person → the page shows it within a second, a yes lets the call through, the timeline shows why',
  async () => {
    let answering: Answering | undefined;
    const prepare = async (folders: Folders): Promise<void> => {
      await mkdir(join(folders.workspace, 'old'));
      await writeFile(join(folders.workspace, 'old/notes.txt'), 'notes\n');
      answering = startAnswering(folders);
      expect(await nextOf(answering)).toEqual({ type: 'ready' });
    };
    try {
      const remove = { call: 'exec_command', arguments: { cmd: 'rm -r old' } };
      await using run = await runCodex([[remove], [{ text: 'Finished.' }]], { prepare, flags: ['--wait', '60'] });
      expect(run.exitCode).toBe(0);
      expect(existsSync(join(run.workspace, 'old'))).toBe(false);
      expect(await outcomes(run)).toEqual(['bash in-doubt']);
      if (answering === undefined) throw new Error('not started');
      const shown = (await nextOf(answering)) as { readonly card: string; readonly afterMs: number };
      console.log(`shown after ${shown.afterMs} ms`);
      expect(shown.card).toContain('rm -r old');
      expect(await nextOf(answering)).toMatchObject({
        timeline: expect.stringMatching(new RegExp(`for a person, asked: approved by person, .*${why}`)),
        why: expect.stringContaining(why),
      });
      await answering.closed;
      expect(shown.afterMs).toBeLessThan(1_000);
    } finally {
      answering?.child.kill();
    }
  },
);
