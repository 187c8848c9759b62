import type { Message, Model, Prompt, RunStatus } from '@holdfast/core';
import type { Guide, Speaker } from '@holdfast/core/types';
import { dropCalls, keepCalls, refuseMasked, sealCall } from '../approval/masked-calls.ts';
import { failure } from '../call/ending.ts';
import { learnArguments } from '../call/prepare.ts';
import type { CallScope } from '../call/scope.ts';
import type { Ending, EndOfLife, IdentifiedCall, Resuming, RunPosition, TurnResult } from '../call/types.ts';
import { identify, runTurn, toToolMessage } from '../turn/run-turn.ts';
import { type Asked, toAsked, toModelError } from './ask-model.ts';
import { cutBy, keepLongCalls, refuseCut } from './cut-message.ts';
import { findMissing, type Page, renderTracked } from './page.ts';
import { readMessage } from './read-message.ts';
import { endRun, note, type Progress, type Rest, type RunResult, toResult } from './result.ts';
import { addUsage, isExhausted, spendTokens, type Transcript } from './transcript.ts';

export interface LoopParts {
  readonly model: Model;
  readonly prompt: Prompt;
  readonly maxRounds: number;
  /** Pauses after this many messages of the model. Default: none. */
  readonly turns?: number | undefined;
  readonly page: Page;
  readonly scope: CallScope;
  readonly position: RunPosition;
  /** The conversation so far; for a new run only the user's request. */
  readonly transcript: Transcript;
  /** Set for a resumed run. */
  readonly resuming?: Resuming;
}

/** Runs the model until it answers without a call, or the run ends for another reason. */
export function runLoop(parts: LoopParts): Promise<RunResult> {
  return new Loop(parts).run();
}

interface Turn {
  readonly overspent?: boolean;
  readonly resuming?: Resuming | undefined;
}

class Loop {
  readonly #parts: LoopParts;
  readonly #started: CallScope;
  readonly #controller = new AbortController();
  readonly #progress: Progress;
  readonly #startedAtMs: number;
  #page: Page;
  /** With the tools and policies of the page. */
  #scope: CallScope;
  #messages: Message[];
  /** Calls of the last turn that feedback providers have not seen yet. */
  #justEnded = 0;

  constructor(parts: LoopParts) {
    const { model, prompt, position, transcript, page, scope } = parts;
    this.#parts = parts;
    this.#started = { ...scope, run: position, prompt, model };
    this.#page = page;
    this.#scope = scope.features.bindPage(this.#started, page.rendered);
    const controller = this.#controller;
    scope.lifetime.onEnd((why) => controller.abort(new DOMException(`The run was stopped: ${why}.`, 'AbortError')));
    this.#messages = [{ role: 'system', text: page.rendered.text }, ...transcript.messages];
    const { open, messages: _said, ...known } = transcript;
    this.#progress = { ...known, answer: open?.text ?? '', outcomes: [...transcript.outcomes] };
    this.#startedAtMs = transcript.startedAtMs ?? scope.clock.now();
  }

