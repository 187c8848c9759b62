import {
  append,
  type Clock,
  defineSlice,
  defineTool,
  type ListState,
  type Model,
  type ModelEvent,
  type ModelRequest,
  type Outcome,
  type Prompt,
  type ResourceTransaction,
  type RunEvent,
  type Slice,
  type StagedResource,
  type Tool,
  type ToolCall,
} from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import { createSession, type LogRecord, replay, type Session, type SessionStore } from '@holdfast/session';
import * as v from 'valibot';
import { type CallOptions, executeToolCall } from './index.ts';

/** A clock that only a test advances. */
export function testClock(): Clock & { advance(ms: number): void } {
  let now = 0;
  const timers = new Set<{ readonly atMs: number; readonly run: () => void }>();
  return {
    now: () => now,
    after(delayMs, run) {
      const timer = { atMs: now + delayMs, run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance(ms) {
      now += ms;
      for (const timer of [...timers]) {
        if (timer.atMs > now || !timers.delete(timer)) continue;
        timer.run();
      }
    },
  };
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

export interface TestSession {
  readonly session: Session;
  readonly records: readonly LogRecord[];
  ends(): readonly LogRecord[];
}

export function testSession(): TestSession {
  const records: LogRecord[] = [];
  const store: SessionStore = {
    append: (entry, seq, atMs) => void records.push({ seq, atMs, ...entry }),
    close: () => undefined,
  };
  const session = createSession({ id: 's', nonce: '', slices: [notes, diary], store, clock: testClock() });
  goOnFromLog(session, () => records);
  return { session, records, ends: () => records.filter(({ type }) => type === 'tool-call-end') };
}

/** The parts of a live session that are not in its interface. */
interface LiveParts {
  readonly table: { readonly slices: ReadonlyMap<string, Slice>; copyStates(): ReadonlyMap<string, unknown> } & {
    setState(id: string, state: unknown): void;
  };
}

/**
 * With `HOLDFAST_REBUILD=1` the session is rebuilt from its log after every record, so tests notice any state that the log lacks.
 */
export function goOnFromLog(session: Session, records: () => readonly LogRecord[]): void {
  if (process.env['HOLDFAST_REBUILD'] !== '1') return;
  const { table } = session as unknown as LiveParts;
  session.subscribe(() => {
    try {
      const slices = [...table.slices.values()].filter(({ reducers }) => reducers.size > 0);
      const rebuilt = replay(records(), { slices }) as unknown as LiveParts;
      for (const [id, state] of rebuilt.table.copyStates()) table.setState(id, state);
    } catch (thrown) {
      // The session isolates errors of subscribers; here the test must fail.
      queueMicrotask(() => {
        throw thrown;
      });
    }
  });
}

/** A staged resource that is a set of words. */
export interface Words extends StagedResource<{ add(word: string): void }, { has(word: string): boolean }> {
  readonly committed: ReadonlySet<string>;
  readonly log: readonly string[];
}

export function wordsResource(
  fail: { readonly prepare?: boolean; readonly commit?: boolean; readonly discard?: boolean } = {},
): Words {
  const committed = new Set<string>();
  const log: string[] = [];
  const step = (name: 'prepare' | 'commit' | 'discard'): void => {
    log.push(name);
    if (fail[name] === true) throw new Error(`${name} broke`);
  };
  return {
    type: 'staged-resource',
    committed,
    log,
    readOnly: committed,
    begin() {
      return stageWords({
        step,
        readOnly: committed,
        apply: (words) => {
          for (const word of words) committed.add(word);
        },
      });
    },
  };
}

type WordsTransaction = ResourceTransaction<{ add(word: string): void }, { has(word: string): boolean }>;

function stageWords(around: {
  readonly step: (name: 'prepare' | 'commit' | 'discard') => void;
  readonly readOnly: { has(word: string): boolean };
  apply(words: readonly string[]): void;
}): WordsTransaction {
  const { step, readOnly } = around;
  const staged: string[] = [];
  const visible = { has: (word: string) => staged.includes(word) || readOnly.has(word) };
  return {
    view: { add: (word) => void staged.push(word) },
    readOnly: visible,
    begin: () => stageWords({ step, readOnly: visible, apply: (words) => void staged.push(...words) }),
    touched: () => ({ reads: [], writes: staged.map((key) => ({ key, before: null, after: key })) }),
    seal: () => undefined,
    prepare: () => step('prepare'),
    commit: () => {
      step('commit');
      around.apply(staged);
    },
    discard: () => step('discard'),
  };
}

/** Writes a note, a diary line and a word, then does what `then` says. */
export function writer(
  then: () => unknown,
  extra: Partial<Pick<Tool, 'effects' | 'repeat' | 'timeoutMs' | 'dangerous' | 'outputSchema'>> = {},
): Tool {
  return defineTool<unknown, unknown>({
    name: 'write',
    description: 'Writes.',
    effects: 'state',
    ...(extra as object),
    execute(_input, { session, resources }) {
      session.dispatch({ type: 'noted', payload: 'x' });
      session.publish({ type: 'happened', payload: 'x' });
      const words = resources.get('words') as { add(word: string): void } | undefined;
      words?.add('x');
      return then() as never;
    },
  });
}

export const echo: Tool = defineTool({
  name: 'echo',
  description: 'Echoes.',
  effects: 'none',
  inputSchema: v.object({ q: v.string() }),
  execute: ({ q }) => ({ a: q }),
});

/** Runs a call that must end and not be suspended. */
/** The kind of an outcome with its code and reason. */
export function describeEnd({ kind, code, reason }: Outcome): string {
  return code === undefined ? kind : `${kind} ${describeCode({ code, reason })}`;
}

export async function outcomeOf(call: ToolCall, options: CallOptions): Promise<Outcome> {
  const outcome = await executeToolCall(call, options);
  if (outcome.kind === 'suspended') throw new Error('suspended');
  return outcome;
}

/** A model that plays one list of events per request. */
export function playing(...turns: readonly (readonly ModelEvent[])[]): Model & { readonly requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    id: 'test:playing',
    requests,
    async *stream(request) {
      requests.push({ ...request, messages: [...request.messages] });
      yield* turns[requests.length - 1] ?? [];
    },
  };
}

export const call = (name: string, args: unknown, id?: string): ModelEvent => ({
  type: 'tool-call',
  ...(id === undefined ? {} : { id }),
  name,
  arguments: args,
});
export const say = (text: string): ModelEvent => ({ type: 'text-delta', text });
export const stop: ModelEvent = { type: 'finish', reason: 'stop', usage: { inputTokens: 3, outputTokens: 2 } };

/** A prompt without policies of its own. */
export function toolsPrompt(tools: readonly Tool[], text = 'Work.'): Prompt {
  return { name: 'test/prompt', render: () => ({ text, tools, policies: new Map(), allPolicies: [] }) };
}

export async function collect(run: AsyncIterable<RunEvent>): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of run) events.push(event);
  return events;
}

/** A key without its session's random digits and the digest of its arguments. */
export function shortKey(key: string): string {
  return key.replace(/\.[0-9a-f]{16}(?=\/)/, '').replaceAll(/\/[0-9a-f]{32}(?=\/|$)/g, '');
}
