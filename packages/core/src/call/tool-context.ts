import type { Deadline } from '../basics/clock.ts';
import type { Model } from '../model/model.ts';
import type { Filesystem } from '../state/filesystem.ts';
import type { ResourceDefinition } from '../state/resource-definition.ts';
import type { SessionEvent, SessionReader, Slice } from '../state/slice.ts';
import type { Budget } from './budget.ts';
import type { Outcome } from './outcome.ts';
import type { TraceEntry } from './planner.ts';
import type { Prompt, RenderedPrompt } from './prompt.ts';

/** What a tool may use to find out about an earlier call of its own. */
export interface ProbeContext {
  readonly callId: string;
  /** That of the call in question. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  readonly deadline: Deadline;
}

/** What a tool may do during its call. Frozen, and useless once the call has ended (`context.closed`). */
export interface ToolContext {
  /** Unique in its turn; a nested call has `<id of the call around it>/<number>`. */
  readonly callId: string;
  /** The same for every attempt at the same call, also after its process ended. A direct call with other arguments has another. */
  readonly idempotencyKey: string;
  /** Fires when the call has to stop. One that goes on is abandoned: its answer and its writes count for nothing. */
  readonly signal: AbortSignal;
  /** When `signal` fires at the latest: the nearest of the tool's `timeoutMs`, the run's end and the budget's. */
  readonly deadline: Deadline;
  /** Staged: what is dispatched here is seen here at once, and by others when the call succeeds. */
  readonly session: ToolSession;
  /** What the host bound, staged where it can be. */
  readonly resources: ReadonlyMap<string, unknown>;
  /** The resource `filesystem`, when the host bound one. */
  readonly filesystem: Filesystem | undefined;
  /**
   * The instance of a declared resource: the host's where it bound one under that name, else made when first used.
   *
   * @throws HoldfastError `resource.create_failed`, `resource.cycle`, `resource.lifetime`, `resource.name_conflict`, `resource.invalid`,
   * `context.closed`.
   */
  use<Value>(resource: ResourceDefinition<Value>): Promise<Value>;
  /**
   * Calls another tool on the same path, inside this call's transaction: what it did counts when this call succeeds. Its effects
   * may not exceed this tool's. It never suspends: an ask that neither a grant nor the host's `approve` answers is a denial.
   * `input` is a value or JSON text, default `{}`. Whatever goes wrong is an outcome; calls run one after another, in the order in
   * which they were made, and those with effects `none` beside each other.
   *
   * @throws HoldfastError `context.closed`.
   */
  call(name: string, input?: unknown): Promise<Outcome>;
  /**
   * A session of its own for a nested run, with this call's deadline, budget, grants, staged resources and subscribers. Its
   * records go to this session's log; its state ends with the call. Policies are those that the nested run is given.
   *
   * @throws HoldfastError `context.closed`.
   */
  child(): ChildSession;
  /** What the host allows for all calls and runs that share it; `undefined` without a budget. */
  readonly budget: Budget | undefined;
  /** The prompt of the run, what it rendered to and the run's model; `undefined` for a direct call. */
  readonly prompt: Prompt | undefined;
  readonly renderedPrompt: RenderedPrompt | undefined;
  readonly model: Model | undefined;
  /**
   * What became of the nodes that this one needs, directly or through others, in plan order; `undefined` for a call that is no node of
   * a plan, also for one that a node's tool makes.
   */
  readonly trace: readonly TraceEntry[] | undefined;
  /**
   * Begins the call of a tool that `prepares`: an `external` one is recorded as started when this resolves. Other calls have begun already.
   * Rejects when the call has to stop, and with HoldfastError `log.write_failed`, `log.sync_failed`, `context.closed`.
   */
  begin(): Promise<void>;
  /** Tells observers how far the call is. Prolongs nothing. @throws HoldfastError `context.closed`. */
  progress(message: string): void;
  /** Tells observers that the call is alive. Prolongs nothing. @throws HoldfastError `context.closed`. */
  beat(): void;
}

/** A session under a call of another one. Runners take it where they take a session. */
export interface ChildSession extends SessionReader {
  readonly id: string;
  /** Makes the slice's reducers listen. */
  register(slice: Slice): void;
  dispatch(event: SessionEvent): void;
}

/** Session state as a tool may use it: what it stages is seen by the tool at once. */
export interface ToolSession extends SessionReader {
  /**
   * Stages an event; it is committed with the call, or never.
   *
   * @throws HoldfastError `event.unhandled`, `event.invalid`, `slice.value.invalid`, `tool.effects.exceeded` (the tool declares `none`),
   * `context.closed`; and whatever a reducer throws.
   */
  dispatch(event: SessionEvent): void;
  /** Dispatches to `log` slices: kept whatever becomes of the call. @throws as `dispatch`, and `event.retention`. */
  publish(event: SessionEvent): void;
}
