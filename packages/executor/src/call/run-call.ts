import type { JsonObject, Outcome, Tool, ToolCallEndEvent } from '@holdfast/core';
import { toProblem, within } from '@holdfast/core/internal';
import { CallContext } from './context.ts';
import { endOfLife, failure } from './ending.ts';
import { isThenable, waitForAnswer } from './execute.ts';
import { learnArguments, prepare } from './prepare.ts';
import { CallRecord, RunningCall } from './running-call.ts';
import type { CallScope } from './scope.ts';
import { recordEnd, settle } from './settle.ts';
import type { Answer, Ended, Ending, IdentifiedCall, Invoked, Permitted, Suspended } from './types.ts';

/** A call whose body runs elsewhere; `settleToolCall` ends it, in any process that has the session's log open. */
export interface Released {
  readonly kind: 'released';
}

/** A call that no policy asks about. It leaves no record, and is decided again when it runs. */
export interface Unasked {
  readonly kind: 'unasked';
}

export interface RunCallOptions<Elsewhere extends Released | Unasked = never> {
  /** Takes over the call where its body would begin. */
  readonly elsewhere?: ((call: RunningCall) => Promise<Outcome | Elsewhere>) | undefined;
  /** The result of a permitted call, which then goes no further. */
  readonly ahead?: Elsewhere | undefined;
  /** Ends the call before its first stage. */
  readonly refusal?: Ending | undefined;
  /** Called when the tool begins; from then on the call cannot be suspended. */
  readonly onEntered?: (() => void) | undefined;
  /** Called when the call has ended or is suspended. */
  readonly onEnd?: (() => void) | undefined;
}

const plainly: RunCallOptions = {};

/**
 * Runs the stages of one call: parse, authorize and approve, enter (budgets, start record), execute, settle. Each stage takes the
 * result of the one before; a call that ends early leaves only its record.
 */
export async function runCall<Elsewhere extends Released | Unasked = never>(
  source: IdentifiedCall,
  scope: CallScope,
  { refusal, elsewhere, ahead, onEntered, onEnd }: RunCallOptions<Elsewhere> = plainly,
): Promise<Outcome | Suspended | NoInfer<Elsewhere>> {
  const startedAtMs = tellStart(source, scope);
  try {
    const prepared = refusal === undefined ? prepare(source, scope) : toEnded(refusal);
    if (prepared.type === 'ended') return endUnentered(prepared.ending, begin(source, scope, startedAtMs));
    const call = new RunningCall(source, prepared, { scope, startedAtMs });
    if (scope.resuming !== undefined) scope.resuming.note(call);

    const permitting = permit(call);
    const permitted = permitting instanceof Promise ? await permitting : permitting;
    if (permitted.type === 'suspended') {
      if (scope.run === undefined) scope.features.keepWaiting(source, scope);
      return { kind: 'suspended', pending: [permitted.pending] };
    }
    if (permitted.type === 'ended') return endUnentered(permitted.ending, call);
    if (ahead !== undefined) return ahead;

    const refused = enter(call, elsewhere !== undefined);
    if (refused !== undefined) return endUnentered(refused.ending, call);
    if (elsewhere !== undefined) return await elsewhere(call);

    const invoking = invoke(call);
    onEntered?.();
    let invoked: Invoked | Ended;
    if (invoking instanceof Promise) invoked = await invoking;
    else if (invoking.type !== 'unstoppable') invoked = invoking;
    else {
      try {
        invoked = { type: 'returned', value: await invoking.value };
      } catch (thrown) {
        invoked = { type: 'threw', thrown };
      }
    }
    if (invoked.type === 'ended') return finish(await scope.features.refuse(invoked.ending, call), scope);

    const settling = conclude(invoked, call);
    return finish(settling instanceof Promise ? await settling : settling, scope);
  } finally {
    onEnd?.();
  }
}

function toEnded(ending: Ending): Ended {
  return { type: 'ended', ending };
}

/** Emits the start event. */
export function tellStart({ id, name, arguments: rawArguments }: IdentifiedCall, scope: CallScope): number {
  const { clock, emit, parent, session, toolset } = scope;
  if (session.redactor !== undefined) learnArguments(session.redactor, toolset.byName.get(name), rawArguments);
  const atMs = clock.now();
  if (emit !== undefined)
    emit(Object.freeze({ type: 'tool-call-start', callId: id, parentId: parent?.call.id, name, rawArguments, atMs }));
  return atMs;
}

