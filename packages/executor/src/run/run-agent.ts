import { HoldfastError, type Model, type Prompt, type RunEvent, type Tool } from '@holdfast/core';
import { ReadOnlyMap } from '@holdfast/core/internal';
import type { BoundPolicy, RenderedPrompt } from '@holdfast/core/types';
import { createSession, type Session } from '@holdfast/session';
import { claimRun } from '../approval/claims.ts';
import type { CallOptions } from '../call/scope.ts';
import type { RunPosition } from '../call/types.ts';
import { openFullScope, openPlainScope } from '../direct/on-demand.ts';
import { checkRunOptions } from '../direct/options.ts';
import { EventStream } from './event-stream.ts';
import { runLoop } from './loop.ts';
import { findMissing, type Page, renderTracked } from './page.ts';
import { note, type RunResult } from './result.ts';
import { nothingSaid, type Transcript } from './transcript.ts';

/** Options of `runAgent`: either `prompt`, or `instructions` and `tools`. */
export interface RunAgentOptions<Output = unknown> extends Omit<CallOptions, 'tools' | 'session' | 'request'> {
  readonly model: Model;
  /** The system prompt, if there is no prompt object. */
  readonly instructions?: string;
  /** Used with `instructions`; a prompt object has its own. Default: none. */
  readonly tools?: readonly Tool[];
  /** A prompt of `createPrompt` of `@holdfast/prompt`, with instructions, tools and policies. */
  readonly prompt?: Prompt<Output>;
  /** Records the run. Default: a new session in memory, available as `run.session`. */
  readonly session?: CallOptions['session'];
  /** The user's request; policies see it as `context.request`. */
  readonly input: string;
  /** Maximum number of model messages. Integer, default 32. */
  readonly maxRounds?: number;
}

/** A running agent: await it for its result, or iterate over its events. It runs once, however often it is awaited. */
export interface AgentRun<Output = unknown> extends AsyncIterable<RunEvent>, PromiseLike<RunResult<Output>> {
  readonly session: Session;
  /** Rejects only for an invalid configuration, a prompt that cannot be rendered at the start, or a log that cannot be written. */
  readonly result: Promise<RunResult<Output>>;
}

/**
 * Runs a model with tools until it answers without a call, or a limit ends the run. A failed call is reported to the model and never
 * ends the run. The run starts after the current microtask, so an iteration started at once misses nothing.
 *
 * @throws HoldfastError `options.invalid`.
 */
export function runAgent<Output = undefined>(options: RunAgentOptions<Output>): AgentRun<Output> {
  checkRunOptions('runAgent', options, { input: 'text!', session: 'object' });
  const { clock } = options;
  // `context.child()` returns a session whose type in core has fewer members.
  const session = (options.session ?? createSession(clock === undefined ? {} : { clock })) as Session;
  const checked = { ...checkRounds(options), session, prompt: toPrompt(options) };
  return new Run<Output>(session, (stream) => beginRun(checked, stream));
}

/** The given prompt, or a plain one of instructions and tools. */
export function toPrompt<Output>({
  prompt,
  instructions = '',
  tools = [],
}: Pick<RunAgentOptions<Output>, 'prompt' | 'instructions' | 'tools'>): Prompt<Output> {
  return prompt ?? new PlainPrompt(instructions, tools);
}

class PlainPrompt implements Prompt<never> {
  readonly name = 'instructions';
  readonly #page: RenderedPrompt<never>;

  constructor(text: string, tools: readonly Tool[]) {
    const policies = new ReadOnlyMap<string, readonly BoundPolicy[]>();
    this.#page = Object.freeze({ text, tools: Object.freeze([...tools]), policies, allPolicies: none });
  }

  render(): RenderedPrompt<never> {
    return this.#page;
  }
}

const none: readonly never[] = Object.freeze([]);

/** A run's options in one form. */
export type RunParts = Omit<RunAgentOptions, 'input' | 'session' | 'prompt' | 'tools'> & {
  readonly session: Session;
  readonly prompt: Prompt;
  readonly request?: string;
  /** Pauses after this many messages of the model. */
  readonly turns?: number;
};

/** Receives the events of a run. */
export type RunStream = EventStream<RunEvent>;

/** Options with a validated `maxRounds`. */
export type Checked<Options> = Options & { readonly maxRounds: number };

