import {
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
import type { Ask } from '@holdfast/core/types';
import type { Session } from '@holdfast/session';
import type { PolicyInForce, PolicySurroundings } from '../call/policies.ts';
import type { CallScope } from '../call/scope.ts';
import type { Verdict } from '../call/types.ts';
import { askForDangerous, strictest } from './authorize.ts';
import { digestTool } from './digest.ts';

/** A tool that a person allowed without further questions for this session. */
export interface Grant {
  readonly name: string;
  /** SHA-256 of the granted tool, in hex; a changed tool of the same name needs a new approval. */
  readonly toolDigest: string;
}

/** By tool name. Without reducers, like policy states, because a log is replayed without this definition. */
const grants: Slice<KeyedState<string>> = defineSlice<string>({ id: 'holdfast/grants', kind: 'keyed', reducers: {} });

/** The digest under which a tool was granted, if any. */
function grantOf(session: SessionReader, toolName: string): string | undefined {
  return session.read(grants).get(toolName);
}

/** Records the grant that comes with an answer. The record names the call, so no answer grants twice. */
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

/** The tools granted for the session, sorted by name. */
export function listGrants(session: Session): readonly Grant[] {
  return [...session.read(grants)]
    .map(([name, toolDigest]) => ({ name, toolDigest }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Withdraws a grant: the next call of the tool needs approval again. False if there was none. */
export function withdrawGrant(session: Session, toolName: string): boolean {
  if (grantOf(session, toolName) === undefined) return false;
  change(session, remove(toolName));
  return true;
}

/** Allows the asks about a tool granted for the session, unless the tool has changed. */
export function waiveGranted(verdict: Verdict, { tool }: PreparedCall, scope: CallScope): Verdict | Promise<Verdict> {
  const granted = grantOf(scope.rootSession, tool.name);
  const compiled = scope.toolset.byName.get(tool.name);
  if (granted === undefined || compiled === undefined) return verdict;
  const compare = (digest: string): Verdict => (digest === granted ? waiveAsks(verdict) : verdict);
  const digest = digestTool(compiled);
  return typeof digest === 'string' ? compare(digest) : digest.then(compare);
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

/** The policies and checks that decide calls, for callers that preview a decision. */
export interface Judges {
  /** The host's, in order. */
  readonly policies: readonly PolicyInForce[];
  /** The context of each policy, without its own state. */
  readonly surroundings: PolicySurroundings;
  /** The facts of a call; `undefined` if the host has no `facts`. */
  describe(call: PreparedCall): CallFacts | undefined;
  /** The ask of the dangerous gate for the tool, if any. */
  gate(tool: Tool): Ask | undefined;
  /** True if a grant of the host or of a person covers the tool as it is now. Does not change the session. */
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
      // A fork, because reading a new slice leaves a trace in a session.
      const digest = grantOf(rootSession.fork(), name);
      const compiled = toolset.byName.get(name);
      return digest !== undefined && compiled !== undefined && digest === (await digestTool(compiled));
    },
  };
}
