import {
  type Budget,
  type Clock,
  type FactsSource,
  type FilesystemReader,
  HoldfastError,
  type Model,
  type Policy,
  type Prompt,
  type RunEvent,
  type SessionReader,
  type Slice,
  systemClock,
  type Tool,
} from '@holdfast/core';
import { isMaxResultChars, isStagedResource, minResultChars } from '@holdfast/core/internal';
import type { ChildSession, RenderedPrompt } from '@holdfast/core/types';
import type { Session, SessionTransaction } from '@holdfast/session';
import type { CheckedManner } from './execute.ts';
import { accountOf, type BudgetAccount, checkMilliseconds, type Lifetime, startLifetime } from './execute.ts';
import type { PolicyMoves, PolicySurroundings } from './policies.ts';
import { observersOf, type PolicyBinding } from './policies.ts';
import { compileTools, type ScopeFacts } from './prepare.ts';
import type { RunningCall } from './running-call.ts';
import type { Approve, CallFeatures, CompiledTools, Reservations, Resuming, RunPosition } from './types.ts';

/** The options of every runner. */
export interface CallOptions {
  readonly tools: readonly Tool[];
  /** A session, or the result of `context.child()` for work nested in a call. */
  readonly session: Session | ChildSession;
  /** The host's policies, in force for every call. */
  readonly policies?: readonly Policy[];
  /**
   * By name; `filesystem` is also `context.filesystem`. Staged resources take part in each call's transaction. A resource bound under the
   * name of a declared one replaces it.
   */
  readonly resources?: Readonly<Record<string, unknown>>;
  /** Facts for policies that read `call.facts`, from `createFacts` of `@holdfast/facts`. Default: those of the outer call, or none. */
  readonly facts?: FactsSource;
  /** The user's request, for policies (`context.request`). A nested call has that of the outer call. */
  readonly request?: string;
  /** Tools that need no approval. Denials still apply. */
  readonly grants?: readonly string[];
  /**
   * Answers approvals at once. Without it a call that needs approval is `suspended`. A promise that never settles keeps the process
   * alive until the question expires.
   */
  readonly approve?: Approve;
  /** No one can approve: an ask is a denial. Default false. */
  readonly unattended?: boolean;
  /** How long an approval may be pending, in milliseconds; then it counts as denied. Default 24 hours. */
  readonly approvalTimeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Time limit for everything, in milliseconds. Default: none. */
  readonly timeoutMs?: number;
  /** A limit from `createBudget`; several runs may share one. Default: none. */
  readonly budget?: Budget;
  /** Time that a policy may take, in milliseconds; then it counts as a denial. Default 5,000. */
  readonly policyTimeoutMs?: number;
  /**
   * Characters of a result's text that the model gets, at least 1,000; of a longer text it gets head and tail. A tool may set less.
   * `outcome.value` is always complete. Default 60,000, or the tool's limit.
   */
  readonly maxResultChars?: number;
  /** Receives every event. Errors it throws are recorded and do not affect the call. */
  readonly onEvent?: (event: RunEvent) => void;
  readonly clock?: Clock;
}

/** Shared by all calls of one run. */
export interface CallScope {
  readonly features: CallFeatures;
  readonly toolset: CompiledTools;
  /** The session that records go to. */
  readonly session: Session;
  /** Where calls read and stage: the session, or the outer call's transaction. */
  readonly state: SessionReader & { begin(): SessionTransaction };
  /** True if calls commit into the outer call. Those of a child session commit into that session. */
  readonly nested: boolean;
  /** The outer call. */
  readonly parent: RunningCall | undefined;
  /** The overrides of its one call; nested calls have none. */
  readonly manner: CheckedManner | undefined;
  /** Absent for direct calls. */
  readonly run: RunPosition | undefined;
  readonly hostPolicies: readonly PolicyBinding[];
  /** The policies in force under a prompt: the host's, then the prompt's. Without a prompt only the host's. */
  readonly policiesOf: ((toolName: string) => readonly PolicyBinding[]) | undefined;
  /** Of the session. */
  readonly moves: PolicyMoves;
  /** Policies with an `onResult`. */
  readonly observers: readonly PolicyBinding[];
  readonly resources: ReadonlyMap<string, unknown>;
  readonly surroundings: PolicySurroundings;
  readonly facts: ScopeFacts | undefined;
  readonly grants: ReadonlySet<string>;
  /** The outermost session, which has the grants and the session's resources. */
  readonly rootSession: Session;
  readonly approve: Approve | undefined;
  readonly unattended: boolean;
  /** Set when calls are resumed: they may have begun or been answered before. */
  readonly resuming: Resuming | undefined;
  readonly approvalTimeoutMs: number;
  readonly policyTimeoutMs: number;
  readonly maxResultChars: number | undefined;
  readonly lifetime: Lifetime;
  /** Each call is charged to all of them. */
  readonly budgets: readonly BudgetAccount[];
  /** The innermost budget, for tools. */
  readonly budget: Budget | undefined;
  readonly clock: Clock;
  /** Absent if there is no listener. */
  readonly emit: ((event: RunEvent) => void) | undefined;
  readonly prompt: Prompt | undefined;
  readonly renderedPrompt: RenderedPrompt | undefined;
  readonly model: Model | undefined;
}

