import { HoldfastError, type JsonObject, type Outcome } from '@holdfast/core';
import { copyJson, isPlainObject, type RecordedOutcome, readOutcome } from '@holdfast/core/internal';
import { compileSchema, describeIssues } from '@holdfast/schema';
import { jsonSchema } from '@holdfast/schema/json';
import type { LogRecord, Session } from '@holdfast/session';
import type { Course, LoopTurn } from './course.ts';

/** The state of a loop that waits for approval. */
export interface LoopState<Turn extends LoopTurn = LoopTurn> {
  /** The signature of its predictor; null for a function. */
  readonly signature: string | null;
  readonly loop: number;
  /** The caller's input. */
  readonly input: JsonObject;
  readonly course: Course;
  /** The round that waits. */
  readonly turn: Turn;
}

export const text: JsonObject = { type: 'string' };
const anyObject: JsonObject = { type: 'object', additionalProperties: true };
const count: JsonObject = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };

/** The schema of an object with these members, required unless in `optional`, and any others. */
export function objectOf(
  properties: Readonly<Record<string, JsonObject>>,
  optional: readonly string[] = [],
): JsonObject {
  const required = Object.keys(properties).filter((key) => !optional.includes(key));
  return { type: 'object', properties, required, additionalProperties: true };
}

export function listOf(items: JsonObject): JsonObject {
  return { type: 'array', items };
}

const call = { id: text, name: text, args: {} };
const outcomeTexts = { kind: text, callId: text, name: text, message: text, rendered: text, text };
const outcome = objectOf({ ...outcomeTexts, value: {}, code: text, reason: text }, ['code', 'reason']);
const course = objectOf({
  iterations: count,
  requests: count,
  usage: objectOf({ inputTokens: count, outputTokens: count }),
  calls: listOf(objectOf({ ...call, text, outcome }, ['outcome'])),
  partial: anyObject,
});
const turnCalls: JsonObject = {
  ...listOf(objectOf({ ...call, callId: text, refusal: text, sameAs: text }, ['refusal', 'sameAs'])),
  minItems: 1,
};

export const shapes: { readonly count: JsonObject; readonly turnCalls: JsonObject } = { count, turnCalls };

/** Writes and reads the states of one kind of loop as JSON. */
export interface StateFormat<State extends LoopState> {
  write(state: State): JsonObject;
  /** Reads the result of `write`, which may have been tampered with. @throws HoldfastError `modules.invalid`. */
  read(given: unknown, signature: string | null): State;
}

const version = 1;

/** `members`: the members beyond those of every loop, as one of these variants. */
export function createStateFormat<State extends LoopState>(
  type: string,
  ...members: readonly Readonly<Record<string, JsonObject>>[]
): StateFormat<State> {
  const common = { type: { const: type }, version: { const: version }, loop: count, input: anyObject, course };
  const shape = compileSchema<State>(
    jsonSchema({
      anyOf: members.map((own) => objectOf({ ...common, signature: { type: ['string', 'null'] }, ...own })),
    }),
  );
  return {
    // Drops undefined members, such as the `code` of a success.
    write: (state) => JSON.parse(JSON.stringify({ type, version, ...state })) as JsonObject,
    read(given, signature) {
      const copied = copyJson(given, { maxDepth: 80 });
      if (!copied.ok) throw stateInvalid(copied.problem);
      const checked = shape.validate(copied.value);
      if (!checked.ok) throw stateInvalid(describeIssues(checked.issues).slice(0, 500));
      const state = checked.value;
      if (state.signature !== signature) throw stateInvalid('it belongs to another predictor');
      const prefix = `loop_${state.loop}_${state.course.iterations - 1}_`;
      if (!state.turn.calls.every(({ callId }) => callId.startsWith(prefix)))
        throw stateInvalid('its calls do not belong to its round');
      return { ...state, course: { ...state.course, calls: state.course.calls.map(withCode) } };
    },
  };
}

function withCode<Call extends { readonly outcome?: Outcome }>(made: Call): Call {
  const { outcome } = made;
  return outcome === undefined
    ? made
    : { ...made, outcome: Object.freeze({ ...outcome, code: outcome.code ?? undefined }) };
}

/**
 * The outcomes of calls of the round by their ids in the session, including calls that were resumed individually in the meantime.
 *
 * @throws HoldfastError `modules.invalid` (the loop is not in this session, or was already resumed),
 * `replay.failed`, `log.unreadable`.
 */
export function readEnds(session: Session, { loop, course, turn }: LoopState): ReadonlyMap<string, Outcome> {
  if (session.content === 'none') throw withoutContent(session);
  const ends = new Map<string, Outcome>();
  for (const { outcome } of course.calls) if (outcome !== undefined) ends.set(outcome.callId, outcome);
  const wanted = new Set(turn.calls.map(({ callId }) => callId));
  let isKnown = false;
  for (const record of session.records(loop)) {
    if (record.type === 'tool-loop-start' && record['loop'] === loop) isKnown = true;
    if (record.type === 'tool-loop-resume' && record['loop'] === loop && record['round'] === roundOf(course))
      throw stateUsed();
    const outcome = readEnd(record, wanted);
    if (outcome !== undefined) ends.set(outcome.callId, outcome);
  }
  if (!isKnown) throw stateInvalid(`the log of the session \`${session.id}\` has no such loop`);
  return ends;
}

/** Marks the state as used, because the predictor is about to be asked. */
export function recordResume(session: Session, { loop, course }: LoopState): void {
  session.record({ type: 'tool-loop-resume', loop, round: roundOf(course) });
}

/** The index of the waiting round, from 0. */
function roundOf({ iterations }: Course): number {
  return iterations - 1;
}

function readEnd(record: LogRecord, wanted: ReadonlySet<string>): Outcome | undefined {
  const { callId } = record;
  if (record.type !== 'tool-call-end' || typeof callId !== 'string' || !wanted.has(callId)) return undefined;
  const recorded: unknown = record['outcome'];
  if (!isPlainObject(recorded)) return undefined;
  const outcome: unknown = readOutcome(recorded as unknown as RecordedOutcome);
  return isOutcome(outcome) ? outcome : undefined;
}

function isOutcome(value: unknown): value is Outcome {
  if (!isPlainObject(value) || value['value'] === undefined) return false;
  return Object.keys(outcomeTexts).every((key) => typeof value[key] === 'string');
}

export function stateInvalid(problem: string): HoldfastError {
  return new HoldfastError(
    'modules.invalid',
    `Cannot resume the loop from this state: ${problem}. Pass the \`state\` of a suspended loop and the same session.`,
    { data: { reason: 'state' } },
  );
}

function stateUsed(): HoldfastError {
  return new HoldfastError(
    'modules.invalid',
    'The loop was already resumed from this state; that caller has the result.',
    { data: { reason: 'state_used' } },
  );
}

function withoutContent({ id }: Session): HoldfastError {
  return new HoldfastError(
    'replay.failed',
    `The log of the session \`${id}\` has no content, so its loops cannot be resumed. Pass \`approve\` to answer immediately.`,
    { data: { reason: 'no_content', sessionId: id } },
  );
}
