import type { Json, Outcome, PendingApproval } from '@holdfast/core';
import type { Caller } from '@holdfast/executor';
import type { AskedCall } from './read-tool-call.ts';
import { type LoopCall, showName, tellOutcome } from './result.ts';

/** A call of a round with its names: `id` for the predictor, `callId` in the session. JSON. */
export interface NamedCall {
  readonly id: string;
  readonly callId: string;
  readonly name: string;
  readonly args: Json;
  /** Why it is not run. */
  readonly refusal?: string;
  /** The same call was asked for before in the round, under this `callId`: it is not run again. */
  readonly sameAs?: string;
}

export interface RoundPlace {
  readonly loop: number;
  /** Counted from 0. */
  readonly round: number;
  /** Ids of all calls before. */
  readonly taken: ReadonlySet<string>;
}

/** How many calls of a round are run. */
const maxRoundCalls = 16;

/** Of calls behind them. */
export const overLimit: string = `Not run: at most ${maxRoundCalls} calls of a round are run.`;

/** Gives calls the names that they have in a loop. An id that a provider gave stays, unless an earlier round had it. */
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

/** Who sends a call twice under one id means one call. */
function repeat(first: NamedCall, call: NamedCall): NamedCall {
  const isSame = first.name === call.name && JSON.stringify(first.args) === JSON.stringify(call.args);
  if (!isSame) return { ...call, refusal: 'Invalid arguments: its id was used before, for another call.' };
  return first.refusal === undefined ? { ...call, sameAs: first.callId } : { ...call, refusal: first.refusal };
}

export interface RunCallsOptions {
  readonly caller: Caller;
  /** The round is gone on with: what is known of its calls, by `callId`. */
  readonly earlier?: ReadonlyMap<string, Outcome>;
}

export interface RoundResult {
  /** That have ended, or are not run, in order. */
  readonly calls: readonly LoopCall[];
  /** Not empty: the first of them waits for a person, and nothing behind it has begun. */
  readonly waiting: readonly NamedCall[];
  readonly pending: readonly PendingApproval[];
  /** A budget had no room for one of them. */
  readonly outOfCalls: boolean;
}

/** Runs the calls of a round one after another, up to the first that waits for a person. */
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
    outOfCalls ||= result.kind !== 'failed' && result.code === 'budget.calls';
    done.push(Object.freeze({ id, name, args, outcome: result, text: tellOutcome(result) }));
  }
  return { calls: done, waiting: [], pending: [], outOfCalls };
}

function makeCall({ callId, name, args }: NamedCall, caller: Caller, resuming: boolean): ReturnType<Caller['execute']> {
  const isOpen = resuming && caller.session.openCall({ callId }) !== undefined;
  return isOpen ? caller.resume(callId) : caller.execute({ id: callId, name, arguments: args });
}

/** Calls that are not run at all, as a result tells of them. */
export function leaveCalls(calls: readonly NamedCall[], text: string): readonly LoopCall[] {
  return calls.map(({ id, name, args }) => Object.freeze({ id, name, args, text }));
}

/** Calls of a round of which the first waits for a person. */
export function leaveWaiting(waiting: readonly NamedCall[]): readonly LoopCall[] {
  return [...leaveCalls(waiting.slice(0, 1), waits), ...leaveCalls(waiting.slice(1), waitsBehind)];
}

const waits = 'Waits for the answer of a person.';
const waitsBehind = 'Waits for a call before it.';

/** What the next round is told of calls: a line for each, and one for all that were too many. */
export function toContextLines(calls: readonly LoopCall[]): readonly string[] {
  const told = calls.filter(({ text }) => text !== overLimit);
  const lines = told.map(({ name, outcome, text }) => {
    const word = outcome?.kind === 'ok' ? 'returned' : 'failed';
    return `Tool '${showName(name)}' ${word}: ${toOneLine(text)}`;
  });
  const more = calls.length - told.length;
  if (more > 0) lines.push(`${more} more calls were not run: at most ${maxRoundCalls} of a round are.`);
  return lines;
}

/** What a tool says cannot begin a line of its own, which might look like that of another call. */
function toOneLine(text: string): string {
  return text.replaceAll(lineBreaks, '\\n');
}

const lineBreaks = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g;