  async run(): Promise<RunResult> {
    const { model, maxRounds, turns = Number.POSITIVE_INFINITY, position, transcript, resuming } = this.#parts;
    const { open } = transcript;
    if (open !== undefined) {
      const refusal = refuseCut(open.reason) ?? refuseMasked;
      if (open.calls.length === 0) this.#progress.cut = cutBy(open.reason);
      const ended =
        open.calls.length === 0
          ? await this.#takeAnswer(true)
          : this.#takeTurn(
              await runTurn(open.calls, { ...this.#scope, resuming }, { refusal, settled: open.settled }),
              open.calls,
              { resuming },
            );
      if (ended !== undefined) return ended;
    }
    const progress = this.#progress;
    const pauseAt = progress.turns + turns;
    while (progress.turns < maxRounds) {
      if (progress.turns === pauseAt && this.#whyOver() === undefined) {
        return toResult(this.#scope, 'suspended', progress);
      }
      const over = this.#whyOver() ?? this.#renderAgain();
      if (over !== undefined) return typeof over === 'string' ? this.#end(over) : over;
      const ended = this.#justEnded;
      this.#justEnded = 0;
      const guide = ended === 0 ? undefined : this.#guide;
      if (guide !== undefined) {
        this.#tell(await guide.giveFeedback(this.#speaker, { ended, startedAtMs: this.#startedAtMs }));
        const overMeanwhile = this.#whyOver();
        if (overMeanwhile !== undefined) return this.#end(overMeanwhile);
      }
      progress.turns += 1;
      const turn = progress.turns;
      position.turn = turn;
      const scope = this.#scope;
      const { emit, lifetime } = scope;
      emit?.({ type: 'turn-start', turn });
      const request = {
        messages: this.#messages,
        tools: scope.toolset.declarations,
        output: this.#page.rendered.output?.jsonSchema,
        signal: this.#controller.signal,
        deadline: lifetime.deadline,
      };
      const reading = await readMessage(model, request, {
        onText: emit && ((text: string) => emit({ type: 'text-delta', turn, text })),
        onEnd: lifetime.endless ? undefined : lifetime.onEnd,
      });
      const asked = reading.type === 'message' ? reading : toAsked(reading, lifetime);
      progress.answer = asked.text;
      progress.cut = undefined;
      progress.text = asked.text === '' ? progress.text : asked.text;
      if (asked.type === 'ended') return this.#end(asked.by);
      if (asked.type === 'failed') return this.#end('model-error', { error: asked.error });
      const calls = identify(asked.calls, turn);
      this.#takeMessage(asked, calls);
      if (calls.length === 0) progress.cut = cutBy(asked.reason);
      const overspent = spendTokens(asked.usage, scope.budgets);
      if (calls.length === 0 && overspent) return this.#end('budget');
      const refusal = overspent ? outOfTokens : (refuseCut(asked.reason) ?? this.#refuseMissing());
      const result =
        calls.length === 0
          ? await this.#takeAnswer()
          : this.#takeTurn(await runTurn(calls, scope, { refusal }), calls, { overspent });
      if (result !== undefined) return result;
    }
    return this.#end(this.#scope.lifetime.ended ?? 'max-rounds');
  }

  get #speaker(): Speaker {
    return { scope: this.#scope, prompt: this.#parts.prompt, rendered: this.#page.rendered };
  }

  /** Set for a page with feedback or a completion checker. */
  get #guide(): Guide | undefined {
    const { guide, feedback = [], completion } = this.#page.rendered;
    return (feedback.length > 0 || completion !== undefined) && findMissing(this.#page.rendered) === undefined
      ? guide
      : undefined;
  }

  /** The ending of calls under a page that was loaded without its code. */
  #refuseMissing(): ((call: IdentifiedCall) => Ending) | undefined {
    const missing = findMissing(this.#page.rendered);
    return (
      missing &&
      (({ name }) => failure('denied', { ...missing, message: `\`${name}\` was not run: ${missing.message}` }))
    );
  }

  #end(status: RunStatus, rest: Rest = {}): RunResult {
    if (this.#justEnded > 0) this.#guide?.countLast(this.#speaker, this.#justEnded);
    return endRun(this.#scope, status, this.#progress, rest);
  }

  #whyOver(): EndOfLife | undefined {
    const { lifetime, budgets } = this.#scope;
    return lifetime.ended ?? (isExhausted(budgets) ? 'budget' : undefined);
  }

  #tell(text: string): void {
    if (text !== '') this.#messages.push({ role: 'user', text });
  }

  /** Renders the prompt for the current state; ends the run if that fails. */
  #renderAgain(): RunResult | undefined {
    if (!this.#page.isStale()) return undefined;
    try {
      this.#page = renderTracked(this.#parts.prompt, this.#scope.session);
      this.#scope = this.#started.features.bindPage(this.#started, this.#page.rendered);
    } catch (thrown) {
      return this.#end('model-error', { error: toModelError(thrown) });
    }
    this.#messages = [{ role: 'system', text: this.#page.rendered.text }, ...this.#messages.slice(1)];
    return undefined;
  }

  /** Adds the model's message to the conversation and the log. */
  #takeMessage(
    { text, usage, reason, providerMetadata }: Extract<Asked, { type: 'message' }>,
    calls: readonly IdentifiedCall[],
  ): void {
    const scope = this.#scope;
    const { session, toolset } = scope;
    // The message is the first record that contains them.
    if (session.redactor !== undefined)
      for (const call of calls) learnArguments(session.redactor, toolset.byName.get(call.name), call.arguments);
    this.#progress.usage = addUsage(this.#progress.usage, usage);
    const asked = Object.freeze(
      calls.map(({ id, name, arguments: raw }) => Object.freeze({ id, name, arguments: raw })),
    );
    this.#messages.push({ role: 'assistant', text, calls: asked, providerMetadata });
    const { startSeq: run, turn } = this.#parts.position;
    const event = { type: 'model-message', run, turn, text, calls: asked, reason, usage, providerMetadata } as const;
    const kept = keepLongCalls(calls, reason, scope);
    note(scope, event, kept === undefined ? event : { ...event, calls: kept });
    if (session.redactor !== undefined) for (const call of calls) sealCall(session, { run, turn }, call);
  }

  /** Handles the results of a message's calls: ends the run if calls are suspended or the budget is used up. */
  #takeTurn({ outcomes, pending }: TurnResult, calls: readonly IdentifiedCall[], turn: Turn): RunResult | undefined {
    const { position } = this.#parts;
    const { session } = this.#scope;
    let outOfCalls = false;
    for (const outcome of outcomes) {
      this.#messages.push(toToolMessage(outcome));
      this.#progress.outcomes.push(outcome);
      outOfCalls ||= outcome.code === 'budget.used' && outcome.reason === 'calls' && outcome.kind !== 'failed';
    }
    if (pending.length > 0) {
      keepCalls(session, { run: position.startSeq, turn: position.turn }, calls);
      return this.#end('suspended', { pending });
    }
    if (turn.resuming !== undefined) dropCalls(session, { run: position.startSeq, turn: position.turn });
    this.#justEnded = outcomes.length;
    return turn.overspent === true || outOfCalls ? this.#end('budget') : undefined;
  }

