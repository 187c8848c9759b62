import type { Json, JsonObject, Model, Outcome } from '@holdfast/core';
import { leaveCalls, type NamedCall, nameCalls, runCalls, toContextLines } from './calls.ts';
import { addUsage, type LoopEnd, type LoopTurn, toResult } from './course.ts';
import type { LoopPredictor, RoundAnswer } from './predictor.ts';
import { type AskedCall, readToolCall } from './read-tool-call.ts';
import { cutText, iterationsProblem, type ToolLoopResult } from './result.ts';
import { type LoopRun, openRun, type Protocol, runRounds, stopped } from './rounds.ts';
import { createStateFormat, type LoopState, listOf, objectOf, type StateFormat, shapes, text } from './state.ts';
import type { ToolCatalog, ToolCatalogOptions } from './tool-catalog.ts';

/** Values shared by all runs of a loop. */
export interface LoopSettings {
  readonly catalog: ToolCatalog;
  readonly predictor: LoopPredictor;
  readonly maxIterations: number;
}

/** The state of a loop that waits for approval. */
interface WrappedState extends LoopState {
  /** Result texts of the ended calls, for the predictor. */
  readonly lines: readonly string[];
}

export const wrappedState: StateFormat<WrappedState> = createStateFormat<WrappedState>('tool-loop', {
  lines: listOf(text),
  turn: objectOf({ calls: shapes.turnCalls }),
});

/** The start of a run. */
export interface LoopStart {
  readonly input: JsonObject;
  /** The context in the input; `''` for none. */
  readonly context: string;
  /** For a resumed run. */
  readonly state?: WrappedState;
}

export async function runLoop(
  { catalog, predictor, maxIterations }: LoopSettings,
  { input, context, state }: LoopStart,
  { model, ...options }: ToolCatalogOptions & { readonly model?: Model },
): Promise<ToolLoopResult> {
  return await openRun(catalog, { options, maxIterations, state }, async (run) => {
    const { course, live } = run;
    const lines = [...(state?.lines ?? [])];
    const taken = new Set([...course.calls, ...(state?.turn.calls ?? [])].map(({ id }) => id));
    const end = await runRounds(run, new Wrapped({ run, predictor, model, input, context, lines, taken }), state?.turn);
    const { signature } = predictor;
    return Object.freeze(
      toResult(end, course, (turn) => wrappedState.write({ signature, loop: live.loop, input, course, lines, turn })),
    );
  });
}

interface WrappedParts extends Omit<LoopStart, 'state'> {
  readonly run: LoopRun;
  readonly predictor: LoopPredictor;
  readonly model: Model | undefined;
  readonly lines: string[];
  /** The ids of calls. */
  readonly taken: Set<string>;
}

/** The predictor requests calls in `tool_call`, and finds their results in its context. */
class Wrapped implements Protocol<LoopTurn> {
  readonly #parts: WrappedParts;

  constructor(parts: WrappedParts) {
    this.#parts = parts;
  }

  async ask(): ReturnType<Protocol<LoopTurn>['ask']> {
    const { run, lines } = this.#parts;
    const { course, live, maxIterations } = run;
    const answer = await this.#askPredictor();
    course.usage = addUsage(course.usage, answer.usage);
    const overspent = live.caller.spend(answer.usage);
    if (answer.type === 'ended') return stopped(run);
    // A failure without outputs keeps those of the previous answer.
    if (answer.type === 'answer' || Object.keys(answer.output).length > 0) course.partial = answer.output;
    if (answer.type === 'failed') return { type: 'unanswered', reason: 'failed', error: answer.error };
    const reading = readToolCall(answer.toolCall);
    if (reading.type === 'none') {
      const { output, reasoning } = answer;
      return { type: 'answered', reason: 'completed', output, reasoning };
    }
    const asked = reading.type === 'calls' ? reading.calls : [];
    const problem = reading.type === 'calls' ? reading.problem : reading.message;
    if (course.iterations >= maxIterations) {
      this.#leave(asked, `Not run: the limit of ${maxIterations} iterations was reached.`);
      return await this.conclude();
    }
    if (overspent) {
      this.#leave(asked, 'Not run: the answer that requested it used up the token budget.');
      return { type: 'stopped', reason: 'budget' };
    }
    if (problem !== undefined) lines.push(correction(problem));
    return asked.length === 0 ? undefined : { type: 'turn', turn: { calls: this.#name(asked, live.loop) } };
  }

  async take({ calls }: LoopTurn, earlier?: ReadonlyMap<string, Outcome>): Promise<LoopEnd | undefined> {
    const { run, lines } = this.#parts;
    const { caller } = run.live;
    const result = await runCalls(calls, { caller, ...(earlier === undefined ? {} : { earlier }) });
    const { waiting, pending } = result;
    run.course.calls.push(...result.calls);
    lines.push(...toContextLines(result.calls));
    if (waiting.length > 0) return { type: 'suspended', pending, waiting, turn: { calls: waiting } };
    return result.outOfCalls ? { type: 'stopped', reason: 'budget' } : undefined;
  }

  async conclude(): Promise<LoopEnd> {
    const { iterations } = this.#parts.run.course;
    return { type: 'unanswered', reason: 'max-iterations', error: iterationsProblem(iterations) };
  }

  #askPredictor(): Promise<RoundAnswer> {
    const { run, predictor, input, context, model, lines } = this.#parts;
    run.course.iterations += 1;
    const { signal, deadline, caller } = run.live;
    const told = [...(context === '' ? [] : [context]), ...lines].join('\n');
    // Frozen JSON, but the interface has no index signature.
    const tools = run.catalog.toJSON() as unknown as Json;
    return predictor.ask({ input, tools, context: told }, { signal, deadline, model, onEnd: caller.onEnd });
  }

  /** Assigns ids to calls of this round. */
  #name(asked: readonly AskedCall[], loop: number): readonly NamedCall[] {
    const { run, taken } = this.#parts;
    const named = nameCalls(asked, { loop, round: run.course.iterations - 1, taken });
    for (const { id } of named) taken.add(id);
    return named;
  }

  #leave(asked: readonly AskedCall[], told: string): void {
    // These calls are not in the session, so no loop number is needed.
    this.#parts.run.course.calls.push(...leaveCalls(this.#name(asked, 0), told));
  }
}

/** The text for a tool call that cannot be read. */
function correction(problem: string): string {
  return `Cannot read the tool call: ${cutText(problem, 500)}. Write \`tool_call\` as {"name": "...", "args": {...}}, or as null for no call.`;
}
