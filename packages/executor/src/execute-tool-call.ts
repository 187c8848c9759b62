import { HoldfastError, type Outcome, type ToolCall } from '@holdfast/core';
import type { Session } from '@holdfast/session';
import { type CallOptions, type CallScope, createCallScope } from './call-scope.ts';
import { claimCall } from './claims.ts';
import { conductCall, type Suspended } from './conduct-call.ts';
import { type IdentifiedCall, identifyCall } from './identified-call.ts';
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
    checkCall(call);
    const scope = createCallScope(options);
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

/** As `executeToolCall`. Throws what is wrong before the call begins. */
export function executeIn(scope: CallScope, call: ToolCall): Promise<Outcome | Suspended> {
  const identified = identifyCall(call, () => nextCallId(scope.session));
  const release = claimId(identified.id, scope.session);
  const waiting = scope.parent?.counts ?? recoverResources(scope);
  if (waiting === undefined) return conductCall(identified, scope, { onEnd: release });
  return conductAfter(waiting, { call: identified, scope, release });
}

interface Waiting {
  readonly call: IdentifiedCall;
  readonly scope: CallScope;
  readonly release: () => void;
}

async function conductAfter(
  waiting: Promise<unknown>,
  { call, scope, release }: Waiting,
): Promise<Outcome | Suspended> {
  try {
    await waiting;
  } catch (thrown) {
    release();
    throw thrown;
  }
  return conductCall(call, scope, { onEnd: release });
}

/** The end of another call with the id would be taken for that of the one that waits, or is under way. */
function claimId(callId: string, session: Session): () => void {
  const open = session.openCall({ callId });
  // What waits in a log without content cannot be gone on with: asking again is the only way.
  if (open === undefined || (session.content === 'none' && open.start === undefined)) return claimCall(session, callId);
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
