import {
  HoldfastError,
  type Message,
  type Model,
  type ModelUsage,
  type Outcome,
  type PendingApproval,
  type Prompt,
  type RunEvent,
  type RunStatus,
  type ThrownError,
} from '@holdfast/core';
import type { LogEntry } from '@holdfast/session';
import { type Asked, askModel } from './ask-model.ts';
import { bindPrompt, type CallOptions, type CallScope, createCallScope, type RunPosition } from './call-scope.ts';
import { toSession } from './child-session.ts';
import { type Ending, failure } from './ending.ts';
import { EventStream } from './event-stream.ts';
import type { IdentifiedCall } from './identified-call.ts';
import { type Page, renderTracked } from './render-tracked.ts';
import { identify, runTurn, toToolMessage, truncated } from './run-turn.ts';
import { withoutStack } from './trail.ts';

/** What `runAgent` takes: what every runner takes, without `tools`, which come from the prompt. */
export interface RunAgentOptions extends Omit<CallOptions, 'tools'> {
  readonly model: Model;
  /** Gives instructions, tools and policies. */
  readonly prompt: Prompt;
  /** What the user asks. */
  readonly input: string;
  /** Messages that the model may send. Integer, default 32. */
  readonly maxRounds?: number;
}

/** How a run ended, and what was reached, whatever ended it. Frozen. */
export interface RunResult {
  readonly status: RunStatus;
  /** The model's last message that had text, or what it had said when it was stopped. */
  readonly text: string;
  /** Messages that the model was asked for. */
  readonly turns: number;
  /** Of all messages; 0 where the provider reports none. */
  readonly usage: ModelUsage;
  /** Of every call that ended, in order; nested ones are their callers' affair. */
  readonly outcomes: readonly Outcome[];
  /** What waits for a person; not empty exactly when `suspended`. */
  readonly pending: readonly PendingApproval[];
  /** Why the model could not be asked, when `model-error`. */
  readonly error?: ThrownError;
}

/** A run under way: iterate it for its events, and await `result`. */
export interface AgentRun extends AsyncIterable<RunEvent> {
  /** Rejects only for a wrong configuration, a prompt that cannot be rendered, or a log that cannot be written. */
  readonly result: Promise<RunResult>;
}

/**
 * Lets a model work with a prompt's tools until it answers without a call, or a limit ends the run. A failed call goes back to
 * the model and never ends the run. The run begins after the current microtask, so an iteration begun at once misses nothing.
 *
 * @throws HoldfastError `options.invalid`.
 */
export function runAgent(options: RunAgentOptions): AgentRun {
  const { maxRounds = 32 } = options;
  if (!Number.isInteger(maxRounds) || maxRounds < 1) {
    throw new HoldfastError('options.invalid', `\`maxRounds\` must be a positive integer, got ${maxRounds}.`, {
      data: { maxRounds },
    });
  }
  const stream = new EventStream<RunEvent>();
  const result = Promise.resolve().then(() => runObserved({ ...options, maxRounds }, stream));
  // Who only iterates gets the error there; the same promise must not also end as an unhandled rejection.
  void Promise.allSettled([result]);
  return { result, [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator]() };
}

type Checked = RunAgentOptions & { readonly maxRounds: number };

async function runObserved(options: Checked, stream: EventStream<RunEvent>): Promise<RunResult> {
  try {
    const result = await run(options, stream);
    stream.end();
    return result;
  } catch (error) {
    stream.end({ error });
    throw error;
  }
}

async function run(options: Checked, stream: EventStream<RunEvent>): Promise<RunResult> {
  const { prompt, onEvent } = options;
  const push = stream.observed ? (event: RunEvent): void => stream.push(event) : undefined;
  const onBoth =
    push &&
    onEvent &&
    ((event: RunEvent): unknown => {
      push(event);
      // Handed on: an asynchronous listener answers with a promise.
      return onEvent(event);
    });
  const listener = onBoth ?? push ?? onEvent;
  const page = renderTracked(prompt, toSession(options.session));
  const scope = createCallScope({
    ...options,
    tools: page.rendered.tools,
    ...(listener === undefined ? {} : { onEvent: listener }),
  });
  try {
    await scope.parent?.counts;
    return await converse(options, page, scope);
  } finally {
    scope.lifetime.dispose();
  }
}

