import type { Deadline } from '../basics/clock.ts';
import type { Model } from '../model/model.ts';
import type { Filesystem } from '../state/filesystem.ts';
import type { ResourceDefinition } from '../state/resource-definition.ts';
import type { SessionEvent, SessionReader, Slice } from '../state/slice.ts';
import type { Budget } from './budget.ts';
import type { Outcome } from './outcome.ts';
import type { TraceEntry } from './planner.ts';
import type { Prompt, RenderedPrompt } from './prompt.ts';

/** The context of a tool's `probe`. */
export interface ProbeContext {
  readonly callId: string;
  /** The key of the call in question. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
  readonly deadline: Deadline;
}

/** The context of a tool during its call. Frozen; unusable once the call has ended (`context.closed`). */
export interface ToolContext {
  /** Unique in its turn; a nested call has `<id of the outer call>/<number>`. */
  readonly callId: string;
  /** The same for every attempt at the same call, even after a crash. Differs for a direct call with other arguments. */
  readonly idempotencyKey: string;
  /** Aborted when the call must stop. If the tool continues, its result and writes are discarded. */
  readonly signal: AbortSignal;
  /** The latest time of `signal`: the earliest of the tool's `timeoutMs`, the run's end and the budget's. */
  readonly deadline: Deadline;
  /** Staged state: changes are visible here at once, and to others when the call succeeds. */
  readonly session: ToolSession;
  /** The host's resources, staged if possible. */
  readonly resources: ReadonlyMap<string, unknown>;
  /** The resource `filesystem`, if the host bound one. */
  readonly filesystem: Filesystem | undefined;
  /**
   * The instance of a declared resource: the one bound by the host under its name, or created on first use.
   *
   * @throws HoldfastError `resource.failed`, `resource.invalid`,
   * `context.closed`.
   */
  use<Value>(resource: ResourceDefinition<Value>): Promise<Value>;
  /**
   * Calls another tool on the same path, inside this call's transaction: its changes count if this call succeeds. Its effects may not
   * exceed this tool's. It never suspends: an ask that neither a grant nor the host's `approve` answers is a denial. `input` is a value or
   * JSON text, default `{}`. All errors are outcomes. Calls run in order; those with effects `none` run in parallel.
   *
   * @throws HoldfastError `context.closed`.
   */
  call(name: string, input?: unknown): Promise<Outcome>;
  /**
   * Opens a session for a nested run, with this call's deadline, budget, grants, staged resources and subscribers. Its records go to this
   * session's log and its state ends with the call. Its policies are those of the nested run.
   *
   * @throws HoldfastError `context.closed`.
   */
  child(): ChildSession;
  /** The budget shared with other calls and runs; `undefined` without one. */
  readonly budget: Budget | undefined;
  /** The run's prompt, its rendered page and its model; `undefined` for a direct call. */
  readonly prompt: Prompt | undefined;
  readonly renderedPrompt: RenderedPrompt | undefined;
  readonly model: Model | undefined;
  /**
   * The results of the nodes that this plan node depends on, directly or indirectly, in plan order; `undefined` for any other call,
   * including calls made by a node's tool.
   */
  readonly trace: readonly TraceEntry[] | undefined;
  /**
   * Begins the call of a tool that `prepares`: resolves once an `external` call is recorded as started. Other calls have already begun.
   * Rejects if the call must stop, and with HoldfastError `log.write_failed`, `log.broken`, `context.closed`.
   */
  begin(): Promise<void>;
  /** Reports progress to observers. Does not extend the time. @throws HoldfastError `context.closed`. */
  progress(message: string): void;
  /** Reports to observers that the call is alive. Does not extend the time. @throws HoldfastError `context.closed`. */
  beat(): void;
}

/** A session nested in a call. Runners accept it as their session. */
export interface ChildSession extends SessionReader {
  readonly id: string;
  /** Registers the slice's reducers. */
  register(slice: Slice): void;
  dispatch(event: SessionEvent): void;
}

/** Session state for a tool, including its own staged changes. */
export interface ToolSession extends SessionReader {
  /**
   * Stages an event, which is committed with the call or discarded.
   *
   * @throws HoldfastError `event.invalid`, `slice.invalid`, `tool.effects.exceeded` (the tool declares `none`),
   * `context.closed`; and errors thrown by reducers.
   */
  dispatch(event: SessionEvent): void;
  /** Dispatches to `log` slices, which keep the event however the call ends. @throws as `dispatch`, and `event.invalid`. */
  publish(event: SessionEvent): void;
}
