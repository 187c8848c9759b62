import { checkOptions, type OptionRules } from '../basics/check-options.ts';
import type { Deadline } from '../basics/clock.ts';
import { HoldfastError } from '../basics/errors.ts';
import { deepFreeze, type Json } from '../basics/json.ts';
import type { Schema } from '../basics/schema.ts';
import type { FilesystemReader } from '../state/filesystem.ts';
import type { Touched } from '../state/resource.ts';
import type { KeyedState, ListState, Operation, SessionReader, SliceKind } from '../state/slice.ts';
import type { Decision } from './decision.ts';
import type { CallFacts, PlaceView } from './facts.ts';
import type { Tool } from './tool.ts';

/** A call whose arguments have been parsed and validated. `input` is frozen. */
export interface PreparedCall {
  readonly id: string;
  readonly tool: Tool;
  readonly input: Json;
  /** What the call would do; absent where the host makes no facts. Made when it is first looked at. Frozen. */
  readonly facts?: CallFacts;
}

/** What a policy sees. Frozen, reading only. */
export interface PolicyContext<State = unknown> {
  /** The policy's own state. */
  readonly state: State;
  /** What is committed; for a nested call with what the calls around it have staged. */
  readonly session: SessionReader;
  /** The resource `filesystem`, when the host bound one, with the content that `session` has. */
  readonly filesystem: FilesystemReader | undefined;
  readonly deadline: Deadline;
  /** What the user wrote: the `input` of a run, or what the host says. Never what a model wrote for a run within a call. */
  readonly request?: string | undefined;
  /** Where the call runs, as its facts were made from it; absent where the host makes no facts. */
  readonly place?: PlaceView | undefined;
}

/** A success, as `onResult` sees it, before it is committed. */
export interface PolicyResult {
  readonly value: Json;
  readonly message: string;
  /** What the call read and wrote, by the name of the resource. */
  readonly touched: ReadonlyMap<string, Touched>;
}

/**
 * Decides about a call. Throwing, answering anything else, or not answering within the host's `policyTimeoutMs` denies. May be asked
 * more than once about one call; the last answer counts.
 */
export type PolicyCheck<State> = (call: PreparedCall, context: PolicyContext<State>) => Decision | Promise<Decision>;

/** The next state, or operations on it; `undefined` leaves it as it is. Synchronous. Throwing fails the call. */
export type PolicyUpdate<State> = (
  call: PreparedCall,
  result: PolicyResult,
  context: PolicyContext<State>,
) => State | Operation | readonly Operation[] | undefined;

/** What `reserve` sees. */
export interface ReserveContext<State = unknown> extends PolicyContext<State> {
  /** As it would be if all other calls of the session that are under way ended in doubt. */
  readonly state: State;
  /** The tool's `idempotencyKey`: tells the call apart from others, and is the same when it is gone on with after its process ended. */
  readonly callKey: string;
}

/**
 * What is kept of a call that may have taken effect while its success is not counted: one that ends in doubt, or is nested in a
 * call that does not succeed. Asked right before a tool begins that is `external` and not `repeat: 'safe'`, and kept with the record
 * of its start, so that it also counts after the end of the process. Dropped when the tool says that it failed, and after a success,
 * of which `onResult` is told.
 *
 * Other calls may have changed the state when it is applied: only `upsert` and `remove`, of keys that no other call sets. Anything else
 * is `policy.reserve_failed`. Synchronous: what it reserves is seen by the next call that begins. Throwing denies the call, with the code
 * of a HoldfastError: where calls run at the same time, nothing that `check` has seen needs to be so any more.
 */
export type PolicyReserve<State> = (
  call: PreparedCall,
  context: ReserveContext<State>,
) => Operation | readonly Operation[] | undefined;

interface PolicyDefinitionBase<State> {
  /** Lower case words joined by `-`. */
  readonly name: string;
  /** Replaces the key by which the state is kept, for two policies of one name in one place. */
  readonly id?: string;
  /** Tool names that the policy mentions; an unknown one is an error where the policy meets its tools. */
  readonly tools?: readonly string[];
  /**
   * Whether what it denies may be allowed as time passes, as with a limit on the calls in a minute. Asked ahead about a plan, it denies
   * nothing for sure. Default false.
   */
  readonly timed?: boolean;
  readonly check: PolicyCheck<State>;
  /** Called after every success of every tool. */
  readonly onResult?: PolicyUpdate<State>;
}