async function converse(options: Checked, firstPage: Page, base: CallScope): Promise<RunResult> {
  const { model, prompt, input } = options;
  const { session } = base;
  let page = firstPage;
  const position: RunPosition = { startSeq: base.session.snapshot().seq, turn: 0 };
  const started: CallScope = { ...base, run: position, prompt, model };
  let scope = bindPrompt(started, page.rendered);
  const controller = new AbortController();
  scope.lifetime.onEnd((why) => controller.abort(new DOMException(`The run was stopped: ${why}.`, 'AbortError')));

  let messages: Message[] = [
    { role: 'system', text: page.rendered.text },
    { role: 'user', text: input },
  ];
  const progress: Progress = { turns: 0, text: '', usage: { inputTokens: 0, outputTokens: 0 }, outcomes: [] };
  const names = page.rendered.tools.map(({ name }) => name);
  note(scope, {
    type: 'run-start',
    sessionId: session.id,
    model: model.id,
    prompt: prompt.name,
    input,
    tools: names,
    atMs: scope.clock.now(),
  });
  const end = (status: RunStatus, rest: Pick<RunResult, 'pending' | 'error'> = { pending: [] }): RunResult =>
    finish(scope, status, progress, rest);
  while (progress.turns < options.maxRounds) {
    const over = scope.lifetime.ended ?? (isExhausted(scope) ? 'budget' : undefined);
    if (over !== undefined) return end(over);
    if (page.isStale()) {
      page = renderTracked(prompt, session);
      messages = [{ role: 'system', text: page.rendered.text }, ...messages.slice(1)];
      scope = bindPrompt(started, page.rendered);
    }
    progress.turns += 1;
    const turn = progress.turns;
    position.turn = turn;
    scope.emit?.({ type: 'turn-start', turn });
    const { emit } = scope;
    const onText = emit && ((text: string) => emit({ type: 'text-delta', turn, text }));
    const asked = await askModel(model, {
      messages,
      tools: scope.toolset.declarations,
      signal: controller.signal,
      lifetime: scope.lifetime,
      onText,
    });
    progress.text = asked.text === '' ? progress.text : asked.text;
    if (asked.type === 'ended') return end(asked.by);
    if (asked.type === 'failed') return end('model-error', { pending: [], error: asked.error });
    const calls = identify(asked.calls, turn);
    takeMessage(asked, calls, turn, { scope, messages, progress });
    const overspent = spend(asked.usage, scope);
    if (calls.length === 0) return end(overspent ? 'budget' : 'completed');
    const refusal = overspent ? outOfTokens : asked.reason === 'length' ? truncated : undefined;
    const { outcomes, pending } = await runTurn(calls, scope, refusal);
    for (const outcome of outcomes) messages.push(toToolMessage(outcome));
    for (const outcome of outcomes) progress.outcomes.push(outcome);
    if (pending.length > 0) return end('suspended', { pending });
    if (overspent || outcomes.some(({ kind, code }) => kind === 'denied' && code === 'budget.calls'))
      return end('budget');
  }
  return end(scope.lifetime.ended ?? 'max-rounds');
}

function isExhausted({ budgets }: CallScope): boolean {
  return budgets.some(({ exhausted }) => exhausted);
}

/** Whether a message took more tokens than there were. */
function spend(usage: ModelUsage | undefined, { budgets }: CallScope): boolean {
  if (usage !== undefined) for (const budget of budgets) budget.addTokens(usage.inputTokens + usage.outputTokens);
  return budgets.some(({ overspent }) => overspent);
}

function outOfTokens({ name }: IdentifiedCall): Ending {
  const message = `\`${name}\` was not run: the message that asked for it used up the tokens of the budget.`;
  return failure('cancelled', { code: 'budget.tokens', message });
}

interface Progress {
  turns: number;
  text: string;
  usage: ModelUsage;
  readonly outcomes: Outcome[];
}

/** Puts the model's message into the conversation and the log. */
function takeMessage(
  { text, usage, reason, providerMetadata }: Extract<Asked, { type: 'message' }>,
  calls: readonly IdentifiedCall[],
  turn: number,
  {
    scope,
    messages,
    progress,
  }: { readonly scope: CallScope; readonly messages: Message[]; readonly progress: Progress },
): void {
  if (usage !== undefined) {
    const { inputTokens, outputTokens } = progress.usage;
    progress.usage = { inputTokens: inputTokens + usage.inputTokens, outputTokens: outputTokens + usage.outputTokens };
  }
  const asked = Object.freeze(calls.map(({ id, name, arguments: raw }) => Object.freeze({ id, name, arguments: raw })));
  messages.push({ role: 'assistant', text, calls: asked, providerMetadata });
  note(scope, { type: 'model-message', turn, text, calls: asked, reason, usage });
}

function finish(
  scope: CallScope,
  status: RunStatus,
  { turns, text, usage, outcomes }: Progress,
  { pending, error }: Pick<RunResult, 'pending' | 'error'>,
): RunResult {
  note(scope, {
    type: 'run-end',
    status,
    text,
    turns,
    usage,
    error,
    atMs: scope.clock.now(),
  });
  return Object.freeze({
    status,
    text,
    turns,
    usage,
    outcomes: Object.freeze(outcomes),
    pending,
    ...(error === undefined ? {} : { error }),
  });
}

/** Tells the log and whoever listens. */
function note({ session, emit }: CallScope, event: RunEvent): void {
  const entry =
    event.type === 'run-end' && event.error !== undefined ? { ...event, error: withoutStack(event.error) } : event;
  // Made of JSON; an interface does not say so to the compiler.
  session.record(entry as unknown as LogEntry);
  emit?.({ ...event });
}
