import {
  type Deadline,
  type Filesystem,
  HoldfastError,
  isStagedResource,
  type PreparedCall,
  type ResourceTransaction,
  type SessionEvent,
  type Slice,
  type ToolContext,
  type ToolSession,
  type Touched,
} from '@holdfast/core';
import type { SessionTransaction } from '@holdfast/session';
import type { CallScope } from './call-scope.ts';
import type { EndOfLife } from './lifetime.ts';

/** The runtime's side of a tool's context: what it has staged, and how to stop and close it. */
export class CallResources {
  readonly call: PreparedCall;
  readonly scope: CallScope;
  readonly transaction: SessionTransaction;
  // Made when a tool first asks for them: most calls use none of these.
  #staged: Map<string, ResourceTransaction> | undefined;
  #views: ReadonlyMap<string, unknown> | undefined;
  #controller: AbortController | undefined;
  #abortReason: unknown;
  #open = true;

  constructor(call: PreparedCall, scope: CallScope, transaction: SessionTransaction) {
    this.call = call;
    this.scope = scope;
    this.transaction = transaction;
  }

  /** The resources' parts in the call's transaction, as far as the tool has asked for any. */
  get staged(): ReadonlyMap<string, ResourceTransaction> {
    return this.#staged ?? nothingStaged;
  }

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

  abort(by: 'timeout' | EndOfLife): void {
    this.#abortReason = new DOMException(
      `The call was stopped: ${by}.`,
      by === 'aborted' ? 'AbortError' : 'TimeoutError',
    );
    this.#controller?.abort(this.#abortReason);
  }

  progress(message: string): void {
    this.checkOpen();
    const { call, scope } = this;
    scope.emit?.({ type: 'tool-call-progress', callId: call.id, name: call.tool.name, message: String(message) });
  }

  touched(): ReadonlyMap<string, Touched> {
    return new Map([...this.staged].map(([name, staged]) => [name, staged.touched()]));
  }

  checkOpen(): void {
    if (!this.#open)
      throw new HoldfastError('context.closed', 'The call has ended: its context can no longer be used.');
  }

  close(): void {
    this.#open = false;
  }

  #openViews(): ReadonlyMap<string, unknown> {
    const views = new Map<string, unknown>();
    this.#staged = new Map();
    for (const [name, resource] of this.scope.resources) {
      if (isStagedResource(resource)) {
        const staged = resource.begin(this.call.id);
        this.#staged.set(name, staged);
        views.set(name, staged.view);
      } else {
        views.set(name, resource);
      }
    }
    return views;
  }
}

const nothingStaged: ReadonlyMap<string, ResourceTransaction> = new Map();

/** What the tool of a call may do, for as long as the call goes on. */
export function createContext(resources: CallResources): ToolContext {
  return new CallContext(resources);
}

class CallContext implements ToolContext {
  readonly #call: CallResources;
  #session: ToolSession | undefined;

  constructor(call: CallResources) {
    this.#call = call;
    Object.freeze(this);
  }

  get callId(): string {
    return this.#call.call.id;
  }

  get idempotencyKey(): string {
    return this.#call.call.id;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  get deadline(): Deadline {
    return this.#call.scope.lifetime.deadline;
  }

  get session(): ToolSession {
    this.#session ??= createSessionView(this.#call.transaction);
    return this.#session;
  }

  get resources(): ReadonlyMap<string, unknown> {
    return this.#call.views;
  }

  get filesystem(): Filesystem | undefined {
    // By the name's contract: whoever binds `filesystem` binds a StagedResource<Filesystem, FilesystemReader>.
    return this.#call.views.get('filesystem') as Filesystem | undefined;
  }

  // Bound, like the methods of `session`: tools take their context apart (`execute(input, { progress })`).
  get progress(): ToolContext['progress'] {
    return (message) => this.#call.progress(message);
  }
}

/** The part of a transaction that is a tool's business. */
function createSessionView(transaction: SessionTransaction): ToolSession {
  return Object.freeze({
    read: <State>(slice: Slice<State>) => transaction.read(slice),
    dispatch: (event: SessionEvent) => transaction.dispatch(event),
    publish: (event: SessionEvent) => transaction.publish(event),
  });
}
