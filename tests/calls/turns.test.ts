import {
  allow,
  append,
  ask,
  definePolicy,
  defineSlice,
  defineTool,
  deny,
  type Json,
  type ListState,
  type Outcome,
  type Policy,
  type Prompt,
  type Slice,
  type Tool,
  toolError,
} from '@holdfast/core';
import { createBudget, executeToolCall, runAgent } from '@holdfast/executor';
import { memoryFilesystem } from '@holdfast/filesystem';
import { createSession, memoryStore } from '@holdfast/session';
import { scriptedModel } from '@holdfast/testing';
import fc from 'fast-check';
import * as v from 'valibot';
import { expect, test } from 'vitest';

const notes: Slice<ListState<string>> = defineSlice<string>({
  id: 'notes',
  kind: 'list',
  schema: v.string(),
  reducers: { noted: (_state, payload) => append(payload) },
});

const input = v.object({
  /** Microtasks that the tool takes. */
  takes: v.number(),
  path: v.string(),
  ending: v.picklist(['ok', 'error', 'throw', 'undefined', 'exceed']),
});
type Input = v.InferOutput<typeof input>;

const pause = async (count: number): Promise<void> => {
  for (let step = 0; step < count; step += 1) await Promise.resolve();
};

function finish(ending: Input['ending'], value: Json): never {
  switch (ending) {
    case 'ok':
    case 'exceed':
      return value as never;
    case 'error':
      return toolError('said so') as never;
    case 'throw':
      throw new Error('broke');
    case 'undefined':
      return undefined as never;
  }
}

/** Reads notes and a file at its beginning and at its end. */
const read: Tool = defineTool({
  name: 'read',
  description: 'Reads.',
  effects: 'none',
  inputSchema: input,
  async execute({ takes, path, ending }, { session, filesystem }) {
    const look = async (): Promise<Json> => [
      session.read(notes).toArray(),
      (await filesystem?.stat(path)) === undefined ? null : await (filesystem?.readText(path) ?? null),
    ];
    const before = await look();
    await pause(takes);
    if (ending === 'exceed') await filesystem?.write(path, 'by a reader');
    return finish(ending, [before, await look()]);
  },
}) as Tool;

const write = (name: string, extra: Partial<Tool>): Tool =>
  defineTool({
    name,
    description: 'Writes.',
    ...(extra as object),
    inputSchema: input,
    async execute(
      { takes, path, ending }: Input,
      { session, filesystem }: Parameters<NonNullable<Tool['execute']>>[1],
    ) {
      session.dispatch({ type: 'noted', payload: `${name} ${path}` });
      await pause(takes);
      await filesystem?.write(path, `${name} ${takes}`);
      return finish(ending, session.read(notes).size);
    },
  } as never);

const tools: readonly Tool[] = [read, write('change', { effects: 'state' }), write('send', { effects: 'external' })];

const policyNames = ['at-most', 'few-notes', 'slow', 'odd'] as const;

function makePolicy(name: (typeof policyNames)[number], limit: number): Policy {
  switch (name) {
    case 'at-most':
      return definePolicy<number>({
        name,
        initialState: 0,
        check: (_call, { state }) => (state < limit ? allow : deny('enough')),
        onResult: (_call, _result, { state }) => state + 1,
      }) as Policy;
    case 'few-notes':
      return definePolicy({
        name,
        check: (_call, { session }) => (session.read(notes).size <= limit ? allow : ask('many notes')),
      });
    case 'slow':
      return definePolicy({
        name,
        check: async () => {
          await pause(limit);
          return allow;
        },
      });
    case 'odd':
      return definePolicy<number>({
        name,
        initialState: 0,
        check: ({ tool }, { state }) => (tool.name === 'read' && state % 2 === 1 ? deny('odd') : allow),
        onResult: (_call, _result, { state }) => state + 1,
      }) as Policy;
  }
}

const calls = fc.array(
  fc.record({
    // One that does not exist, too.
    name: fc.constantFrom('read', 'read', 'read', 'change', 'send', 'raed'),
    arguments: fc.record({
      takes: fc.integer({ min: 0, max: 12 }),
      path: fc.constantFrom('a', 'b', 'c'),
      ending: fc.constantFrom(
        'ok' as const,
        'ok' as const,
        'ok' as const,
        'error' as const,
        'throw' as const,
        'undefined' as const,
        'exceed' as const,
      ),
    }),
  }),
  { maxLength: 8 },
);
interface Setting {
  readonly calls: readonly { readonly name: string; readonly arguments: Input }[];
  readonly policies: readonly (typeof policyNames)[number][];
  readonly limit: number;
  readonly maxCalls: number | undefined;
}

const setting: fc.Arbitrary<Setting> = fc.record({
  calls,
  policies: fc.uniqueArray(fc.constantFrom(...policyNames), { maxLength: 3 }),
  limit: fc.integer({ min: 0, max: 5 }),
  maxCalls: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
});

interface Left {
  readonly outcomes: readonly Outcome[];
  readonly ends: readonly unknown[];
  readonly notes: readonly string[];
  readonly files: readonly (string | null)[];
  readonly spent: number;
}

