import { authorize } from '../approval/authorize.ts';
import { keyOfCall } from '../approval/digest.ts';
import { waiveGranted } from '../approval/grants.ts';
import { keepCalls, sealCall } from '../approval/masked-calls.ts';
import { permitWithApproval } from '../approval/permit.ts';
import { bindPolicies } from '../approval/policy-binding.ts';
import type { CallOptions, CallScope } from '../call/scope.ts';
import type { CallFeatures } from '../call/types.ts';
import { openFacts } from '../facts/scope-facts.ts';
import { limitTime, waitInTime } from '../limits/call-time.ts';
import { LimitedLifetime } from '../limits/lifetime.ts';
import { nestedResources, refuseNested, SequentialCalls } from '../nested/calls.ts';
import { updatePolicies } from '../nested/policy-states.ts';
import { askReservations, endReserved, joinReserved, recordReserved } from '../nested/reservations.ts';
import { Nested, NestedLifetime } from '../nested/work.ts';
import { recoverResources } from '../resources/recover.ts';
import { refuse, StagedResources, settleStaged } from '../resources/staged.ts';
import { commitOvertaken } from '../turn/decide-again.ts';
import { runCalls } from '../turn/run-calls.ts';
import { bindPage } from './bind-page.ts';
import { expand } from './expand.ts';
import { recordLate } from './late.ts';
import { openScopeWith } from './open-scope.ts';
import { PreparedStart } from './prepared-start.ts';
import { retry } from './retry.ts';

/** The rooms with rarely used features. */
export const features: CallFeatures = {
  bindPolicies,
  bindPage,
  openFacts,
  authorize,
  permit: permitWithApproval,
  waiveGranted,
  keepWaiting: (call, { session }) => keepCalls(session, { callId: call.id }, [call]),
  keepBegun: (call, { session }) => sealCall(session, {}, call),
  keyOf: keyOfCall,
  reserve: askReservations,
  joinReserved,
  endReserved,
  recordReserved,
  openResources: (call) => new StagedResources(call),
  use: (resource, call) => call.openResources().use(resource),
  recoverResources,
  settleStaged,
  refuse,
  openNested: (call) => new Nested(call),
  openCalls: (parent) => new SequentialCalls(parent),
  nestedResources,
  refuseNested,
  nestedLifetime: (call) => new NestedLifetime(call),
  updatePolicies,
  retry,
  startLater: (call, record) => new PreparedStart(call, record),
  expand,
  commitOvertaken,
  runCalls,
  limitLifetime: (options) => new LimitedLifetime(options),
  limitTime,
  waitInTime,
  recordLate,
  join: () => undefined,
};

/** As `openScopeWith`, with every feature. */
export function openScope(options: CallOptions, toolNames?: ReadonlySet<string>): CallScope {
  return openScopeWith(features, options, toolNames);
}
