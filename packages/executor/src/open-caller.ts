import { HoldfastError, type Json, type ModelUsage, type Outcome, type ToolCall } from '@holdfast/core';
import type { Session } from '@holdfast/session';
import { type Judges, judgesOf } from './approval/grants.ts';
import { directCallKey } from './approval/key.ts';
import { learnArguments } from './call/prepare.ts';
import type { CallOptions, CallScope } from './call/scope.ts';
import type { CallManner, EndOfLife, Suspended } from './call/types.ts';
import { executeIn } from './direct/execute-tool-call.ts';
import { openScope } from './direct/features.ts';
import { checkManner } from './direct/options.ts';
import { resumeIn } from './recovery/resume-tool-call.ts';
import { recoverResources } from './resources/recover.ts';
import { isExhausted, spendTokens } from './run/transcript.ts';

/** Makes direct calls that share what a runner is given: tools, policies, resources, one deadline, one signal. */
export interface Caller {
  readonly session: Session;
  /** Above all child sessions. */
  readonly rootSession: Session;
  /** What decides about its calls, for who asks ahead of them. */
  readonly judges: Judges;
  /** What the idempotency keys of a caller's calls of that id begin with, and the ids of sessions below them. Begins with the key of the call around it and `/`. */
  keyOf(callId: string): string;
  /**
   * As `executeToolCall`. Calls may overlap: policies decide about one that changes nothing outside again when it ends, if others have
   * ended in between. Rejects with HoldfastError `options.invalid` for a manner that cannot be, `context.closed` after `dispose`.
   */
  execute(call: ToolCall & { readonly id: string }, manner?: CallManner): Promise<Outcome | Suspended>;
  /** As `resumeToolCall`, and `execute`. Once the time is over a call that waits ends by that. */
  resume(callId: string, manner?: CallManner): Promise<Outcome | Suspended>;
  /** Lets the session's redactor know what is secret in `input`, as the tool's schema marks it, before a call of the tool does. */
  learn(toolName: string, input: Json): void;
  /** What the first call would wait for: changes of a process that ended are completed or put back. Calls wait for it themselves. */
  readonly ready: Promise<unknown> | undefined;
  /** Why the time of all of it is over. */
  readonly ended: EndOfLife | undefined;
  /** Calls `listener` once at the end, at once if that has been; the answer takes it back. */
  onEnd(listener: (end: EndOfLife) => void): () => void;
  /** Nothing remains in one of the budgets of what a model request needs. */
  readonly exhausted: boolean;
  /** Spends from every budget what a model that is asked beside the calls has taken. Whether that was more than there was. */
  spend(usage: ModelUsage): boolean;
  /** Lets go of timers and listeners. What is under way goes on without an end to its time; no other call can be made. */
  dispose(): void;
}

/**
 * Prepares what many direct calls share, once.
 *
 * @throws HoldfastError as `executeToolCall`, for a wrong configuration.
 */
export function openCaller(options: CallOptions): Caller {
  return new OpenCaller(openScope(options));
}

class OpenCaller implements Caller {
  readonly session: Session;
  readonly rootSession: Session;
  readonly judges: Judges;
  readonly onEnd: Caller['onEnd'];
  readonly #scope: CallScope;
  /** One manner may be that of many calls. */
  readonly #scopes = new WeakMap<CallManner, CallScope>();
  #disposed = false;

  constructor(scope: CallScope) {
    this.#scope = scope;
    this.session = scope.session;
    this.rootSession = scope.rootSession;
    this.judges = judgesOf(scope);
    this.onEnd = (listener) => scope.lifetime.onEnd(listener);
  }

  get ready(): Promise<unknown> | undefined {
    return this.#scope.parent?.counts ?? recoverResources(this.#scope);
  }

  get ended(): EndOfLife | undefined {
    return this.#scope.lifetime.ended;
  }

  get exhausted(): boolean {
    return isExhausted(this.#scope.budgets);
  }

  // Fields, as hosts take a caller apart.
  readonly keyOf: Caller['keyOf'] = (callId) => directCallKey(this.session, callId);

  // Not `async`, which costs every call a promise more.
  readonly execute: Caller['execute'] = (call, manner) => {
    try {
      return executeIn(this.#inManner(manner), call);
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  };

  readonly resume: Caller['resume'] = async (callId, manner) => resumeIn(this.#inManner(manner), callId);

  readonly learn: Caller['learn'] = (toolName, input) =>
    learnArguments(this.session.redactor, this.#scope.toolset.byName.get(toolName), input);

  readonly spend: Caller['spend'] = (usage) => spendTokens(usage, this.#scope.budgets);

  readonly dispose: Caller['dispose'] = () => {
    this.#disposed = true;
    this.#scope.lifetime.dispose();
  };

  #inManner(manner: CallManner | undefined): CallScope {
    // Nothing would end it any more.
    if (this.#disposed) {
      throw new HoldfastError(
        'context.closed',
        'The caller was disposed of, so it makes no more calls; open another one.',
      );
    }
    if (manner === undefined) return this.#scope;
    let known = this.#scopes.get(manner);
    if (known === undefined) {
      known = { ...this.#scope, manner: checkManner(manner) };
      this.#scopes.set(manner, known);
    }
    return known;
  }
}
