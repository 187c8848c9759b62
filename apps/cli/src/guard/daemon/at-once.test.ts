import { join } from 'node:path';
import { readLog } from '@holdfast/session/jsonl';
import { expect, inject, test } from 'vitest';
import { bash, createHookWorld } from '../../testing/test-hook.ts';
import { guardFolder } from '../../user/guard-folder.ts';

const each = inject('long') > 0 ? Math.ceil(100 * inject('long')) : 5;

test('8 agents at once on one session, from the first hook on: no call is denied, each is settled once', async () => {
  await using world = await createHookWorld('own');
  const silent = { code: 0, stdout: '', stderr: '' };
  const work = async (agent: number) => {
    for (let call = 0; call < each; call += 1) {
      const id = `a${agent}-${call}`;
      expect(await world.start('PreToolUse', id, bash('ls')).answer).toEqual(silent);
      expect(await world.start('PostToolUse', id, bash('ls'), { tool_response: 'a' }).answer).toEqual(silent);
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, agent) => work(agent)));
  const log = join(guardFolder(world.host), '.holdfast', 'sessions', 'claude-code-s-1.jsonl');
  const { records, problem } = readLog(log);
  expect(problem).toBeUndefined();
  const ended = records.filter(({ type }) => type === 'tool-call-end');
  expect(new Set(ended.map(({ callId }) => callId)).size).toBe(8 * each);
  expect(ended.map(({ outcome }) => (outcome as { kind: string }).kind)).toEqual(Array(8 * each).fill('ok'));
});
