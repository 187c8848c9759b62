import type { ResourceDefinition } from '@holdfast/core';
import { isResourceDefinition, isStagedResource } from '@holdfast/core/internal';
import type { ResourceBuild } from '@holdfast/core/types';
import { type DisposalOptions, Disposals, type ResourceFailure } from './disposal.ts';
import {
  buildClosedError,
  checkLifetime,
  cycleError,
  invalidTokenError,
  nameConflictError,
  scopeClosedError,
  stagedError,
  toCreateError,
} from './errors.ts';
import { connect, createNode, findCycle, type ResourceNode, type ResourceWait, release } from './node.ts';

/** The declared resources of a session, and the scopes of its calls. */
export interface SessionResources {
  /** Opens the scope of a call. @throws HoldfastError `context.closed`. */
  open(options?: CallResourceOptions): CallResourceScope;
  /**
   * Ends the inner scopes and then this one: disposes every instance in reverse order of creation and returns the failures. Does not
   * wait for a pending `create`: its instance is disposed when it arrives, followed by its dependencies. A second call waits and
   * returns nothing.
   */
  dispose(): Promise<readonly ResourceFailure[]>;
}

/** The declared resources of one call. */
export interface CallResourceScope extends SessionResources {
  /**
   * The instance of `resource`: bound by the host under its name, or created on first use. Rejects as soon as the scope ends.
   *
   * @throws HoldfastError `context.closed`, `resource.invalid`,
   * `resource.failed`, or what `view` throws.
   */
  use<Value>(resource: ResourceDefinition<Value>): Promise<Value>;
}

export interface CallResourceOptions {
  /** Host resources by name. Default: those of the outer scope, initially none. */
  readonly bound?: ReadonlyMap<string, unknown> | undefined;
  /** Maps an instance on every use: a staged one to the call's view. Default: the instance itself. */
  readonly view?: ((instance: unknown, name: string) => unknown) | undefined;
  /** For resources in this scope. Default: as in the outer scope. */
  readonly onLateFailure?: DisposalOptions['onLateFailure'] | undefined;
}

export function createSessionResources(options: DisposalOptions): SessionResources {
  return new Scope(new Disposals(options), {}, undefined);
}

type Bound = ReadonlyMap<string, unknown>;

const nothingBound: Bound = new Map();

class Scope implements CallResourceScope {
  readonly #disposals: Disposals;
  readonly #bound: Bound;
  readonly #view: CallResourceOptions['view'];
  readonly #session: Scope;
  readonly #siblings: Set<Scope>;
  readonly #children = new Set<Scope>();
  /** Shared instances, from their first request. */
  readonly #shared = new Map<ResourceDefinition, ResourceNode>();
  readonly #names = new Map<string, ResourceDefinition>();
  /** Pending waits in this scope. */
  readonly #waits = new Set<ResourceWait>();
  #controller: AbortController | undefined;
  #closed = false;
  #end: Promise<readonly ResourceFailure[]> | undefined;

  constructor(disposals: Disposals, { bound, view }: CallResourceOptions, parent: Scope | undefined) {
    this.#disposals = disposals;
    this.#bound = bound ?? (parent === undefined ? nothingBound : parent.#bound);
    this.#view = view;
    this.#session = parent === undefined ? this : parent.#session;
    this.#siblings = parent === undefined ? new Set() : parent.#children;
    this.#siblings.add(this);
  }

  use<Value>(resource: ResourceDefinition<Value>): Promise<Value> {
    // By the definition's contract; the host vouches for what it bound under the name.
    return this.#ask(resource, undefined, this.#bound) as Promise<Value>;
  }

  open(options: CallResourceOptions = {}): CallResourceScope {
    this.#checkOpen();
    const { onLateFailure, limit } = this.#disposals.options;
    return new Scope(new Disposals({ onLateFailure: options.onLateFailure ?? onLateFailure, limit }), options, this);
  }

  async dispose(): Promise<readonly ResourceFailure[]> {
    if (this.#end !== undefined) {
      await this.#end;
      return [];
    }
    this.#end = this.#endAll();
    return this.#end;
  }

