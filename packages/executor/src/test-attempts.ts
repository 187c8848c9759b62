import { defineTool, type Outcome, type RunEvent, type Tool, type ToolContext } from '@holdfast/core';
import type { ToolRetry } from '@holdfast/core/types';
import {
  diary,
  notes,
  outcomeOf,
  type TestSession,
  testClock,
  testSession,
  type Words,
  wordsResource,
} from './fixtures.ts';
import type { CallOptions } from './index.ts';

/** An attempt that fails. */
export const broke = (): never => {
  throw new Error('broke');
};

/** A tool whose attempts follow `attempts` in order; the last one repeats. */
export function flaky(
  attempts: readonly ((context: ToolContext) => unknown)[],
  extra: Partial<Pick<Tool, 'name' | 'effects' | 'repeat' | 'timeoutMs' | 'dangerous' | 'locks'>> & {
    readonly retry?: ToolRetry | undefined;
  } = {},
): Tool & { readonly contexts: readonly ToolContext[] } {
  const contexts: ToolContext[] = [];
  const tool = defineTool<unknown, unknown>({
    name: 'flaky',
    description: 'Fails at times.',
    effects: 'state',
    repeat: 'safe',
    retry: { attempts: 3, delayMs: 0 },
    ...(extra as object),
    execute(_input, context) {
      contexts.push(context);
      return attempts[Math.min(contexts.length, attempts.length) - 1]?.(context) as never;
    },
  });
  return { ...tool, contexts };
}

export interface AttemptsSetUp extends TestSession {
  readonly words: Words;
  readonly events: readonly RunEvent[];
  readonly clock: ReturnType<typeof testClock>;
  readonly given: CallOptions;
  retries(): readonly RunEvent[];
  notes(): readonly string[];
  diary(): readonly string[];
  call(name?: string): Promise<Outcome>;
}

/** Calls of `tools` in a session with a resource `words`. */
export function setUp(tools: readonly Tool[], options: Partial<CallOptions> = {}): AttemptsSetUp {
  const session = testSession();
  const words = wordsResource();
  const events: RunEvent[] = [];
  const clock = testClock();
  const given: CallOptions = {
    tools,
    session: session.session,
    resources: { words },
    onEvent: (event) => void events.push(event),
    clock,
    ...options,
  };
  return {
    ...session,
    words,
    events,
    clock,
    retries: () => events.filter(({ type }) => type === 'tool-call-retry'),
    notes: () => session.session.read(notes).toArray(),
    diary: () => session.session.read(diary).toArray(),
    given,
    call: (name = 'flaky') => outcomeOf({ id: 'c', name, arguments: {} }, given),
  };
}

/** Writes `text` to the notes, the diary and the words, then does what `then` says. */
export const note =
  (text: string, then: (context: ToolContext) => unknown) =>
  (context: ToolContext): unknown => {
    context.session.dispatch({ type: 'noted', payload: text });
    context.session.publish({ type: 'happened', payload: text });
    (context.resources.get('words') as { add(word: string): void } | undefined)?.add(text);
    return then(context);
  };

/** Lets pending microtasks run. */
export async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
