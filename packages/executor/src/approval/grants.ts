import {
  type Ask,
  type CallFacts,
  defineSlice,
  type JsonObject,
  type KeyedState,
  type Operation,
  type PendingApproval,
  type PolicyDecision,
  type PreparedCall,
  remove,
  type SessionReader,
  type Slice,
  type Tool,
  upsert,
} from '@holdfast/core';
import type { Session } from '@holdfast/session';
import { askForDangerous, strictest } from '../call/authorize.ts';
import type { CallScope } from '../call/scope.ts';
import type { PolicyInForce, PolicySurroundings, Verdict } from '../call/types.ts';
import { digestTool, knownToolDigest } from './digest.ts';

/** A tool that a person let pass without further questions, for this session. */
export interface Grant {
  readonly name: string;
  /** SHA-256 of the tool as it was then, in hex: another one under its name is asked about again. */
  readonly toolDigest: string;
}

/**
 * By the tool's name. Without reducers, as policies' states are: a log is replayed without this definition. Rolls back and is logged
 * like all state.
 */
const grants: Slice<KeyedState<string>> = defineSlice<string>({ id: 'holdfast/grants', kind: 'keyed', reducers: {} });

/** The digest that a tool was granted by; `undefined` when it was not. */
function grantOf(session: SessionReader, toolName: string): string | undefined {
  return session.read(grants).get(toolName);
}

/** Grants what an answer about a call has granted. The record names the call: no answer grants twice. */
export function grantTool(session: Session, { name, toolDigest, callId, run, turn }: PendingApproval): void {
  const place = run === undefined || turn === undefined ? {} : { run, turn };
  change(session, upsert(name, toolDigest), { callId, ...place });
}

function change(session: Session, operation: Operation, cause: JsonObject = {}): void {
  const transaction = session.begin();
  try {
    transaction.apply(grants, [operation]);
    transaction.commit({ type: 'event', ...cause, events: [], changes: [...transaction.changes] });
  } finally {
    transaction.discard();
  }
}

/** The tools that were granted for the session, in the order of their names. */
export function listGrants(session: Session): readonly Grant[] {
  return [...session.read(grants)]
    .map(([name, toolDigest]) => ({ name, toolDigest }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Asks again at the next call of the tool. False when it was not granted. */
export function withdrawGrant(session: Session, toolName: string): boolean {
  if (grantOf(session, toolName) === undefined) return false;
  change(session, remove(toolName));
  return true;
}

/** Waives the asks about a tool that was granted for the session, as long as it is the same tool. */
export function waiveGranted(verdict: Verdict, { tool }: PreparedCall, scope: CallScope): Verdict | Promise<Verdict> {
  const granted = grantOf(scope.rootSession, tool.name);
  const compiled = scope.toolset.byName.get(tool.name);
  if (granted === undefined || compiled === undefined) return verdict;
  const compare = (digest: string): Verdict => (digest === granted ? waiveAsks(verdict) : verdict);
  const known = knownToolDigest(compiled);
  return known === undefined ? digestTool(compiled).then(compare) : compare(known);
}

function waiveAsks({ decisions }: Verdict): Verdict {
  const waived = decisions.map(
    (decision): PolicyDecision =>
      decision.type === 'ask' && decision.grantable !== false
        ? { policy: decision.policy, type: 'allow', reason: 'Granted for the session.' }
        : decision,
  );
  return { type: strictest(waived), decisions: waived };
}

/** What decides about calls, for who asks ahead of them. */
export interface Judges {
  /** Of the host, in order. */
  readonly policies: readonly PolicyInForce[];
  /** What each of them sees beside its own state. */
  readonly surroundings: PolicySurroundings;
  /** What a call would do; `undefined` where the host makes no facts. */
  describe(call: PreparedCall): CallFacts | undefined;
  /** What the dangerous gate asks about a call of the tool. */
  gate(tool: Tool): Ask | undefined;
  /** Whether asks about the tool as it is now are answered by a grant, of the host or of a person. Leaves the session as it is. */
  isGranted(tool: Tool): Promise<boolean>;
}

export function judgesOf({
  hostPolicies,
  surroundings,
  grants: granted,
  rootSession,
  toolset,
  facts,
}: CallScope): Judges {
  return {
    policies: hostPolicies,
    surroundings,
    describe: (call) => facts?.attach(call).facts,
    gate: (tool) => (tool.dangerous ? askForDangerous(tool) : undefined),
    isGranted: async ({ name }) => {
      if (granted.has(name)) return true;
      // Also what is read leaves a trace in a session: a slice that it has not met before.
      const digest = grantOf(rootSession.fork(), name);
      const compiled = toolset.byName.get(name);
      return digest !== undefined && compiled !== undefined && digest === (await digestTool(compiled));
    },
  };
}