  /** Handles a message without calls: ends the run unless the model must continue. */
  async #takeAnswer(recorded = false): Promise<RunResult | undefined> {
    const { completion, output, guide } = this.#page.rendered;
    if (completion === undefined && output === undefined) return this.#end('completed');
    const missing = findMissing(this.#page.rendered);
    if (guide === undefined || missing !== undefined)
      return this.#end('model-error', { error: { name: 'OptionsError', message: '', ...missing } });
    const { toolset, budgets } = this.#scope;
    const canGoOn = (): boolean => this.#progress.turns < this.#parts.maxRounds && this.#whyOver() === undefined;
    const canWork = (): boolean => toolset.byName.size === 0 || !budgets.some(({ outOfCalls }) => outOfCalls);
    const verdict = await guide.judgeAnswer(
      { ...this.#progress, text: this.#progress.answer, recorded, canGoOn, canWork },
      this.#speaker,
    );
    switch (verdict.type) {
      case 'again':
        this.#tell(verdict.text);
        this.#progress[verdict.source === 'completion' ? 'returns' : 'corrections'] += 1;
        return undefined;
      case 'done':
        return this.#end('completed', verdict);
      case 'stuck':
        return this.#end(this.#whyOver() ?? (canGoOn() ? 'budget' : 'max-rounds'), verdict);
      case 'wrong':
        return this.#end('model-error', verdict);
      default:
        return verdict satisfies never;
    }
  }
}

function outOfTokens({ name }: IdentifiedCall): Ending {
  const message = `\`${name}\` was not run: the message that asked for it used up the tokens of the budget.`;
  return failure('cancelled', { code: 'budget.used', reason: 'tokens', message });
}
