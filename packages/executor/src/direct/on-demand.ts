import { HoldfastError } from '@holdfast/core';
import type { Session } from '@holdfast/session';
import { keyInRun } from '../approval/key.ts';
import { keepCalls, sealCall } from '../approval/masked-calls.ts';
import type { CallOptions, CallScope } from '../call/scope.ts';
import type { CallFeatures } from '../call/types.ts';
import { parentCallOf } from '../nested/child-session.ts';
import { Nested, NestedLifetime } from '../nested/work.ts';
import { openScopeWith } from './open-scope.ts';

let loaded: CallFeatures | undefined;

/** Bundlers put the features in a file of their own, which a program without them never fetches. */
async function load(): Promise<CallFeatures> {
  loaded ??= (await import('./features.ts')).features;
  return loaded;
}

/** Fails closed: a call must not skip a feature that is not there. */
function rest(): CallFeatures {
  if (loaded !== undefined) return loaded;
  throw new HoldfastError('feature.missing', 'A call uses a feature that has not been loaded.');
}

/** The features of a scope that declares none. What its tools use all the same is loaded then. */
const plainFeatures: CallFeatures = {
  // No policy, no question, no section that could open.
  bindPage: (scope, renderedPrompt) => ({ ...scope, renderedPrompt }),
  reserve: () => undefined,
  expand: () => undefined,
  commitOvertaken: async (commit) => commit(),
  keepWaiting: (call, { session }) => keepCalls(session, { callId: call.id }, [call]),
  keepBegun: (call, { session }) => sealCall(session, {}, call),
  keyOf: (call) => keyInRun(call) ?? rest().keyOf(call),
  openNested: (call) => new Nested(call),
  nestedLifetime: (call) => new NestedLifetime(call),
  runCalls: async (calls, scope, options) => (await load()).runCalls(calls, scope, options),
  use: async (resource, call) => {
    const features = await load();
    call.checkOpen();
    return features.use(resource, call);
  },
  openCalls: (parent) => {
    // Before the call can end.
    void parent.transaction;
    const opening = load().then((features) => features.openCalls(parent));
    return { call: async (id, name, input) => (await opening).call(id, name, input) };
  },
  settleStaged: async (answer, call) => (await load()).settleStaged(answer, call),
  refuse: async (ending, call) => (await load()).refuse(ending, call),
  permit: async (first, call) => (await load()).permit(first, call),
  retry: async (invoked, call) => (await load()).retry(invoked, call),
  authorize: (call, scope, approved) => rest().authorize(call, scope, approved),
  waiveGranted: (verdict, call, scope) => rest().waiveGranted(verdict, call, scope),
  openFacts: (source, session) => rest().openFacts(source, session),
  joinReserved: (call) => rest().joinReserved(call),
  endReserved: (call) => rest().endReserved(call),
  recordReserved: (call, ending) => rest().recordReserved(call, ending),
  openResources: (call) => rest().openResources(call),
  recoverResources: (scope) => rest().recoverResources(scope),
  nestedResources: (parent) => rest().nestedResources(parent),
  refuseNested: (tool, parent) => rest().refuseNested(tool, parent),
  updatePolicies: (ending, call, touched) => rest().updatePolicies(ending, call, touched),
  bindPolicies: (policies, names) => rest().bindPolicies(policies, names),
  startLater: (call, record) => rest().startLater(call, record),
  limitLifetime: (options) => rest().limitLifetime(options),
  limitTime: (tool, scope) => rest().limitTime(tool, scope),
  waitInTime: (value, call) => rest().waitInTime(value, call),
  recordLate: (answer, call) => rest().recordLate(answer, call),
  join: (others) => {
    loaded ??= others;
  },
};

/** Opens a scope for calls without a prompt object; a promise if it needs features that have to be loaded. */
export function openPlainScope(options: CallOptions): CallScope | Promise<CallScope> {
  return isPlain(options) ? openScopeWith(plainFeatures, options) : openFullScope(options);
}

/** Opens a scope with every feature; a promise if they have to be loaded. */
export function openFullScope(options: CallOptions, toolNames?: ReadonlySet<string>): CallScope | Promise<CallScope> {
  if (loaded !== undefined) return openScopeWith(loaded, options, toolNames);
  return load().then((features) => openScopeWith(features, options, toolNames));
}

function isPlain(options: CallOptions): boolean {
  const { tools, session, policies = [], resources, facts, timeoutMs, signal, budget } = options;
  return (
    timeoutMs === undefined &&
    signal === undefined &&
    budget === undefined &&
    policies.length === 0 &&
    resources === undefined &&
    facts === undefined &&
    parentCallOf(session) === undefined &&
    (session as Session).lost === undefined &&
    tools.every((tool) => !tool.dangerous && tool.retry === undefined && tool.timeoutMs === undefined && !tool.prepares)
  );
}
