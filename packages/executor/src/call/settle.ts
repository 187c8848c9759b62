import type { Json, Outcome, SessionEvent, Tool, ToolCallEndEvent } from '@holdfast/core';
import {
  copyJson,
  cutMiddle,
  describeThrown,
  isToolResult,
  maxResultCharsOf,
  minResultChars,
  ReadOnlyMap,
  renderJson,
  toOutcomeText,
} from '@holdfast/core/internal';
import type { ThrownError, Touched } from '@holdfast/core/types';
import { describeIssues } from '@holdfast/schema';
import type { LogEntry } from '@holdfast/session';
import {
  afterAttempts,
  failure,
  learnReturned,
  omitArguments,
  readFailure,
  shortText,
  toRecorded,
  toThrownError,
  toWrites,
  uncommitted,
  withDoubt,
} from './ending.ts';
import type { CallRecord, RunningCall } from './running-call.ts';
import type { CompiledTool, Ending, Invoked } from './types.ts';

/** Resource changes that are ready to apply. `mark` identifies them for `recover`. */
export interface PreparedResources {
  readonly touched: ReadonlyMap<string, Touched>;
  readonly mark: string | undefined;
}
const none: readonly never[] = Object.freeze([]);
const nothingPrepared: PreparedResources = { touched: new ReadOnlyMap(), mark: undefined };

/**
 * Ends a call after its tool: commits a success with the policies' next states in one record, and discards anything else, even if
 * something throws. Returns the end event, which is already logged.
 */
export function settle(invoked: Invoked, call: RunningCall): ToolCallEndEvent | Promise<ToolCallEndEvent> {
  const { compiled, scope } = call;
  // The tool is done: anything it does while policies run and resources are prepared comes too late.
  call.seal();
  const { redactor } = scope.session;
  if (redactor !== undefined && invoked.type === 'returned') learnReturned(redactor, compiled, invoked.value);
  const answer = readAnswer(invoked, compiled, call.preparing);
  // Most calls use no resource and settle synchronously.
  if (call.resources?.holds === true) return scope.features.settleStaged(answer, call);
  if (answer.kind !== 'ok') return drop(withDoubt(answer, compiled.tool, call), call);
  const committed = commit(answer, call);
  return committed instanceof Promise ? committed.then((late) => orDrop(late, call)) : orDrop(committed, call);
}

function orDrop(committed: ToolCallEndEvent | Ending, call: RunningCall): ToolCallEndEvent {
  return 'type' in committed ? committed : drop(committed, call);
}

/** Discards what the session has staged and records the end. */
export function drop(ending: Ending, call: RunningCall): ToolCallEndEvent {
  call.written?.discard();
  const { resuming } = call.scope;
  return recordEnd(resuming === undefined ? ending : resuming.doubt(ending, call, true), call);
}

/** Records the end of a call whose own changes do not count. */
export function recordEnd(ending: Ending, call: CallRecord): ToolCallEndEvent {
  const { features, session } = call.scope;
  const reserved = call.reservations === undefined ? undefined : features.recordReserved(call, ending);
  if (reserved !== undefined) return reserved;
  const event = toEndEvent(ending, call);
  session.record(toLogEntry(event, ending, call));
  return event;
}

/**
 * Commits a successful call if its decision still holds, or returns why it cannot. Synchronous unless other calls committed first and
 * policies need time.
 */
export function commit(
  answer: Ending,
  call: RunningCall,
  prepared: PreparedResources = nothingPrepared,
): ToolCallEndEvent | Ending | Promise<ToolCallEndEvent | Ending> {
  return isOvertaken(call)
    ? call.scope.features.commitOvertaken(() => commitDecided(answer, call, prepared), call)
    : commitDecided(answer, call, prepared);
}

/**
 * True if another call committed after this one was decided, so its decision may be stale. External calls are not decided again:
 * their effect has happened, and `reserve` of a policy accounts for it.
 */
