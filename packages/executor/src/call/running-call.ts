import {
  HoldfastError,
  type JsonObject,
  type PolicyDecision,
  type PreparedCall,
  type ResourceTransaction,
  type RunEvent,
  type SessionReader,
  type ToolCallEndEvent,
} from '@holdfast/core';
import type { SessionTransaction } from '@holdfast/session';
import { type CallTime, type Lifetime, toAbortReason, toEndOfLife } from './execute.ts';
import type { CallScope } from './scope.ts';
import type {
  CallResources,
  CompiledTool,
  EndOfLife,
  IdentifiedCall,
  LateStart,
  NestedWork,
  Prepared,
  Reservations,
  StopReason,
} from './types.ts';

const none: readonly never[] = Object.freeze([]);
const nothingStaged: ReadonlyMap<string, ResourceTransaction> = new Map();

/** A call from its start: what its record is made of; each stage fills in its part. */
export class CallRecord {
  readonly source: IdentifiedCall;
  readonly scope: CallScope;
  startedAtMs: number;
  /** Of its run, which goes on while what a call left behind may still ask for its key. */
  readonly turn: number | undefined;
  input: JsonObject | undefined;
  decisions: readonly PolicyDecision[];
  approval: ToolCallEndEvent['approval'];
  /** Attempts that failed, and were followed by another one. */
  retries: ToolCallEndEvent['retries'];
  /** Time that a person took to answer, or that a call waited for its turn between two attempts; no part of its duration. */
  waitedMs: number;
  /** Of a call that began early, when its tool was done: what it waited for then is no part of its duration. */
  finishedAtMs: number | undefined;
  /** Its tool was begun before the process ended, and may have taken effect then. */
  begunBefore: boolean;
  /** Of the call, and of calls that it has made: what counts should it be no success. */
  reservations: Reservations | undefined;

  constructor(source: IdentifiedCall, scope: CallScope, startedAtMs: number) {
    this.source = source;
    this.scope = scope;
    this.startedAtMs = startedAtMs;
    this.turn = scope.run?.turn;
    this.input = undefined;
    this.decisions = none;
    this.approval = undefined;
    this.retries = undefined;
    this.waitedMs = 0;
    this.finishedAtMs = undefined;
    this.begunBefore = false;
    this.reservations = undefined;
  }
}

/** A call that has been prepared, until its end: the runtime's side of its tool's context. Most calls use little of it. */
export class RunningCall extends CallRecord {
  /** What policies and the tool get. */
  readonly call: PreparedCall;
  readonly compiled: CompiledTool;
  /** From when it is entered; `undefined` where only the end of the run limits it. */
  time: CallTime | undefined;
  /** The count of its session's moves that the decision was taken on; `undefined` where that stays as it is. */
  decidedAt: number | undefined;
  /** Keys of policies whose ask a person has answered with yes. */
  approved: ReadonlySet<string> | undefined;
  /** Its tool is running and has not begun yet: it touches nothing. */
  preparing: boolean;
  /** Of a tool that prepares. */
  lateStart: LateStart | undefined;
  /** Whether a call nested in this one has begun that touches the world. */
  reachedOutside: boolean;
  resources: CallResources | undefined;
  nestedWork: NestedWork | undefined;
  #transaction: SessionTransaction | undefined;
  #controller: AbortController | undefined;
  #stopListeners: Set<(end: EndOfLife) => void> | undefined;
  #lifetime: Lifetime | undefined;
  #held: { readonly events: RunEvent[]; counts: PromiseWithResolvers<void> | undefined } | undefined;
  #stopped: StopReason | undefined;
  #brokenBy: { readonly thrown: unknown } | undefined;
  #open = true;
  #key: string | undefined;

  constructor(
    source: IdentifiedCall,
    { call, compiled, recorded }: Prepared,
    { scope, startedAtMs }: Pick<CallRecord, 'scope' | 'startedAtMs'>,
  ) {
    super(source, scope, startedAtMs);
    this.input = recorded;
    this.call = call;
    this.compiled = compiled;
    this.time = undefined;
    this.decidedAt = undefined;
    this.approved = undefined;
    this.preparing = false;
    this.lateStart = undefined;
    this.reachedOutside = false;
    this.resources = undefined;
    this.nestedWork = undefined;
  }

