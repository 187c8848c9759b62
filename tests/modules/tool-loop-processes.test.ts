import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { answerApproval, pendingApprovals } from '@holdfast/executor';
import { replay } from '@holdfast/session';
import { openJsonlLog } from '@holdfast/session/jsonl';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { shortKey } from '../logs/short-key.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-loop-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const program = fileURLToPath(new URL('test-loop-life.ts', import.meta.url));

/** The output of a process that ends so; `undefined` if it was killed. */
async function live(life: 'begin' | 'resume' | 'die'): Promise<unknown> {
  const child = spawn(process.execPath, ['--conditions=holdfast-source', program, folder, life]);
  let said = '';
  let errors = '';
  child.stdout.on('data', (text: Buffer) => {
    said += text.toString();
  });
  child.stderr.on('data', (text: Buffer) => {
    errors += text.toString();
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  if (signal === 'SIGKILL') return undefined;
  if (code !== 0) throw new Error(errors);
  return JSON.parse(said);
}

/** A person's process. */
async function answer(): Promise<void> {
  const { records, store } = openJsonlLog(join(folder, 's.jsonl'));
  const session = replay(records, { store });
  for (const question of pendingApprovals(session)) await answerApproval(session, question, { type: 'approve' });
  await session.close();
}

const world = (): readonly string[] => readFileSync(join(folder, 'world.txt'), 'utf8').trim().split('\n');

test('a process asks, a second one answers, a third one goes on', async () => {
  expect(await live('begin')).toMatchObject({
    reason: 'suspended',
    calls: ['call_0_0 look ok', 'call_0_1 pay not run', 'call_0_2 ship not run'],
  });
  await answer();
  expect(await live('resume')).toEqual({
    reason: 'completed',
    calls: ['call_0_0 look ok', 'call_0_1 pay ok', 'call_0_2 ship ok', 'call_1_0 look ok'],
    contexts: [
      `Tool 'look' returned: "look done"\nTool 'pay' returned: "pay done"\nTool 'ship' returned: "ship done"`,
      expect.stringMatching(/(Tool '\w+' returned: "\w+ done"(\n|$)){4}/),
    ],
  });
  expect(world()).toHaveLength(4);
  expect(new Set(world()).size).toBe(4);
  await expect(live('resume')).rejects.toThrow(/'modules\.invalid',\n {2}data: \{ reason: 'state_used' \}/);
  expect(world()).toHaveLength(4);
});

test('a process that is killed after it paid does not pay again: it is told as in doubt', async () => {
  await live('begin');
  await answer();
  expect(await live('die')).toBeUndefined();
  expect(await live('resume')).toMatchObject({
    reason: 'completed',
    calls: ['call_0_0 look ok', 'call_0_1 pay in-doubt', 'call_0_2 ship ok', 'call_1_0 look ok'],
  });
  expect(world().filter((key) => shortKey(key).endsWith('_0_1'))).toHaveLength(1);
  expect(world()).toHaveLength(4);
});
