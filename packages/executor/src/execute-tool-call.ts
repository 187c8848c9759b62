import { HoldfastError, type Outcome, type ToolCall } from '@holdfast/core';
import type { Session } from '@holdfast/session';
import { type CallOptions, createCallScope } from './call-scope.ts';
import { conductCall, type Suspended } from './conduct-call.ts';
import { identifyCall } from './identified-call.ts';
import { recoverResources } from './recover-resources.ts';

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
    const scope = createCallScope(options);
    const identified = identifyCall(call, () => nextCallId(scope.session));
    if (scope.parent === undefined) refuseOpenId(identified.id, scope.session);
    const waiting = scope.parent?.counts ?? recoverResources(scope);
    const conducting =
      waiting === undefined ? conductCall(identified, scope) : waiting.then(() => conductCall(identified, scope));
    return scope.lifetime.endless ? conducting : conducting.finally(() => scope.lifetime.dispose());
  } catch (thrown) {
    return Promise.reject(thrown);
  }
}

/** Its end would be taken for that of the call that waits. */
function refuseOpenId(callId: string, session: Session): void {
  if (session.openCall({ callId }) === undefined) return;
  throw new HoldfastError(
    'call.under_way',
    `The call \`${callId.slice(0, 100)}\` waits, or is under way: go on with it by \`resumeToolCall\`, or give this one another id.`,
    { data: { callId } },
  );
}

const callCounts = new WeakMap<Session, number>();

/** Not used before in the session's log either, as every call leaves at least one record: it is also the world's name for the call. */
function nextCallId(session: Session): string {
  const count = (callCounts.get(session) ?? session.snapshot().seq - 1) + 1;
  callCounts.set(session, count);
  return `direct_${count}`;
}
