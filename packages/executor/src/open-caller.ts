import { HoldfastError, type Json, type ModelUsage, type Outcome, type ToolCall } from '@holdfast/core';
import type { Session } from '@holdfast/session';
import { type Judges, judgesOf } from './approval/grants.ts';
import { directCallKey } from './approval/key.ts';
import type { CallManner } from './call/execute.ts';
import { learnArguments } from './call/prepare.ts';
import type { CallOptions, CallScope } from './call/scope.ts';
import type { EndOfLife, Suspended } from './call/types.ts';
import { executeIn } from './direct/execute-tool-call.ts';
import { openScope } from './direct/features.ts';
import { checkManner } from './direct/options.ts';
import { resumeIn } from './recovery/resume-tool-call.ts';
import { recoverResources } from './resources/recover.ts';
import { isExhausted, spendTokens } from './run/transcript.ts';

/** Makes direct calls that share options: tools, policies, resources, one deadline, one signal. */
export interface Caller {
  readonly session: Session;
  /** The outermost session. */
  readonly rootSession: Session;
  /** The policies and checks that decide its calls, for previews. */
  readonly judges: Judges;
  /** Prefix of the idempotency keys and child session ids of calls with that id. Begins with the outer call's key and `/`. */
  keyOf(callId: string): string;
  /**
   * Like `executeToolCall`. Calls may overlap: one that is not external is decided again at its end if another committed first.
   * Rejects with HoldfastError `options.invalid` for invalid overrides, `context.closed` after `dispose`.
   */
  execute(call: ToolCall & { readonly id: string }, manner?: CallManner): Promise<Outcome | Suspended>;
  /** Like `resumeToolCall`, with overrides as for `execute`. After the time limit a suspended call times out. */
  resume(callId: string, manner?: CallManner): Promise<Outcome | Suspended>;
  /** Registers the secrets in `input`, as marked by the tool's schema, with the session's redactor before a call of the tool does. */
  learn(toolName: string, input: Json): void;
  /** Pending recovery of staged changes from an ended process. Calls wait for it themselves. */
  readonly ready: Promise<unknown> | undefined;
  /** Why the shared time is over. */
  readonly ended: EndOfLife | undefined;
  /** Calls `listener` once at the end, or at once if already over. Returns a function that removes it. */
  onEnd(listener: (end: EndOfLife) => void): () => void;
  /** True if a budget has nothing left for a model request. */
  readonly exhausted: boolean;
  /** Charges a model request made beside the calls to every budget. True if it exceeded one. */
  spend(usage: ModelUsage): boolean;
  /** Releases timers and listeners. Running calls continue without a time limit; new calls are refused. */
  dispose(): void;
}

/**
 * Prepares options once for many direct calls.
 *
 * @throws HoldfastError as `executeToolCall`, for an invalid configuration.
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
  /** Calls may share one overrides object. */
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

  // Fields, because callers destructure them.
  readonly keyOf: Caller['keyOf'] = (callId) => directCallKey(this.session, callId);

  // Not `async`, which would cost every call a promise.
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
    // Nothing could end such a call.
    if (this.#disposed) {
      throw new HoldfastError('context.closed', 'The caller has been disposed; open another one.');
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
