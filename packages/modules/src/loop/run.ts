import type { Json, JsonObject, Model, ModelUsage, Outcome } from '@holdfast/core';
import { type LoopCaller, openLoopCaller } from './caller.ts';
import { leaveCalls, leaveWaiting, type NamedCall, nameCalls, runCalls, toContextLines } from './calls.ts';
import { type LoopPredictor, noUsage, type RoundAnswer } from './predictor.ts';
import { type AskedCall, readToolCall } from './read-tool-call.ts';
import {
  cutText,
  iterationsProblem,
  type LoopCall,
  type LoopProblem,
  type Stop,
  stopProblem,
  type ToolLoopResult,
} from './result.ts';
import { type LoopState, readEnds, recordResume, writeState } from './state.ts';
import type { Toolset, ToolsetOptions } from './toolset.ts';

/** What all runs of a loop share. */
export interface LoopSettings {
  readonly toolset: Toolset;
  readonly predictor: LoopPredictor;
  readonly maxIterations: number;
}

export interface RunOptions extends ToolsetOptions {
  readonly model?: Model;
}

/** What a run begins with. */
export interface LoopInput {
  readonly input: JsonObject;
  /** In it; `''` for none. */
  readonly context: string;
}

export async function startLoop(
  settings: LoopSettings,
  given: LoopInput,
  options: RunOptions,
): Promise<ToolLoopResult> {
  const { model, ...callOptions } = options;
  const live = openLoopCaller(settings.toolset, callOptions);
  try {
    return await new LoopRun(settings, { ...given, model, live }).goOn();
  } finally {
    live.dispose();
  }
}

export async function goOnWithLoop(
  settings: LoopSettings,
  { context, state }: { readonly context: string; readonly state: LoopState },
  options: RunOptions,
): Promise<ToolLoopResult> {
  const { model, ...callOptions } = options;
  const live = openLoopCaller(settings.toolset, callOptions, state.loop);
  try {
    return await new LoopRun(settings, { input: state.input, context, model, live }).resume(state);
  } finally {
    live.dispose();
  }
}

interface RunParts extends LoopInput {
  readonly model: Model | undefined;
  readonly live: LoopCaller;
}

/** One run of a loop, and how far it has come. */
class LoopRun {
  readonly #settings: LoopSettings;
  readonly #parts: RunParts;
  #iterations = 0;
  readonly #lines: string[] = [];
  readonly #calls: LoopCall[] = [];
  /** Ids of calls. */
  readonly #taken = new Set<string>();
  #output: JsonObject = {};
  #usage: ModelUsage = noUsage;

  constructor(settings: LoopSettings, parts: RunParts) {
    this.#settings = settings;
    this.#parts = parts;
  }

  /** Asks the predictor until it, or something else, ends the loop. */
  async goOn(): Promise<ToolLoopResult> {
    const { live } = this.#parts;
    const { maxIterations } = this.#settings;
    for (;;) {
      const over = live.whyOver();
      if (over !== undefined) return this.#stop(over, stopProblem(over));
      // Only where fewer are allowed than when the loop was suspended.
      if (this.#iterations >= maxIterations) return this.#stop('max-iterations', iterationsProblem(this.#iterations));
      live.refresh();
      const answer = await this.#ask();
      const ended = await this.#take(answer);
      if (ended !== undefined) return ended;
    }
  }

  /** As `goOn`, once the calls have ended that the state waits for. */
  async resume(state: LoopState): Promise<ToolLoopResult> {
    this.#iterations = state.round + 1;
    for (const line of state.lines) this.#lines.push(line);
    for (const call of state.calls) this.#calls.push(call);
    for (const { id } of [...state.calls, ...state.waiting]) this.#taken.add(id);
    this.#output = state.output;
    this.#usage = state.usage;
    const { session } = this.#parts.live;
    const earlier = readEnds(session, state);
    const ended = await this.#runCalls(state.waiting, state.round, earlier);
    if (ended?.reason === 'suspended') return ended;
    recordResume(session, state);
    return ended ?? (await this.goOn());
  }

  #ask(): Promise<RoundAnswer> {
    const { input, context, model, live } = this.#parts;
    this.#iterations += 1;
    const { signal, deadline, caller } = live;
    const told = [...(context === '' ? [] : [context]), ...this.#lines].join('\n');
    // Frozen, and JSON; an interface does not say so to the compiler.
    const tools = this.#settings.toolset.toJSON() as unknown as Json;
    return this.#settings.predictor.ask(
      { input, tools, context: told },
      { signal, deadline, model, onEnd: caller.onEnd },
    );
  }

