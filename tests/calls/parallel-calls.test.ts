import {
  append,
  defineSlice,
  defineTool,
  type Json,
  type KeyedState,
  type ListState,
  type Slice,
  type Tool,
  upsert,
} from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { memoryFilesystem } from '@holdfast/filesystem';
import { callBudget } from '@holdfast/policy';
import { createSession, memoryStore, replay } from '@holdfast/session';
import fc from 'fast-check';
import * as v from 'valibot';
import { expect, test } from 'vitest';

const notes: Slice<ListState<number>> = defineSlice<number>({
  id: 'notes',
  kind: 'list',
  schema: v.number(),
  reducers: { noted: (_state, payload) => append(payload) },
});
const totals: Slice<KeyedState<number>> = defineSlice<number>({
  id: 'totals',
  kind: 'keyed',
  // Depends on what is there: run on an old state, it would lose what others added.
  reducers: { noted: (state) => upsert('notes', (state.get('notes') ?? 0) + 1) },
});

const input = v.object({
  number: v.number(),
  before: v.number(),
  after: v.number(),
  path: v.string(),
  ending: v.picklist(['ok', 'throw', 'nested', 'nested-throw']),
});
type Input = v.InferOutput<typeof input>;

const pause = async (count: number): Promise<void> => {
  for (let step = 0; step < count; step += 1) await Promise.resolve();
};

const work = defineTool({
  name: 'work',
  description: 'Notes a number and writes a file.',
  effects: 'state',
  inputSchema: input,
  async execute({ number, before, after, path, ending }: Input, { session, filesystem, call }) {
    await pause(before);
    session.dispatch({ type: 'noted', payload: number });
    await filesystem?.write(path, String(number));
    if (ending.startsWith('nested')) {
      await call('work', { number: number + 1_000, before: after, after: 0, path: `${path}-nested`, ending: 'ok' });
    }
    await pause(after);
    if (ending.endsWith('throw')) throw new Error('broke');
    return number;
  },
});

/** The same, but that every call fails when all is done, and is tried again. */
function workTwice(): Tool {
  const tried = new Set<string>();
  return defineTool({
    name: 'work',
    description: 'Fails at first.',
    effects: 'state',
    inputSchema: input,
    repeat: 'safe',
    retry: { attempts: 2, delayMs: 0 },
    async execute(given: Input, context) {
      const value = await work.execute(given, context);
      if (tried.has(context.callId)) return value;
      tried.add(context.callId);
      throw new Error('once more');
    },
  });
}

const steps = fc.array(
  fc.record({
    before: fc.integer({ min: 0, max: 15 }),
    after: fc.integer({ min: 0, max: 15 }),
    path: fc.constantFrom('a', 'b', 'c', 'd'),
    ending: fc.constantFrom('ok' as const, 'ok' as const, 'throw' as const, 'nested' as const, 'nested-throw' as const),
  }),
  { minLength: 2, maxLength: 7 },
);

test.each([
  { title: 'once', tool: () => work },
  { title: 'a second time', tool: workTwice },
])(
  'calls tried $title at the same time keep what they wrote, and a failing one takes nothing with it but its own',
  async ({ tool }) => {
    let conflicts = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (given) => {
        const store = memoryStore();
        const session = createSession({ id: 's', slices: [notes, totals], store });
        const filesystem = memoryFilesystem({});
        const options = {
          tools: [tool()],
          session,
          resources: { filesystem },
          policies: [callBudget({ maxCalls: 1_000 })],
        };
        const outcomes = await Promise.all(
          given.map((step, number) =>
            executeToolCall({ id: `c${number}`, name: 'work', arguments: { number, ...step } }, options),
          ),
        );
        const kept = given.flatMap(({ path, ending }, number) => {
          if (outcomes[number]?.kind !== 'ok') return [];
          return [
            { number, path },
            ...(ending === 'nested' ? [{ number: number + 1_000, path: `${path}-nested` }] : []),
          ];
        });
        conflicts += outcomes.filter((outcome) => outcome.kind === 'failed' && outcome.code !== 'tool.threw').length;
        expect(outcomes.filter((outcome) => outcome.kind === 'failed').map(({ kind }) => kind)).toHaveLength(
          outcomes.length - outcomes.filter(({ kind }) => kind === 'ok').length,
        );
        const noted = session.read(notes).toArray();
        expect(noted.toSorted((a, b) => a - b)).toEqual(kept.map(({ number }) => number).toSorted((a, b) => a - b));
        expect(session.read(totals).get('notes') ?? 0).toBe(noted.length);

        // A file holds what the last of those wrote that were kept; who built on an older one has failed.
        const files = new Map<string, string>();
        for (const number of noted) {
          const path = kept.find((entry) => entry.number === number)?.path ?? '';
          files.set(path, String(number));
        }
        for (const path of ['a', 'b', 'c', 'd'].flatMap((name) => [name, `${name}-nested`])) {
          const there = (await filesystem.readOnly.stat(path)) !== undefined;
          expect(there ? await filesystem.readOnly.readText(path) : undefined).toBe(files.get(path));
        }
        const rebuilt = replay(store.records, { slices: [notes, totals] });
        expect(rebuilt.export()).toEqual(session.export());
      }),
      { numRuns: 100 },
    );
    expect(conflicts).toBeGreaterThan(5);
  },
);

test('an event that only counts on what a call saw is reduced again on what another one left', async () => {
  const session = createSession({ slices: [totals] });
  const gates: (() => void)[] = [];
  const count = defineTool({
    name: 'count',
    description: 'Counts.',
    effects: 'state',
    async execute(_input: Json, { session: staged }) {
      staged.dispatch({ type: 'noted', payload: 0 });
      await new Promise<void>((resolve) => gates.push(resolve));
      return staged.read(totals).get('notes') ?? 0;
    },
  });
  const call = (): ReturnType<typeof executeToolCall> =>
    executeToolCall({ name: 'count', arguments: {} }, { tools: [count], session });
  const running = [call(), call(), call()];
  await pause(10);
  for (const open of gates.toReversed()) open();
  await Promise.all(running);
  expect(session.read(totals).get('notes')).toBe(3);
});
