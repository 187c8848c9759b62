import {
  copyJson,
  HoldfastError,
  isPlainObject,
  type JsonObject,
  type ModelUsage,
  type Outcome,
  type RecordedOutcome,
  readOutcome,
} from '@holdfast/core';
import type { LogRecord, Session } from '@holdfast/session';
import type { NamedCall } from './calls.ts';
import type { LoopCall } from './result.ts';

/** Where a loop is that waits for a person. */
export interface LoopState {
  /** Of which its predictor is; null for a function. */
  readonly signature: string | null;
  readonly loop: number;
  /** The one whose calls wait, counted from 0. */
  readonly round: number;
  /** The caller's. */
  readonly input: JsonObject;
  /** What the predictor is told of the calls that have ended. */
  readonly lines: readonly string[];
  /** That have ended, or are not run. */
  readonly calls: readonly LoopCall[];
  /** Of the round: the first waits, the others have not begun. */
  readonly waiting: readonly NamedCall[];
  readonly output: JsonObject;
  readonly usage: ModelUsage;
}

const type = 'tool-loop';
const version = 1;

export function writeState(state: LoopState): JsonObject {
  // What JSON leaves out, as the `code` of a success, must not be in it.
  return JSON.parse(JSON.stringify({ type, version, ...state })) as JsonObject;
}

/** Reads what `writeState` wrote, or what somebody has put in its place. @throws HoldfastError `modules.state_invalid`. */
export function readState(given: unknown, signature: string | null): LoopState {
  const copied = copyJson(given, { maxDepth: 80 });
  if (!copied.ok) throw stateInvalid(copied.problem);
  const state: unknown = copied.value;
  if (!isPlainObject(state) || state['type'] !== type) throw stateInvalid('it is none of a tool loop');
  if (state['version'] !== version) throw stateInvalid('it is one of another version');
  if (state['signature'] !== signature) throw stateInvalid('it is one of another predictor');
  const { loop, round, input, lines, calls, waiting, output, usage } = state;
  if (!isCount(loop) || !isCount(round)) throw stateInvalid('`loop` and `round` have to be counts');
  if (!isObject(input) || !isObject(output)) throw stateInvalid('`input` and `output` have to be objects');
  if (!isListOf(lines, isText)) throw stateInvalid('`lines` has to be a list of texts');
  if (!isListOf(calls, isLoopCall)) throw stateInvalid('`calls` has to be a list of calls');
  const prefix = `loop_${loop}_${round}_`;
  const isWaiting = (call: unknown): call is NamedCall => isNamedCall(call) && call.callId.startsWith(prefix);
  if (!isListOf(waiting, isWaiting) || waiting.length === 0) {
    throw stateInvalid('`waiting` has to be a list of calls of its round');
  }
  if (!isUsage(usage)) throw stateInvalid('`usage` has to be of counts');
  return {
    signature,
    loop,
    round,
    input,
    lines,
    calls: calls.map((call) => (call.outcome === undefined ? call : { ...call, outcome: withCode(call.outcome) })),
    waiting,
    output,
    usage,
  };
}

/**
 * How calls of the round have ended, by their ids in the session: also those with which somebody else has gone on since, as with any
 * other call.
 *
 * @throws HoldfastError `modules.state_invalid` (the loop is none of the session's), `modules.state_used` (it has been gone on with),
 * `replay.no_content`, `log.not_readable`.
 */
export function readEnds(
  session: Session,
  { loop, round, calls, waiting }: Pick<LoopState, 'loop' | 'round' | 'calls' | 'waiting'>,
): ReadonlyMap<string, Outcome> {
  if (session.content === 'none') throw withoutContent(session);
  const ends = new Map<string, Outcome>();
  for (const { outcome } of calls) if (outcome !== undefined) ends.set(outcome.callId, outcome);
  const wanted = new Set(waiting.map(({ callId }) => callId));
  let isKnown = false;
  for (const record of session.records(loop)) {
    if (record.type === 'tool-loop-start' && record['loop'] === loop) isKnown = true;
    if (record.type === 'tool-loop-resume' && record['loop'] === loop && record['round'] === round) throw stateUsed();
    const outcome = readEnd(record, wanted);
    if (outcome !== undefined) ends.set(outcome.callId, outcome);
  }
  if (!isKnown) throw stateInvalid(`the log of the session \`${session.id}\` has no such loop`);
  return ends;
}

/** From now on the state is of no use: the predictor is going to be asked. */
export function recordResume(session: Session, { loop, round }: Pick<LoopState, 'loop' | 'round'>): void {
  session.record({ type: 'tool-loop-resume', loop, round });
}

function readEnd(record: LogRecord, wanted: ReadonlySet<string>): Outcome | undefined {
  const { callId } = record;
  if (record.type !== 'tool-call-end' || typeof callId !== 'string' || !wanted.has(callId)) return undefined;
  const recorded: unknown = record['outcome'];
  if (!isPlainObject(recorded)) return undefined;
  const outcome: unknown = readOutcome(recorded as unknown as RecordedOutcome);
  return isOutcome(outcome) ? outcome : undefined;
}

export function withCode(outcome: Outcome): Outcome {
  return Object.freeze({ ...outcome, code: outcome.code ?? undefined });
}

export function isListOf<Item>(value: unknown, isItem: (item: unknown) => item is Item): value is readonly Item[] {
  return Array.isArray(value) && value.every((item) => isItem(item));
}

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

export function isUsage(value: unknown): value is ModelUsage {
  return isPlainObject(value) && isCount(value['inputTokens']) && isCount(value['outputTokens']);
}

/** Of what was copied as JSON. */
export function isObject(value: unknown): value is JsonObject {
  return isPlainObject(value);
}

function isCall(value: unknown): value is Record<'id' | 'name', string> & Record<string, unknown> {
  return isPlainObject(value) && isText(value['id']) && isText(value['name']) && value['args'] !== undefined;
}

export function isLoopCall(value: unknown): value is LoopCall {
  if (!isCall(value) || !isText(value['text'])) return false;
  return value['outcome'] === undefined || isOutcome(value['outcome']);
}

export function isNamedCall(value: unknown): value is NamedCall {
  if (!isCall(value) || !isText(value['callId'])) return false;
  return [value['refusal'], value['sameAs']].every((more) => more === undefined || isText(more));
}

function isOutcome(value: unknown): value is Outcome {
  if (!isPlainObject(value) || value['value'] === undefined) return false;
  if (value['code'] !== undefined && !isText(value['code'])) return false;
  return ['kind', 'callId', 'name', 'message', 'rendered', 'text'].every((key) => isText(value[key]));
}

export function stateInvalid(problem: string): HoldfastError {
  return new HoldfastError(
    'modules.state_invalid',
    `The state cannot be gone on with: ${problem}. Give what a suspended loop has as \`state\`, and the same session.`,
  );
}

function stateUsed(): HoldfastError {
  return new HoldfastError(
    'modules.state_used',
    'The loop has been gone on with from this state already; what it came to is with whoever did.',
  );
}

function withoutContent({ id }: Session): HoldfastError {
  return new HoldfastError(
    'replay.no_content',
    `The log of the session \`${id}\` was kept without content, so no loop in it can be gone on with; pass \`approve\` to answer at once.`,
    { data: { sessionId: id } },
  );
}