  /** The next attempt at the same call: with nothing of this one but its record, its names and what remains of its time. */
  again(): RunningCall {
    const { call, compiled, scope, startedAtMs } = this;
    const prepared: Prepared = { type: 'prepared', call, compiled, recorded: this.input ?? {} };
    const next = new RunningCall(this.source, prepared, { scope, startedAtMs });
    next.time = this.time?.again();
    next.decisions = this.decisions;
    next.approval = this.approval;
    next.retries = this.retries;
    next.waitedMs = this.waitedMs;
    next.finishedAtMs = this.finishedAtMs;
    next.begunBefore = this.begunBefore;
    next.reservations = this.reservations;
    next.decidedAt = this.decidedAt;
    next.approved = this.approved;
    next.preparing = this.preparing;
    next.lateStart = this.lateStart;
    next.nestedWork = this.nestedWork?.again(next);
    next.#key = this.#key;
    return next;
  }

  /** What the world knows the call by: no other call has the same, also not one of the same id elsewhere. */
  get key(): string {
    this.#key ??= this.scope.features.keyOf(this);
    return this.#key;
  }

  /** Opened by the first write. */
  get transaction(): SessionTransaction {
    this.#transaction ??= this.scope.state.begin();
    return this.#transaction;
  }

  /** The transaction, as far as anything has been written. */
  get written(): SessionTransaction | undefined {
    return this.#transaction;
  }

  /** The session with what the call has staged. */
  get state(): SessionReader {
    return this.#transaction ?? this.scope.state;
  }

  get views(): ReadonlyMap<string, unknown> {
    this.checkOpen();
    return this.openResources().views;
  }

  openResources(): CallResources {
    this.resources ??= this.scope.features.openResources(this);
    return this.resources;
  }

  /** The resources' parts in the call's transaction, as far as the tool has asked for any. */
  get staged(): ReadonlyMap<string, ResourceTransaction> {
    return this.resources === undefined ? nothingStaged : this.resources.staged;
  }

  get nested(): NestedWork {
    this.nestedWork ??= this.scope.features.openNested(this);
    return this.nestedWork;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#stopped !== undefined) this.#controller.abort(toAbortReason(this.#stopped));
    }
    return this.#controller.signal;
  }

  /** The time of what is nested in the call. */
  get lifetime(): Lifetime {
    this.#lifetime ??= this.scope.features.nestedLifetime(this);
    return this.#lifetime;
  }

  /** Why what is nested in the call has to stop. */
  get ended(): EndOfLife | undefined {
    if (this.#stopped !== undefined) return toEndOfLife(this.#stopped);
    return this.scope.lifetime.ended ?? (this.#open ? undefined : 'aborted');
  }

  /** Tells the tool, and what is nested in its call, to stop. */
  stop(reason: StopReason): void {
    if (this.#stopped !== undefined) return;
    this.#stopped = reason;
    this.#controller?.abort(toAbortReason(reason));
    this.#tellNested(toEndOfLife(reason));
  }

  onStop(listener: (end: EndOfLife) => void): () => void {
    this.#stopListeners ??= new Set();
    const listeners = this.#stopListeners;
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  /** What makes a success impossible, whatever the tool made of it: a reducer that failed, a part that cannot be whole. */
  get brokenBy(): { readonly thrown: unknown } | undefined {
    return this.#brokenBy;
  }

  broke(thrown: unknown): void {
    this.#brokenBy ??= { thrown };
  }

  /** What the tool tells observers is kept back until it is certain that the call counts. */
  hold(): void {
    this.#held = { events: [], counts: undefined };
  }

  release(): void {
    const held = this.#held;
    this.#held = undefined;
    for (const event of held?.events ?? []) this.scope.emit?.(event);
    held?.counts?.resolve();
  }

  /** Resolves when it is certain that the call counts, or when it has ended; `undefined` when it counts already. */
  get counts(): Promise<void> | undefined {
    if (this.#held === undefined) return undefined;
    this.#held.counts ??= Promise.withResolvers();
    return this.#held.counts.promise;
  }

  tell(event: RunEvent): void {
    if (this.#held === undefined) this.scope.emit?.(event);
    else this.#held.events.push(event);
  }

  checkOpen(): void {
    if (!this.#open)
      throw new HoldfastError('context.closed', 'The call has ended: its context can no longer be used.');
  }

  /** Ends what the tool can do. What is nested and still under way has nothing left that it could be a part of. */
  seal(): void {
    if (!this.#open) return;
    this.#open = false;
    if (this.#stopListeners !== undefined) this.#tellNested('aborted');
    this.#held?.counts?.resolve();
    const broken = this.resources?.seal();
    if (broken !== undefined) this.broke(broken.thrown);
  }

  #tellNested(end: EndOfLife): void {
    const listeners = this.#stopListeners;
    this.#stopListeners = undefined;
    for (const listener of listeners ?? []) listener(end);
  }
}
