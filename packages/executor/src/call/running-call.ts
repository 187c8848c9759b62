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
import { ReadOnlyMap } from '@holdfast/core/internal';
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
const noViews: ReadonlyMap<string, unknown> = new ReadOnlyMap();

/** The record of a running call; each stage fills in its part. */
export class CallRecord {
  readonly source: IdentifiedCall;
  readonly scope: CallScope;
  startedAtMs: number;
  /** Of its run. Kept here because leftover work of a call may still ask for its key. */
  readonly turn: number | undefined;
  input: JsonObject | undefined;
  decisions: readonly PolicyDecision[];
  approval: ToolCallEndEvent['approval'];
  /** Failed attempts that were followed by another. */
  retries: ToolCallEndEvent['retries'];
  /** Time spent waiting for a person or, between attempts, for the call's turn; not part of its duration. */
  waitedMs: number;
  /** When the tool of an early call finished; waiting after that is not part of its duration. */
  finishedAtMs: number | undefined;
  /** True if the tool began in a process that has ended, and may have taken effect. */
  begunBefore: boolean;
  /** State changes of the call and its nested calls that count even if it fails. */
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

/** A prepared call until its end: the runtime's side of its tool's context. Most calls use little of it. */
export class RunningCall extends CallRecord {
  /** The call as policies and the tool see it. */
  readonly call: PreparedCall;
  readonly compiled: CompiledTool;
  /** Set when the call is entered; `undefined` if only the end of the run limits it. */
  time: CallTime | undefined;
  /** The session's move count at the decision; `undefined` if the decision cannot become stale. */
  decidedAt: number | undefined;
  /** Keys of policies whose ask a person has approved. */
  approved: ReadonlySet<string> | undefined;
  /** True while a preparing tool has not begun; it must not touch anything yet. */
  preparing: boolean;
  /** Set for a preparing tool. */
  lateStart: LateStart | undefined;
  /** True if a nested external call has begun. */
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

  /** The next attempt at the same call; keeps only the record, the names and the remaining time. */
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

  /** The idempotency key: unique across sessions, even for calls with the same id. */
  get key(): string {
    this.#key ??= this.scope.features.keyOf(this);
    return this.#key;
  }

  /** Opened by the first write. */
  get transaction(): SessionTransaction {
    this.#transaction ??= this.scope.state.begin();
    return this.#transaction;
  }

  /** The transaction, if anything was written. */
  get written(): SessionTransaction | undefined {
    return this.#transaction;
  }

  /** The session with the staged changes of the call. */
  get state(): SessionReader {
    return this.#transaction ?? this.scope.state;
  }

  get views(): ReadonlyMap<string, unknown> {
    this.checkOpen();
    return this.scope.resources.size === 0 ? noViews : this.openResources().views;
  }

  openResources(): CallResources {
    this.resources ??= this.scope.features.openResources(this);
    return this.resources;
  }

  /** The resources' parts in the transaction that the tool has used so far. */
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

  /** The lifetime of nested calls and runs. */
  get lifetime(): Lifetime {
    this.#lifetime ??= this.scope.features.nestedLifetime(this);
    return this.#lifetime;
  }

  /** Why nested calls and runs must stop. */
  get ended(): EndOfLife | undefined {
    if (this.#stopped !== undefined) return toEndOfLife(this.#stopped);
    return this.scope.lifetime.ended ?? (this.#open ? undefined : 'aborted');
  }

  /** Tells the tool and its nested calls to stop. */
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

  /** The error that rules out a success whatever the tool returned: a failed reducer, or an incomplete part. */
  get brokenBy(): { readonly thrown: unknown } | undefined {
    return this.#brokenBy;
  }

  broke(thrown: unknown): void {
    this.#brokenBy ??= { thrown };
  }

  /** Holds back the tool's events until the call is certain to count. */
  hold(): void {
    this.#held = { events: [], counts: undefined };
  }

  release(): void {
    const held = this.#held;
    this.#held = undefined;
    for (const event of held?.events ?? []) this.scope.emit?.(event);
    held?.counts?.resolve();
  }

  /** Resolves when the call is certain to count, or has ended; `undefined` if it already counts. */
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

  /** Closes the tool's context. Nested work that is still running can no longer commit. */
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
