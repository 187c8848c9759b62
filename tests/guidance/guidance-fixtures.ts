import {
  append,
  type Clock,
  defineSlice,
  defineTool,
  type ListState,
  type Model,
  type ModelEvent,
  type ModelRequest,
  type RunEvent,
  type Slice,
  type Tool,
} from '@holdfast/core';
import { createSession, type LogRecord, type Session, type SessionStore } from '@holdfast/session';
import * as v from 'valibot';

/** A clock that tests advance. */
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
const diary: Slice<ListState<string>> = defineSlice<string>({
  id: 'diary',
  kind: 'list',
  retention: 'log',
  reducers: { happened: (_state, payload) => append(payload) },
});

/** A session with an inspectable log. */
export function testSession(): { readonly session: Session; readonly records: readonly LogRecord[] } {
  const records: LogRecord[] = [];
  const store: SessionStore = {
    append: (entry, seq, atMs) => void records.push({ seq, atMs, ...entry }),
    close: () => undefined,
  };
  const session = createSession({ id: 's', nonce: '', slices: [notes, diary], store, clock: testClock() });
  return { session, records };
}

export const echo: Tool = defineTool({
  name: 'echo',
  description: 'Echoes.',
  effects: 'none',
  inputSchema: v.object({ q: v.string() }),
  execute: ({ q }) => ({ a: q }),
});

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

export async function collect(run: AsyncIterable<RunEvent>): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of run) events.push(event);
  return events;
}
