import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { readLog } from '@holdfast/session/jsonl';
import { expect, test } from 'vitest';
import { createFolder, type TestFolder } from '../testing/test-folder.ts';
import { bash, toEvent, toHost } from '../testing/test-hook.ts';
import { answerHook } from './hook.ts';

/** Until its disposal every write fails, or from the `after`-th on. */
function fillDisk(after = 0): Disposable {
  const { writeSync, writeFileSync } = fs;
  let count = 0;
  const filled =
    <Written extends (...parameters: never[]) => unknown>(write: Written) =>
    (...parameters: Parameters<Written>): unknown => {
      count += 1;
      if (count > after) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
      return write(...parameters);
    };
  Object.assign(fs, { writeSync: filled(writeSync), writeFileSync: filled(writeFileSync) });
  syncBuiltinESMExports();
  return {
    [Symbol.dispose]() {
      Object.assign(fs, { writeSync, writeFileSync });
      syncBuiltinESMExports();
    },
  };
}

async function decide({ path }: TestFolder, id: string, command: string): Promise<string> {
  const host = { ...toHost(path), untilMs: Date.now() + 60_000, pause: () => Promise.resolve() };
  const text = toEvent(path, 'PreToolUse', id, bash(command));
  const { stdout, stderr, exitCode } = await answerHook({ agent: 'claude-code', text }, host);
  // Claude Code takes both for a no.
  if (exitCode === 2 || stdout.includes('"permissionDecision":"deny"')) return `denied: ${stdout}${stderr}`;
  return `${exitCode} ${stdout}${stderr}` === '0 ' ? 'allowed' : 'unclear';
}

test.each([0, 1, 2, 3])('on a disk that is full after %i writes no call is let through unrecorded', async (after) => {
  await using folder = await createFolder({ '.env': 'KEY=CANARY-7431\n', 'a.txt': 'hi\n' });
  const path = join(folder.path, 'own/guard/.holdfast/sessions/claude-code-s-1.jsonl');
  expect(await decide(folder, 't0', 'ls')).toBe('allowed');
  const told = new Map<string, string>();
  {
    using _full = fillDisk(after);
    for (const id of ['t1', 't2', 't3', 't4']) told.set(id, await decide(folder, id, 'ls'));
    expect(await decide(folder, 't5', 'cat .env')).toMatch(/^denied: /);
  }
  expect(await decide(folder, 't6', 'ls')).toBe('allowed');
  const { records, problem } = readLog(path);
  expect(problem).toBeUndefined();
  const text = JSON.stringify(records);
  for (const [id, said] of told) {
    if (said !== 'allowed') expect(said).toMatch(/^denied: .*ENOSPC/s);
    else expect(text).toContain(`"${id}"`);
  }
  expect([...told.values()].filter((said) => said !== 'allowed').length).toBeGreaterThan(0);
});

test('on a full disk a first call is denied, with the reason', async () => {
  await using folder = await createFolder({ 'a.txt': 'hi\n' });
  using _full = fillDisk();
  expect(await decide(folder, 't1', 'ls')).toMatch(/^denied: .*ENOSPC/s);
});
