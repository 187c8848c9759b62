import {
  HoldfastError,
  isResourceDefinition,
  isStagedResource,
  type Json,
  type PreparedCall,
  ReadOnlyMap,
  type ResourceTransaction,
  type RunEvent,
  type Touched,
} from '@holdfast/core';
import type { SessionTransaction } from '@holdfast/session';
import { keyOfCall } from './call-key.ts';
import type { CallScope } from './call-scope.ts';
import { CallTime, type StopReason, toAbortReason, toEndOfLife } from './call-time.ts';
import type { NestedDecision } from './decide-again.ts';
import { DeclaredResources } from './declared-resources.ts';
import type { LateStart } from './late-start.ts';
import type { EndOfLife, Lifetime } from './lifetime.ts';
import { NestedLifetime } from './nested-lifetime.ts';
import { NestedTouched } from './own-touched.ts';
import type { Reservations } from './reservations.ts';

/** A call, and its arguments as they came. */
export interface SourceCall {
  readonly call: PreparedCall;
  readonly raw: Json;
}

/** The runtime's side of a tool's context: what it has staged, and how to stop and close it. */
export class CallResources {
  readonly call: PreparedCall;
  readonly scope: CallScope;
  readonly transaction: SessionTransaction;
  readonly turn: number | undefined;
  /** Of the call, and of calls that it has made: what counts should it be no success. */
  reservations: Reservations | undefined;
  /** `undefined` where only the end of the run limits it. */
  time: CallTime | undefined;
  /** Of a tool that prepares. */
  lateStart: LateStart | undefined;
  /** Of calls that it has made, and that count with it. */
  nestedDecisions: NestedDecision[] | undefined;
  #calls = 0;
  #children = 0;
  #reachedOutside = false;
  // Made when a tool first asks for them: most calls use none of these.
  #staged: Map<string, ResourceTransaction> | undefined;
  #views: ReadonlyMap<string, unknown> | undefined;
  #controller: AbortController | undefined;
  #stopListeners: Set<(end: EndOfLife) => void> | undefined;
  #lifetime: Lifetime | undefined;
  #declared: DeclaredResources | undefined;
  #nestedTouched: NestedTouched | undefined;
  #held: { readonly events: RunEvent[]; readonly counts: PromiseWithResolvers<void> } | undefined;
  #stopped: StopReason | undefined;
  #unopened: { readonly thrown: unknown } | undefined;
  #brokenBy: { readonly thrown: unknown } | undefined;
  #open = true;
  readonly #rawArguments: Json;
  #key: string | undefined;

  constructor({ call, raw }: SourceCall, scope: CallScope, transaction: SessionTransaction) {
    this.call = call;
    this.#rawArguments = raw;
    this.scope = scope;
    this.transaction = transaction;
    this.turn = scope.run?.turn;
    this.reservations = undefined;
    this.lateStart = undefined;
    this.nestedDecisions = undefined;
    this.time = CallTime.of(call, scope);
  }

