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
  type Slice,
  type Tool,
  toolError,
} from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { memoryFilesystem } from '@holdfast/filesystem';
import { createSession, type LogEntry, type LogRecord } from '@holdfast/session';
import fc from 'fast-check';
import * as v from 'valibot';
import { expect, test } from 'vitest';

const notes: Slice<ListState<string>> = defineSlice<string>({
  id: 'notes',
  kind: 'list',
  schema: v.string(),
  reducers: { noted: (_state, payload) => append(payload) },
});

const endings = ['ok', 'error', 'throw', 'throw-null', 'undefined', 'function', 'cycle', 'bad-note', 'hang'] as const;
const verdicts = ['allow', 'deny', 'ask', 'throw', 'nothing', 'late-allow', 'break-result'] as const;
const plan = v.object({
  note: v.string(),
  path: v.string(),
  remove: v.boolean(),
  ending: v.picklist(endings),
  verdict: v.picklist(verdicts),
});
type Plan = v.InferOutput<typeof plan>;

const makeTool = (effects: Tool['effects']): Tool =>
  defineTool({
    name: effects,
    description: 'Does what it is told.',
    effects,
    timeoutMs: 20,
    inputSchema: plan,
    async execute({ note, path, remove, ending }, { session, filesystem }) {
      session.dispatch({ type: 'noted', payload: note });
      await filesystem?.write(path, note);
      if (remove && (await filesystem?.stat('kept.txt')) !== undefined) await filesystem?.remove('kept.txt');
      const cycle: { self?: unknown } = {};
      cycle.self = cycle;
      switch (ending) {
        case 'ok':
          return note;
        case 'error':
          return toolError('said so');
        case 'throw':
          throw new Error('broke');
        case 'throw-null':
          throw null;
        case 'undefined':
          return undefined as never;
        case 'function':
          return (() => 1) as never;
        case 'cycle':
          return cycle as never;
        case 'bad-note':
          session.dispatch({ type: 'noted', payload: 7 });
          return note;
        case 'hang':
          return await new Promise<never>(() => undefined);
      }
    },
  });

const guard = definePolicy<number>({
  name: 'guard',
  initialState: 0,
  check: ({ input }) => {
    const { verdict } = input as Plan;
    switch (verdict) {
      case 'deny':
        return deny('no');
      case 'ask':
        return ask('sure?');
      case 'throw':
        throw new Error('guard broke');
      case 'nothing':
        return undefined as never;
      case 'late-allow':
        return Promise.resolve(allow);
      default:
        return allow;
    }
  },
  onResult: ({ input }, _result, { state }) => {
    if ((input as Plan).verdict === 'break-result') throw new Error('guard broke afterwards');
    return state + 1;
  },
});
const counted: Slice<number> = defineSlice<number>({
  id: 'policy:host/guard',
  kind: 'value',
  initial: 0,
  reducers: {},
});

const arbitraryPlan = fc.record({
  note: fc.string({ maxLength: 5 }),
  path: fc.constantFrom('a.txt', 'kept.txt', 'deep/er/b.txt', '../out.txt', 'kept.txt/below'),
  remove: fc.boolean(),
  ending: fc.oneof(
    { weight: 2, arbitrary: fc.constant('ok' as const) },
    { weight: 3, arbitrary: fc.constantFrom(...endings) },
  ),
  verdict: fc.oneof(
    { weight: 2, arbitrary: fc.constant('allow' as const) },
    { weight: 3, arbitrary: fc.constantFrom(...verdicts) },
  ),
});
const step = fc.record({
  name: fc.constantFrom('none', 'state', 'external', 'nobody'),
  plan: fc.oneof(
    { weight: 9, arbitrary: arbitraryPlan },
    { weight: 1, arbitrary: fc.constantFrom<Json>('{', null, [], {}) },
  ),
  answer: fc.constantFrom('approve', 'deny'),
});

test('property: every call ends in one event, and whatever is not ok has changed nothing', async () => {
  let successes = 0;
  const kinds = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      const records: LogRecord[] = [];
      const store = {
        append: (entry: LogEntry, seq: number, atMs: number) => void records.push({ seq, atMs, ...entry }),
        close: () => undefined,
      };
      const session = createSession({ slices: [notes], store });
      const filesystem = memoryFilesystem({ 'kept.txt': 'kept' });
      const options = {
        tools: [makeTool('none'), makeTool('state'), makeTool('external')],
        session,
        policies: [guard],
        resources: { filesystem },
        // Time that is over as soon as somebody waits for it: only a hanging call does.
        clock: {
          now: () => 0,
          after: (delayMs: number, run: () => void) => (delayMs === 20 ? cancelable(run) : () => undefined),
        },
      };
      const look = async () => {
        const files: Record<string, string> = {};
        for await (const { path } of filesystem.readOnly.walk()) files[path] = await filesystem.readOnly.readText(path);
        return JSON.stringify([session.read(notes).toArray(), files, session.read(counted)]);
      };
      for (const [index, { name, plan: input, answer }] of steps.entries()) {
        const before = await look();
        const outcome = await executeToolCall(
          { id: `c${index}`, name, arguments: typeof input === 'string' ? input : JSON.stringify(input) },
          { ...options, approve: () => ({ type: answer as 'approve' | 'deny' }) },
        );
        kinds.add(outcome.kind);
        const ends = records.filter(({ type, callId }) => type === 'tool-call-end' && callId === `c${index}`);
        expect(ends).toHaveLength(1);
        expect(ends[0]).toMatchObject({ outcome: { kind: outcome.kind } });
        if (outcome.kind === 'ok') successes += 1;
        else expect(await look()).toBe(before);
      }
    }),
    { numRuns: 300 },
  );
  // So that the property cannot hold for want of cases.
  expect(successes).toBeGreaterThan(50);
  expect([...kinds].sort()).toEqual(['denied', 'failed', 'in-doubt', 'invalid', 'ok', 'timed-out', 'unknown-tool']);
});

function cancelable(run: () => void): () => void {
  let cancelled = false;
  setTimeout(() => {
    if (!cancelled) run();
  }, 0);
  return () => {
    cancelled = true;
  };
}
