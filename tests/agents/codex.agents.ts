import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readLog } from '@holdfast/session/jsonl';
import { beforeAll, describe, expect, test } from 'vitest';
import { type CodexRun, installCodex, leaked, runCodex, version } from './codex.ts';
import type { Said } from './model-server.ts';

beforeAll(installCodex);

const shell = (cmd: string): Said => ({ call: 'exec_command', arguments: { cmd } });
const done: readonly Said[] = [{ text: 'Finished.' }];

/** Every call of the guarded session, with its outcome. */
async function outcomes({ home }: CodexRun): Promise<readonly string[]> {
  const folder = join(home, '.local', 'state', 'holdfast', 'guard', '.holdfast', 'sessions');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl'));
  const records = names.flatMap((name) => {
    const { records: read, problem } = readLog(join(folder, name));
    expect(problem).toBeUndefined();
    return read;
  });
  return records
    .filter(({ type }) => type === 'tool-call-end')
    .map(({ outcome }) => (outcome as { kind: string }).kind);
}

describe(`Codex ${version}`, () => {
  test('without a guard the secret reaches the model, so the test can detect a leak', async () => {
    await using run = await runCodex([[shell('cat .env')], done], { unguarded: true });
    expect(run.exitCode).toBe(0);
    expect(leaked(run)).toBe(true);
  });

  test('a denied `cat .env` does not run, and the model receives the reason; an allowed `ls` runs', async () => {
    await using run = await runCodex([[shell('cat .env')], [shell('ls')], done]);
    expect(run.exitCode).toBe(0);
    expect(leaked(run)).toBe(false);
    expect(run.requests[1]).toContain('holds secrets');
    expect(run.requests[2]).toContain('a.txt');
    expect((await outcomes(run)).toSorted()).toEqual(['denied', 'in-doubt']);
  });

  test('a question is a denial that names the required approval', async () => {
    await using run = await runCodex([[shell('npm install left-pad')], done]);
    expect(run.requests[1]).toContain('A person has to approve this in Holdfast first');
    expect(existsSync(join(run.workspace, 'node_modules'))).toBe(false);
  });

  test('three calls of one turn are decided at once, independently', async () => {
    await using run = await runCodex([[shell('ls'), shell('cat .env'), shell('cat a.txt')], done]);
    expect(leaked(run)).toBe(false);
    expect(run.requests[1]).toContain('holds secrets');
    expect((await outcomes(run)).toSorted()).toEqual(['denied', 'in-doubt', 'in-doubt']);
  });

  test.each<[string, (text: string) => string]>([
    ['a missing hook file', (text) => text.replaceAll('guard-hook-main.ts', 'guard-hook-main-gone.ts')],
    ['a missing Node.js', (text) => text.replaceAll(process.execPath, '/nonexistent/node')],
  ])('with %s every call is denied', async (_, hooks) => {
    await using run = await runCodex([[shell('cat .env')], [shell('ls')], done], { hooks });
    expect(leaked(run)).toBe(false);
    expect(run.requests[1]).toContain('the call is denied');
    expect(run.requests.at(-1)).not.toContain('a.txt');
  });

  test('a patch that would change its hooks is denied', async () => {
    await using run = await runCodex([
      [shell("sed -i s/holdfast/true/ ~/.codex/hooks.json; echo 'x' > ~/.codex/config.toml")],
      done,
    ]);
    expect(run.requests[1]).toContain('A person has to do it');
  });

  test('without a writable log every call is denied', async () => {
    const prepare = async ({ home }: { readonly home: string }): Promise<void> => {
      await writeFile(join(home, '.local', 'state', 'holdfast', 'guard', '.holdfast'), 'no folder\n');
    };
    await using run = await runCodex([[shell('cat .env')], [shell('ls')], done], { prepare });
    expect(leaked(run)).toBe(false);
    expect(run.requests[1]).toContain('so it is denied');
    expect(run.requests.at(-1)).not.toContain('a.txt');
  });

  // Not guarded: `guard install` and `guard doctor` say so.
  test('Codex skips hooks that it does not trust', async () => {
    await using run = await runCodex([[shell('cat .env')], done], { untrusted: true });
    expect(leaked(run)).toBe(true);
  });
});
