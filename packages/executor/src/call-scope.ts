import {
  type BoundPolicy,
  type Budget,
  type ChildSession,
  type Clock,
  HoldfastError,
  isMaxResultChars,
  type Model,
  minResultChars,
  type Outcome,
  type Policy,
  type Prompt,
  ReadOnlyMap,
  type RenderedPrompt,
  type RunEvent,
  type SessionReader,
  systemClock,
  type Tool,
} from '@holdfast/core';
import type { Session, SessionTransaction } from '@holdfast/session';
import type { Approve } from './approval.ts';
import { type BudgetAccount, toAccount } from './budget.ts';
import type { CheckedManner } from './call-manner.ts';
import type { CallResources } from './call-resources.ts';
import { checkCallOptions } from './check-call-options.ts';
import { parentCallOf, toSession } from './child-session.ts';
import { bindHostPolicies, checkPolicies, observersOf } from './host-policies.ts';
import { isolateListener } from './isolate-listener.ts';
import { type Lifetime, startLifetime } from './lifetime.ts';
import { nestCalls } from './nested-call.ts';
import { nestedResources } from './nested-resources.ts';
import { movesOf, type PolicyMoves, watchedReader } from './policy-moves.ts';
import { type PolicyBinding, type PolicySurroundings, readOnlyFilesystem, toBinding } from './policy-state.ts';
import { type CompiledTools, compileTools } from './toolset.ts';

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

/** The calls that one call makes. */
export interface NestedCalls {
  call(name: string, input: unknown): Promise<Outcome>;
}

/** Where a run is. */
export interface RunPosition {
  /** Records that its session's log had before it: no other run of the session has the same. */
  readonly startSeq: number;
  /** Counted from 1. */
  turn: number;
}

/** Everything that calls of one run share. */
export interface CallScope {
  readonly toolset: CompiledTools;
  /** Where records go. */
  readonly session: Session;
  /** What calls read and stage in: the session, or for a nested call the transaction of the call around it. */
  readonly state: SessionReader & { begin(): SessionTransaction };
  /** Opens what a call of this scope may call itself. */
  readonly nest: (parent: CallResources) => NestedCalls;
  /** The call that these ones are nested in. */
  readonly parent: CallResources | undefined;
  /** How its one call is made; what is nested in that call is made plainly. */
  readonly manner: CheckedManner | undefined;
  /** Absent for direct calls. */
  readonly run: RunPosition | undefined;
  readonly hostPolicies: readonly PolicyBinding[];
  /** In force for a call: the host's, then those of the prompt. */
  readonly policiesFor: (toolName: string) => readonly PolicyBinding[];
  /** Of the session. */
  readonly moves: PolicyMoves;
  /** Policies that want to see successes. */
  readonly observers: readonly PolicyBinding[];
  readonly resources: ReadonlyMap<string, unknown>;
  readonly surroundings: PolicySurroundings;
  readonly grants: ReadonlySet<string>;
  /** Above all child sessions: where grants and resources for the session are. */
  readonly rootSession: Session;
  readonly approve: Approve | undefined;
  readonly unattended: boolean;
  /** Its calls are gone on with: there may be answers about them. */
  readonly resuming?: boolean;
  readonly approvalTimeoutMs: number;
  readonly policyTimeoutMs: number;
  readonly maxResultChars: number | undefined;
  readonly lifetime: Lifetime;
  /** Every one of them is spent from. */
  readonly budgets: readonly BudgetAccount[];
  readonly clock: Clock;
  /** Absent when nobody listens. */
  readonly emit: ((event: RunEvent) => void) | undefined;
  readonly prompt: Prompt | undefined;
  readonly renderedPrompt: RenderedPrompt | undefined;
  readonly model: Model | undefined;
}

const noResources: ReadonlyMap<string, unknown> = new Map();
const noGrants: ReadonlySet<string> = new Set();
const noBudgets: readonly BudgetAccount[] = [];

/**
 * `toolNames`: tools that there may be later; policies may mention them.
 *
 * @throws HoldfastError as `compileTools`, and `policy.key.duplicate`, `policy.tool.unknown`, `options.invalid`, `context.closed`.
 */