/** Creates the record of a call that gets no further. */
export function begin(
  source: IdentifiedCall,
  scope: CallScope,
  startedAtMs: number = tellStart(source, scope),
): CallRecord {
  const record = new CallRecord(source, scope, startedAtMs);
  if (scope.resuming !== undefined) scope.resuming.note(record);
  return record;
}

/** Ends a call whose tool does not run. */
export function endUnentered(ending: Ending, call: CallRecord): Outcome | Promise<Outcome> {
  const { scope } = call;
  return finish(
    recordEnd(scope.resuming === undefined ? ending : scope.resuming.doubt(ending, call, false), call),
    scope,
  );
}

const permitted: Permitted = { type: 'permitted' };

/** Runs the policies, then approval if one asks. Synchronous unless a policy or an approval is asynchronous. */
export function permit(call: RunningCall): Permitted | Promise<Permitted> {
  const { scope } = call;
  const { ended } = scope.lifetime;
  const over = ended === undefined ? undefined : endOfLife(call.call.tool.name, ended);
  if (over !== undefined) return over;
  call.decidedAt = scope.moves.count;
  const unasked = scope.policiesOf === undefined && scope.hostPolicies.length === 0 && !call.call.tool.dangerous;
  if (unasked && scope.resuming === undefined) return permitted;
  const verdict = scope.features.authorize(call.call, scope);
  if (verdict instanceof Promise || verdict.type !== 'allow' || scope.resuming !== undefined)
    return scope.features.permit(verdict, call);
  call.decisions = verdict.decisions;
  return permitted;
}

/** Spends budgets and writes the start record; returns why the tool may not begin. A preparing tool is recorded when it calls `begin`. */
export function enter(call: RunningCall, elsewhere = false): Ended | undefined {
  const { scope } = call;
  const { tool } = call.call;
  if (!elsewhere && tool.execute === undefined) {
    const message = `\`${tool.name}\` is declared without \`execute\` and cannot run here.`;
    return toEnded(failure('failed', { code: 'tool.not_executable', message }));
  }
  const refused = scope.parent === undefined ? undefined : scope.features.refuseNested(tool, scope.parent);
  if (refused !== undefined) return refused;
  const unpaid = scope.budgets.length === 0 ? undefined : takeCall(tool, scope);
  if (unpaid !== undefined) return unpaid;
  try {
    if (scope.facts !== undefined) scope.facts.begin(call.call);
    const unreserved = scope.observers.length === 0 ? undefined : scope.features.reserve(call);
    if (unreserved !== undefined) return unreserved;
    if (tool.effects === 'external') {
      if (tool.prepares) call.lateStart = scope.features.startLater(call, () => recordStart(call));
      else writeStart(call);
    }
    if (tool.timeoutMs !== undefined || scope.manner !== undefined) call.time = scope.features.limitTime(tool, scope);
    // Opens the transaction now: an outer call that has ended must refuse it.
    if (scope.nested) void call.transaction;
    if (call.reservations !== undefined) scope.features.joinReserved(call);
    return undefined;
  } catch (thrown) {
    // Without a start record the tool must not touch the world.
    return toEnded(failure('failed', toProblem(thrown, { code: 'log.write_failed' }), { thrown }));
  }
}

/** Spends a call from every budget, or returns why it cannot. */
function takeCall({ name }: Tool, { budgets }: CallScope): Ended | undefined {
  for (const [index, budget] of budgets.entries()) {
    if (budget.takeCall()) continue;
    for (const taken of budgets.slice(0, index)) taken.returnCall();
    const message = `\`${name}\` was not run: all ${budget.limits.maxCalls} calls of the budget are used.`;
    return toEnded(failure('denied', { code: 'budget.used', reason: 'calls', message }));
  }
  return undefined;
}

function writeStart(call: RunningCall): void {
  const { scope, source } = call;
  const { parent, run } = scope;
  const { name, repeat } = call.call.tool;
  // Calls further out have noted their inner call, whose effects are at least as far-reaching.
  if (parent !== undefined) parent.reachedOutside = true;
  const entry = { type: 'tool-call-start', callId: source.id, name, repeat, input: call.input ?? null };
  const place: JsonObject = run === undefined ? {} : { run: run.startSeq, turn: run.turn };
  const direct = parent === undefined && run === undefined;
  if (direct) scope.features.keepBegun(source, scope);
  // The arguments of a direct call are stored only here.
  const where =
    parent !== undefined ? { parentId: parent.call.id, ...place } : direct ? { rawArguments: source.arguments } : place;
  const reserved = call.reservations?.get(source.id);
  scope.session.record({ ...entry, ...where, ...(reserved === undefined ? {} : { reserved }) });
}