/** A guard: answers before a call, and may keep state that changes after successes. */
export interface Policy<State = unknown> {
  readonly name: string;
  readonly id: string;
  readonly tools: readonly string[];
  /** Its denials end as time passes. */
  readonly timed?: true;
  /** `undefined`: the policy keeps no state. */
  readonly state: PolicyStateDefinition | undefined;
  // Methods, so that a Policy<number> is a Policy; each only ever gets the state that it made itself.
  check(call: PreparedCall, context: PolicyContext<State>): Decision | Promise<Decision>;
  onResult?(
    call: PreparedCall,
    result: PolicyResult,
    context: PolicyContext<State>,
  ): State | Operation | readonly Operation[] | undefined;
  reserve?(call: PreparedCall, context: ReserveContext<State>): Operation | readonly Operation[] | undefined;
}

/** The state that a policy keeps: JSON, by the kind of slice that holds it. */
export interface PolicyStateDefinition {
  readonly kind: SliceKind;
  readonly initial: Json | undefined;
  readonly schema: Schema | undefined;
}

const namePattern = /^[a-z0-9][a-z0-9-]{0,63}$/;

/**
 * Declares a policy. `initialState` gives it a state of one JSON value; `stateKind` a persistent collection, which stays cheap
 * however much it holds. Without either it keeps no state.
 *
 * @throws HoldfastError `policy.invalid`.
 */
export function definePolicy<Item>(
  definition: PolicyDefinitionBase<KeyedState<Item>> & {
    readonly stateKind: 'keyed';
    readonly stateSchema?: Schema<Item>;
    readonly reserve?: PolicyReserve<KeyedState<Item>>;
  },
): Policy<KeyedState<Item>>;
export function definePolicy<Item>(
  definition: PolicyDefinitionBase<ListState<Item>> & {
    readonly stateKind: 'list';
    readonly stateSchema?: Schema<Item>;
  },
): Policy<ListState<Item>>;
export function definePolicy<State>(
  definition: PolicyDefinitionBase<State> & { readonly initialState: State; readonly stateSchema?: Schema<State> },
): Policy<State>;
export function definePolicy(definition: PolicyDefinitionBase<undefined>): Policy<undefined>;
export function definePolicy<State>(
  definition: PolicyDefinitionBase<State> & {
    readonly stateKind?: 'keyed' | 'list';
    readonly initialState?: State;
    readonly stateSchema?: Schema;
    readonly reserve?: PolicyReserve<State>;
  },
): Policy<State> {
  checkOptions('definePolicy', definition, rules);
  const {
    name,
    id = name,
    tools = [],
    timed,
    check,
    onResult,
    reserve,
    stateKind,
    initialState,
    stateSchema,
  } = definition;
  if (!isPolicyName(name) || !isPolicyName(id)) {
    throw new HoldfastError(
      'policy.invalid',
      `The policy name ${describeName(name)} (id ${describeName(id)}) must match ${namePattern.source}.`,
    );
  }
  if (typeof check !== 'function') {
    throw new HoldfastError('policy.invalid', `The policy \`${name}\` needs a \`check\` function.`);
  }
  if (reserve !== undefined && (typeof reserve !== 'function' || stateKind !== 'keyed')) {
    throw new HoldfastError(
      'policy.invalid',
      `The policy \`${name}\` has a \`reserve\`: that is a function, and needs \`stateKind: 'keyed'\`, a state whose items can be set one by one.`,
    );
  }
  const stateful = stateKind !== undefined || initialState !== undefined;
  return Object.freeze({
    name,
    id,
    tools: Object.freeze([...tools]),
    ...(timed === true ? { timed } : {}),
    state: stateful
      ? Object.freeze({
          kind: stateKind ?? 'value',
          // The session refuses what is not JSON when it meets the slice.
          initial: stateKind === undefined ? (deepFreeze(structuredClone(initialState)) as Json) : undefined,
          schema: stateSchema,
        })
      : undefined,
    check,
    ...(onResult === undefined ? {} : { onResult }),
    ...(reserve === undefined ? {} : { reserve }),
  });
}

const rules: OptionRules = {
  name: 'any',
  id: 'any',
  tools: 'list',
  timed: 'boolean',
  check: 'any',
  onResult: 'function',
  reserve: 'any',
  stateKind: 'text',
  initialState: 'any',
  stateSchema: 'any',
  // Of a policy that is made anew of another one.
  state: 'any',
};

// A pattern would take a list of one name for the name.
function isPolicyName(name: unknown): boolean {
  return typeof name === 'string' && namePattern.test(name);
}

function describeName(name: unknown): string {
  return typeof name === 'string' ? `\`${name.slice(0, 100)}\`` : `of type ${typeof name}`;
}

/** A policy with the key of its state: `<section path | prompt | host>/<id>`. */
export interface BoundPolicy {
  readonly key: string;
  readonly policy: Policy;
}
