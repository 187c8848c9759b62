import type { Clock } from '@holdfast/core';
import { toCanonicalJson } from '@holdfast/core/internal';
import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server';
import type { Elicit, Elicitation, ElicitationAnswer } from '../client/elicit.ts';
import { type ClientCall, canElicit } from './client-call.ts';
import { askForServer, readServerAnswer } from './question.ts';
import { newRequestState } from './request-state.ts';

type Answer = CallToolResult | InputRequiredResult;

interface Question {
  readonly asked: Elicitation;
  answer(answer: ElicitationAnswer): void;
}

/** A question that a client has, with the call that continues with its answer. */
interface Asked {
  readonly call: ClientCall;
  readonly running: RunningCall;
  readonly question: Question;
}

/** Calls whose server asks the client's user: they run on, and the client hears of them by its next request. */
export class AskedCalls {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  /** By `requestState`: random, in this process alone, and good once. */
  readonly #asked = new Map<string, Asked>();

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Runs a call, or continues one whose question this request answers. The call that `run` gets stops when the client cancels the
   * request that it waits for; `ask` is absent where the client cannot ask.
   */
  async attend(call: ClientCall, run: (call: ClientCall, ask: Elicit | undefined) => Promise<Answer>): Promise<Answer> {
    const state = call.context.mcpReq.requestState();
    const asked = typeof state === 'string' ? this.#asked.get(state) : undefined;
    if (typeof state !== 'string' || asked === undefined || !isEqual(asked.call, call)) {
      const begin: Begin = (signal, ask) => run({ ...call, signal }, this.#toElicit(call, ask));
      return this.#hear(new RunningCall(begin), call);
    }
    const answer = readServerAnswer(call.context.mcpReq.inputResponses);
    if (answer === undefined) return askForServer(asked.question.asked, state);
    this.#asked.delete(state);
    asked.question.answer(answer);
    return this.#hear(asked.running, call);
  }

  async #hear(running: RunningCall, call: ClientCall): Promise<Answer> {
    const next = await running.next(call.signal);
    if (next.type === 'ended') return next.answer;
    const state = newRequestState();
    this.#asked.set(state, { call, running, question: next.question });
    return askForServer(next.question.asked, state);
  }

  #toElicit(call: ClientCall, ask: (question: Question) => void): Elicit | undefined {
    const kinds = { form: canElicit(call), url: call.capabilities?.elicitation?.url !== undefined };
    if (!kinds.form && !kinds.url) return undefined;
    return (asked) => {
      if (!kinds[asked.url === undefined ? 'form' : 'url']) return { action: 'decline' };
      const answered = Promise.withResolvers<ElicitationAnswer>();
      const question: Question = { asked, answer: answered.resolve };
      const stop = this.#clock.after(this.#timeoutMs, () => this.#expire(question));
      ask(question);
      return answered.promise.finally(stop);
    };
  }

  #expire(question: Question): void {
    for (const [state, asked] of this.#asked) if (asked.question === question) this.#asked.delete(state);
    question.answer({ action: 'cancel' });
  }
}

function isEqual(asked: ClientCall, call: ClientCall): boolean {
  const parts = ({ principal, tool, asked: name, input }: ClientCall) =>
    toCanonicalJson([principal, tool ?? null, name, input]);
  return parts(asked) === parts(call);
}

type Next =
  | { readonly type: 'ended'; readonly answer: Answer }
  | { readonly type: 'asks'; readonly question: Question };

type Begin = (signal: AbortSignal, ask: (question: Question) => void) => Promise<Answer>;

/** A call that may outlive the request that began it. */
class RunningCall {
  readonly #stop = new AbortController();
  readonly #ended: Promise<Answer>;
  readonly #questions: Question[] = [];
  #arrived = Promise.withResolvers<void>();

  constructor(begin: Begin) {
    this.#ended = begin(this.#stop.signal, (question) => {
      this.#questions.push(question);
      this.#arrived.resolve();
    });
    // A client that does not come back does not hear it.
    this.#ended.catch(() => undefined);
  }

  /** The next question, or else the end. `signal`: of the request that waits for it. */
  async next(signal: AbortSignal): Promise<Next> {
    const stop = (): void => this.#stop.abort(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop);
    await Promise.race([this.#ended.catch(() => undefined), this.#arrived.promise]);
    signal.removeEventListener('abort', stop);
    const question = this.#questions.shift();
    if (this.#questions.length === 0) this.#arrived = Promise.withResolvers<void>();
    return question === undefined ? { type: 'ended', answer: await this.#ended } : { type: 'asks', question };
  }
}
