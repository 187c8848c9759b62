import {
  describeThrown,
  type ExecutableTool,
  type Json,
  type JsonObject,
  nearestNames,
  type Outcome,
  type PendingApproval,
  type PreparedCall,
  type Problem,
  type Tool,
  type ToolCallEndEvent,
} from '@holdfast/core';
import { CallResources } from './call-resources.ts';
import type { CallScope } from './call-scope.ts';
import { conclude } from './conclude.ts';
import { noteEarlierLife, withEarlierDoubt } from './earlier-doubt.ts';
import { type Ending, failure, thrownCode } from './ending.ts';
import type { IdentifiedCall } from './identified-call.ts';
import { type Invoked, invoke, waitForAnswer } from './invoke.ts';
import { LateStart } from './late-start.ts';
import { keepCalls, sealCall } from './masked-calls.ts';
import { parseArguments } from './parse-arguments.ts';
import { type Ended, endOfLife, permit, takeCall } from './permit.ts';
import { recordEnd } from './record-end.ts';
import { askReservations } from './reservations.ts';
import { learnArguments } from './secrets.ts';
import { type Entered, refuse } from './settle.ts';
import type { CompiledTool } from './toolset.ts';
import { startTrail, type Trail } from './trail.ts';
import { join } from './under-way.ts';

/** A call that could not be decided without a person: nothing has run. */
export interface Suspended {
  readonly kind: 'suspended';
  readonly pending: readonly PendingApproval[];
}

export interface ConductOptions {
  /** Ends the call before its first stage. */
  readonly refusal?: Ending | undefined;
  /** Called when the tool has begun: nothing before that can still suspend the call. */
  readonly onEntered?: (() => void) | undefined;
  /** Called when the call has ended, or waits. */
  readonly onEnd?: (() => void) | undefined;
}

const plainly: ConductOptions = {};

/** The stages of one call. */
export async function conductCall(
  call: IdentifiedCall,
  scope: CallScope,
  { refusal, onEntered, onEnd }: ConductOptions = plainly,
): Promise<Outcome | Suspended> {
  const trail = startTrail(call, scope);
  if (scope.resuming === true) noteEarlierLife(trail, scope);
  try {
    const prepared = refusal === undefined ? prepare(call, scope) : { type: 'ended' as const, ending: refusal };
    if (prepared.type === 'ended') return endUnentered(trail, prepared.ending, scope);
    trail.input = prepared.recorded;

    const permission = permit(prepared.call, trail, scope);
    const permitted = permission instanceof Promise ? await permission : permission;
    if (permitted.type === 'suspended') {
      if (scope.run === undefined) keepCalls(scope.session, { callId: call.id }, [call]);
      return { kind: 'suspended', pending: [permitted.pending] };
    }
    if (permitted.type === 'ended') return endUnentered(trail, permitted.ending, scope);

    const entered = enter(prepared, trail, scope);
    if (entered.type === 'ended') return endUnentered(trail, entered.ending, scope);
    const invoking = invokeEntered(entered);
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
    if (invoked.type === 'ended') return finish(await refuse(invoked.ending, entered), scope);
    const settling = conclude(invoked, entered);
    return finish(settling instanceof Promise ? await settling : settling, scope);
  } finally {
    onEnd?.();
  }
}

/** Ends a call whose tool does not begin. */
function endUnentered(trail: Trail, ending: Ending, scope: CallScope): Outcome | Promise<Outcome> {
  return finish(recordEnd(trail, withEarlierDoubt(ending, trail, false), scope), scope);
}

export interface Prepared {
  readonly type: 'prepared';
  readonly call: PreparedCall;
  /** The input as JSON: without what a schema makes of it, where that is none. */
  readonly recorded: JsonObject;
  /** The arguments as they came. */
  readonly raw: Json;
  readonly compiled: CompiledTool;
}