function recordStart(call: RunningCall): Promise<void> | undefined {
  writeStart(call);
  return call.scope.rootSession.sync();
}

/** A running tool that nothing can stop, so only its answer matters. */
interface Unstoppable {
  readonly type: 'unstoppable';
  readonly value: PromiseLike<unknown>;
}

/** Runs the tool; an external one only after its start record is durable. */
export function invoke(call: RunningCall): Invoked | Promise<Invoked | Ended> | Unstoppable {
  const { scope } = call;
  const begins = call.call.tool.effects === 'external' && call.lateStart === undefined;
  const synced = begins ? scope.rootSession.sync() : undefined;
  return synced === undefined ? execute(call) : executeSynced(synced, call);
}

/**
 * Runs `execute` until it returns, throws, or its time is over. Never rejects and always settles, except when nothing can stop the
 * tool: that is the common case, and waiting for the bare promise is much cheaper.
 */
export function execute(call: RunningCall): Invoked | Promise<Invoked> | Unstoppable {
  try {
    const { tool, input } = call.call;
    const value: unknown = tool.execute?.(input, new CallContext(call));
    // Also promises of another realm, or custom thenables.
    if (!(value instanceof Promise || isThenable(value))) return { type: 'returned', value };
    return call.time === undefined && call.scope.lifetime.endless
      ? { type: 'unstoppable', value }
      : call.scope.features.waitInTime(value, call);
  } catch (thrown) {
    return { type: 'threw', thrown };
  }
}

/** The result of an invoked call. */
export async function answerOf<Ends extends Invoked | Ended>(
  invoking: Ends | Unstoppable | Promise<Ends | Unstoppable>,
): Promise<Ends | Answer> {
  const invoked = await invoking;
  return invoked.type === 'unstoppable' ? waitForAnswer(invoked.value) : invoked;
}

/** Does not start a tool that was stopped while waiting. */
async function executeSynced(synced: Promise<void>, call: RunningCall): Promise<Invoked | Ended> {
  const { lifetime } = call.scope;
  try {
    await within(synced, { until: lifetime, over: () => undefined });
  } catch (thrown) {
    return toEnded(failure('failed', toProblem(thrown, { code: 'log.broken', reason: 'sync' }), { thrown }));
  } finally {
    // If the call ended first, this failure is unhandled; the next record fails on the same log.
    synced.catch(() => undefined);
  }
  return endOfLife(call.call.tool.name, lifetime.ended) ?? answerOf(execute(call));
}

/** Settles a call, retries it, or opens the sections that it needs. */
export function conclude(invoked: Invoked, call: RunningCall): ToolCallEndEvent | Promise<ToolCallEndEvent> {
  const plain = call.call.tool.retry === undefined && call.scope.manner === undefined;
  return plain ? concludeAttempt(invoked, call) : call.scope.features.retry(invoked, call);
}

export function concludeAttempt(invoked: Invoked, call: RunningCall): ToolCallEndEvent | Promise<ToolCallEndEvent> {
  const opening = invoked.type === 'threw' ? call.scope.features.expand(invoked, call) : undefined;
  return opening ?? settle(invoked, call);
}

/** Emits the end event. A success waits until its record is durable. */
export function finish(event: ToolCallEndEvent, scope: CallScope): Outcome | Promise<Outcome> {
  const synced = event.outcome.kind === 'ok' && scope.parent === undefined ? scope.session.sync() : undefined;
  return synced === undefined ? tell(event, scope) : synced.then(() => tell(event, scope));
}

function tell(event: ToolCallEndEvent, { emit, manner }: CallScope): Outcome {
  manner?.onEnd?.(event);
  if (emit === undefined) return event.outcome;
  // The log may hold the same object, so listeners must not change it.
  Object.freeze(event.decisions);
  if (event.changes !== undefined) Object.freeze(event.changes);
  if (event.events.length > 0) Object.freeze(event.events);
  if (event.writes.length > 0) Object.freeze(event.writes);
  emit(Object.freeze(event));
  return event.outcome;
}
