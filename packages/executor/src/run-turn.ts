import type { Message, Outcome, PendingApproval, ToolCall } from '@holdfast/core';
import { toPending } from './approval.ts';
import { authorise } from './authorise.ts';
import type { CallScope } from './call-scope.ts';
import { CallSequence } from './call-sequence.ts';
import { conductCall, prepare } from './conduct-call.ts';
import { type Ending, failure } from './ending.ts';
import { type IdentifiedCall, identifyCall } from './identified-call.ts';
import { report } from './permit.ts';

/** What became of the calls of one model message. */
export interface TurnResult {
  /** In call order, as far as the turn got. */
  readonly outcomes: readonly Outcome[];
  /** Not empty: the turn waits at the first of these, and nothing behind it has run. */
  readonly pending: readonly PendingApproval[];
}

/**
 * Runs the calls of one message: each is decided on the state that the one before it left, and they commit in their order, though
 * those that only read run beside each other. The first call that nobody answers for stops the turn; the calls behind it are
 * only checked, so that all questions come together. `refusal` ends every call before its first stage.
 */
export async function runTurn(
  calls: readonly IdentifiedCall[],
  scope: CallScope,
  refusal?: (call: IdentifiedCall) => Ending,
): Promise<TurnResult> {
  const [only] = calls;
  if (only !== undefined && calls.length === 1) {
    const result = await conductCall(only, scope, { refusal: refusal?.(only) });
    return result.kind === 'suspended'
      ? { outcomes: [], pending: result.pending }
      : { outcomes: [result], pending: [] };
  }
  const sequence = new CallSequence(scope);
  try {
    return await runSequence(toEntries(calls, sequence, refusal), { sequence, scope });
  } catch (thrown) {
    await sequence.abandon();
    throw thrown;
  }
}

interface Entry {
  readonly call: IdentifiedCall;
  /** Its place in the sequence; for one that was sent twice that of the first. */
  readonly index: number;
  readonly repeated: boolean;
  readonly refusal?: Ending | undefined;
}

function toEntries(
  calls: readonly IdentifiedCall[],
  sequence: CallSequence,
  refusal: ((call: IdentifiedCall) => Ending) | undefined,
): readonly Entry[] {
  const first = new Map<string, Entry>();
  return calls.map((call) => {
    const same = first.get(call.id);
    if (same !== undefined && isSameCall(same.call, call)) return { call, index: same.index, repeated: true };
    const ending = refusal?.(call) ?? (same === undefined ? undefined : reusedId(call));
    const entry = { call, index: sequence.add(call, ending), repeated: false, refusal: ending };
    if (same === undefined) first.set(call.id, entry);
    return entry;
  });
}

async function runSequence(
  entries: readonly Entry[],
  { sequence, scope }: { readonly sequence: CallSequence; readonly scope: CallScope },
): Promise<TurnResult> {
  const outcomes: Outcome[] = [];
  const byIndex = new Map<number, Outcome>();
  for (const [at, { index, repeated }] of entries.entries()) {
    const known = repeated ? byIndex.get(index) : undefined;
    const result = known ?? (await sequence.conduct(index));
    if (result.kind === 'suspended') {
      await sequence.abandon();
      const behind = entries.slice(at + 1).filter(({ repeated, refusal }) => !repeated && refusal === undefined);
      return { outcomes, pending: [...result.pending, ...(await questionsOf(behind, scope))] };
    }
    byIndex.set(index, result);
    outcomes.push(result);
  }
  return { outcomes, pending: [] };
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

/** Why no call of a message that was cut is run. */
export function truncated({ name }: IdentifiedCall): Ending {
  const message = `The message ended before the call of \`${name}\` was surely complete, so it was not run. Send it again, shorter.`;
  return failure('truncated', { code: 'call.truncated', message });
}

function reusedId({ id }: IdentifiedCall): Ending {
  const message = `The call id \`${id}\` was used before in this message for another call.`;
  return failure('invalid', { code: 'call.id.reused', message });
}

function isSameCall(a: IdentifiedCall, b: IdentifiedCall): boolean {
  if (a.name !== b.name) return false;
  return a.arguments === b.arguments || JSON.stringify(a.arguments) === JSON.stringify(b.arguments);
}

async function questionsOf(entries: readonly Entry[], scope: CallScope): Promise<PendingApproval[]> {
  const pending: PendingApproval[] = [];
  for (const { call } of entries) {
    const prepared = prepare(call, scope);
    if (prepared.type === 'ended') continue;
    const verdict = await authorise(prepared.call, scope);
    if (verdict.type !== 'ask') continue;
    const question = toPending(prepared.call, verdict.decisions, { scope, recorded: prepared.recorded });
    report(scope, { type: 'approval-request', pending: question });
    pending.push(question);
  }
  return pending;
}
