import {
  type Deadline,
  type Filesystem,
  HoldfastError,
  isStagedResource,
  type ResourceTransaction,
  type SessionEvent,
  type Slice,
  type ToolContext,
  type ToolSession,
  type Touched,
} from '@holdfast/core';
import type { SessionTransaction } from '@holdfast/session';

export interface CallContextOptions {
  readonly callId: string;
  readonly deadline: Deadline;
  readonly transaction: SessionTransaction;
  readonly resources: ReadonlyMap<string, unknown>;
  readonly onProgress: ((message: string) => void) | undefined;
}

/** The runtime's side of a tool's context: what it has staged, and how to stop and close it. */
export class CallResources {
  readonly options: CallContextOptions;
  readonly context: ToolContext;
  readonly #staged = new Map<string, ResourceTransaction>();
  #views: ReadonlyMap<string, unknown> | undefined;
  #controller: AbortController | undefined;
  #abortReason: unknown;
  #open = true;

  constructor(options: CallContextOptions) {
    this.options = options;
    this.context = new CallContext(this);
  }

  /** The resources' parts in the call's transaction, as far as the tool has asked for any. */
  get staged(): ReadonlyMap<string, ResourceTransaction> {
    return this.#staged;
  }

  // Views are opened when a tool first asks for one: most calls use none.
  get views(): ReadonlyMap<string, unknown> {
    this.checkOpen();
    this.#views ??= this.#openViews();
    return this.#views;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#abortReason = reason;
    this.#controller?.abort(reason);
  }

  touched(): ReadonlyMap<string, Touched> {
    return new Map([...this.#staged].map(([name, staged]) => [name, staged.touched()]));
  }

  checkOpen(): void {
    if (!this.#open)
      throw new HoldfastError('context.closed', 'The call has ended: its context can no longer be used.');
  }

  close(): void {
    this.#open = false;
  }

  #openViews(): ReadonlyMap<string, unknown> {
    const { resources, callId } = this.options;
    const views = new Map<string, unknown>();
    for (const [name, resource] of resources) {
      if (isStagedResource(resource)) {
        const staged = resource.begin(callId);
        this.#staged.set(name, staged);
        views.set(name, staged.view);
      } else {
        views.set(name, resource);
      }
    }
    return views;
  }
}

class CallContext implements ToolContext {
  readonly #call: CallResources;
  readonly #session: ToolSession;

  constructor(call: CallResources) {
    this.#call = call;
    this.#session = new CallSession(call.options.transaction);
    Object.freeze(this);
  }

  get callId(): string {
    return this.#call.options.callId;
  }

  get idempotencyKey(): string {
    return this.#call.options.callId;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  get deadline(): Deadline {
    return this.#call.options.deadline;
  }

  get session(): ToolSession {
    return this.#session;
  }

  get resources(): ReadonlyMap<string, unknown> {
    return this.#call.views;
  }

  get filesystem(): Filesystem | undefined {
    // By the name's contract: whoever binds `filesystem` binds a StagedResource<Filesystem, FilesystemReader>.
    return this.#call.views.get('filesystem') as Filesystem | undefined;
  }

  progress(message: string): void {
    this.#call.checkOpen();
    this.#call.options.onProgress?.(String(message));
  }
}

/** The part of a transaction that is a tool's business. */
class CallSession implements ToolSession {
  readonly #transaction: SessionTransaction;

  constructor(transaction: SessionTransaction) {
    this.#transaction = transaction;
    Object.freeze(this);
  }

  read<State>(slice: Slice<State>): State {
    return this.#transaction.read(slice);
  }

  dispatch(event: SessionEvent): void {
    this.#transaction.dispatch(event);
  }

  publish(event: SessionEvent): void {
    this.#transaction.publish(event);
  }
}