/** Look-up and parse. */
export function prepare(call: IdentifiedCall, { toolset, session, prompt }: CallScope): Prepared | Ended {
  const compiled = toolset.byName.get(call.name);
  if (compiled === undefined) {
    const problem = prompt?.toolNames?.has(call.name)
      ? closedTool(call.name)
      : unknownTool(call.name, toolset.byName.keys());
    return { type: 'ended', ending: failure('unknown-tool', problem) };
  }
  try {
    const parsed = parseArguments(call, compiled);
    if (parsed.type === 'refused') return { type: 'ended', ending: failure('invalid', parsed.problem) };
    // Also what the schema has filled in or made of them.
    learnArguments(session.redactor, compiled, parsed.input);
    return {
      type: 'prepared',
      compiled,
      recorded: parsed.recorded,
      raw: call.arguments,
      call: Object.freeze({ id: call.id, tool: compiled.tool, input: parsed.input }),
    };
  } catch (thrown) {
    // A schema whose own check throws.
    const problem = {
      code: thrownCode(thrown, 'arguments.check_failed'),
      message: `The arguments could not be checked: ${describeThrown(thrown)}`,
    };
    return { type: 'ended', ending: failure('invalid', problem, { thrown }) };
  }
}

/** A call whose tool may begin. */
export interface Enterable extends Entered {
  readonly type: 'entered';
  readonly tool: ExecutableTool;
}

/** Runs the tool; one that touches the world when its start record is as durable as the log promises. */
export function invokeEntered(entered: Enterable): ReturnType<typeof invoke> | Promise<Invoked | Ended> {
  const { tool, resources, scope } = entered;
  const begins = tool.effects === 'external' && resources.lateStart === undefined;
  const synced = begins ? scope.rootSession.sync() : undefined;
  return synced === undefined ? invoke(tool, resources) : invokeSynced(synced, entered);
}

/** Nothing begins any more that has had to stop while it waited. */
async function invokeSynced(
  synced: Promise<void>,
  { call, tool, resources, scope }: Enterable,
): Promise<Invoked | Ended> {
  let stopListening: () => void = () => undefined;
  const over = new Promise<void>((resolve) => {
    stopListening = scope.lifetime.onEnd(() => resolve());
  });
  try {
    await Promise.race([synced, over]);
  } catch (thrown) {
    const problem = { code: thrownCode(thrown, 'log.sync_failed'), message: describeThrown(thrown) };
    return { type: 'ended', ending: failure('failed', problem, { thrown }) };
  } finally {
    stopListening();
    // Where the end came first, nobody else would hear of its failure; the next record meets the same log.
    synced.catch(() => undefined);
  }
  const ended = endOfLife(call, scope);
  if (ended !== undefined) return ended;
  const invoked = await invoke(tool, resources);
  return invoked.type === 'unstoppable' ? waitForAnswer(invoked) : invoked;
}

/** Start record and transaction. The start of a tool that prepares is recorded when it says so. */
export function enter(prepared: Prepared, trail: Trail, scope: CallScope): Enterable | Ended {
  const { call, compiled } = prepared;
  const { tool } = compiled;
  if (!isExecutable(tool)) {
    const message = `\`${tool.name}\` is only declared; it cannot be run here.`;
    return { type: 'ended', ending: failure('failed', { code: 'tool.not_executable', message }) };
  }
  const refused = scope.parent === undefined ? undefined : refuseNested(tool, scope.parent);
  if (refused !== undefined) return refused;
  const unpaid = takeCall(call, scope);
  if (unpaid !== undefined) return unpaid;
  const isExternal = tool.effects === 'external';
  try {
    if (isExternal) {
      const unreserved = tool.repeat === 'safe' ? undefined : askReservations(call, trail, scope);
      if (unreserved !== undefined) return unreserved;
      if (!tool.prepares) recordStart(call, trail, scope);
    }
    const transaction = scope.state.begin();
    const resources = new CallResources(prepared, scope, transaction);
    resources.reservations = trail.reservations;
    if (isExternal && tool.prepares) resources.lateStart = startLater(call, trail, scope);
    if (trail.reservations !== undefined) join(scope.session, trail.reservations);
    return { type: 'entered', tool, scope, trail, call, compiled, transaction, resources };
  } catch (thrown) {
    // What cannot be recorded must not touch the world; and a call that has ended has room for no other.
    const problem = { code: thrownCode(thrown, 'log.write_failed'), message: describeThrown(thrown) };
    return { type: 'ended', ending: failure('failed', problem, { thrown }) };
  }
}

