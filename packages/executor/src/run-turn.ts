import type { Json, Message, Outcome, PendingApproval, ToolCall } from '@holdfast/core';
import { toPending } from './approval.ts';
import { authorise } from './authorise.ts';
import type { CallScope } from './call-scope.ts';
import { failure } from './ending.ts';
import { conductCall, prepare } from './execute-tool-call.ts';
import type { IdentifiedCall } from './trail.ts';

/** What became of the calls of one model message. */
export interface TurnResult {
  /** In call order, as far as the turn got. */
  readonly outcomes: readonly Outcome[];
  /** Not empty: the turn waits at the first of these, and nothing behind it has run. */
  readonly pending: readonly PendingApproval[];
}

/**
 * Runs the calls of one message in their order, each decided on the state that the one before it left. The first call that
 * nobody answers for stops the turn; the calls behind it are only checked, so that all questions come together.
 */
export async function runTurn(calls: readonly IdentifiedCall[], cut: boolean, scope: CallScope): Promise<TurnResult> {
  const outcomes: Outcome[] = [];
  const first = new Map<string, { readonly call: IdentifiedCall; readonly outcome: Outcome }>();
  let index = 0;
  for (const call of calls) {
    index += 1;
    const same = first.get(call.id);
    if (same !== undefined && isSameCall(same.call, call)) {
      outcomes.push(same.outcome);
      continue;
    }
    const result = await conductCall(call, scope, refusal(call, cut, same !== undefined));
    if (result.kind === 'suspended') {
      return { outcomes, pending: [...result.pending, ...(await questionsOf(calls.slice(index), scope))] };
    }
    if (same === undefined) first.set(call.id, { call, outcome: result });
    outcomes.push(result);
  }
  return { outcomes, pending: [] };
}

/** Gives every call an id of its turn: the provider's where it gave one. */
export function identify(calls: readonly ToolCall[], turn: number): IdentifiedCall[] {
  return calls.map((call, index) => ({
    id: call.id === undefined || call.id === '' ? `call_${turn}_${index}` : call.id,
    name: call.name,
    arguments: call.arguments,
  }));
}

/** The tool message that tells the model how a call ended. */
export function toToolMessage({ callId, name, kind, text }: Outcome): Message {
  return { role: 'tool', callId, name, success: kind === 'ok', text };
}

function refusal(
  { id, name }: IdentifiedCall,
  cut: boolean,
  repeated: boolean,
): ReturnType<typeof failure> | undefined {
  if (cut) {
    const message = `The message ended before the call of \`${name}\` was surely complete, so it was not run. Send it again, shorter.`;
    return failure('truncated', { code: 'call.truncated', message });
  }
  if (!repeated) return undefined;
  return failure('invalid', {
    code: 'call.id.reused',
    message: `The call id \`${id}\` was used before in this message for another call.`,
  });
}

function isSameCall(a: IdentifiedCall, b: IdentifiedCall): boolean {
  return a.name === b.name && (a.arguments === b.arguments || textOf(a.arguments) === textOf(b.arguments));
}

function textOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value as Json);
  } catch {
    // A cycle, say: such arguments are refused anyway, each on its own.
    return undefined;
  }
}

async function questionsOf(calls: readonly IdentifiedCall[], scope: CallScope): Promise<PendingApproval[]> {
  const pending: PendingApproval[] = [];
  for (const call of calls) {
    const prepared = prepare(call, scope);
    if (prepared.type === 'ended') continue;
    const verdict = await authorise(prepared.call, scope);
    if (verdict.type === 'ask') pending.push(toPending(prepared.call, verdict.decisions));
  }
  return pending;
}
