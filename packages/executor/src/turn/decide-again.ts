import type {
  FilesystemReader,
  PlaceView,
  PolicyDecision,
  PreparedCall,
  SessionReader,
  ToolCallEndEvent,
} from '@holdfast/core';
import type { SessionTransaction } from '@holdfast/session';
import { authorize, type PolicyBinding, policiesFor } from '../call/authorize.ts';
import { endOfLife, failure } from '../call/ending.ts';
import type { RunningCall } from '../call/running-call.ts';
import type { CallScope } from '../call/scope.ts';
import { isOvertaken } from '../call/settle.ts';
import type { Ending, NestedDecision, PolicyMoves, PolicySurroundings, Verdict } from '../call/types.ts';

/** Commits a call that others have overtaken: decided again until nothing has come in between. */
export async function commitOvertaken(
  commit: () => ToolCallEndEvent | Ending,
  call: RunningCall,
): Promise<ToolCallEndEvent | Ending> {
  let leave: (() => void) | undefined;
  try {
    while (isOvertaken(call)) {
      const deciding = decideAgain(call);
      const refusal = deciding instanceof Promise ? await deciding : deciding;
      if (refusal !== undefined) return refusal;
      // Overtaken while policies took their time: from now on one after another, or each would have to ask as often as there are others.
      if (leave === undefined && isOvertaken(call)) leave = await takeTurn(call.scope.moves);
    }
    // Nothing may come in between.
    return commit();
  } finally {
    leave?.();
  }
}

/** Waits for those before; the answer lets the next one go on. */
async function takeTurn(moves: PolicyMoves): Promise<() => void> {
  const { turn } = moves;
  const { promise, resolve } = Promise.withResolvers<void>();
  moves.turn = promise;
  await turn;
  return resolve;
}

/**
 * Asks the policies whose answer may be another by now about a call that has succeeded, as if it came only now, and about those that are nested in it.
 * Answers at once when they do. `undefined`: it may count, unless it has been overtaken once more.
 */
function decideAgain(running: RunningCall): Ending | undefined | Promise<Ending | undefined> {
  const { call, scope } = running;
  running.decidedAt = scope.moves.count;
  const policies = scope.moves.looked ? policiesFor(scope, call.tool.name) : statefulFor(call, scope);
  const verdict = policies.length === 0 ? undefined : authorize(call, withPolicies(scope, policies), running.approved);
  const { decisions = [] } = running.nestedWork ?? {};
  if (verdict instanceof Promise || decisions.length > 0) return decideSlowly(verdict, running, decisions);
  return verdict && toRefusal(verdict, running);
}

async function decideSlowly(
  first: Verdict | undefined | Promise<Verdict>,
  running: RunningCall,
  decisions: readonly NestedDecision[],
): Promise<Ending | undefined> {
  const { scope } = running;
  const verdict = first instanceof Promise ? await first : first;
  const refusal = verdict && toRefusal(verdict, running);
  if (refusal !== undefined) return refusal;
  const transaction = scope.state.begin();
  try {
    for (const decision of decisions) {
      const refusing = await findRefusal(decision, transaction, scope);
      if (refusing !== undefined) return toRefusal(refusing, running);
    }
    return undefined;
  } finally {
    transaction.discard();
  }
}

/** Decides a nested call on what `transaction` has, which then has what became of it. Answers with the verdict that refuses it. */
async function findRefusal(
  { call, scope, approved, nested, changes }: NestedDecision,
  transaction: SessionTransaction,
  outermost: CallScope,
): Promise<Verdict | undefined> {
  for (const policy of statefulFor(call, scope)) {
    // What a policy keeps in itself has the success of this very call in it already.
    if (policy.slice === undefined) continue;
    const { surroundings, looked } = watchSurroundings(scope.surroundings);
    // The call around it has had its word, which ended the time of what is nested.
    const { lifetime } = outermost;
    const asked = { ...withPolicies(scope, [policy]), state: transaction, surroundings, lifetime };
    const verdict = await authorize(call, asked, approved);
    // What it looked at has by now in it what the call itself has changed. Files have a check of their own.
    if (verdict.type !== 'allow' && !looked()) return verdict;
  }
  for (const inner of nested) {
    const refusing = await findRefusal(inner, transaction, outermost);
    if (refusing !== undefined) return refusing;
  }
  transaction.reapply(changes);
  return undefined;
}

/** Whether an answer of the policy may follow from more than the call: from what it keeps in the session, or in itself. */
export function keepsState({ policy }: PolicyBinding): boolean {
  return policy.state !== undefined || policy.onResult !== undefined;
}

/** Any other answers by the call alone, as far as can be known. */
export function statefulFor({ tool }: PreparedCall, scope: CallScope): readonly PolicyBinding[] {
  return policiesFor(scope, tool.name).filter(keepsState);
}

function withPolicies(scope: CallScope, policies: readonly PolicyBinding[]): CallScope {
  return { ...scope, policiesOf: () => policies };
}

function toRefusal({ type, decisions }: Verdict, running: RunningCall): Ending | undefined {
  if (type === 'allow') return undefined;
  const { call, scope } = running;
  const over = endOfLife(call.tool.name, scope.lifetime.ended, 'counted');
  if (over !== undefined) return over.ending;
  running.decisions = merge(running.decisions, decisions);
  const reasons = decisions.filter((decision) => decision.type === type).map(({ reason = '' }) => reason);
  const needs = type === 'ask' ? ' It needs approval by now.' : '';
  const message = `Denied: ${reasons.join(' ')}${needs} It was allowed when it began; another call came before it, and nothing of it was kept.`;
  return failure('denied', { code: 'policy.denied', message });
}

/** Every policy once, with its last word. */
function merge(before: readonly PolicyDecision[], now: readonly PolicyDecision[]): readonly PolicyDecision[] {
  const last = new Map([...before, ...now].map((decision) => [decision.policy, decision]));
  return [...last.values()];
}

/** Surroundings that know whether a policy has looked at anything which other calls may change. */
export function watchSurroundings({ session, filesystem, place, ...others }: PolicySurroundings): {
  readonly surroundings: PolicySurroundings;
  looked(): boolean;
} {
  let looked = false;
  const noticing =
    <Parameters extends readonly unknown[], Answer>(method: (...parameters: Parameters) => Answer) =>
    (...parameters: Parameters): Answer => {
      looked = true;
      return method(...parameters);
    };
  const watchedSession: SessionReader = Object.freeze({
    read: noticing((slice) => session.read(slice)) as SessionReader['read'],
  });
  const watchedFilesystem: FilesystemReader | undefined =
    filesystem === undefined
      ? undefined
      : Object.freeze({
          resolve: noticing((path: string) => filesystem.resolve(path)),
          stat: noticing((path: string) => filesystem.stat(path)),
          read: noticing((path: string, options?: { readonly peek?: boolean }) => filesystem.read(path, options)),
          readText: noticing((path: string) => filesystem.readText(path)),
          list: noticing((path: string) => filesystem.list(path)),
          walk: noticing((path?: string) => filesystem.walk(path)),
        });
  const disk = place?.disk;
  const watchedPlace: PlaceView | undefined =
    place === undefined || disk === undefined
      ? place
      : Object.freeze({
          ...place,
          disk: Object.freeze({
            folds: disk.folds,
            look: noticing((path: string) => disk.look(path)),
            list: noticing((path: string) => disk.list(path)),
            readText: noticing((path: string, maxBytes: number) => disk.readText(path, maxBytes)),
          }),
        });
  return {
    surroundings: { ...others, session: watchedSession, filesystem: watchedFilesystem, place: watchedPlace },
    looked: () => looked,
  };
}
