import {
  HoldfastError,
  type Outcome,
  type OutputOfTool,
  type Policy,
  systemClock,
  type Tool,
  type ToolCall,
} from '@holdfast/core';
import type { ToolOutcome } from '@holdfast/core/types';
import { claimCall } from '../approval/claims.ts';
import { identifyCall } from '../call/prepare.ts';
import { type Released, type RunCallOptions, runCall, type Unasked } from '../call/run-call.ts';
import { type CallOptions, type CallScope, companion, companionOf, type WithCompanion } from '../call/scope.ts';
import type { Suspended } from '../call/types.ts';
import { recoverResources } from '../resources/recover.ts';
import { openScope } from './features.ts';

/**
 * Runs one tool call: parse, policies, approval, transaction, event. The value of a success has the type of the listed tools. A bad
 * call never throws but ends as an outcome, and any outcome but `ok` leaves state and staged resources unchanged.
 *
 * @throws HoldfastError for an invalid configuration: `tool.invalid`,
 * `policy.invalid`, `options.invalid`, or a schema that cannot be compiled; `context.closed` for a child
 * session whose call has ended; `work.under_way` for the id of an open direct call; and if the session's log cannot be written.
 */
export function executeToolCall<Listed extends Tool>(
  call: ToolCall,
  options: CallOptions & { readonly tools: readonly Listed[] },
): Promise<ToolOutcome<OutputOfTool<Listed>> | Suspended>;
export function executeToolCall(call: ToolCall, options: CallOptions): Promise<Outcome | Suspended> {
  try {
    checkCall(call);
    const scope = scopeFor(options, call.name);
    const conducting = executeIn(scope, call);
    return scope.lifetime.endless ? conducting : conducting.finally(() => scope.lifetime.dispose());
  } catch (thrown) {
    return Promise.reject(thrown);
  }
}

/** A model always sends an object; a host may not. */
export function checkCall(call: unknown): void {
  if (typeof call === 'object' && call !== null) return;
  throw new HoldfastError('options.invalid', 'A call must be an object `{ id, name, arguments }`.', {
    data: { option: 'call', reason: 'kind' },
  });
}

/** Reuses the scope of the session's previous direct call if the options are the same and nothing can end it. */
function scopeFor(options: CallOptions, called: string): CallScope {
  const known = (options?.session as WithCompanion | undefined)?.[companion]?.direct;
  if (known !== undefined && isMadeOf(known.scope, known.options, options, called)) return known.scope;
  const scope = openScope(options);
  // A disposed lifetime would not hear that another machine takes the session over.
  if (isPlain(options) && scope.parent === undefined && scope.lifetime.endless)
    companionOf(scope.session).direct = { scope, options: { ...options } };
  return scope;
}

/** True if no option needs a fresh scope per call. */
function isPlain({ resources, grants, budget, signal, timeoutMs }: CallOptions): boolean {
  return (
    resources === undefined &&
    grants === undefined &&
    budget === undefined &&
    signal === undefined &&
    timeoutMs === undefined
  );
}

function isMadeOf(scope: CallScope, before: CallOptions, now: CallOptions, called: string): boolean {
  return (
    isPlain(now) &&
    before.onEvent === now.onEvent &&
    before.approve === now.approve &&
    before.unattended === now.unattended &&
    scope.clock === (now.clock ?? systemClock) &&
    before.policyTimeoutMs === now.policyTimeoutMs &&
    before.approvalTimeoutMs === now.approvalTimeoutMs &&
    before.maxResultChars === now.maxResultChars &&
    before.facts === now.facts &&
    before.request === now.request &&
    before.tools === now.tools &&
    isListed(scope, now, called) &&
    isBoundTo(scope, now)
  );
}

/** Compares only the called tool and the number of tools, so the cost does not grow with the list. */
function isListed({ toolset }: CallScope, { tools }: CallOptions, called: string): boolean {
  const at = toolset.places.get(called);
  if (at === undefined || tools.length !== toolset.places.size) return false;
  return tools[at] === toolset.byName.get(called)?.tool;
}

/** False for a list of policies that was modified. */
function isBoundTo({ hostPolicies }: CallScope, { policies = none }: CallOptions): boolean {
  if (hostPolicies.length !== policies.length) return false;
  for (let at = 0; at < policies.length; at += 1) if (hostPolicies[at]?.policy !== policies[at]) return false;
  return true;
}

const none: readonly Policy[] = [];
const here: RunCallOptions = {};

/** Like `executeToolCall`. Throws configuration errors before the call begins. */
export function executeIn<Elsewhere extends Released | Unasked = never>(
  scope: CallScope,
  call: ToolCall,
  { elsewhere, ahead }: Pick<RunCallOptions<Elsewhere>, 'elsewhere' | 'ahead'> = here,
): Promise<Outcome | Suspended | NoInfer<Elsewhere>> {
  const identified = identifyCall(call, () => nextCallId(scope.session));
  const release = claimId(identified.id, scope.session);
  const waiting = scope.parent?.counts ?? (scope.resources.size === 0 ? undefined : recoverResources(scope));
  if (waiting === undefined) return runCall(identified, scope, { elsewhere, ahead, onEnd: release });
  return runAfter(waiting, () => runCall(identified, scope, { elsewhere, ahead, onEnd: release }), release);
}

async function runAfter<Ended>(
  waiting: Promise<unknown>,
  run: () => Promise<Ended>,
  release: () => void,
): Promise<Ended> {
  try {
    await waiting;
  } catch (thrown) {
    release();
    throw thrown;
  }
  return run();
}

/** Refuses the id of a direct call that is open: its end would be confused with this one's. */
function claimId(callId: string, session: WithCompanion): () => void {
  const open = session.openCall({ callId });
  // A suspended call in a log without content cannot be resumed, so it may be made again.
  if (open !== undefined && (session.content !== 'none' || open.start !== undefined)) {
    throw new HoldfastError(
      'work.under_way',
      `The call \`${callId.slice(0, 100)}\` is suspended or running: resume it with \`resumeToolCall\`, or use another id for this one.`,
      { data: { reason: 'call', callId } },
    );
  }
  const own = session[companion];
  // Usually there is only one, and a set is twenty times slower.
  if (own === undefined || own.alone !== undefined || own.claimed.size > 0) return claimCall(session, callId);
  own.alone = callId;
  return () => {
    own.alone = undefined;
  };
}

/** Not used in the session's log either, where every call has at least one record: the idempotency key is derived from it. */
function nextCallId(session: WithCompanion): string {
  const own = session[companion] ?? companionOf(session);
  own.unnamedCalls = (own.unnamedCalls ?? session.snapshot().seq - 1) + 1;
  return `direct_${own.unnamedCalls}`;
}