export function createCallScope(options: CallOptions, toolNames?: ReadonlySet<string>): CallScope {
  checkCallOptions(options);
  const { resources, grants, clock = systemClock, signal, timeoutMs, policyTimeoutMs = 5_000, onEvent } = options;
  const { approvalTimeoutMs = 86_400_000, maxResultChars } = options;
  checkMilliseconds('timeoutMs', timeoutMs);
  checkMilliseconds('policyTimeoutMs', policyTimeoutMs);
  checkMilliseconds('approvalTimeoutMs', approvalTimeoutMs);
  if (!isMaxResultChars(maxResultChars)) {
    throw new HoldfastError(
      'options.invalid',
      `\`maxResultChars\` must be an integer of at least ${minResultChars}, got ${String(maxResultChars)}.`,
      { data: { reason: 'max_result_chars' } },
    );
  }
  const session = toSession(options.session);
  const parent = parentCallOf(session);
  const outer = parent?.scope;
  const toolset = compileTools(options.tools);
  const policies = bindHostPolicies(options.policies);
  checkPolicies(policies, toolNames ?? toolset.byName);
  const own = resources === undefined ? noResources : new Map(Object.entries(resources));
  const bound = parent === undefined ? own : new Map([...nestedResources(parent), ...own]);
  const ownBudgets = options.budget === undefined ? noBudgets : [toAccount(options.budget)];
  const granted =
    grants === undefined ? (outer?.grants ?? noGrants) : new Set([...(outer?.grants ?? noGrants), ...grants]);
  const lifetime = startLifetime({ clock, signal, timeoutMs, budgets: ownBudgets, outer: parent?.lifetime });
  const ownEmit = onEvent === undefined ? undefined : isolateListener(onEvent, session);
  return {
    toolset,
    session,
    state: session,
    nest: nestCalls,
    parent,
    manner: undefined,
    run: undefined,
    hostPolicies: policies,
    policiesFor: () => policies,
    moves: movesOf(session),
    observers: observersOf(policies),
    resources: bound,
    surroundings: { session: readerOf(session), filesystem: readOnlyFilesystem(bound), deadline: lifetime.deadline },
    grants: granted,
    rootSession: outer?.rootSession ?? session,
    approve: options.approve ?? outer?.approve,
    unattended: options.unattended ?? outer?.unattended ?? false,
    approvalTimeoutMs,
    policyTimeoutMs,
    maxResultChars: maxResultChars ?? outer?.maxResultChars,
    lifetime,
    budgets: outer === undefined ? ownBudgets : [...new Set([...outer.budgets, ...ownBudgets])],
    clock,
    emit: parent === undefined ? ownEmit : passUp(parent, session.id, ownEmit),
    prompt: undefined,
    renderedPrompt: undefined,
    model: undefined,
  };
}

/** The same scope with a prompt's tools, and with its policies in force after the host's. */
export function bindPrompt(scope: CallScope, renderedPrompt: RenderedPrompt): CallScope {
  const { tools, declarations, policies, allPolicies } = renderedPrompt;
  const host = scope.hostPolicies;
  const byTool = new Map(tools.map(({ name }) => [name, [...host, ...(policies.get(name) ?? []).map(toBinding)]]));
  return {
    ...scope,
    renderedPrompt: lockPage(renderedPrompt),
    toolset: withDeclarations(compileTools(tools), declarations),
    policiesFor: (toolName) => byTool.get(toolName) ?? host,
    observers: observersOf([...host, ...allPolicies.map(toBinding)]),
  };
}

/** The page as tools get it: what one does to it changes nothing that the prompt gives to later runs. */
function lockPage(page: RenderedPrompt): RenderedPrompt {
  const { tools, policies, allPolicies, declarations } = page;
  // Those of `createPrompt` are.
  if (Object.isFrozen(page) && policies instanceof ReadOnlyMap) return page;
  return Object.freeze({
    ...page,
    tools: Object.freeze([...tools]),
    policies: new ReadOnlyMap([...policies].map(([name, list]) => [name, lockPolicies(list)])),
    allPolicies: lockPolicies(allPolicies),
    ...(declarations === undefined ? {} : { declarations: new ReadOnlyMap(declarations) }),
  });
}

function lockPolicies(policies: readonly BoundPolicy[]): readonly BoundPolicy[] {
  return Object.freeze(policies.map(({ key, policy }) => Object.freeze({ key, policy })));
}

/** The same tools, of which the model is told otherwise. */
function withDeclarations(toolset: CompiledTools, told: RenderedPrompt['declarations']): CompiledTools {
  if (told === undefined || told.size === 0) return toolset;
  return { ...toolset, declarations: Object.freeze(toolset.declarations.map((own) => told.get(own.name) ?? own)) };
}

const readers = new WeakMap<Session, SessionReader>();

/** The session as a policy may use it. */
function readerOf(session: Session): SessionReader {
  let reader = readers.get(session);
  if (reader === undefined) {
    reader = watchedReader(session, movesOf(session));
    readers.set(session, reader);
  }
  return reader;
}

type Listener = (event: RunEvent) => void;

/** Tells those who listen to the parent, too. */
function passUp(parent: CallResources, sessionId: string, own: Listener | undefined): Listener | undefined {
  const { emit } = parent.scope;
  if (emit === undefined) return own;
  const callId = parent.call.id;
  return (event) => {
    own?.(event);
    emit({ type: 'child-event', callId, sessionId, event });
  };
}

function checkMilliseconds(name: string, value: number | undefined): void {
  if (value !== undefined && !(Number.isFinite(value) && value > 0)) {
    throw new HoldfastError('options.invalid', `\`${name}\` must be a positive number of milliseconds, got ${value}.`);
  }
}
