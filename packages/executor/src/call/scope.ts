import {
  type Budget,
  type ChildSession,
  type Clock,
  type FactsSource,
  type FilesystemReader,
  HoldfastError,
  type Model,
  type Policy,
  type Prompt,
  type RenderedPrompt,
  type RunEvent,
  type SessionReader,
  type Slice,
  systemClock,
  type Tool,
} from '@holdfast/core';
import { isMaxResultChars, isStagedResource, minResultChars } from '@holdfast/core/internal';
import type { Session, SessionTransaction } from '@holdfast/session';
import { bindHostPolicies, checkPolicies, observersOf, type PolicyBinding } from './authorize.ts';
import { accountOf, type BudgetAccount, checkMilliseconds, type Lifetime, startLifetime } from './execute.ts';
import { compileTools, type ScopeFacts } from './prepare.ts';
import type { RunningCall } from './running-call.ts';
import type {
  Approve,
  CallFeatures,
  CheckedManner,
  CompiledTools,
  PolicyMoves,
  PolicySurroundings,
  Reservations,
  Resuming,
  RunPosition,
} from './types.ts';

/** What every runner takes. */
export interface CallOptions {
  readonly tools: readonly Tool[];
  /** Or what `context.child()` gave, for what is nested in a call. */
  readonly session: Session | ChildSession;
  /** The host's own policies, in force for every call. */
  readonly policies?: readonly Policy[];
  /**
   * By name; `filesystem` is also `context.filesystem`. Staged resources take part in each call's transaction. What is bound
   * under the name of a declared resource takes its place.
   */
  readonly resources?: Readonly<Record<string, unknown>>;
  /** What calls would do, for policies that look at `call.facts`: made by `createFacts` of `@holdfast/facts`. Default: that of the call around, or none. */
  readonly facts?: FactsSource;
  /** What the user wrote, for policies (`context.request`). Within a call it is that of the call around. */
  readonly request?: string;
  /** Tools for which nobody has to be asked. Denials still hold. */
  readonly grants?: readonly string[];
  /**
   * Answers asks at once. Without it a call that needs approval ends as `suspended`. One that never settles keeps the process until
   * the time of the question is over.
   */
  readonly approve?: Approve;
  /** Nobody is there: an ask is a denial. Default false. */
  readonly unattended?: boolean;
  /** How long a question may be answered, in milliseconds; from then on it counts as answered with no. Default 24 hours. */
  readonly approvalTimeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Time for all of it, in milliseconds. Default: no end. */
  readonly timeoutMs?: number;
  /** What may be spent, made by `createBudget`; several runs may share one. Default: no limit. */
  readonly budget?: Budget;
  /** How long a policy may take to answer before that counts as a denial. Default 5,000 ms. */
  readonly policyTimeoutMs?: number;
  /**
   * Characters of a result's text that go to the model, 1,000 or more: of a longer one head and tail. A tool may say less of its own.
   * `outcome.value` is always whole. Default 60,000, or what the tool says.
   */
  readonly maxResultChars?: number;
  /** Sees every event; what it throws is recorded and breaks nothing. */
  readonly onEvent?: (event: RunEvent) => void;
  readonly clock?: Clock;
}

/** Everything that calls of one run share. */
export interface CallScope {
  readonly features: CallFeatures;
  readonly toolset: CompiledTools;
  /** Where records go. */
  readonly session: Session;
  /** What calls read and stage in: the session, or for a nested call the transaction of the call around it. */
  readonly state: SessionReader & { begin(): SessionTransaction };
  /** Calls commit into the call around them. Those of a child session commit into that session. */
  readonly nested: boolean;
  /** The call that these ones are nested in. */
  readonly parent: RunningCall | undefined;
  /** How its one call is made; what is nested in that call is made plainly. */
  readonly manner: CheckedManner | undefined;
  /** Absent for direct calls. */
  readonly run: RunPosition | undefined;
  readonly hostPolicies: readonly PolicyBinding[];
  /** In force for a call under a prompt: the host's, then the prompt's. Without one the host's are. */
  readonly policiesOf: ((toolName: string) => readonly PolicyBinding[]) | undefined;
  /** Of the session. */
  readonly moves: PolicyMoves;
  /** Policies that want to see successes. */
  readonly observers: readonly PolicyBinding[];
  readonly resources: ReadonlyMap<string, unknown>;
  readonly surroundings: PolicySurroundings;
  readonly facts: ScopeFacts | undefined;
  readonly grants: ReadonlySet<string>;
  /** Above all child sessions: where grants and resources for the session are. */
  readonly rootSession: Session;
  readonly approve: Approve | undefined;
  readonly unattended: boolean;
  /** Its calls are resumed: there may be answers about them, and they may have begun before. */
  readonly resuming: Resuming | undefined;
  readonly approvalTimeoutMs: number;
  readonly policyTimeoutMs: number;
  readonly maxResultChars: number | undefined;
  readonly lifetime: Lifetime;
  /** Every one of them is spent from. */
  readonly budgets: readonly BudgetAccount[];
  /** The innermost of them, as tools see it. */
  readonly budget: Budget | undefined;
  readonly clock: Clock;
  /** Absent when nobody listens. */
  readonly emit: ((event: RunEvent) => void) | undefined;
  readonly prompt: Prompt | undefined;
  readonly renderedPrompt: RenderedPrompt | undefined;
  readonly model: Model | undefined;
}

