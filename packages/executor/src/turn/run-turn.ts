import type { Message, Outcome, PendingApproval, ToolCall } from '@holdfast/core';
import { reportRequest, toPending } from '../approval/ask.ts';
import { asksTheSame, readEarlierAnswers } from '../approval/earlier-answers.ts';
import { authorize } from '../call/authorize.ts';
import { failure } from '../call/ending.ts';
import { identifyCall, isSameCall, prepare } from '../call/prepare.ts';
import { runCall } from '../call/run-call.ts';
import type { CallScope } from '../call/scope.ts';
import type { Ending, IdentifiedCall, Suspended } from '../call/types.ts';
import { CallSequence } from './call-sequence.ts';

/** The results of the calls of one model message. */
export interface TurnResult {
  /** In call order, up to where the turn got, plus later calls that had ended before. */
  readonly outcomes: readonly Outcome[];
  /** If not empty, the turn is suspended at the first of these and nothing after it has run. */
  readonly pending: readonly PendingApproval[];
}

/** Known results and refusals of a turn. */
export interface TurnOptions {
  /** Ends every call before its first stage. */
  readonly refusal?: ((call: IdentifiedCall) => Ending | undefined) | undefined;
  /** Outcomes of calls that ended before the turn was resumed, by position. */
  readonly settled?: ReadonlyMap<number, Outcome> | undefined;
}

/**
 * Runs the calls of one message: each is decided on the state after the one before it, and they commit in order, but read-only calls
 * run in parallel. The first unapproved call suspends the turn; later calls are validated but not run, so all questions come at once.
 */
export function runTurn(
  calls: readonly IdentifiedCall[],
  scope: CallScope,
  options: TurnOptions = {},
): Promise<TurnResult> {
  const [only] = calls;
  const alone = only !== undefined && calls.length === 1;
  return alone ? runOnly(only, scope, options) : runAll(calls, scope, options);
}

function runOnly(call: IdentifiedCall, scope: CallScope, { refusal, settled }: TurnOptions): Promise<TurnResult> {
  const known = settled?.get(0);
  if (known !== undefined) return Promise.resolve(toTurnResult(known));
  return runCall(call, scope, { refusal: refusal?.(call) }).then(toTurnResult);
}

function toTurnResult(result: Outcome | Suspended): TurnResult {
  return result.kind === 'suspended' ? { outcomes: [], pending: result.pending } : { outcomes: [result], pending: [] };
}

async function runAll(calls: readonly IdentifiedCall[], scope: CallScope, options: TurnOptions): Promise<TurnResult> {
  const sequence = new CallSequence(scope);
  try {
    return await runSequence(toEntries(calls, sequence, options), { sequence, scope });
  } catch (thrown) {
    await sequence.abandon();
    throw thrown;
  }
}

/** A call of a turn: to be run at its position, already settled, or a duplicate of another. */
type Entry =
  | { readonly type: 'call'; readonly call: IdentifiedCall; readonly index: number; readonly refused: boolean }
  | { readonly type: 'settled'; readonly call: IdentifiedCall; readonly outcome: Outcome }
  | { readonly type: 'repeated'; readonly first: Entry };

function toEntries(
  calls: readonly IdentifiedCall[],
  sequence: CallSequence,
  { refusal, settled }: TurnOptions,
): readonly Entry[] {
  const firsts = new Map<string, Exclude<Entry, { type: 'repeated' }>>();
  return calls.map((call, at) => {
    const first = firsts.get(call.id);
    if (first !== undefined && isSameCall(first.call, call)) return { type: 'repeated', first };
    const entry = toEntry(call, first !== undefined);
    if (first === undefined) firsts.set(call.id, entry);
    return entry;

    function toEntry(call: IdentifiedCall, reused: boolean): Exclude<Entry, { type: 'repeated' }> {
      const outcome = settled?.get(at);
      if (outcome !== undefined) return { type: 'settled', call, outcome };
      const ending = refusal?.(call) ?? (reused ? reusedId(call) : undefined);
      return { type: 'call', call, index: sequence.add(call, ending), refused: ending !== undefined };
    }
  });
}

async function runSequence(
  entries: readonly Entry[],
  { sequence, scope }: { readonly sequence: CallSequence; readonly scope: CallScope },
): Promise<TurnResult> {
  const outcomes = new Map<Entry, Outcome>();
  for (const [at, entry] of entries.entries()) {
    const result = await conductEntry(entry, outcomes, sequence);
    if (result.kind === 'suspended') {
      await sequence.abandon();
      const questions = await questionsOf(entries.slice(at + 1), scope);
      if (questions.length > 0) await scope.session.sync();
      const before = entries.slice(at + 1).flatMap((later) => (later.type === 'settled' ? [later.outcome] : []));
      return { outcomes: [...outcomes.values(), ...before], pending: [...result.pending, ...questions] };
    }
    outcomes.set(entry, result);
  }
  return { outcomes: [...outcomes.values()], pending: [] };
}

function conductEntry(
  entry: Entry,
  outcomes: ReadonlyMap<Entry, Outcome>,
  sequence: CallSequence,
): Outcome | Promise<Outcome | Suspended> {
  switch (entry.type) {
    case 'settled':
      return entry.outcome;
    case 'repeated':
      return outcomes.get(entry.first) ?? conductEntry(entry.first, outcomes, sequence);
    case 'call':
      return sequence.conduct(entry.index);
  }
}

/** Gives every call an id unique in its turn; keeps the provider's. */
export function identify(calls: readonly ToolCall[], turn: number): IdentifiedCall[] {
  return calls.map((call, index) =>
    identifyCall(call, () => {
      let made = `call_${turn}_${index}`;
      while (calls.some(({ id }) => id === made)) made += '_';
      return made;
    }),
  );
}

/** The tool message that reports the outcome of a call. */
export function toToolMessage({ callId, name, kind, text }: Outcome): Message {
  return { role: 'tool', callId, name, success: kind === 'ok', text };
}

function reusedId({ id }: IdentifiedCall): Ending {
  const message = `The call id \`${id}\` is already used in this message by another call.`;
  return failure('invalid', { code: 'call.invalid', reason: 'id_reused', message });
}

async function questionsOf(entries: readonly Entry[], scope: CallScope): Promise<PendingApproval[]> {
  const pending: PendingApproval[] = [];
  for (const entry of entries) {
    if (entry.type !== 'call' || entry.refused) continue;
    const { call } = entry;
    const prepared = prepare(call, scope);
    if (prepared.type === 'ended') continue;
    const verdict = await authorize(prepared.call, scope);
    if (verdict.type !== 'ask') continue;
    const question = await toPending(prepared.call, verdict.decisions, {
      scope,
      recorded: prepared.recorded,
      raw: call.arguments,
    });
    const { refusal, approved, waiting } = readEarlierAnswers(question, scope);
    // Already answered or refused; it is decided when its turn comes.
    if (refusal !== undefined || question.asks.every(({ policy }) => approved.has(policy))) continue;
    const known = waiting !== undefined && asksTheSame(waiting, question);
    if (!known) reportRequest(scope, question, call.arguments);
    pending.push(known ? waiting : question);
  }
  return pending;
}