function recordStart({ id, tool }: PreparedCall, trail: Trail, scope: CallScope): void {
  const { name, repeat } = tool;
  // Those further out have noted the call around this one, whose effects are not less.
  scope.parent?.noteOutside();
  const entry = { type: 'tool-call-start', callId: id, name, repeat, input: trail.input ?? null };
  const reserved = trail.reservations?.get(id);
  const start = { ...entry, ...toPlace(trail, scope) };
  if (isDirect(scope)) sealCall(scope.session, {}, trail.call);
  scope.session.record(reserved === undefined ? start : { ...start, reserved });
}

function startLater(call: PreparedCall, trail: Trail, scope: CallScope): LateStart {
  return new LateStart(trail, () => {
    recordStart(call, trail, scope);
    return scope.rootSession.sync();
  });
}

/** Whose call it is; the arguments of a direct one are nowhere else. */
function toPlace({ call }: Trail, { parent, run }: CallScope): JsonObject {
  const place = run === undefined ? {} : { run: run.startSeq, turn: run.turn };
  if (parent !== undefined) return { parentId: parent.call.id, ...place };
  return run === undefined ? { rawArguments: call.arguments } : place;
}

function isDirect({ parent, run }: CallScope): boolean {
  return parent === undefined && run === undefined;
}

const reach = { none: 0, state: 1, external: 2 };
/** Calls within calls within calls: deeper is taken for a recursion that does not end. */
const maxDepth = 16;

function refuseNested({ name, effects }: Tool, parent: CallResources): Ended | undefined {
  const around = parent.call.tool;
  // What a tool declares holds for all it does, also by way of others.
  if (reach[effects] > reach[around.effects]) {
    const message = `\`${around.name}\` declares effects \`${around.effects}\`, so it cannot call \`${name}\`, which has \`${effects}\`.`;
    return { type: 'ended', ending: failure('denied', { code: 'tool.effects.exceeded', message }) };
  }
  let depth = 1;
  for (let outer = parent.scope.parent; outer !== undefined; outer = outer.scope.parent) depth += 1;
  if (depth < maxDepth) return undefined;
  const message = `\`${name}\` was not run: calls are nested ${maxDepth} levels deep.`;
  return { type: 'ended', ending: failure('invalid', { code: 'call.too_deep', message }) };
}

function isExecutable(tool: Tool): tool is ExecutableTool {
  return tool.execute !== undefined;
}

/** Tells whoever listens. A success waits until its record is as durable as the log promises. */
export function finish(event: ToolCallEndEvent, scope: CallScope): Outcome | Promise<Outcome> {
  const synced = event.outcome.kind === 'ok' && scope.parent === undefined ? scope.session.sync() : undefined;
  return synced === undefined ? tell(event, scope) : synced.then(() => tell(event, scope));
}

function tell(event: ToolCallEndEvent, { emit, manner }: CallScope): Outcome {
  manner?.onEnd?.(event);
  if (emit === undefined) return event.outcome;
  // Listeners get one of their own: what they do to it changes neither the log nor what the caller gets.
  for (const list of [event.decisions, event.events, event.writes, event.changes]) Object.freeze(list);
  emit({ ...event });
  return event.outcome;
}

function closedTool(name: string): Problem {
  const message = `\`${name}\` is not offered now: its section is summarised or disabled. What you open is yours from your next message on.`;
  return { code: 'tool.unknown', message };
}

function unknownTool(name: string, names: Iterable<string>): Problem {
  const all = [...names];
  const nearest = nearestNames(name, all);
  const hint =
    nearest.length > 0
      ? `Did you mean ${nearest.map((near) => `\`${near}\``).join(', ')}?`
      : `There are: ${all.slice(0, 20).join(', ')}.`;
  return { code: 'tool.unknown', message: `There is no tool \`${name.slice(0, 100)}\`. ${hint}` };
}
