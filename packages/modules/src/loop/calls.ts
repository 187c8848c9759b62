import type { Json, Outcome, PendingApproval } from '@holdfast/core';
import type { Caller } from '@holdfast/executor';
import type { AskedCall } from './read-tool-call.ts';
import { type LoopCall, showName, tellOutcome } from './result.ts';

/** A call of a round with its ids: `id` for the predictor, `callId` in the session. JSON. */
export interface NamedCall {
  readonly id: string;
  readonly callId: string;
  readonly name: string;
  readonly args: Json;
  /** The reason why it is not run. */
  readonly refusal?: string;
  /** The `callId` of an equal call earlier in the round; this one is not run again. */
  readonly sameAs?: string;
}

export interface RoundPlace {
  readonly loop: number;
  /** Counted from 0. */
  readonly round: number;
  /** The ids of all earlier calls. */
  readonly taken: ReadonlySet<string>;
}

/** Maximum number of calls to run per round. */
const maxRoundCalls = 16;

/** The text for calls beyond the limit. */
export const overLimit: string = `Not run: at most ${maxRoundCalls} calls run per round.`;

/** Assigns ids to the calls of a round. Keeps the id of a provider unless an earlier round used it. */
export function nameCalls(asked: readonly AskedCall[], { loop, round, taken }: RoundPlace): readonly NamedCall[] {
  const named = new Map<string, NamedCall>();
  const free = (id: string): boolean => !taken.has(id) && !named.has(id);
  return asked.map(({ id: given, name, args }, index) => {
    const callId = `loop_${loop}_${round}_${index}`;
    const first = given === undefined ? undefined : named.get(given);
    if (first !== undefined) return repeat(first, { id: first.id, callId, name, args });
    let id = given !== undefined && free(given) ? given : `call_${round}_${index}`;
    while (!free(id)) id += '_';
    const call: NamedCall = { id, callId, name, args, ...(index < maxRoundCalls ? {} : { refusal: overLimit }) };
    named.set(id, call);
    return call;
  });
}

/** Two calls with the same id are meant as one. */
function repeat(first: NamedCall, call: NamedCall): NamedCall {
  const isSame = first.name === call.name && JSON.stringify(first.args) === JSON.stringify(call.args);
  if (!isSame) return { ...call, refusal: 'Invalid arguments: another call already used this id.' };
  return first.refusal === undefined ? { ...call, sameAs: first.callId } : { ...call, refusal: first.refusal };
}

export interface RunCallsOptions {
  readonly caller: Caller;
  /** For a resumed round: the known outcomes of its calls, by `callId`. */
  readonly earlier?: ReadonlyMap<string, Outcome>;
}

export interface RoundResult {
  /** The calls that have ended or are not run, in order. */
  readonly calls: readonly LoopCall[];
  /** If not empty, the first one waits for approval and the others have not started. */
  readonly waiting: readonly NamedCall[];
  readonly pending: readonly PendingApproval[];
  /** True if a budget had no room for a call. */
  readonly outOfCalls: boolean;
}

/** Runs the calls of a round in order, up to the first that waits for approval. */
export async function runCalls(
  calls: readonly NamedCall[],
  { caller, earlier }: RunCallsOptions,
): Promise<RoundResult> {
  const ended = new Map(earlier);
  const done: LoopCall[] = [];
  let outOfCalls = false;
  for (const [at, call] of calls.entries()) {
    const { id, callId, name, args, refusal, sameAs } = call;
    if (refusal !== undefined) {
      done.push(Object.freeze({ id, name, args, text: refusal }));
      continue;
    }
    const known = ended.get(sameAs ?? callId);
    const result = known ?? (await makeCall(call, caller, earlier !== undefined));
    if (result.kind === 'suspended')
      return { calls: done, waiting: calls.slice(at), pending: result.pending, outOfCalls };
    ended.set(callId, result);
    outOfCalls ||= result.kind !== 'failed' && result.code === 'budget.used' && result.reason === 'calls';
    done.push(Object.freeze({ id, name, args, outcome: result, text: tellOutcome(result) }));
  }
  return { calls: done, waiting: [], pending: [], outOfCalls };
}

function makeCall({ callId, name, args }: NamedCall, caller: Caller, resuming: boolean): ReturnType<Caller['execute']> {
  const isOpen = resuming && caller.session.openCall({ callId }) !== undefined;
  return isOpen ? caller.resume(callId) : caller.execute({ id: callId, name, arguments: args });
}

/** Results for calls that are not run. */
export function leaveCalls(calls: readonly NamedCall[], text: string): readonly LoopCall[] {
  return calls.map(({ id, name, args }) => Object.freeze({ id, name, args, text }));
}

/** Results for the calls of a round whose first call waits for approval. */
export function leaveWaiting(waiting: readonly NamedCall[]): readonly LoopCall[] {
  return [...leaveCalls(waiting.slice(0, 1), waits), ...leaveCalls(waiting.slice(1), waitsBehind)];
}

const waits = 'Waiting for approval.';
const waitsBehind = 'Waiting for an earlier call.';

/** The results of calls for the next round: one line each, and one for all calls beyond the limit. */
export function toContextLines(calls: readonly LoopCall[]): readonly string[] {
  const told = calls.filter(({ text }) => text !== overLimit);
  const lines = told.map(({ name, outcome, text }) => {
    const word = outcome?.kind === 'ok' ? 'returned' : 'failed';
    return `Tool '${showName(name)}' ${word}: ${toOneLine(text)}`;
  });
  const more = calls.length - told.length;
  if (more > 0) lines.push(`${more} more calls were not run: at most ${maxRoundCalls} calls run per round.`);
  return lines;
}

/** Keeps the text of a tool on one line, so that it cannot pass for the result of another call. */
function toOneLine(text: string): string {
  return text.replaceAll(lineBreaks, '\\n');
}

const lineBreaks = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g;
