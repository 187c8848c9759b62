import { append, ask, definePolicy, defineSlice, defineTool, type Policy } from '@holdfast/core';
import { answerApproval, pendingApprovals, resumeRun, runAgent } from '@holdfast/executor';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession, memoryStore, replay } from '@holdfast/session';
import { describe, expect, test } from 'vitest';
import { type ExecutorProgram, type ExecutorRun, executorConformance } from '../conformance.ts';
import { manualClock } from '../fakes/manual-clock.ts';
import { scriptedModel } from '../fakes/scripted-model.ts';

const staged = defineSlice<string>({
  id: 'staged',
  kind: 'list',
  reducers: { staged: (_, payload) => append(String(payload)) },
});

const rules: Readonly<Record<'asks' | 'throws', Policy>> = {
  asks: definePolicy({ name: 'asks', check: () => ask('May it?') }),
  throws: definePolicy({
    name: 'throws',
    check: () => {
      throw new Error('Broken.');
    },
  }),
};

/** Holdfast's own run. */
async function run({ calls, save, rule, deadlineMs }: ExecutorProgram): Promise<ExecutorRun> {
  const clock = manualClock();
  const store = memoryStore();
  const model = scriptedModel([
    { calls: calls.map(({ id, name, arguments: text }) => ({ id, name, arguments: text })) },
    { text: 'Done.' },
  ]);
  const tool = defineTool({
    name: 'save',
    description: 'Save a text.',
    inputSchema: jsonSchema({ type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }),
    effects: 'external',
    repeat: 'never',
    ...(deadlineMs === undefined ? {} : { timeoutMs: deadlineMs }),
    execute({ text }, { session }) {
      if (deadlineMs !== undefined) setImmediate(() => clock.advance(deadlineMs));
      return save(String(text), (added) => session.dispatch({ type: 'staged', payload: added }));
    },
  });
  const agent = {
    ...{ model, clock, instructions: 'Save.', tools: [tool], slices: [staged] },
    ...(rule === undefined ? {} : { policies: [rules[rule]] }),
  };
  const session = createSession({ store, clock, slices: [staged] });
  const result = await runAgent({ ...agent, session, input: 'Go.' });
  const read = (): ExecutorRun => {
    const messages = model.requests[1]?.messages ?? [];
    return {
      finished: model.requests.length === 2,
      told: messages.flatMap((message) => (message.role === 'tool' ? [message.text] : [])),
      staged: [...session.read(staged)],
    };
  };
  if (result.status !== 'suspended') return read();
  return {
    ...read(),
    async approve() {
      const again = replay(store.records, { store, clock, slices: [staged] });
      for (const question of pendingApprovals(again))
        await answerApproval(again, question, { type: 'approve' }, { clock });
      await resumeRun({ ...agent, session: again });
      return read();
    },
  };
}

describe('Holdfast', () => {
  test.each(executorConformance({ run }))('$name', async ({ run: check }) => {
    await expect(check()).resolves.toBeUndefined();
  });
});

/** Runs every call unchecked, and tells the model nothing. */
async function runAnything({ calls, save }: ExecutorProgram): Promise<ExecutorRun> {
  const state: string[] = [];
  let finished = true;
  for (const call of calls) {
    try {
      await Promise.race([save(call.arguments, (text) => state.push(text)), Promise.resolve()]);
    } catch {
      finished = false;
    }
  }
  return { finished, told: [], staged: state };
}

describe('an executor that checks nothing', () => {
  test.each(executorConformance({ run: runAnything }))('fails: $name', async ({ run: check }) => {
    await expect(check()).rejects.toMatchObject({ code: 'conformance.failed' });
  });
});

test('a situation that an executor lacks is skipped', () => {
  const checks = executorConformance({ run, without: ['approvals', 'state'] });
  expect(checks.flatMap(({ skipped }) => (skipped === undefined ? [] : [skipped]))).toEqual([
    'the executor is without `approvals`',
    'the executor is without `state`',
  ]);
});