/** @throws HoldfastError `options.invalid`. */
export function checkRounds<Options extends { readonly maxRounds?: number }>(options: Options): Checked<Options> {
  const { maxRounds = 32 } = options;
  if (!Number.isInteger(maxRounds) || maxRounds < 1) {
    throw new HoldfastError('options.invalid', `\`maxRounds\` must be a positive integer, got ${maxRounds}.`, {
      data: { maxRounds },
    });
  }
  return { ...options, maxRounds };
}

/** Starts `run` after the current microtask with a stream for its events. */
export class Run<Output> implements AgentRun<Output> {
  readonly session: Session;
  readonly result: Promise<RunResult<Output>>;
  readonly #stream: RunStream = new EventStream<RunEvent>();

  constructor(session: Session, run: (stream: RunStream) => Promise<RunResult>) {
    this.session = session;
    // The prompt's own format produced the output from the text.
    this.result = Promise.resolve().then(() => runObserved(run, this.#stream)) as Promise<RunResult<Output>>;
    // Iterating reports the error there; the same promise must not also be an unhandled rejection.
    void Promise.allSettled([this.result]);
  }

  [Symbol.asyncIterator](): AsyncIterator<RunEvent> {
    return this.#stream[Symbol.asyncIterator]();
  }

  // biome-ignore lint/suspicious/noThenProperty: a run is awaited for its result.
  get then(): Promise<RunResult<Output>>['then'] {
    return this.result.then.bind(this.result);
  }
}

async function runObserved(run: (stream: RunStream) => Promise<RunResult>, stream: RunStream): Promise<RunResult> {
  try {
    const result = await run(stream);
    stream.end();
    return result;
  } catch (error) {
    stream.end({ error });
    throw error;
  }
}

/** Opens the scope of a run, whose events go to the stream's readers and to the host's listener. */
export function openRunScope<Scope>(
  options: RunParts,
  stream: RunStream,
  open: (options: CallOptions, toolNames?: ReadonlySet<string>) => Scope,
): { readonly page: Page; readonly scope: Scope } {
  const { prompt, onEvent } = options;
  const push = stream.observed ? (event: RunEvent): void => stream.push(event) : undefined;
  const onBoth =
    push &&
    onEvent &&
    ((event: RunEvent): unknown => {
      push(event);
      // Returned, because an asynchronous listener returns a promise.
      return onEvent(event);
    });
  const listener = onBoth ?? push ?? onEvent;
  const { session } = options;
  for (const slice of prompt.slices ?? []) session.register(slice);
  const page = renderTracked(prompt, session);
  const missing = findMissing(page.rendered);
  if (missing !== undefined) {
    throw new HoldfastError('options.invalid', missing.message, { data: { option: 'prompt', reason: 'missing' } });
  }
  const { tools } = page.rendered;
  const observed = listener === undefined ? {} : { onEvent: listener };
  return { page, scope: open({ ...options, tools, ...observed }, prompt.toolNames) };
}

/** Starts a run and returns how it ended. */
export async function beginRun(
  options: Checked<RunParts> & { readonly input: string },
  stream: RunStream,
): Promise<RunResult> {
  const { model, prompt, input, maxRounds, turns } = options;
  const open = prompt instanceof PlainPrompt ? openPlainScope : openFullScope;
  const { page, scope: opening } = openRunScope({ ...options, request: input }, stream, open);
  const scope = opening instanceof Promise ? await opening : opening;
  const { session } = scope;
  let release: () => void = () => undefined;
  try {
    await (scope.parent?.counts ?? (scope.resources.size === 0 ? undefined : scope.features.recoverResources(scope)));
    const position: RunPosition = { startSeq: session.snapshot().seq, turn: 0 };
    release = claimRun(session, position.startSeq);
    note(scope, {
      type: 'run-start',
      sessionId: session.id,
      run: position.startSeq,
      model: model.id,
      prompt: prompt.name,
      input,
      tools: page.rendered.tools.map(({ name }) => name),
      atMs: scope.clock.now(),
    });
    const transcript: Transcript = { ...nothingSaid, messages: [{ role: 'user', text: input }], outcomes: [] };
    return await runLoop({ model, prompt, maxRounds, turns, page, scope, position, transcript });
  } finally {
    release();
    scope.lifetime.dispose();
  }
}
