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

/** What became of the calls of one model message. */
export interface TurnResult {
  /** In call order, as far as the turn got; and of calls behind that had ended before. */
  readonly outcomes: readonly Outcome[];
  /** Not empty: the turn waits at the first of these, and nothing behind it has run. */
  readonly pending: readonly PendingApproval[];
}

/** What is known of the calls of a turn before it begins. */
export interface TurnOptions {
  /** Ends every call before its first stage. */
  readonly refusal?: ((call: IdentifiedCall) => Ending | undefined) | undefined;
  /** By the place of the call, of those that have ended before: the turn is gone on with. */
  readonly settled?: ReadonlyMap<number, Outcome> | undefined;
}

/**
 * Runs the calls of one message: each is decided on the state that the one before it left, and they commit in their order, though
 * those that only read run beside each other. The first call that nobody answers for stops the turn; the calls behind it are
 * only checked, so that all questions come together.
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

/** A call of a turn: it runs at its place in the sequence, has ended before, or is another one's that was sent twice. */
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

/** Gives every call an id of its turn: the provider's where it gave one. */
export function identify(calls: readonly ToolCall[], turn: number): IdentifiedCall[] {
  return calls.map((call, index) =>
    identifyCall(call, () => {
      let made = `call_${turn}_${index}`;
      while (calls.some(({ id }) => id === made)) made += '_';
      return made;
    }),
  );
}

/** The tool message that tells the model how a call ended. */
export function toToolMessage({ callId, name, kind, text }: Outcome): Message {
  return { role: 'tool', callId, name, success: kind === 'ok', text };
}

function reusedId({ id }: IdentifiedCall): Ending {
  const message = `The call id \`${id}\` was used before in this message for another call.`;
  return failure('invalid', { code: 'call.id.reused', message });
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
    // Answered already, one way or the other; it is decided when its turn comes.
    if (refusal !== undefined || question.asks.every(({ policy }) => approved.has(policy))) continue;
    const known = waiting !== undefined && asksTheSame(waiting, question);
    if (!known) reportRequest(scope, question, call.arguments);
    pending.push(known ? waiting : question);
  }
  return pending;
}
