import {
  describeThrown,
  type ExecutableTool,
  type Outcome,
  type PendingApproval,
  type PreparedCall,
  type Problem,
  type RunEvent,
  type Tool,
  type ToolCall,
  type ToolCallEndEvent,
} from '@holdfast/core';
import type { LogEntry, Session } from '@holdfast/session';
import { askHost, toPending } from './approval.ts';
import { authorise, type Verdict } from './authorise.ts';
import { CallResources } from './call-context.ts';
import { type CallOptions, type CallScope, createCallScope } from './call-scope.ts';
import { denied, type Ending, failure, thrownCode } from './ending.ts';
import { grantTool } from './grants.ts';
import { invoke } from './invoke.ts';
import { parseArguments } from './parse-arguments.ts';
import { type Entered, settle } from './settle.ts';
import { type CompiledTool, nearestNames } from './toolset.ts';
import { type IdentifiedCall, recordEnd, startTrail, type Trail } from './trail.ts';

/** A call that could not be decided without a person: nothing has run. */
export interface Suspended {
  readonly kind: 'suspended';
  readonly pending: readonly PendingApproval[];
}

/**
 * Runs one tool call, asked for by anybody, on the one path: parse, policies, approval, transaction, event. A bad call never
 * throws; it ends as an outcome, and whatever is not `ok` has left state and staged resources as they were.
 *
 * @throws HoldfastError for a wrong configuration: `tool.name.duplicate`, `tool.input.not_object`, `tool.example.invalid`,
 * `policy.key.duplicate`, `policy.tool.unknown`, `options.invalid`, or a schema that cannot be compiled; and when the session's log cannot be written.
 */
export async function executeToolCall(call: ToolCall, options: CallOptions): Promise<Outcome | Suspended> {
  const scope = createCallScope(options);
  try {
    return await conductCall(
      { id: call.id ?? nextCallId(options.session), name: call.name, arguments: call.arguments },
      scope,
    );
  } finally {
    scope.lifetime.dispose();
  }
}

/** The stages of one call. `refusal` ends it before the first one. */
export async function conductCall(
  call: IdentifiedCall,
  scope: CallScope,
  refusal?: Ending,
): Promise<Outcome | Suspended> {
  const trail = startTrail(call, scope);
  const prepared = refusal === undefined ? prepare(call, scope) : { type: 'ended' as const, ending: refusal };
  if (prepared.type === 'ended') return finish(recordEnd(trail, prepared.ending, scope), scope);
  trail.input = prepared.call.input;

  const permission = permit(prepared.call, trail, scope);
  const permitted = permission instanceof Promise ? await permission : permission;
  if (permitted.type === 'suspended') return { kind: 'suspended', pending: [permitted.pending] };
  if (permitted.type === 'ended') return finish(recordEnd(trail, permitted.ending, scope), scope);

  const entered = enter(prepared, trail, scope);
  if (entered.type === 'ended') return finish(recordEnd(trail, entered.ending, scope), scope);
  const invoking = invoke(entered.tool, entered.resources);
  const invoked = invoking instanceof Promise ? await invoking : invoking;
  const settling = settle(invoked, entered);
  return finish(settling instanceof Promise ? await settling : settling, scope);
}

export interface Prepared {
  readonly type: 'prepared';
  readonly call: PreparedCall & { readonly input: NonNullable<Trail['input']> };
  readonly compiled: CompiledTool;
}

interface Ended {
  readonly type: 'ended';
  readonly ending: Ending;
}

