import type {
  CutReason,
  Message,
  Model,
  ModelUsage,
  Outcome,
  PendingApproval,
  Prompt,
  RunEvent,
  RunStatus,
  ThrownError,
} from '@holdfast/core';
import type { LogEntry } from '@holdfast/session';
import { dropCalls, keepCalls, refuseMasked, sealCall } from '../approval/masked-calls.ts';
import { failure } from '../call/ending.ts';
import { learnArguments } from '../call/prepare.ts';
import type { CallScope } from '../call/scope.ts';
import type { Ending, EndOfLife, IdentifiedCall, Resuming, RunPosition } from '../call/types.ts';
import { identify, runTurn, toToolMessage } from '../turn/run-turn.ts';
import { type Asked, askModel, toModelError } from './ask-model.ts';
import { isExhausted, spendTokens } from './budget.ts';
import { cutBy, describeCut, keepLongCalls, refuseCut } from './cut-message.ts';
import { countLast, giveFeedback, isGuided } from './feedback.ts';
import { judgeAnswer } from './judge-answer.ts';
import { bindPrompt, type Page, renderTracked } from './page.ts';
import { addUsage, type Transcript } from './transcript.ts';

/** How a run ended, and what was reached, whatever ended it. Frozen. */
export interface RunResult<Output = unknown> {
  readonly status: RunStatus;
  /** The model's last message that had text, or what it had said when it was stopped. */
  readonly text: string;
  /** What the prompt's output format makes of that message; only when `completed`, and absent where the prompt has none. */
  readonly output?: Output;
  /**
   * What is missing, in sentences: what the completion checker still missed when the model had been sent back as often as it may be,
   * or could not be; and that the last message was cut.
   */
  readonly unfinished?: string;
  /** Why the last message, a text, was cut: `text` is not all that the model had to say. */
  readonly cut?: CutReason;
  /** Messages that the model was asked for. */
  readonly turns: number;
  /** Of all messages; 0 where the provider reports none. */
  readonly usage: ModelUsage;
  /** Of every call that ended, in order; nested ones are their callers' affair. */
  readonly outcomes: readonly Outcome[];
  /** What waits for a person; not empty exactly when `suspended`. */
  readonly pending: readonly PendingApproval[];
  /** When `model-error`: why the model could not be asked, also where the prompt could not be rendered again. `output.invalid` where the last message is not the output that was wanted. */
  readonly error?: ThrownError;
}

export interface Conversing {
  readonly model: Model;
  readonly prompt: Prompt;
  readonly maxRounds: number;
  readonly page: Page;
  readonly scope: CallScope;
  readonly position: RunPosition;
  /** What was said before; of a new run only the user's request. */
  readonly transcript: Transcript;
  /** Of a run that is resumed. */
  readonly resuming?: Resuming;
}

