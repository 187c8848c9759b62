import { checkOptions, type OptionRules } from '../basics/check-options.ts';
import type { Deadline } from '../basics/clock.ts';
import { HoldfastError } from '../basics/errors.ts';
import { deepFreeze, type Json } from '../basics/json.ts';
import type { Schema } from '../basics/schema.ts';
import type { FilesystemReader } from '../state/filesystem.ts';
import type { Touched } from '../state/resource.ts';
import type { KeyedState, ListState, Operation, SessionReader, SliceKind } from '../state/slice.ts';
import { allow, type Decision } from './decision.ts';
import type { CallFacts, PlaceView } from './facts.ts';
import type { InputOfTool, Tool } from './tool.ts';

/** A call with validated arguments. `input` is frozen. */
export interface PreparedCall<Input = Json> {
  readonly id: string;
  readonly tool: Tool;
  readonly input: Input;
  /** The effects of the call; absent if the host has no facts. Computed on first access. Frozen. */
  readonly facts?: CallFacts;
}

/** The view of a policy. Frozen and read-only. */
export interface PolicyContext<State = unknown> {
  /** The policy's own state. */
  readonly state: State;
  /** Committed state; for a nested call with the staged changes of the outer calls. */
  readonly session: SessionReader;
  /** The resource `filesystem`, if the host bound one, consistent with `session`. */
  readonly filesystem: FilesystemReader | undefined;
  readonly deadline: Deadline;
  /** The user's words: the `input` of a run, or the host's `request`. Never text written by a model for a nested run. */
  readonly request?: string | undefined;
  /** The place where the call runs, as used for its facts; absent if the host has no facts. */
  readonly place?: PlaceView | undefined;
}

/** A success as seen by `onResult`, before it is committed. */
export interface PolicyResult {
  readonly value: Json;
  readonly message: string;
  /** The call's reads and writes, by resource. */
  readonly touched: ReadonlyMap<string, Touched>;
}

/**
 * Decides about a call. An error, any other value, or no answer within the host's `policyTimeoutMs` denies. May run more than once per
 * call; the last answer counts.
 */
export type PolicyCheck<State, Input = Json> = (
  call: PreparedCall<Input>,
  context: PolicyContext<State>,
) => Decision | Promise<Decision>;

/** The next state, or operations on it; `undefined` keeps it. Synchronous. An error fails the call. */
export type PolicyUpdate<State, Input = Json> = (
  call: PreparedCall<Input>,
  result: PolicyResult,
  context: PolicyContext<State>,
) => State | Operation | readonly Operation[] | undefined;

/** The view of `reserve`. */
export interface ReserveContext<State = unknown> extends PolicyContext<State> {
  /** The state as if all other running calls of the session ended in doubt. */
  readonly state: State;
  /** The tool's `idempotencyKey`: unique per call, and unchanged when the call is resumed. */
  readonly callKey: string;
}

/**
 * Reserves state for a call that may take effect without a counted success: one that ends in doubt, or is nested in a failed call. Runs
 * right before an `external` tool that is not `repeat: 'safe'` begins, with `countsFailures` before any; stored with the start record, so it
 * survives a crash. Dropped if the tool reports a failure (kept with `countsFailures`), and after a success, which `onResult` sees.
 *
 * Must return only `upsert` and `remove`, of keys that no other call sets, because other calls may change the state first; anything else
 * is `policy.denied`. Synchronous. An error denies the call, with the code of a HoldfastError: with parallel calls, the state that
 * `check` saw may have changed.
 */
export type PolicyReserve<State, Input = Json> = (
  call: PreparedCall<Input>,
  context: ReserveContext<State>,
) => Operation | readonly Operation[] | undefined;

type Tools = readonly (Tool | string)[];

interface PolicyDefinitionBase<State, Named extends Tools, Input = InputOfTool<Named[number]>> {
  /** Lower case words joined by `-`. */
  readonly name: string;
  /** Replaces the name in the state's key, for two policies with the same name in one place. */
  readonly id?: string;
  /**
   * The only tools of the policy, or their names; default all. Calls of other tools are allowed without running `check`, `onResult` or
   * `reserve`. Tools give `input` its type. An unknown name is an error when the policy is bound to tools.
   */
  readonly tools?: Named | undefined;
  /** Names of tools that a policy over other tools, or all, refers to; an unknown name is an error, too. */
  readonly mentions?: readonly string[] | undefined;
  /** True if a denial may become an allow over time, as with a rate limit; a preview of a plan then treats it as uncertain. Default false. */
  readonly timed?: boolean;
  /**
   * True if what it reserves also counts after a failure: a command that failed may have changed files, and its error is text of outsiders.
   * `reserve` then runs before every call, also of tools that only read. Default false.
   */
  readonly countsFailures?: boolean;
  readonly check: PolicyCheck<State, Input>;
  /** Called after every success of every tool, or of `tools`. */
  readonly onResult?: PolicyUpdate<State, Input>;
}