  /** For the next attempt at the same call: with nothing of this one but its names and what remains of its time. */
  again(transaction: SessionTransaction): CallResources {
    const next = new CallResources({ call: this.call, raw: this.#rawArguments }, this.scope, transaction);
    next.#key = this.#key;
    next.time = this.time?.again();
    next.#calls = this.#calls;
    next.#children = this.#children;
    next.reservations = this.reservations;
    next.lateStart = this.lateStart;
    return next;
  }

  /** Of the next nested call and of the next child session, counted over all attempts: no two have the same name. */
  nextCallNumber(): number {
    this.#calls += 1;
    return this.#calls;
  }

  /** Whether it has made calls or runs of its own. */
  get hasCalled(): boolean {
    return this.#calls > 0 || this.#children > 0;
  }

  nextChildNumber(): number {
    this.#children += 1;
    return this.#children;
  }

  /** Whether a call nested in this one has begun that touches the world. */
  get reachedOutside(): boolean {
    return this.#reachedOutside;
  }

  noteOutside(): void {
    this.#reachedOutside = true;
  }

  /**
   * What the world knows the call by: no other call has the same, also not one with the same id in another turn or run, or a direct one
   * with other arguments.
   */
  get key(): string {
    this.#key ??= keyOfCall(this, this.#rawArguments);
    return this.#key;
  }

  /** The resources' parts in the call's transaction, as far as the tool has asked for any. */
  get staged(): ReadonlyMap<string, ResourceTransaction> {
    return this.#staged ?? nothingStaged;
  }

  get views(): ReadonlyMap<string, unknown> {
    this.checkOpen();
    if (this.#unopened !== undefined) throw this.#unopened.thrown;
    this.#views ??= this.#openViews();
    return this.#views;
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
    const { atMs } = this.scope.lifetime.deadline;
    this.#lifetime ??= new NestedLifetime(this, Math.min(atMs, this.time?.endsAtMs ?? atMs));
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
    this.#held = { events: [], counts: Promise.withResolvers() };
  }

  release(): void {
    const held = this.#held;
    this.#held = undefined;
    for (const event of held?.events ?? []) this.scope.emit?.(event);
    held?.counts.resolve();
  }

  /** Resolves when it is certain that the call counts, or when it has ended; `undefined` when it counts already. */
  get counts(): Promise<void> | undefined {
    return this.#held?.counts.promise;
  }

  tell(event: RunEvent): void {
    if (this.#held === undefined) this.scope.emit?.(event);
    else this.#held.events.push(event);
  }

  /** Made when first used. */
  get declared(): DeclaredResources {
    this.#declared ??= new DeclaredResources(this);
    return this.#declared;
  }

  /** Whether ending the call takes more than dropping what the session has staged. */
  get holdsResources(): boolean {
    return this.#staged !== undefined || this.#declared !== undefined;
  }

  /** Takes in the part that a resource has in the call's transaction. The second instance under one name is `name#2`. */
  stage(name: string, part: ResourceTransaction): void {
    this.#staged ??= new Map();
    let key = name;
    for (let count = 2; this.#staged.has(key); count += 1) key = `${name}#${count}`;
    this.#staged.set(key, part);
  }

  /** Lets go of what was made for this call. */
  async dispose(): Promise<void> {
    await this.#declared?.dispose();
  }

  touched(): ReadonlyMap<string, Touched> {
    return new Map([...this.staged].map(([name, staged]) => [name, staged.touched()]));
  }

  /** What policies are told of: what the tool did itself. */
  ownTouched(touched: ReadonlyMap<string, Touched>): ReadonlyMap<string, Touched> {
    return this.#nestedTouched === undefined ? touched : this.#nestedTouched.without(touched);
  }

  /** Takes in what a nested call has committed into this one. */
  noteNested(touched: ReadonlyMap<string, Touched>): void {
    this.#nestedTouched ??= new NestedTouched();
    this.#nestedTouched.add(touched);
  }

  checkOpen(): void {
    if (!this.#open)
      throw new HoldfastError('context.closed', 'The call has ended: its context can no longer be used.');
  }

  /** Ends what the tool can do. What is nested and still under way has nothing left that it could be a part of. */
  seal(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#tellNested('aborted');
    this.#held?.counts.resolve();
    for (const staged of this.staged.values()) {
      try {
        staged.seal();
      } catch (thrown) {
        this.broke(thrown);
      }
    }
  }

  #tellNested(end: EndOfLife): void {
    const listeners = this.#stopListeners;
    this.#stopListeners = undefined;
    for (const listener of listeners ?? []) listener(end);
  }

  // All or none: a second try would begin again what the first one has begun.
  #openViews(): ReadonlyMap<string, unknown> {
    try {
      return this.#beginAll();
    } catch (thrown) {
      this.#unopened = { thrown };
      throw thrown;
    }
  }

  #beginAll(): ReadonlyMap<string, unknown> {
    const views = new Map<string, unknown>();
    for (const [name, resource] of this.scope.resources) {
      if (isStagedResource(resource)) {
        const staged = resource.begin(this.call.id);
        this.stage(name, staged);
        views.set(name, staged.view);
      } else if (!isResourceDefinition(resource)) {
        views.set(name, resource);
      }
    }
    return new ReadOnlyMap(views);
  }
}

const nothingStaged: ReadonlyMap<string, ResourceTransaction> = new Map();