/** Lets the model work until it answers without a call, or something ends the run. */
export async function converse(conversing: Conversing): Promise<RunResult> {
  const { model, prompt, maxRounds, position, transcript } = conversing;
  const { session } = conversing.scope;
  const started: CallScope = { ...conversing.scope, run: position, prompt, model };
  let { page } = conversing;
  let scope = bindPrompt(started, page.rendered);
  const controller = new AbortController();
  scope.lifetime.onEnd((why) => controller.abort(new DOMException(`The run was stopped: ${why}.`, 'AbortError')));

  let messages: Message[] = [{ role: 'system', text: page.rendered.text }, ...transcript.messages];
  const progress: Progress = {
    ...transcript,
    answer: transcript.open?.text ?? '',
    outcomes: [...transcript.outcomes],
  };
  const startedAtMs = transcript.startedAtMs ?? scope.clock.now();
  // Calls of the last turn, until they are counted and feedback providers have heard of them.
  let justEnded = 0;
  const end = (status: RunStatus, rest: Rest = {}): RunResult => {
    if (justEnded > 0 && isGuided(page.rendered)) countLast({ scope, prompt, rendered: page.rendered }, justEnded);
    return finish(scope, status, progress, rest);
  };
  const whyOver = (): EndOfLife | undefined =>
    scope.lifetime.ended ?? (isExhausted(scope.budgets) ? 'budget' : undefined);
  const tell = (text: string): void => {
    if (text !== '') messages.push({ role: 'user', text });
  };

  const takeTurn = async (calls: readonly IdentifiedCall[], turn: Turn): Promise<RunResult | undefined> => {
    const { outcomes, pending } = await runTurn(
      calls,
      turn.resuming === undefined ? scope : { ...scope, resuming: turn.resuming },
      turn,
    );
    for (const outcome of outcomes) messages.push(toToolMessage(outcome));
    for (const outcome of outcomes) progress.outcomes.push(outcome);
    if (pending.length > 0) {
      keepCalls(session, { run: position.startSeq, turn: position.turn }, calls);
      return end('suspended', { pending });
    }
    if (turn.resuming !== undefined) dropCalls(session, { run: position.startSeq, turn: position.turn });
    justEnded = outcomes.length;
    return turn.overspent === true || outcomes.some(({ kind, code }) => kind !== 'failed' && code === 'budget.calls')
      ? end('budget')
      : undefined;
  };
  /** Takes a message without calls: the end, unless the model has to say more. */
  const takeAnswer = async (recorded = false): Promise<RunResult | undefined> => {
    const { completion, output } = page.rendered;
    if (completion === undefined && output === undefined) return end('completed');
    const canGoOn = (): boolean => progress.turns < maxRounds && whyOver() === undefined;
    const canWork = (): boolean =>
      scope.toolset.byName.size === 0 || !scope.budgets.some(({ outOfCalls }) => outOfCalls);
    const verdict = await judgeAnswer(
      { ...progress, text: progress.answer, recorded, canGoOn, canWork },
      { scope, prompt, rendered: page.rendered },
    );
    switch (verdict.type) {
      case 'again':
        tell(verdict.text);
        progress[verdict.source === 'completion' ? 'returns' : 'corrections'] += 1;
        return undefined;
      case 'done':
        return end('completed', verdict);
      case 'stuck':
        return end(whyOver() ?? (canGoOn() ? 'budget' : 'max-rounds'), verdict);
      case 'wrong':
        return end('model-error', verdict);
      default:
        return verdict satisfies never;
    }
  };

  const { open } = transcript;
  if (open !== undefined) {
    const refusal = refuseCut(open.reason) ?? refuseMasked;
    if (open.calls.length === 0) progress.cut = cutBy(open.reason);
    const ended =
      open.calls.length === 0
        ? await takeAnswer(true)
        : await takeTurn(open.calls, { refusal, settled: open.settled, resuming: conversing.resuming });
    if (ended !== undefined) return ended;
  }
  while (progress.turns < maxRounds) {
    const over = whyOver();
    if (over !== undefined) return end(over);
    if (page.isStale()) {
      try {
        page = renderTracked(prompt, session);
        scope = bindPrompt(started, page.rendered);
      } catch (thrown) {
        return end('model-error', { error: toModelError(thrown) });
      }
      messages = [{ role: 'system', text: page.rendered.text }, ...messages.slice(1)];
    }
    const ended = justEnded;
    justEnded = 0;
    if (ended > 0 && isGuided(page.rendered)) {
      tell(await giveFeedback({ scope, prompt, rendered: page.rendered }, { ended, startedAtMs }));
      const overMeanwhile = whyOver();
      if (overMeanwhile !== undefined) return end(overMeanwhile);
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
      output: page.rendered.output?.jsonSchema,
      signal: controller.signal,
      lifetime: scope.lifetime,
      onText,
    });
    progress.answer = asked.text;
    progress.cut = undefined;
    progress.text = asked.text === '' ? progress.text : asked.text;
    if (asked.type === 'ended') return end(asked.by);
    if (asked.type === 'failed') return end('model-error', { error: asked.error });
    const calls = identify(asked.calls, turn);
    takeMessage(asked, calls, { scope, messages, progress, position });
    if (calls.length === 0) progress.cut = cutBy(asked.reason);
    const overspent = spendTokens(asked.usage, scope.budgets);
    if (calls.length === 0 && overspent) return end('budget');
    const refusal = overspent ? outOfTokens : refuseCut(asked.reason);
    const result = calls.length === 0 ? await takeAnswer() : await takeTurn(calls, { refusal, overspent });
    if (result !== undefined) return result;
  }
  return end(scope.lifetime.ended ?? 'max-rounds');
}