/** A guard: decides before a call, and may keep state that changes after successes. */
export interface Policy<State = unknown> {
  readonly name: string;
  readonly id: string;
  /** Names of tools that must exist; those that limit it are among them. */
  readonly mentions: readonly string[];
  /** Denials may end over time. */
  readonly timed?: true;
  /** Its reservations count after a failure, too. */
  readonly countsFailures?: true;
  /** `undefined`: the policy keeps no state. */
  readonly state: PolicyStateDefinition | undefined;
  // Methods, so that a Policy<number> is a Policy; each gets only its own state.
  check(call: PreparedCall, context: PolicyContext<State>): Decision | Promise<Decision>;
  onResult?(
    call: PreparedCall,
    result: PolicyResult,
    context: PolicyContext<State>,
  ): State | Operation | readonly Operation[] | undefined;
  reserve?(call: PreparedCall, context: ReserveContext<State>): Operation | readonly Operation[] | undefined;
}

/** The state of a policy: JSON, by the kind of its slice. */
export interface PolicyStateDefinition {
  readonly kind: SliceKind;
  readonly initial: Json | undefined;
  readonly schema: Schema | undefined;
}

const namePattern = /^[a-z0-9][a-z0-9-]{0,63}$/;

/**
 * Declares a policy. `initialState` gives it one JSON value; `stateKind` a persistent collection, which stays cheap at any size. Without
 * either it has no state.
 *
 * @throws HoldfastError `policy.invalid`.
 */
export function definePolicy<Item, const Named extends Tools = readonly string[]>(
  definition: PolicyDefinitionBase<KeyedState<Item>, Named> & {
    readonly stateKind: 'keyed';
    readonly stateSchema?: Schema<Item>;
    readonly reserve?: PolicyReserve<KeyedState<Item>, InputOfTool<Named[number]>>;
  },
): Policy<KeyedState<Item>>;
export function definePolicy<Item, const Named extends Tools = readonly string[]>(
  definition: PolicyDefinitionBase<ListState<Item>, Named> & {
    readonly stateKind: 'list';
    readonly stateSchema?: Schema<Item>;
  },
): Policy<ListState<Item>>;
export function definePolicy<State, const Named extends Tools = readonly string[]>(
  definition: PolicyDefinitionBase<State, Named> & {
    readonly initialState: State;
    readonly stateSchema?: Schema<State>;
  },
): Policy<State>;
export function definePolicy<const Named extends Tools = readonly string[]>(
  definition: PolicyDefinitionBase<undefined, Named>,
): Policy<undefined>;
export function definePolicy<State>(
  definition: PolicyDefinitionBase<State, Tools, Json> & {
    readonly stateKind?: 'keyed' | 'list';
    readonly initialState?: State;
    readonly stateSchema?: Schema;
    readonly reserve?: PolicyReserve<State>;
  },
): Policy<State> {
  checkOptions('definePolicy', definition, rules);
  const { name, id = name, mentions = [], timed, stateKind, initialState, stateSchema } = definition;
  const { check, onResult, reserve, countsFailures } = definition;
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
      `\`reserve\` of the policy \`${name}\` must be a function and requires \`stateKind: 'keyed'\`.`,
    );
  }
  const tools = definition.tools?.map((tool) => (typeof tool === 'string' ? tool : tool?.name));
  const names = [...(tools ?? []), ...mentions];
  if (tools?.length === 0 || !names.every((tool) => typeof tool === 'string')) {
    throw new HoldfastError(
      'policy.invalid',
      `\`tools\` of the policy \`${name}\` must list at least one tool or name, and \`mentions\` only names. Without \`tools\` it is asked about all.`,
    );
  }
  const stateful = stateKind !== undefined || initialState !== undefined;
  return Object.freeze({
    name,
    id,
    mentions: Object.freeze([...new Set(names)]),
    ...(timed === true ? { timed } : {}),
    ...(countsFailures === true ? { countsFailures } : {}),
    state: stateful
      ? Object.freeze({
          kind: stateKind ?? 'value',
          // The session rejects values that are not JSON.
          initial: stateKind === undefined ? (deepFreeze(structuredClone(initialState)) as Json) : undefined,
          schema: stateSchema,
        })
      : undefined,
    check: onlyFor(tools, check, allow),
    ...(onResult === undefined ? {} : { onResult: onlyFor(tools, onResult, undefined) }),
    ...(reserve === undefined ? {} : { reserve: onlyFor(tools, reserve, undefined) }),
  });
}

/** `judge` for the calls of these tools; `otherwise` for all others. */
function onlyFor<Rest extends readonly unknown[], Answer>(
  tools: readonly string[] | undefined,
  judge: (call: PreparedCall, ...rest: Rest) => Answer,
  otherwise: Answer,
): (call: PreparedCall, ...rest: Rest) => Answer {
  if (tools === undefined) return judge;
  return (call, ...rest) => (tools.includes(call.tool.name) ? judge(call, ...rest) : otherwise);
}

const rules: OptionRules = {
  name: 'any',
  id: 'any',
  tools: 'list',
  mentions: 'list',
  timed: 'boolean',
  countsFailures: 'boolean',
  check: 'any',
  onResult: 'function',
  reserve: 'any',
  stateKind: 'text',
  initialState: 'any',
  stateSchema: 'any',
  // For a policy derived from another one.
  state: 'any',
};

// A pattern would accept a list with one name.
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