/** Look-up and parse. */
export function prepare(call: IdentifiedCall, { toolset }: CallScope): Prepared | Ended {
  const compiled = toolset.byName.get(call.name);
  if (compiled === undefined)
    return { type: 'ended', ending: failure('unknown-tool', unknownTool(call.name, toolset.byName.keys())) };
  try {
    const parsed = parseArguments(call.arguments, compiled);
    if (parsed.type === 'refused') return { type: 'ended', ending: failure('invalid', parsed.problem) };
    return {
      type: 'prepared',
      compiled,
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

type Permitted =
  | { readonly type: 'permitted' }
  | { readonly type: 'suspended'; readonly pending: PendingApproval }
  | Ended;

const permitted: Permitted = { type: 'permitted' };

/** Authorise. Answers at once when every policy does and nobody has to be asked. */
function permit(call: PreparedCall, trail: Trail, scope: CallScope): Permitted | Promise<Permitted> {
  const over = endOfLife(call, scope);
  if (over !== undefined) return over;
  const verdict = authorise(call, scope);
  if (verdict instanceof Promise || verdict.type !== 'allow') return permitWithApproval(verdict, call, trail, scope);
  trail.decisions = verdict.decisions;
  return permitted;
}

/** Approval if somebody has to be asked; policies are asked again after a yes. */
async function permitWithApproval(
  first: Verdict | Promise<Verdict>,
  call: PreparedCall,
  trail: Trail,
  scope: CallScope,
): Promise<Permitted> {
  const approved = new Set<string>();
  for (let verdict = await first; ; verdict = await authorise(call, scope, approved)) {
    trail.decisions = verdict.decisions;
    if (verdict.type === 'allow') return endOfLife(call, scope) ?? permitted;
    if (verdict.type === 'deny') return { type: 'ended', ending: denied(verdict.decisions) };

    const pending = toPending(call, verdict.decisions);
    if (scope.unattended)
      return {
        type: 'ended',
        ending: refusedApproval('approval.unattended', pending, 'nobody is there to approve it'),
      };
    report(scope, { type: 'approval-request', pending });
    if (scope.approve === undefined) return { type: 'suspended', pending };
    const askedAtMs = scope.clock.now();
    const answer = await askHost(scope.approve, pending, scope.lifetime);
    trail.askedMs += scope.clock.now() - askedAtMs;
    report(scope, { type: 'approval-answer', callId: call.id, answer });
    trail.approval = { type: answer.type, by: 'person' };
    if (answer.type === 'deny')
      return {
        type: 'ended',
        ending: refusedApproval('approval.denied', pending, answer.reason ?? 'it was not approved'),
      };
    if (answer.grant === true) grantTool(scope.session, call.tool.name);
    for (const { policy } of pending.asks) approved.add(policy);
  }
}

/** Start record and transaction. */
function enter(
  { call, compiled }: Prepared,
  trail: Trail,
  scope: CallScope,
): (Entered & { readonly type: 'entered'; readonly tool: ExecutableTool }) | Ended {
  const { tool } = compiled;
  if (!isExecutable(tool)) {
    const message = `\`${tool.name}\` is only declared; it cannot be run here.`;
    return { type: 'ended', ending: failure('failed', { code: 'tool.not_executable', message }) };
  }
  if (tool.effects === 'external') {
    try {
      scope.session.record({ type: 'tool-call-start', callId: call.id, name: tool.name, input: call.input });
    } catch (thrown) {
      // What cannot be recorded must not touch the world.
      const problem = { code: thrownCode(thrown, 'log.write_failed'), message: describeThrown(thrown) };
      return { type: 'ended', ending: failure('failed', problem, { thrown }) };
    }
  }
  const transaction = scope.session.begin();
  return {
    type: 'entered',
    tool,
    scope,
    trail,
    call,
    compiled,
    transaction,
    resources: new CallResources(call, scope, transaction),
  };
}

function isExecutable(tool: Tool): tool is ExecutableTool {
  return tool.execute !== undefined;
}

function finish(event: ToolCallEndEvent, { emit }: CallScope): Outcome {
  emit?.(event);
  return event.outcome;
}

function endOfLife({ tool }: PreparedCall, { lifetime }: CallScope): Ended | undefined {
  switch (lifetime.ended) {
    case undefined:
      return undefined;
    case 'aborted':
      return {
        type: 'ended',
        ending: failure('cancelled', {
          code: 'call.aborted',
          message: `\`${tool.name}\` was cancelled before it began.`,
        }),
      };
    case 'deadline':
      return {
        type: 'ended',
        ending: failure('timed-out', {
          code: 'call.deadline',
          message: `The deadline passed before \`${tool.name}\` began.`,
        }),
      };
  }
}

function refusedApproval(code: string, { name, asks }: PendingApproval, why: string): Ending {
  const reasons = asks.map(({ reason = '' }) => reason).join(' ');
  return failure('denied', { code, message: `Denied: \`${name}\` needs approval, and ${why}. ${reasons}` });
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

function report({ session, emit }: CallScope, event: ApprovalEvent): void {
  // Made of JSON; an interface does not say so to the compiler.
  session.record(event as unknown as LogEntry);
  emit?.(event);
}

type ApprovalEvent = Extract<RunEvent, { type: 'approval-request' | 'approval-answer' }>;

const callCounts = new WeakMap<Session, number>();

function nextCallId(session: Session): string {
  const count = (callCounts.get(session) ?? 0) + 1;
  callCounts.set(session, count);
  return `direct_${count}`;
}