/** The parts of an outcome that must not depend on when the call ran. */
const withoutTimes = ({
  seq: _seq,
  atMs: _atMs,
  run: _run,
  turn: _turn,
  durationMs: _took,
  startedAtMs: _began,
  ...kept
}: Record<string, unknown>): unknown => kept;

async function runIt(
  { calls: asked, policies, limit, maxCalls }: Setting,
  how: 'one turn' | 'one by one',
): Promise<Left> {
  const store = memoryStore();
  const session = createSession({ id: 's', slices: [notes], store });
  const filesystem = memoryFilesystem({ a: 'first' });
  // Only sometimes: under a budget of calls nothing begins early, and there would be nothing to compare.
  const budget = maxCalls === undefined ? undefined : createBudget({ maxCalls });
  const options = {
    session,
    policies: policies.map((name) => makePolicy(name, limit)),
    resources: { filesystem },
    ...(budget === undefined ? {} : { budget }),
    unattended: true,
  };
  const identified = asked.map((call, index) => ({ id: `call_${index}`, ...call }));
  const outcomes: Outcome[] = [];
  if (how === 'one turn') {
    const prompt: Prompt = { name: 'p', render: () => ({ text: '', tools, policies: new Map(), allPolicies: [] }) };
    const model = scriptedModel([{ calls: identified }, { text: 'done' }]);
    const result = await runAgent({ ...options, model, prompt, input: 'go' }).result;
    outcomes.push(...result.outcomes);
  } else {
    for (const call of identified) {
      const outcome = await executeToolCall(call, { ...options, tools });
      if (outcome.kind === 'suspended') throw new Error('suspended');
      outcomes.push(outcome);
    }
  }
  const files = await Promise.all(
    ['a', 'b', 'c'].map(async (path) =>
      (await filesystem.readOnly.stat(path)) === undefined ? null : await filesystem.readOnly.readText(path),
    ),
  );
  const ends = store.records
    .filter(({ type }) => type === 'tool-call-end')
    .map((record) => withoutTimes({ ...record }));
  return { outcomes, ends, notes: session.read(notes).toArray(), files, spent: budget?.used.calls ?? 0 };
}

test('a turn comes out as the same calls one by one', async () => {
  let together = 0;
  await fc.assert(
    fc.asyncProperty(setting, async (given) => {
      const turn = await runIt(given, 'one turn');
      expect(turn).toEqual(await runIt(given, 'one by one'));
      expect(turn.ends).toHaveLength(given.calls.length);
      if (turn.outcomes.some(({ kind }, index) => kind === 'denied' && index > 0)) together += 1;
    }),
    { numRuns: 120 },
  );
  expect(together).toBeGreaterThan(20);
});

test('a hundred calls that only read take the time of a few', async () => {
  let running = 0;
  let most = 0;
  let now = 0;
  const waiting: (() => void)[] = [];
  const slow = defineTool({
    name: 'slow',
    description: 'Takes 50 ms.',
    effects: 'none',
    inputSchema: v.object({ n: v.number() }),
    execute: async ({ n }) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => waiting.push(resolve));
      running -= 1;
      return n;
    },
  });
  const prompt: Prompt = {
    name: 'p',
    render: () => ({ text: '', tools: [slow], policies: new Map(), allPolicies: [] }),
  };
  const model = scriptedModel([
    { calls: Array.from({ length: 100 }, (_, n) => ({ id: `c${n}`, name: 'slow', arguments: { n } })) },
    { text: 'done' },
  ]);
  const { result } = runAgent({ model, prompt, session: createSession(), input: 'go' });
  // Each round is 50 ms of a clock that moves when nothing else does.
  while (now < 5_000) {
    await new Promise((resolve) => setImmediate(resolve));
    if (waiting.length === 0) break;
    now += 50;
    for (const resolve of waiting.splice(0)) resolve();
  }
  const { outcomes } = await result;
  expect(outcomes.map(({ value }) => value)).toEqual(Array.from({ length: 100 }, (_, n) => n));
  expect(most).toBe(100);
  expect(now).toBeLessThanOrEqual(100);
});

test('lint, build and deploy in one turn all succeed in order', async () => {
  const { sequentialDependency } = await import('@holdfast/policy');
  const done: string[] = [];
  const step = (name: string): Tool =>
    defineTool({
      name,
      description: 'A step.',
      effects: 'external',
      execute: async () => {
        await pause(3);
        done.push(name);
        return name;
      },
    });
  const names = ['lint', 'build', 'deploy'];
  const all = names.map(step);
  const prompt: Prompt = { name: 'p', render: () => ({ text: '', tools: all, policies: new Map(), allPolicies: [] }) };
  const { outcomes } = await runAgent({
    model: scriptedModel([{ calls: names.map((name) => ({ id: name, name, arguments: {} })) }, { text: 'shipped' }]),
    prompt,
    session: createSession(),
    policies: [sequentialDependency({ build: ['lint'], deploy: ['build'] })],
    input: 'ship',
  }).result;
  expect(outcomes.map(({ kind }) => kind)).toEqual(['ok', 'ok', 'ok']);
  expect(done).toEqual(names);
});