export function isOvertaken({ decidedAt, call, scope }: RunningCall): boolean {
  return decidedAt !== undefined && decidedAt !== scope.moves.count && call.tool.effects !== 'external';
}

/** Stages the policies' states and writes the commit record, or returns why that failed. */
function commitDecided(ending: Ending, call: RunningCall, prepared: PreparedResources): ToolCallEndEvent | Ending {
  const { scope, compiled } = call;
  try {
    if (call.brokenBy !== undefined) throw call.brokenBy.thrown;
    const before = call.written?.changes.length ?? 0;
    if (scope.observers.length > 0)
      scope.features.updatePolicies(ending, call, prepared === nothingPrepared ? undefined : prepared.touched);
    const { written } = call;
    const event = toEndEvent(ending, call, {
      touched: prepared.touched,
      mark: prepared.mark,
      events: written === undefined ? none : written.events,
      changes: written === undefined ? none : written.changes,
    });
    const entry = toLogEntry(event, ending, call);
    if (written === undefined) scope.session.record(entry);
    else written.commit(entry);
    if (scope.nested) scope.parent?.nested.note(call, written?.changes.slice(before) ?? none, prepared.touched);
    else {
      const { observers, moves } = scope;
      const mayMove = observers.length > 0 || event.changes !== undefined || (moves.looked && event.events.length > 0);
      if (mayMove) moves.count += 1;
    }
    if (call.reservations !== undefined) scope.features.endReserved(call);
    return event;
  } catch (thrown) {
    return uncommitted(thrown, compiled.tool);
  }
}

/** Reads the tool's result: a success with a valid value, or the reason for a failure. */
export function readAnswer(invoked: Invoked, compiled: CompiledTool, preparing = false): Ending {
  if (invoked.type !== 'returned') return readFailure(invoked, compiled, preparing);
  try {
    const { value } = invoked;
    if (!isToolResult(value)) return readValue(value, '', false, compiled);
    return value.success
      ? readValue(value.value, String(value.message), value.excludeValueFromContext, compiled)
      : readFailure(invoked, compiled);
  } catch (thrown) {
    // The result has throwing getters.
    const message = `The result of \`${compiled.tool.name}\` cannot be read.`;
    return failure('invalid', { code: 'output.invalid', reason: 'unreadable', message }, { thrown });
  }
}

function readValue(value: unknown, message: string, excluded: boolean, { tool, output }: CompiledTool): Ending {
  const copied = copyJson(value);
  if (value === undefined) {
    const nothing = `\`${tool.name}\` returned nothing. Return JSON, or null for no value.`;
    return failure('invalid', { code: 'output.invalid', reason: 'undefined', message: nothing });
  }
  if (!copied.ok) {
    const problem = `\`${tool.name}\` returned a value that is not JSON: ${copied.problem}.`;
    return failure('invalid', { code: 'output.invalid', reason: 'not_json', message: problem });
  }
  // The value stays as returned: its type is the schema's output type, so nothing needs converting.
  const validation = output?.validate(copied.value);
  if (validation?.ok === false) {
    // Schema messages quote the value: they are for observers and the log. If the value is excluded, its keys are hidden too.
    const places = excluded ? [] : validation.issues.slice(0, 3).filter(({ path }) => path !== '');
    const where = places.length === 0 ? '' : ` at ${places.map(({ path }) => `\`${path.slice(0, 100)}\``).join(', ')}`;
    const refusal = `\`${tool.name}\` returned a value that its output schema rejects${where}`;
    const detail = new Error(`${refusal}: ${describeIssues(validation.issues)}`);
    return failure('invalid', { code: 'output.invalid', message: `${refusal}.` }, { thrown: detail });
  }
  let ownRendering = tool.renderResult !== undefined && copied.value !== null;
  let rendered: string;
  let error: ThrownError | undefined;
  try {
    rendered = ownRendering ? renderByTool(tool, copied.value) : renderJson(copied.value);
  } catch (thrown) {
    // The tool has done its work: an error in rendering the result is not a failure of the call.
    ownRendering = false;
    rendered = renderJson(copied.value);
    const why = `\`renderResult\` of \`${tool.name}\` failed, so the value was sent as JSON: ${describeThrown(thrown)}`;
    error = toThrownError(thrown, { code: 'output.render_failed', message: why });
  }
  const text = toOutcomeText('ok', message, excluded ? '' : rendered);
  return { kind: 'ok', code: undefined, message, value: copied.value, excluded, rendered, text, ownRendering, error };
}

