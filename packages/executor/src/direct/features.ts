import type { RunEvent } from '@holdfast/core';
import type { Session } from '@holdfast/session';
import { waiveGranted } from '../approval/grants.ts';
import { keyOfCall } from '../approval/key.ts';
import { keepCalls, sealCall } from '../approval/masked-calls.ts';
import { permitWithApproval } from '../approval/permit.ts';
import { type CallOptions, type CallScope, createCallScope } from '../call/scope.ts';
import type { CallFeatures } from '../call/types.ts';
import { openFacts } from '../facts/scope-facts.ts';
import { Nested, NestedLifetime, nestedResources, ownTouched, refuseNested } from '../nested/calls.ts';
import { parentCallOf } from '../nested/child-session.ts';
import { askReservations, endReserved, joinReserved, recordReserved } from '../nested/reservations.ts';
import { refuse, StagedResources, settleStaged } from '../resources/staged.ts';
import { commitOvertaken } from '../turn/decide-again.ts';
import { expand } from './expand.ts';
import { PreparedStart, recordLate } from './late.ts';
import { isolateListener } from './listener.ts';
import { checkCallOptions } from './options.ts';
import { retry } from './retry.ts';

/** The rooms with rarely used features. */
const features: CallFeatures = {
  openFacts,
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
  settleStaged,
  refuse,
  openNested: (call) => new Nested(call),
  refuseNested,
  nestedLifetime: (call) => new NestedLifetime(call),
  ownTouched,
  retry,
  startLater: (call, record) => new PreparedStart(call, record),
  expand,
  commitOvertaken,
  recordLate,
};

const nothingAround: ReadonlyMap<string, unknown> = new Map();

/**
 * `toolNames`: tools that may appear later, which policies may mention.
 *
 * @throws HoldfastError as `compileTools`, and `policy.invalid`, `policy.tool.unknown`, `options.invalid`, `context.closed`.
 */
export function openScope(options: CallOptions, toolNames?: ReadonlySet<string>): CallScope {
  checkCallOptions(options);
  const parent = parentCallOf(options.session);
  const { onEvent } = options;
  // Checked by `checkCallOptions`.
  const session = options.session as Session;
  return createCallScope(options, {
    features,
    parent,
    outerResources: parent === undefined ? nothingAround : nestedResources(parent),
    listener: onEvent === undefined ? undefined : isolateListener<RunEvent>(onEvent, session),
    toolNames,
  });
}