/** What the executor keeps beside a session. */
export interface Companion {
  readonly moves: PolicyMoves;
  /** The session as policies may use it. */
  readonly reader: SessionReader;
  /** Runs and direct calls that this process is at. */
  readonly claimed: Set<number | string>;
  alone: number | string | undefined;
  /** What policies have reserved for calls that have begun here and not ended. */
  readonly reserved: Set<Reservations>;
  /** Direct calls that came without an id, counted on from the log. */
  unnamedCalls: number | undefined;
  /** Of the last direct call, whose scope serves the next one that is given the same. */
  direct: { readonly scope: CallScope; readonly options: CallOptions } | undefined;
  /** What other rooms keep. */
  readonly kept: Map<Kept<unknown>, unknown>;
}

/** What one room keeps beside a session: made when it is first asked for. */
export interface Kept<Value> {
  make(session: Session): Value;
}

export function keptBeside<Value>(session: Session, kept: Kept<Value>): Value {
  const all = companionOf(session).kept;
  if (!all.has(kept)) all.set(kept, kept.make(session));
  // Made by this very room.
  return all.get(kept) as Value;
}

export const companion: unique symbol = Symbol('kept beside a session');

export type WithCompanion = Session & { readonly [companion]?: Companion };

/** On the session itself: a young collection keeps what the values of a WeakMap refer to, here the session and its whole log. */
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

/** What policies see of a session, or of a transaction in it. */
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
const noBudgets: readonly BudgetAccount[] = [];

/** What a host's options need of other rooms before there is a scope. */
export interface Around {
  readonly features: CallFeatures;
  /** The call under which the session is; `undefined` for a session of the host. */
  readonly parent: RunningCall | undefined;
  /** What what is nested in that call gets of its resources. */
  readonly outerResources: ReadonlyMap<string, unknown>;
  /** The host's, which can break nothing. */
  readonly listener: ((event: RunEvent) => void) | undefined;
  /** Tools that there may be later; policies may mention them. Default: those that there are. */
  readonly toolNames?: ReadonlySet<string> | undefined;
}

/** @throws HoldfastError as `compileTools`, and `policy.key.duplicate`, `policy.tool.unknown`, `options.invalid`. */
export function createCallScope(
  options: CallOptions,
  { features, parent, outerResources, listener, toolNames }: Around,
): CallScope {
  const { resources, grants, clock = systemClock, signal, timeoutMs } = options;
  const { policyTimeoutMs = 5_000, approvalTimeoutMs = 86_400_000, maxResultChars } = options;
  for (const [name, value] of Object.entries({ timeoutMs, policyTimeoutMs, approvalTimeoutMs }))
    checkMilliseconds(name, value);
  if (!isMaxResultChars(maxResultChars)) {
    const message = `\`maxResultChars\` must be an integer of at least ${minResultChars}, got ${String(maxResultChars)}.`;
    throw new HoldfastError('options.invalid', message, { data: { reason: 'max_result_chars' } });
  }
  // What `context.child()` gives is a session that core knows less of.
  const session = options.session as Session;
  const outer = parent?.scope;
  const toolset = compileTools(options.tools);
  const { missing } = toolset;
  if (missing !== undefined) throw new HoldfastError('options.invalid', missing.message);
  const bound = bindHostPolicies(options.policies);
  checkPolicies(bound, toolNames ?? toolset.byName);
  const policies = bound.map((policy) => policy.forScope());
  const account = options.budget === undefined ? undefined : accountOf(options.budget);
  if (options.budget !== undefined && account === undefined)
    throw new HoldfastError('options.invalid', '`budget` must be made by `createBudget`.');
  const own = resources === undefined ? noResources : new Map(Object.entries(resources));
  const all = outerResources.size === 0 ? own : new Map([...outerResources, ...own]);
  const budgets = account === undefined ? noBudgets : [account];
  const lifetime = startLifetime({ clock, signal, timeoutMs, budgets, outer: parent?.lifetime });
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

/** The reading side of the resource `filesystem`. */
export function readOnlyFilesystem(resources: ReadonlyMap<string, unknown>): FilesystemReader | undefined {
  const resource = resources.get('filesystem');
  // By the name's contract: whoever binds `filesystem` binds a StagedResource<Filesystem, FilesystemReader>.
  return isStagedResource(resource) ? (resource.readOnly as FilesystemReader) : undefined;
}

/** Tells those who listen to the parent, too. */
function passUp(parent: RunningCall, sessionId: string, own: CallScope['emit']): CallScope['emit'] {
  const { emit } = parent.scope;
  if (emit === undefined) return own;
  const callId = parent.call.id;
  return (event) => {
    own?.(event);
    emit({ type: 'child-event', callId, sessionId, event });
  };
}