function renderByTool({ renderResult }: Tool, value: Json): string {
  const rendered: unknown = renderResult?.(value);
  if (typeof rendered === 'string') return rendered;
  // Handled here: an unhandled rejection would end the process.
  void Promise.allSettled([rendered]);
  throw new TypeError(`renderResult must return a string, got ${typeof rendered}.`);
}

export interface Committed extends PreparedResources {
  readonly events: readonly SessionEvent[];
  readonly changes: readonly Json[];
}

const nothing: Committed = { ...nothingPrepared, events: none, changes: none };

/** Creates the one end event of a call. `committed`: the session changes recorded with it. */
export function toEndEvent(ending: Ending, call: CallRecord, committed: Committed = nothing): ToolCallEndEvent {
  const { source, scope, startedAtMs, finishedAtMs, waitedMs, retries } = call;
  const attempts = retries === undefined ? undefined : retries.length + 1;
  const { kind, code, reason, message, value, rendered, text } =
    attempts === undefined ? ending : afterAttempts(ending, attempts);
  const outcome: Outcome = Object.freeze({
    kind,
    callId: source.id,
    name: source.name,
    code,
    reason,
    message,
    value,
    rendered,
    text: text.length <= minResultChars ? text : cutMiddle(text, maxCharsOf(call)),
    attempts,
  });
  const endedAtMs = finishedAtMs ?? scope.clock.now() - waitedMs;
  // All fields are present, `undefined` or not: objects of one shape are faster, and JSON omits `undefined`.
  return {
    type: 'tool-call-end',
    callId: source.id,
    parentId: scope.parent?.call.id,
    run: scope.run?.startSeq,
    turn: call.turn,
    name: source.name,
    rawArguments: source.arguments,
    input: call.input,
    decisions: call.decisions,
    facts: scope.facts === undefined ? undefined : scope.facts.recorded(call),
    approval: call.approval,
    outcome,
    events: committed.events,
    changes: committed.changes.length === 0 ? undefined : committed.changes,
    writes: committed.touched === nothingPrepared.touched ? none : toWrites(committed.touched),
    mark: committed.mark,
    error: ending.error,
    retries,
    abandoned: ending.abandoned,
    startedAtMs,
    // Never negative, even if the clock was set back.
    durationMs: Math.max(0, endedAtMs - startedAtMs),
    waitedMs: waitedMs > 0 ? waitedMs : undefined,
  };
}

/**
 * The event as logged: without the stack, texts that can be derived from the value, and long refused arguments. For most calls it is
 * the event itself.
 */
export function toLogEntry(event: ToolCallEndEvent, ending: Ending, call: CallRecord): LogEntry {
  const { error, input, outcome, rawArguments } = event;
  const short = ending.text.length <= shortText && ending.rendered.length <= shortText;
  const omitted = input === undefined ? omitArguments(rawArguments, call.scope.session.redactor) : undefined;
  const kept =
    short && error === undefined && omitted === undefined
      ? event
      : {
          ...event,
          ...(short ? {} : { outcome: toRecorded(outcome, ending, maxCharsOf(call)) }),
          ...(error === undefined ? {} : { error: { ...error } }),
          ...omitted,
        };
  // JSON except for undefined fields, which JSON omits.
  return kept as unknown as LogEntry;
}

function maxCharsOf({ source, scope }: CallRecord): number {
  return maxResultCharsOf(scope.maxResultChars, scope.toolset.byName.get(source.name)?.tool.maxResultChars);
}