interface Turn {
  /** Ends every call before its first stage. */
  readonly refusal: ((call: IdentifiedCall) => Ending | undefined) | undefined;
  readonly overspent?: boolean;
  readonly resuming?: Resuming | undefined;
  /** By the place of the call, of those that have ended before. */
  readonly settled?: ReadonlyMap<number, Outcome>;
}

interface Progress {
  turns: number;
  text: string;
  /** The model's last message, with or without text. */
  answer: string;
  /** Why that message was cut, where it is a text. */
  cut?: CutReason | undefined;
  usage: ModelUsage;
  returns: number;
  corrections: number;
  readonly outcomes: Outcome[];
}

/** What an ended run says beside how far it came. */
type Rest = Partial<Pick<RunResult, 'pending' | 'error' | 'output' | 'unfinished'>>;

const nothingPending: readonly PendingApproval[] = Object.freeze([]);

function outOfTokens({ name }: IdentifiedCall): Ending {
  const message = `\`${name}\` was not run: the message that asked for it used up the tokens of the budget.`;
  return failure('cancelled', { code: 'budget.tokens', message });
}

/** Puts the model's message into the conversation and the log. */
function takeMessage(
  { text, usage, reason, providerMetadata }: Extract<Asked, { type: 'message' }>,
  calls: readonly IdentifiedCall[],
  {
    scope,
    messages,
    progress,
    position,
  }: {
    readonly scope: CallScope;
    readonly messages: Message[];
    readonly progress: Progress;
    readonly position: RunPosition;
  },
): void {
  // The message is the first to tell of them.
  for (const { name, arguments: raw } of calls)
    learnArguments(scope.session.redactor, scope.toolset.byName.get(name), raw);
  progress.usage = addUsage(progress.usage, usage);
  const asked = Object.freeze(calls.map(({ id, name, arguments: raw }) => Object.freeze({ id, name, arguments: raw })));
  messages.push({ role: 'assistant', text, calls: asked, providerMetadata });
  const { startSeq: run, turn } = position;
  const event: RunEvent = { type: 'model-message', run, turn, text, calls: asked, reason, usage, providerMetadata };
  const kept = keepLongCalls(calls, reason, scope);
  note(scope, event, kept === undefined ? event : { ...event, calls: kept });
  for (const call of calls) sealCall(scope.session, { run, turn }, call);
}

function finish(
  scope: CallScope,
  status: RunStatus,
  { turns, text, usage, outcomes, cut }: Progress,
  { pending = nothingPending, error, output, unfinished: missing }: Rest,
): RunResult {
  const run = scope.run?.startSeq ?? 0;
  const unfinished = cut === undefined ? missing : [missing ?? [], describeCut(cut)].flat().join(' ');
  note(scope, { type: 'run-end', run, status, text, turns, usage, error, unfinished, cut, atMs: scope.clock.now() });
  return Object.freeze({
    status,
    text,
    turns,
    usage,
    outcomes: Object.freeze(outcomes),
    pending,
    ...(output === undefined ? {} : { output }),
    ...(unfinished === undefined ? {} : { unfinished }),
    ...(cut === undefined ? {} : { cut }),
    ...(error === undefined ? {} : { error }),
  });
}

/** Tells the log and whoever listens. `kept`: what the log has of it, if not all. */
export function note({ session, emit }: CallScope, event: RunEvent, kept: object = event): void {
  const entry = event.type === 'run-end' && event.error !== undefined ? { ...event, error: { ...event.error } } : kept;
  // Made of JSON; an interface does not say so to the compiler.
  session.record(entry as unknown as LogEntry);
  emit?.({ ...event });
}
