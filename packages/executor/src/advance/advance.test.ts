import { ask, definePolicy, defineTool, HoldfastError, type Model, type ModelEvent, type Tool } from '@holdfast/core';
import { type LogRecord, memoryStore, openSession, type SessionLogs, type SessionStore } from '@holdfast/session';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { call, say, stop, testClock, toolsPrompt } from '../fixtures.ts';
import { type AdvanceOptions, advance, answerApproval } from '../index.ts';

/** Logs that machines share, with one writer at a time, whose process may end, or lose the session. */
class SharedLogs implements SessionLogs {
  readonly #logs = new Map<string, LogRecord[]>();
  readonly #writers = new Map<string, AbortController>();

  open(id: string): { records: readonly LogRecord[]; store: SessionStore } {
    if (this.#writers.has(id)) {
      throw new HoldfastError('log.locked', 'Another has it.', { data: { holder: 'machine A', leaseMs: 700 } });
    }
    const writer = new AbortController();
    this.#writers.set(id, writer);
    const records = this.recordsOf(id);
    const { append, read } = memoryStore([...records]);
    const store: SessionStore = {
      read: (from) => read(from),
      lost: writer.signal,
      append: (entry, seq, atMs) => {
        writer.signal.throwIfAborted();
        append(entry, seq, atMs);
        records.push({ seq, atMs, ...entry });
      },
      close: () => void (this.#writers.get(id) === writer && this.#writers.delete(id)),
    };
    return { records: [...records], store };
  }

  recordsOf(id: string): LogRecord[] {
    const records = this.#logs.get(id) ?? [];
    this.#logs.set(id, records);
    return records;
  }

  /** As if its lease had ended. */
  lose(id: string): void {
    const writer = this.#writers.get(id);
    this.#writers.delete(id);
    writer?.abort(new HoldfastError('log.locked', 'Taken over.'));
  }
}

/** Answers by the conversation alone, as on any machine. */
function byTurn(...turns: readonly (readonly ModelEvent[])[]): Model & { readonly asked: () => number } {
  let asked = 0;
  return {
    id: 'by-turn',
    asked: () => asked,
    async *stream({ messages }) {
      asked += 1;
      yield* turns[messages.filter(({ role }) => role === 'assistant').length] ?? [];
    },
  };
}

const deploys = (to: string): readonly ModelEvent[] => [call('deploy', { to }, to), stop];
const ends: readonly ModelEvent[] = [say('Done.'), stop];

function world(execute: (to: string, signal: AbortSignal) => unknown = () => null) {
  const logs = new SharedLogs();
  const effects: string[] = [];
  const clock = testClock();
  const deploy = defineTool({
    name: 'deploy',
    description: 'Deploys.',
    inputSchema: v.object({ to: v.string() }),
    repeat: 'never',
    execute({ to }: { to: string }, { signal }) {
      effects.push(to);
      return execute(to, signal);
    },
  }) as Tool;
  const options = (model: Model, more: Partial<AdvanceOptions> = {}): AdvanceOptions => ({
    store: logs,
    model,
    prompt: toolsPrompt([deploy]),
    input: 'Deploy.',
    clock,
    ...more,
  });
  return { logs, effects, clock, options };
}

test('runs to the end; called again it is done, and neither the model nor a tool runs', async () => {
  const { effects, options } = world();
  const model = byTurn(deploys('a'), ends);
  const done = { done: true, waits: [], status: 'completed', text: 'Done.' };
  expect(await advance('s', options(model))).toEqual(done);
  expect(await advance('s', options(model))).toEqual(done);
  expect({ asked: model.asked(), effects }).toEqual({ asked: 2, effects: ['a'] });
});

test('with `maxTurns` it pauses between turns, and leaves no trace of that', async () => {
  const { logs, effects, options } = world();
  const model = byTurn(deploys('a'), deploys('b'), deploys('c'), ends);
  const steps: unknown[] = [];
  for (let step = 0; step < 5; step += 1) {
    const { done, waits } = await advance('s', options(model, { maxTurns: step === 1 ? 2 : 1 }));
    steps.push([done, waits.length, [...effects]]);
  }
  expect(steps).toEqual([
    [false, 0, ['a']],
    [false, 0, ['a', 'b', 'c']],
    [true, 0, ['a', 'b', 'c']],
    [true, 0, ['a', 'b', 'c']],
    [true, 0, ['a', 'b', 'c']],
  ]);
  expect(model.asked()).toBe(4);
  expect(logs.recordsOf('s').filter(({ type }) => type === 'run-end')).toHaveLength(1);
});

test('a run waits for an approval that another process gives; until then it is not resumed', async () => {
  const { logs, effects, clock, options } = world();
  const asking = definePolicy({ name: 'person', check: () => ask('A person decides.') });
  const asks = (model: Model): AdvanceOptions => options(model, { policies: [asking] });
  const model = byTurn(deploys('a'), ends);
  const first = await advance('s', asks(model));
  expect(first).toMatchObject({ done: false, waits: [{ type: 'approval', pending: { callId: 'a' } }] });
  const before = logs.recordsOf('s').length;
  expect(await advance('s', asks(model))).toEqual(first);
  expect(logs.recordsOf('s')).toHaveLength(before);

  const third = await openSession(logs, { id: 's', clock });
  await answerApproval(third, 'a', { type: 'approve' }, { clock });
  await third.close();
  expect(await advance('s', asks(model))).toMatchObject({ done: true, status: 'completed' });
  expect(effects).toEqual(['a']);
});

test('an approval that expires counts as denied: the run goes on', async () => {
  const { effects, clock, options } = world();
  const asking = definePolicy({ name: 'person', check: () => ask('A person decides.') });
  const asks = { policies: [asking], approvalTimeoutMs: 1_000 };
  const model = byTurn(deploys('a'), ends);
  expect(await advance('s', options(model, asks))).toMatchObject({ done: false });
  clock.advance(1_000);
  expect(await advance('s', options(model, asks))).toMatchObject({ done: true });
  expect(effects).toEqual([]);
});

test('a second caller gets `busy`, with who has the session and until when', async () => {
  const begun = Promise.withResolvers<void>();
  const ending = Promise.withResolvers<void>();
  const { options } = world(() => {
    begun.resolve();
    return ending.promise.then(() => null);
  });
  const model = byTurn(deploys('a'), ends);
  const running = advance('s', options(model));
  await begun.promise;
  expect(await advance('s', options(model))).toEqual({
    done: false,
    waits: [{ type: 'busy', holder: 'machine A', leaseMs: 700 }],
  });
  ending.resolve();
  expect(await running).toMatchObject({ done: true });
});

test('a machine that loses the session stops its call and writes nothing more; the next one finds the call in doubt', async () => {
  const begun = Promise.withResolvers<void>();
  let stopped = false;
  const { logs, effects, options } = world((_to, signal) => {
    begun.resolve();
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        stopped = true;
        resolve(null);
      });
    });
  });
  const model = byTurn(deploys('a'), ends);
  const running = advance('s', options(model));
  await begun.promise;
  const before = logs.recordsOf('s').length;
  logs.lose('s');
  expect(await running).toEqual({ done: false, waits: [{ type: 'busy' }] });
  expect({ stopped, records: logs.recordsOf('s').length }).toEqual({ stopped: true, records: before });

  expect(await advance('s', options(model))).toMatchObject({ done: true });
  const outcomes = logs.recordsOf('s').filter(({ type }) => type === 'tool-call-end');
  expect(outcomes).toMatchObject([{ callId: 'a', outcome: { kind: 'in-doubt' } }]);
  expect(effects).toEqual(['a']);
});

test('options.invalid: `input` is missing for a new session, `maxTurns`, an unknown option', async () => {
  const { options } = world();
  const model = byTurn(ends);
  const { input: _input, ...without } = options(model);
  await expect(advance('s', without)).rejects.toMatchObject({ code: 'options.invalid', data: { option: 'input' } });
  for (const maxTurns of [0, 1.5, Number.NaN]) {
    await expect(advance('s', options(model, { maxTurns }))).rejects.toMatchObject({ code: 'options.invalid' });
  }
  await expect(advance('s', { ...options(model), maxTurn: 1 } as AdvanceOptions)).rejects.toMatchObject({
    code: 'options.invalid',
  });
});
