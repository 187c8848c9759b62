import {
  copyJson,
  HoldfastError,
  isPlainObject,
  type JsonObject,
  type Outcome,
  type RecordedOutcome,
  readOutcome,
} from '@holdfast/core';
import { compileSchema, describeIssues } from '@holdfast/schema';
import { jsonSchema } from '@holdfast/schema/json';
import type { LogRecord, Session } from '@holdfast/session';
import type { Course, LoopTurn } from './course.ts';

/** Where a loop is that waits for a person. */
export interface LoopState<Turn extends LoopTurn = LoopTurn> {
  /** Of which its predictor is; null for a function. */
  readonly signature: string | null;
  readonly loop: number;
  /** The caller's. */
  readonly input: JsonObject;
  readonly course: Course;
  /** The round that waits. */
  readonly turn: Turn;
}

export const text: JsonObject = { type: 'string' };
const anyObject: JsonObject = { type: 'object', additionalProperties: true };
const count: JsonObject = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };

/** An object with these members, all required but for `optional`, and any others. */
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
const outcome = objectOf({ ...outcomeTexts, value: {}, code: text }, ['code']);
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

/** Writes the states of one kind of loop as JSON, and reads them again. */
export interface StateFormat<State extends LoopState> {
  write(state: State): JsonObject;
  /** Reads what `write` wrote, or what somebody put in its place. @throws HoldfastError `modules.state_invalid`. */
  read(given: unknown, signature: string | null): State;
}

const version = 1;

/** `members`: what a state has beside those of every loop; of one of these kinds. */
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
    // What JSON leaves out, as the `code` of a success, must not be in it.
    write: (state) => JSON.parse(JSON.stringify({ type, version, ...state })) as JsonObject,
    read(given, signature) {
      const copied = copyJson(given, { maxDepth: 80 });
      if (!copied.ok) throw stateInvalid(copied.problem);
      const checked = shape.validate(copied.value);
      if (!checked.ok) throw stateInvalid(describeIssues(checked.issues).slice(0, 500));
      const state = checked.value;
      if (state.signature !== signature) throw stateInvalid('it is one of another predictor');
      const prefix = `loop_${state.loop}_${state.course.iterations - 1}_`;
      if (!state.turn.calls.every(({ callId }) => callId.startsWith(prefix)))
        throw stateInvalid('its calls are not of its round');
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
 * How calls of the round have ended, by their ids in the session: also those with which somebody else has gone on since, as with any
 * other call.
 *
 * @throws HoldfastError `modules.state_invalid` (the loop is none of the session's), `modules.state_used` (it has been gone on with),
 * `replay.no_content`, `log.not_readable`.
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

/** From now on the state is of no use: the predictor is going to be asked. */
export function recordResume(session: Session, { loop, course }: LoopState): void {
  session.record({ type: 'tool-loop-resume', loop, round: roundOf(course) });
}

/** The round that waits, counted from 0. */
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
    'modules.state_invalid',
    `The loop cannot be resumed with this state: ${problem}. Give the \`state\` of a suspended loop, and the same session.`,
  );
}

function stateUsed(): HoldfastError {
  return new HoldfastError(
    'modules.state_used',
    'The loop was resumed with this state before; its result is with that caller.',
  );
}

function withoutContent({ id }: Session): HoldfastError {
  return new HoldfastError(
    'replay.no_content',
    `The log of the session \`${id}\` was kept without content, so no loop in it can be resumed; pass \`approve\` to answer at once.`,
    { data: { sessionId: id } },
  );
}