/** The executor's own state beside a session. */
export interface Companion {
  readonly moves: PolicyMoves;
  /** The session as policies see it. */
  readonly reader: SessionReader;
  /** Runs and direct calls that this process is working on. */
  readonly claimed: Set<number | string>;
  alone: number | string | undefined;
  /** Policies' reservations for calls that are running here. */
  readonly reserved: Set<Reservations>;
  /** The number of direct calls without an id, counting those in the log. */
  unnamedCalls: number | undefined;
  /** The last direct call; its scope is reused for the same options. */
  direct: { readonly scope: CallScope; readonly options: CallOptions } | undefined;
  /** State of other rooms. */
  readonly kept: Map<Kept<unknown>, unknown>;
}

/** One room's state beside a session, created on first use. */
export interface Kept<Value> {
  make(session: Session): Value;
}

export function keptBeside<Value>(session: Session, kept: Kept<Value>): Value {
  const all = companionOf(session).kept;
  if (!all.has(kept)) all.set(kept, kept.make(session));
  // Created by the same `Kept`.
  return all.get(kept) as Value;
}

export const companion: unique symbol = Symbol('kept beside a session');

export type WithCompanion = Session & { readonly [companion]?: Companion };

/** Stored on the session itself: a minor garbage collection does not free the values of a WeakMap, here the session with its log. */
export function companionOf(session: WithCompanion): Companion {
  return session[companion] ?? makeCompanion(session);
}

function makeCompanion(session: Session): Companion {
  const moves: PolicyMoves = { count: 0, looked: false, turn: Promise.resolve() };
  const reader = watchedReader(session, moves);
  const made: Companion = {
    moves,
    reader,
    claimed: new Set(),
    alone: undefined,
    reserved: new Set(),
    unnamedCalls: undefined,
    direct: undefined,
    kept: new Map(),
  };
  Object.defineProperty(session, companion, { value: made });
  return made;
}

/** A reader that notes when policies read the session or a transaction. */
export function watchedReader(reader: SessionReader, moves: PolicyMoves): SessionReader {
  return Object.freeze({
    read<State>(slice: Slice<State>): State {
      moves.looked = true;
      return reader.read(slice);
    },
  });
}

const noResources: ReadonlyMap<string, unknown> = new Map();
const noGrants: ReadonlySet<string> = new Set();
const noPolicies: readonly PolicyBinding[] = [];
const noBudgets: readonly BudgetAccount[] = [];

/** The values that `createCallScope` needs from other rooms. */
export interface Around {
  readonly features: CallFeatures;
  /** The outer call; `undefined` for a session of the host. */
  readonly parent: RunningCall | undefined;
  /** The resources of the outer call for nested calls. */
  readonly outerResources: ReadonlyMap<string, unknown>;
  /** The host's listener, isolated. */
  readonly listener: ((event: RunEvent) => void) | undefined;
  /** Tools that may appear later, which policies may mention. Default: the existing ones. */
  readonly toolNames?: ReadonlySet<string> | undefined;
}

