import {
  type Budget,
  type Filesystem,
  HoldfastError,
  type Model,
  type Outcome,
  type Prompt,
  type SessionEvent,
  type Slice,
  type ToolContext,
} from '@holdfast/core';
import { toProblem } from '@holdfast/core/internal';
import type { ChildSession, Deadline, RenderedPrompt, ToolSession, TraceEntry } from '@holdfast/core/types';
import type { RunningCall } from './running-call.ts';

/** The context of a tool, usable while its call runs. */
// Methods are bound because tools destructure their context (`execute(input, { progress })`).
export class CallContext implements ToolContext {
  readonly #call: RunningCall;
  #session: ToolSession | undefined;

  // Not frozen: that costs as much as creating ten, and the object has only accessors and belongs to one call.
  constructor(call: RunningCall) {
    this.#call = call;
  }

  get callId(): string {
    return this.#call.call.id;
  }

  get idempotencyKey(): string {
    return this.#call.key;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  get deadline(): Deadline {
    return this.#call.lifetime.deadline;
  }

  get budget(): Budget | undefined {
    return this.#call.scope.budget;
  }

  get session(): ToolSession {
    this.#session ??= createSessionView(this.#call);
    return this.#session;
  }

  get resources(): ReadonlyMap<string, unknown> {
    return this.#call.views;
  }

  get filesystem(): Filesystem | undefined {
    // By the name's contract: `filesystem` is bound to a StagedResource<Filesystem, FilesystemReader>.
    return this.#call.views.get('filesystem') as Filesystem | undefined;
  }

  get prompt(): Prompt | undefined {
    return this.#call.scope.prompt;
  }

  get renderedPrompt(): RenderedPrompt | undefined {
    return this.#call.scope.renderedPrompt;
  }

  get trace(): readonly TraceEntry[] | undefined {
    return this.#call.scope.manner?.trace?.(this.callId);
  }

  get model(): Model | undefined {
    return this.#call.scope.model;
  }

  get use(): ToolContext['use'] {
    return (resource) =>
      heard(
        (async () => {
          this.#call.checkOpen();
          return await this.#call.scope.features.use(resource, this.#call);
        })(),
      );
  }

  get call(): ToolContext['call'] {
    return (name, input = {}) => heard(this.#callNested(name, input));
  }

  async #callNested(name: string, input: unknown): Promise<Outcome> {
    this.#call.checkOpen();
    const { counts } = this.#call;
    if (counts !== undefined) {
      // A call that may still be dropped must stay invisible; nested calls would be seen.
      await counts;
      this.#call.checkOpen();
    }
    return await this.#call.nested.call(name, input);
  }

  get child(): () => ChildSession {
    return () => {
      this.#call.checkOpen();
      return this.#call.nested.openChild();
    };
  }

  get begin(): ToolContext['begin'] {
    return () => heard(this.#begin());
  }

  async #begin(): Promise<void> {
    this.#call.checkOpen();
    await this.#call.lateStart?.begin(this.#call);
  }

  get progress(): ToolContext['progress'] {
    return (message) => {
      const { call } = this.#call;
      this.#call.checkOpen();
      this.#call.tell({ type: 'tool-call-progress', callId: call.id, name: call.tool.name, message: String(message) });
    };
  }

  get beat(): ToolContext['beat'] {
    return () => {
      const { call, scope } = this.#call;
      this.#call.checkOpen();
      this.#call.tell({ type: 'tool-call-beat', callId: call.id, name: call.tool.name, atMs: scope.clock.now() });
    };
  }
}

/** Marks a promise as handled: a tool need not await it, and an unhandled rejection would end the process. */
function heard<Value>(promise: Promise<Value>): Promise<Value> {
  void Promise.allSettled([promise]);
  return promise;
}

/** Errors of `dispatch` before any reducer runs; any other error is a failed reducer, which fails the call. */
const refusals: ReadonlySet<string> = new Set(['event.invalid', 'context.closed']);

/** The tool's view of the transaction. */
function createSessionView(call: RunningCall): ToolSession {
  const { name, effects } = call.call.tool;
  const checkEffects = (): void => {
    if (effects !== 'none') return;
    throw new HoldfastError(
      'tool.effects.exceeded',
      `\`${name}\` declares effects \`none\`, so it cannot change session state; declare \`state\`.`,
    );
  };
  return Object.freeze({
    read: <State>(slice: Slice<State>) => {
      call.checkOpen();
      return call.state.read(slice);
    },
    dispatch: (event: SessionEvent) => {
      call.checkOpen();
      checkEffects();
      try {
        call.transaction.dispatch(event);
      } catch (thrown) {
        if (!refusals.has(toProblem(thrown, { code: '' }, '').code)) call.broke(thrown);
        throw thrown;
      }
    },
    publish: (event: SessionEvent) => {
      call.checkOpen();
      checkEffects();
      call.transaction.publish(event);
    },
  });
}
