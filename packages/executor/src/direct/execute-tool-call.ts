import { HoldfastError, type Outcome, type Policy, systemClock, type ToolCall } from '@holdfast/core';
import { claimCall } from '../approval/claims.ts';
import { identifyCall } from '../call/prepare.ts';
import { runCall } from '../call/run-call.ts';
import { type CallOptions, type CallScope, companion, companionOf, type WithCompanion } from '../call/scope.ts';
import type { IdentifiedCall, Suspended } from '../call/types.ts';
import { recoverResources } from '../resources/recover.ts';
import { openScope } from './features.ts';

/**
 * Runs one tool call, asked for by anybody, on the one path: parse, policies, approval, transaction, event. A bad call never
 * throws; it ends as an outcome, and whatever is not `ok` has left state and staged resources as they were.
 *
 * @throws HoldfastError for a wrong configuration: `tool.name.duplicate`, `tool.input.not_object`, `tool.example.invalid`,
 * `policy.key.duplicate`, `policy.tool.unknown`, `options.invalid`, or a schema that cannot be compiled; `context.closed` for a child
 * session whose call has ended; `call.under_way` for the id of a direct call that has not ended; and when the session's log cannot be written.
 */
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

/** What a model sends is always an object; what a host hands over need not be. */
function checkCall(call: unknown): void {
  if (typeof call === 'object' && call !== null) return;
  throw new HoldfastError('options.invalid', 'A call is `{ id, name, arguments }`.', {
    data: { option: 'call', reason: 'kind' },
  });
}

/** The scope of the session's direct call before, where all that it was made of is the same and nothing can end it. */
function scopeFor(options: CallOptions, called: string): CallScope {
  const known = (options?.session as WithCompanion | undefined)?.[companion]?.direct;
  if (known !== undefined && isMadeOf(known.scope, known.options, options, called)) return known.scope;
  const scope = openScope(options);
  if (isPlain(options) && scope.parent === undefined)
    companionOf(scope.session).direct = { scope, options: { ...options } };
  return scope;
}

/** Nothing of it is made anew for each call. */
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

/** Only the called tool is looked at, and how many there are: a call does not cost more the more tools there are. */
function isListed({ toolset }: CallScope, { tools }: CallOptions, called: string): boolean {
  const at = toolset.places.get(called);
  if (at === undefined || tools.length !== toolset.places.size) return false;
  return tools[at] === toolset.byName.get(called)?.tool;
}

/** A list of policies that was changed since is bound again. */
function isBoundTo({ hostPolicies }: CallScope, { policies = none }: CallOptions): boolean {
  if (hostPolicies.length !== policies.length) return false;
  for (let at = 0; at < policies.length; at += 1) if (hostPolicies[at]?.policy !== policies[at]) return false;
  return true;
}

const none: readonly Policy[] = [];

/** As `executeToolCall`. Throws what is wrong before the call begins. */
export function executeIn(scope: CallScope, call: ToolCall): Promise<Outcome | Suspended> {
  const identified = identifyCall(call, () => nextCallId(scope.session));
  const release = claimId(identified.id, scope.session);
  const waiting = scope.parent?.counts ?? (scope.resources.size === 0 ? undefined : recoverResources(scope));
  if (waiting === undefined) return runCall(identified, scope, { onEnd: release });
  return runAfter(waiting, { call: identified, scope, release });
}

interface Waiting {
  readonly call: IdentifiedCall;
  readonly scope: CallScope;
  readonly release: () => void;
}

async function runAfter(waiting: Promise<unknown>, { call, scope, release }: Waiting): Promise<Outcome | Suspended> {
  try {
    await waiting;
  } catch (thrown) {
    release();
    throw thrown;
  }
  return runCall(call, scope, { onEnd: release });
}

/** The end of another call with the id would be taken for that of the one that waits, or is under way. */
function claimId(callId: string, session: WithCompanion): () => void {
  const open = session.openCall({ callId });
  // What waits in a log without content cannot be resumed: asking again is the only way.
  if (open !== undefined && (session.content !== 'none' || open.start !== undefined)) {
    throw new HoldfastError(
      'call.under_way',
      `The call \`${callId.slice(0, 100)}\` waits, or is under way: resume it by \`resumeToolCall\`, or give this one another id.`,
      { data: { callId } },
    );
  }
  const own = session[companion];
  // Mostly there is one, and a set takes twenty times as long.
  if (own === undefined || own.alone !== undefined || own.claimed.size > 0) return claimCall(session, callId);
  own.alone = callId;
  return () => {
    own.alone = undefined;
  };
}

/** Not used before in the session's log either, as every call leaves at least one record: it is also the world's name for the call. */
function nextCallId(session: WithCompanion): string {
  const own = session[companion] ?? companionOf(session);
  own.unnamedCalls = (own.unnamedCalls ?? session.snapshot().seq - 1) + 1;
  return `direct_${own.unnamedCalls}`;
}
