import type { Outcome, PendingApproval } from '@holdfast/core';
import { reportRequest, toPending } from '../approval/ask.ts';
import { authorize } from '../approval/authorize.ts';
import { asksTheSame, readEarlierAnswers } from '../approval/earlier-answers.ts';
import { failure } from '../call/ending.ts';
import { prepare } from '../call/prepare.ts';
import type { CallScope } from '../call/scope.ts';
import type { Ending, IdentifiedCall, Suspended, TurnOptions, TurnResult } from '../call/types.ts';
import { CallSequence } from './call-sequence.ts';

/** Runs several calls of one message, as `runTurn`. */
export async function runCalls(
  calls: readonly IdentifiedCall[],
  scope: CallScope,
  options: TurnOptions,
): Promise<TurnResult> {
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

/** True if two calls with the same id are identical. */
export function isSameCall(a: IdentifiedCall, b: IdentifiedCall): boolean {
  if (a.name !== b.name) return false;
  if (a.arguments === b.arguments) return true;
  if (typeof a.arguments === 'string' || typeof b.arguments === 'string') return false;
  return JSON.stringify(a.arguments) === JSON.stringify(b.arguments);
}
