import {
  append,
  type Clock,
  defineSlice,
  defineTool,
  type FinishReason,
  type ListState,
  type Outcome,
  type Policy,
  type Prompt,
  type RunEvent,
  type RunStatus,
  type Slice,
  type Tool,
  type ToolCallEndEvent,
  type ToolContext,
} from '@holdfast/core';
import { describeCode, type RecordedOutcome, readOutcome } from '@holdfast/core/internal';
import { type CallOptions, executeToolCall, runAgent } from '@holdfast/executor';
import { memoryFilesystem } from '@holdfast/filesystem';
import { createSession, type LogEntry, type LogRecord, type Session } from '@holdfast/session';
import { scriptedModel } from '@holdfast/testing';
import * as v from 'valibot';
import { expect } from 'vitest';

/** A clock that stands still until something waits for it: see `hang`. */
export interface TestClock extends Clock {
  /** Timers that have neither fired nor been cancelled. */
  readonly pending: number;
  /** Moves to the next instant at which a timer is due and fires what is due then. */
  advance(): void;
}

export function testClock(): TestClock {
  let now = 0;
  const timers = new Set<{ readonly atMs: number; readonly run: () => void }>();
  return {
    now: () => now,
    after(delayMs, run) {
      const timer = { atMs: now + delayMs, run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    get pending() {
      return timers.size;
    },
    advance() {
      if (timers.size === 0) return;
      now = Math.min(...[...timers].map(({ atMs }) => atMs));
      for (const timer of [...timers]) if (timer.atMs <= now && timers.delete(timer)) timer.run();
    },
  };
}

/** Never settles; meanwhile time goes on from timer to timer until one of them has ended the wait and none is left. */
export function hang(clock: TestClock): Promise<never> {
  const goOn = (): void => {
    if (clock.pending === 0) return;
    clock.advance();
    setImmediate(goOn);
  };
  setImmediate(goOn);
  return new Promise(() => undefined);
}

export const notes: Slice<ListState<string>> = defineSlice<string>({
  id: 'notes',
  kind: 'list',
  schema: v.string(),
  reducers: { noted: (_state, payload) => append(payload) },
});
export const diary: Slice<ListState<string>> = defineSlice<string>({
  id: 'diary',
  kind: 'list',
  retention: 'log',
  reducers: { happened: (_state, payload) => append(payload) },
});

/** A session with one note, a filesystem with one file, and what they hold as text. */
export interface World {
  readonly session: Session;
  readonly records: readonly LogRecord[];
  readonly filesystem: ReturnType<typeof memoryFilesystem>;
  readonly clock: TestClock;
  /** Everything that a call which did not succeed must have left as it was. */
  look(): Promise<string>;
  /** The end records of one call. */
  ends(callId: string): readonly LogRecord[];
}

export interface WorldOptions {
  /** Whose state is looked at, too. */
  readonly policies?: readonly Policy[];
  readonly slices?: readonly Slice[];
  /** Records that the log does not take. */
  readonly refuses?: (entry: LogEntry) => boolean;
}

export function makeWorld({ policies = [], slices = [], refuses }: WorldOptions = {}): World {
  const records: LogRecord[] = [];
  const clock = testClock();
  const session = createSession({
    id: 'world',
    slices: [notes, diary, ...slices],
    clock,
    store: {
      append(entry, seq, atMs) {
        if (refuses?.(entry) === true) throw new Error('disk full');
        records.push({ seq, atMs, ...entry });
      },
      close: () => undefined,
    },
  });
  session.dispatch({ type: 'noted', payload: 'before' });
  const filesystem = memoryFilesystem({ 'kept.txt': 'kept' });
  const states = policies.flatMap(({ id, state }) =>
    state === undefined
      ? []
      : [{ id: `policy:host/${id}`, retention: 'state' as const, reducers: new Map(), ...state } satisfies Slice],
  );
  return {
    session,
    records,
    filesystem,
    clock,
    async look() {
      const files: Record<string, string> = {};
      for await (const { path } of filesystem.readOnly.walk()) files[path] = await filesystem.readOnly.readText(path);
      const kept = [...states, ...slices].map((slice) => [slice.id, toPlain(session.read(slice))]);
      return JSON.stringify([session.read(notes).toArray(), files, kept]);
    },
    ends: (callId) => records.filter((record) => record.type === 'tool-call-end' && record['callId'] === callId),
  };
}

function toPlain(state: unknown): unknown {
  if (typeof state !== 'object' || state === null) return state;
  if ('toArray' in state) return (state as ListState<unknown>).toArray();
  return Symbol.iterator in state && !Array.isArray(state) ? [...(state as Iterable<unknown>)] : state;
}

/** Notes, writes a file and a diary line, then does what `then` says; `entered` counts. */
export function makeWriter(
  then: (context: ToolContext) => unknown,
  extra: Partial<
    Pick<Tool, 'effects' | 'repeat' | 'timeoutMs' | 'dangerous' | 'inputSchema' | 'outputSchema' | 'renderResult'>
  > = {},
): Tool & { readonly entered: { count: number } } {
  const entered = { count: 0 };
  const tool = defineTool<unknown, unknown>({
    name: 'write',
    description: 'Writes a note and a file.',
    effects: 'state',
    ...(extra as object),
    async execute(_input, context) {
      const { session, filesystem } = context;
      entered.count += 1;
      session.dispatch({ type: 'noted', payload: 'written' });
      session.publish({ type: 'happened', payload: 'entered' });
      await filesystem?.write('written.txt', 'written');
      await filesystem?.remove('kept.txt');
      return then(context) as never;
    },
  });
  return Object.freeze({ ...tool, entered });
}

/** How a call ended for its caller. */
export interface Ended {
  readonly outcome: Outcome;
  /** Every `tool-call-end` of the call that a subscriber saw. */
  readonly ends: readonly ToolCallEndEvent[];
  /** Of a run: how it ended, and the text that the model was given, when it was asked again. */
  readonly status?: RunStatus;
  readonly answered?: string | undefined;
}

export interface MadeCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
}

/** One way in which a call comes about. */
export type Runner = (call: MadeCall, options: RunnerOptions) => Promise<Ended>;

export interface RunnerOptions extends CallOptions {
  /** How a model's message ends. */
  readonly finish?: FinishReason;
}

export const directly: Runner = async (call, options) => {
  const events: RunEvent[] = [];
  const outcome = await executeToolCall(call, { ...options, onEvent: listening(events, options) });
  if (outcome.kind === 'suspended') throw new Error(`\`${call.name}\` waits for a person`);
  return { outcome, ends: endsOf(events, call.id) };
};

/** The call is all of a model's first message; its second one ends the run. */
export const byModel: Runner = async (call, { tools, finish = 'tool-calls', ...options }) => {
  const events: RunEvent[] = [];
  const model = scriptedModel([{ calls: [call], finish }, { text: 'Done.' }]);
  const run = runAgent({
    ...options,
    model,
    prompt: toolsPrompt(tools),
    input: 'Work.',
    onEvent: listening(events, options),
  });
  const { status, outcomes } = await run.result;
  const [outcome] = outcomes;
  if (outcome === undefined) throw new Error(`the run ended as ${status} without an outcome`);
  const answer = model.requests[1]?.messages.find((message) => message.role === 'tool');
  return { outcome, ends: endsOf(events, call.id), status, answered: answer?.text };
};

/** The call is made by the tool of another one, which does nothing else and may do whatever the inner tool does. */
export const nested: Runner = async (call, { tools, ...options }) => {
  const events: RunEvent[] = [];
  let outcome: Outcome | undefined;
  const around = defineTool({
    name: 'around',
    description: 'Makes one call.',
    effects: 'external',
    execute: async (_input, context) => {
      outcome = await context.call(call.name, call.arguments);
      return outcome.kind;
    },
  });
  const onEvent = listening(events, options);
  const outer = { id: 'outer', name: 'around', arguments: '{}' };
  await executeToolCall(outer, { ...options, tools: [...tools, around], onEvent });
  const [end, ...more] = events
    .filter((event) => event.type === 'tool-call-end')
    .filter(({ parentId }) => parentId === 'outer');
  if (end === undefined || outcome === undefined) throw new Error('the nested call did not end');
  return { outcome, ends: [end, ...more] };
};

function listening(events: RunEvent[], { onEvent }: Pick<CallOptions, 'onEvent'>): (event: RunEvent) => void {
  return (event) => {
    events.push(event);
    onEvent?.(event);
  };
}

function endsOf(events: readonly RunEvent[], callId: string): ToolCallEndEvent[] {
  return events.filter((event) => event.type === 'tool-call-end').filter((event) => event.callId === callId);
}

/** A prompt with no policies of its own. */
/** `code: reason` of an outcome; nothing of a success. */
export function kindOf({ code, reason }: Outcome): string | undefined {
  return code === undefined ? undefined : describeCode({ code, reason });
}

export function toolsPrompt(tools: readonly Tool[]): Prompt {
  return { name: 'test/prompt', render: () => ({ text: 'Work.', tools, policies: new Map(), allPolicies: [] }) };
}

/** Exactly one end, in the log and for subscribers, that says what the caller was told. */
export function expectOneEnd({ outcome, ends }: Ended, world: World): ToolCallEndEvent {
  const records = world.ends(outcome.callId);
  expect(records).toHaveLength(1);
  expect(readOutcome(records[0]?.['outcome'] as unknown as RecordedOutcome)).toEqual(outcome);
  expect(ends).toHaveLength(1);
  const [end] = ends;
  if (end === undefined) throw new Error('no end event');
  expect(end.outcome).toEqual(outcome);
  return end;
}

/** Spelled like this because a linter takes a literal `then` for a mistake, as it mostly is. */
export function thenable(then: unknown, rest: object = {}): unknown {
  return Object.assign(Object.fromEntries([['then', then]]), rest);
}

export function thrown(value: unknown): never {
  throw value;
}

/** Every trap throws, which is less than a revoked one does: that one has no prototype to look at either. */
export function hostileProxy(): object {
  const trap = (): never => thrown(new Error('trap'));
  return new Proxy({}, { get: trap, has: trap, getPrototypeOf: trap, ownKeys: trap, getOwnPropertyDescriptor: trap });
}

export function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

export function cycle(): unknown {
  const value: { self?: unknown } = {};
  value.self = value;
  return value;
}