  /** What an answer comes to; `undefined`: the predictor is asked again. */
  async #take(answer: RoundAnswer): Promise<ToolLoopResult | undefined> {
    const { live } = this.#parts;
    const { usage } = answer;
    this.#usage = {
      inputTokens: this.#usage.inputTokens + usage.inputTokens,
      outputTokens: this.#usage.outputTokens + usage.outputTokens,
    };
    const overspent = live.caller.spend(usage);
    if (answer.type === 'ended') {
      const by = live.whyOver() ?? 'aborted';
      return this.#stop(by, stopProblem(by));
    }
    // What failed without any leaves those of the answer before.
    if (answer.type === 'answer' || Object.keys(answer.output).length > 0) this.#output = answer.output;
    if (answer.type === 'failed') return this.#stop('failed', answer.error);
    const reading = readToolCall(answer.toolCall);
    if (reading.type === 'none') return this.#complete(answer);
    const asked = reading.type === 'calls' ? reading.calls : [];
    const problem = reading.type === 'calls' ? reading.problem : reading.message;
    const { maxIterations } = this.#settings;
    if (this.#iterations >= maxIterations) {
      this.#leave(asked, `Not run: the limit of ${maxIterations} iterations was reached.`);
      return this.#stop('max-iterations', iterationsProblem(maxIterations));
    }
    if (overspent) {
      this.#leave(asked, 'Not run: the answer that asked for it used up the tokens of the budget.');
      return this.#stop('budget', stopProblem('budget'));
    }
    if (problem !== undefined) this.#lines.push(correction(problem));
    if (asked.length === 0) return undefined;
    const round = this.#iterations - 1;
    return await this.#runCalls(this.#name(asked, live.loop), round);
  }

  /** Runs calls of a round; `undefined`: they have ended. */
  async #runCalls(
    named: readonly NamedCall[],
    round: number,
    earlier?: ReadonlyMap<string, Outcome>,
  ): Promise<ToolLoopResult | undefined> {
    const { live, input } = this.#parts;
    const { predictor } = this.#settings;
    const resumed = earlier === undefined ? {} : { earlier };
    const result = await runCalls(named, { caller: live.caller, ...resumed });
    const { calls, waiting, pending, outOfCalls } = result;
    this.#calls.push(...calls);
    this.#lines.push(...toContextLines(calls));
    if (waiting.length === 0) return outOfCalls ? this.#stop('budget', stopProblem('budget')) : undefined;
    const state = writeState({
      signature: predictor.signature,
      loop: live.loop,
      round,
      input,
      lines: this.#lines,
      calls: this.#calls,
      waiting,
      output: this.#output,
      usage: this.#usage,
    });
    this.#calls.push(...leaveWaiting(waiting));
    const error = stopProblem('suspended');
    return Object.freeze({ ...this.#course, reason: 'suspended', output: this.#output, error, pending, state });
  }

  /** Names calls that no round has had, by their place in this one. */
  #name(asked: readonly AskedCall[], loop: number): readonly NamedCall[] {
    const named = nameCalls(asked, { loop, round: this.#iterations - 1, taken: this.#taken });
    for (const { id } of named) this.#taken.add(id);
    return named;
  }

  #leave(asked: readonly AskedCall[], text: string): void {
    // They are in no session, so the number is none.
    this.#calls.push(...leaveCalls(this.#name(asked, 0), text));
  }

  get #course(): Pick<ToolLoopResult, 'iterations' | 'calls' | 'usage'> {
    return { iterations: this.#iterations, calls: Object.freeze([...this.#calls]), usage: Object.freeze(this.#usage) };
  }

  #complete({ output, reasoning }: Extract<RoundAnswer, { readonly type: 'answer' }>): ToolLoopResult {
    const written = reasoning === undefined ? {} : { reasoning };
    return Object.freeze({ ...this.#course, reason: 'completed', output, ...written });
  }

  #stop(reason: Exclude<Stop, 'suspended'> | 'failed' | 'max-iterations', error: LoopProblem): ToolLoopResult {
    return Object.freeze({ ...this.#course, reason, output: this.#output, error });
  }
}

/** What the predictor is told of calls that cannot be read. */
function correction(problem: string): string {
  return `The tool call cannot be read: ${cutText(problem, 500)}. Give \`tool_call\` as {"name": "...", "args": {...}}, or as null to call none.`;
}