/** @throws HoldfastError as `compileTools`, and `policy.invalid`, `options.invalid`. */
export function createCallScope(
  options: CallOptions,
  { features, parent, outerResources, listener, toolNames }: Around,
): CallScope {
  const { resources, grants, clock = systemClock, timeoutMs } = options;
  const { policyTimeoutMs = 5_000, approvalTimeoutMs = 86_400_000, maxResultChars } = options;
  for (const [name, value] of Object.entries({ timeoutMs, policyTimeoutMs, approvalTimeoutMs }))
    checkMilliseconds(name, value);
  if (!isMaxResultChars(maxResultChars)) {
    const message = `\`maxResultChars\` must be an integer of at least ${minResultChars}, got ${String(maxResultChars)}.`;
    throw new HoldfastError('options.invalid', message, { data: { reason: 'max_result_chars' } });
  }
  // `context.child()` returns a session whose type in core has fewer members.
  const session = options.session as Session;
  const outer = parent?.scope;
  const toolset = compileTools(options.tools);
  const { missing } = toolset;
  if (missing !== undefined) throw new HoldfastError('options.invalid', missing.message);
  const policies =
    options.policies === undefined || options.policies.length === 0
      ? noPolicies
      : features.bindPolicies(options.policies, toolNames ?? toolset.byName);
  const account = options.budget === undefined ? undefined : accountOf(options.budget);
  if (options.budget !== undefined && account === undefined)
    throw new HoldfastError('options.invalid', '`budget` must be made by `createBudget`.');
  const own = resources === undefined ? noResources : new Map(Object.entries(resources));
  const all = outerResources.size === 0 ? own : new Map([...outerResources, ...own]);
  const budgets = account === undefined ? noBudgets : [account];
  // A session that another machine may continue ends its calls here.
  const signals = [options.signal ?? [], session.lost ?? []].flat();
  const signal = signals.length < 2 ? signals[0] : AbortSignal.any(signals);
  const lifetime = startLifetime(
    { clock, signal, timeoutMs, budgets, outer: parent?.lifetime },
    features.limitLifetime,
  );
  const { moves, reader } = companionOf(session);
  const filesystem = readOnlyFilesystem(all);
  const { request } = outer?.surroundings ?? options;
  const rootSession = outer?.rootSession ?? session;
  const facts = options.facts === undefined ? outer?.facts : features.openFacts(options.facts, rootSession);
  return {
    features,
    toolset,
    session,
    state: session,
    nested: false,
    parent,
    manner: undefined,
    run: undefined,
    hostPolicies: policies,
    policiesOf: undefined,
    moves,
    observers: observersOf(policies),
    resources: all,
    surroundings: { session: reader, filesystem, deadline: lifetime.deadline, request, place: facts?.place },
    facts,
    grants: grants === undefined ? (outer?.grants ?? noGrants) : new Set([...(outer?.grants ?? noGrants), ...grants]),
    rootSession,
    approve: options.approve ?? outer?.approve,
    unattended: options.unattended ?? outer?.unattended ?? false,
    resuming: undefined,
    approvalTimeoutMs,
    policyTimeoutMs,
    maxResultChars: maxResultChars ?? outer?.maxResultChars,
    lifetime,
    budget: options.budget ?? outer?.budget,
    budgets: outer === undefined ? budgets : [...new Set([...outer.budgets, ...budgets])],
    clock,
    emit: parent === undefined ? listener : passUp(parent, session.id, listener),
    prompt: undefined,
    renderedPrompt: undefined,
    model: undefined,
  };
}

/** The read-only side of the resource `filesystem`. */
export function readOnlyFilesystem(resources: ReadonlyMap<string, unknown>): FilesystemReader | undefined {
  const resource = resources.get('filesystem');
  // By the name's contract: `filesystem` is bound to a StagedResource<Filesystem, FilesystemReader>.
  return isStagedResource(resource) ? (resource.readOnly as FilesystemReader) : undefined;
}

/** Also emits to the listeners of the parent. */
function passUp(parent: RunningCall, sessionId: string, own: CallScope['emit']): CallScope['emit'] {
  const { emit } = parent.scope;
  if (emit === undefined) return own;
  const callId = parent.call.id;
  return (event) => {
    own?.(event);
    emit({ type: 'child-event', callId, sessionId, event });
  };
}