  #ask(resource: ResourceDefinition, asker: ResourceNode | undefined, bound: Bound): Promise<unknown> {
    const answer = new Promise<unknown>((resolve, reject) => {
      this.#checkOpen();
      if (asker !== undefined && asker.state !== 'making') throw buildClosedError(asker.definition);
      if (!isResourceDefinition(resource)) throw invalidTokenError();
      const { name } = resource;
      const found = bound.get(name);
      if (found !== undefined && !isResourceDefinition(found)) {
        resolve(this.#viewOf(found, name, asker));
        return;
      }
      const definition = found ?? resource;
      if (asker !== undefined) checkLifetime(asker.definition, definition);
      const home = definition.lifetime === 'session' ? this.#session : this;
      if (found === undefined) home.#claimName(definition);
      const shared = home.#shared.get(definition);
      if (shared?.state === 'made') {
        resolve(this.#handOut(shared, name, asker));
        return;
      }
      const cycle = asker === undefined ? undefined : findCycle(asker, definition);
      if (cycle !== undefined) throw cycleError(cycle);
      const node = shared ?? createNode(definition, home.#disposals, asker);
      this.#wait({ asker, node, made: () => resolve(this.#handOut(node, name, asker)), failed: reject });
      if (shared === undefined) void home.#make(node, bound);
    });
    // The requester may be gone, and an unhandled rejection would end the process.
    answer.catch(() => undefined);
    return answer;
  }

  async #make(node: ResourceNode, bound: Bound): Promise<void> {
    const { definition } = node;
    if (definition.lifetime !== 'use') this.#shared.set(definition, node);
    const asked: Promise<unknown>[] = [];
    try {
      node.instance = await definition.create(this.#buildFor(node, bound, asked));
    } catch (thrown) {
      if (definition.lifetime !== 'use') this.#shared.delete(definition);
      const error = toCreateError(definition, thrown);
      for (const wait of takeAll(node.waits)) wait.failed(error);
      release(node);
      return;
    }
    node.state = 'completing';
    // Unawaited dependencies must also be created first.
    await Promise.allSettled(asked);
    node.state = 'made';
    this.#disposals.add(node);
    for (const wait of takeAll(node.waits)) wait.made();
  }

  #buildFor(node: ResourceNode, bound: Bound, asked: Promise<unknown>[]): ResourceBuild {
    const use = <Value>(resource: ResourceDefinition<Value>): Promise<Value> => {
      const answer = this.#ask(resource, node, bound);
      asked.push(answer);
      return answer as Promise<Value>;
    };
    return new Build(use, () => this.#signal);
  }

  #wait(wait: ResourceWait): void {
    const { node, made, failed } = wait;
    const listed: ResourceWait = {
      ...wait,
      made: () => {
        this.#waits.delete(listed);
        try {
          made();
        } catch (thrown) {
          failed(thrown);
        }
      },
      failed: (error) => {
        this.#waits.delete(listed);
        failed(error);
      },
    };
    this.#waits.add(listed);
    node.waits.add(listed);
  }

  /** Hands an instance to a requester in this scope. */
  #handOut(node: ResourceNode, name: string, asker: ResourceNode | undefined): unknown {
    if (asker?.state === 'ended') throw buildClosedError(asker.definition);
    const view = this.#viewOf(node.instance, name, asker);
    if (asker !== undefined) connect(asker, node);
    return view;
  }

  #viewOf(instance: unknown, name: string, asker: ResourceNode | undefined): unknown {
    if (asker?.definition.lifetime !== 'session')
      return this.#view === undefined ? instance : this.#view(instance, name);
    if (isStagedResource(instance)) throw stagedError(asker.definition, name);
    return instance;
  }

  #claimName(definition: ResourceDefinition): void {
    const { name } = definition;
    const owner = this.#names.get(name);
    if (owner !== undefined && owner !== definition) throw nameConflictError(name);
    this.#names.set(name, definition);
  }

  get #signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#closed) this.#controller.abort();
    return this.#controller.signal;
  }

  #checkOpen(): void {
    if (this.#closed) throw scopeClosedError();
  }

  async #endAll(): Promise<readonly ResourceFailure[]> {
    this.#close();
    const failures: ResourceFailure[] = [];
    for (const child of [...this.#children].reverse()) failures.push(...(await child.dispose()));
    failures.push(...(await this.#disposals.begin()));
    this.#siblings.delete(this);
    return failures;
  }

  /** Refuses further requests, in this scope and inner ones. */
  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const child of this.#children) child.#close();
    for (const wait of takeAll(this.#waits)) {
      wait.node.waits.delete(wait);
      wait.failed(scopeClosedError());
    }
    this.#controller?.abort();
  }
}

/** The argument of a resource's `create`. */
class Build implements ResourceBuild {
  readonly use: ResourceBuild['use'];
  readonly #signal: () => AbortSignal;

  constructor(use: ResourceBuild['use'], signal: () => AbortSignal) {
    this.use = use;
    this.#signal = signal;
    Object.freeze(this);
  }

  get signal(): AbortSignal {
    return this.#signal();
  }
}

function takeAll<Item>(items: Set<Item>): readonly Item[] {
  const taken = [...items];
  items.clear();
  return taken;
}
