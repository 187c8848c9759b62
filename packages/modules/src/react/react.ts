import { HoldfastError, isHoldfastError, type JsonObject, type Message, type Model, type Tool } from '@holdfast/core';
import { type LoopEnd, toResult } from '../loop/course.ts';
import type { ToolLoopResult } from '../loop/result.ts';
import { openRun, runRounds } from '../loop/rounds.ts';
import { createToolCatalog, putOver, type ToolCatalog, type ToolCatalogOptions } from '../loop/tool-catalog.ts';
import { checkCount, isToolCatalog, type LoopRunOptions } from '../loop/tool-loop.ts';
import { readInput } from '../predict/ask.ts';
import type { Prediction, Predictor } from '../predict/predict.ts';
import { renderProgram } from '../predict/render.ts';
import { checkDemos } from '../signature/demos.ts';
import { extraNamesOfCode, type Tuning, toProgram } from '../signature/program.ts';
import type { Signature } from '../signature/signature.ts';
import { Conversation } from './conversation.ts';
import type { ReactRun } from './course.ts';
import { nativeProtocol } from './native.ts';
import { type ReactState, reactState } from './state.ts';
import { createTextPrograms, finishName, type TextPrograms } from './step.ts';
import { renderNative, submitName } from './submit.ts';
import { textProtocol } from './text.ts';

/** How a model asks for calls. `native`: it is offered tools. `text`: a call is written in fields of its answer. */
export type ReactProtocol = 'native' | 'text';

export interface ReactOptions extends Tuning, ToolCatalogOptions {
  readonly model: Model;
  readonly tools: readonly Tool[] | ToolCatalog;
  /** Rounds; the one request for the answer behind them is none. Integer, default 20. */
  readonly maxIterations?: number | undefined;
  /** Default: `native`, or `text` where the model cannot be offered tools (`callsTools` is false). */
  readonly protocol?: ReactProtocol | undefined;
  /** `instruction` says itself which tools there are and how a step is written, so `text` uses it as it is. Default false. */
  readonly listsTools?: boolean | undefined;
  /** Of the last request of `text`, which takes the answer from the steps and may be corrected once. Default: the instruction, without demos. */
  readonly extract?: Tuning | undefined;
}

/**
 * As of any loop. `submit`: the model gave its answer, `forced-submit`: when it was asked for it at the limit. `calls` has all but those
 * by which it did so.
 */
export type ReactResult<Output = unknown> = ToolLoopResult<Output> & {
  /** How often the model was asked. */
  readonly requests: number;
  /** What was said, also where some of it was left out for the model later. */
  readonly history: readonly Message[];
};

/** A predictor that calls tools until it knows its answer. */
export interface ReactPredictor<Input = unknown, Output = unknown> extends Predictor<Input, Output> {
  /**
   * Whatever goes wrong on the way is in the result; where the model cannot read as much as there is to tell, also without the three
   * oldest rounds, its error is `modules.context_overflow`. Rejects for a wrong configuration: HoldfastError `modules.input_invalid`,
   * `modules.tool_reserved` (a tool is called `submit`, or with `text` `finish`), `options.invalid`, and what `executeToolCall` throws.
   */
  run(input: Input, options?: LoopRunOptions): Promise<ReactResult<Output>>;
  /**
   * Goes on with a run that was suspended, by its `state`, in the protocol that it had, as `ToolLoop.resume` does. Rejects with
   * HoldfastError `modules.state_invalid`, `modules.state_used`, and as `run`.
   */
  resume(state: JsonObject, options?: LoopRunOptions): Promise<ReactResult<Output>>;
  /** As `run`. Rejects where there is no answer, with the HoldfastError that the result would have, or the reason of an aborted signal. */
  invoke(input: Input, options?: LoopRunOptions): Promise<Prediction<Output>>;
}

/**
 * Lets a model think, call tools and answer.
 *
 * Source: `ReAct` and `ReActV2` of DSPy, `dspy/predict/react.py` and `dspy/predict/react_v2.py`.
 *
 * @throws HoldfastError `options.invalid`, `modules.tool_reserved`, `modules.signature_invalid` (with `text`, a field has the name of one
 * of a step), and as `predict` and `createToolCatalog`.
 */
export function react<Input, Output>(
  signature: Signature<Input, Output>,
  {
    model,
    tools,
    maxIterations = 20,
    protocol,
    listsTools = false,
    extract = {},
    instruction,
    demos,
    descriptions,
    ...options
  }: ReactOptions,
): ReactPredictor<Input, Output> {
  checkCount('maxIterations', maxIterations);
  const catalog = isToolCatalog(tools) ? tools : createToolCatalog(tools, options);
  const tuning: Tuning = { instruction, demos, descriptions };
  const program = checkDemos(toProgram(signature, 'react', tuning), extraNamesOfCode('react'));
  let made: TextPrograms | undefined;
  const textPrograms = (): TextPrograms => {
    made ??= createTextPrograms(signature, { ...tuning, listsTools, extract });
    return made;
  };
  const protocolOf = (asked: Model): ReactProtocol => protocol ?? (asked.callsTools === false ? 'text' : 'native');
  const renderFirst = (how: ReactProtocol, input: JsonObject): readonly Message[] =>
    how === 'native'
      ? renderNative(program, input)
      : renderProgram(textPrograms().step(catalog.toJSON()), { ...input, trajectory: '' });
  // What is wrong with the signature or the tools is wrong now.
  checkReserved(catalog, protocolOf(model));
  if (protocolOf(model) === 'text') textPrograms();

  const conduct = (
    { protocol: how, input, state }: Start,
    { model: other, maxIterations: limit = maxIterations, ...over }: LoopRunOptions,
  ): Promise<Conducted<Output>> => {
    checkCount('maxIterations', limit);
    checkReserved(catalog, how);
    return openRun(catalog, { options: putOver(options, over), maxIterations: limit, state }, async (shared) => {
      const conversation = state?.conversation ?? new Conversation(renderFirst(how, input));
      const run: ReactRun = { ...shared, program, model: other ?? model, conversation };
      const { course, live } = run;
      const kept = { signature: signature.name, loop: live.loop, input, course, conversation };
      const conclude = <Turn>(end: LoopEnd<Turn>, toState: (turn: Turn) => ReactState): Conducted<Output> => ({
        // Outputs are validated by the signature's schema.
        result: Object.freeze({
          ...(toResult(end, course, (turn) => reactState.write(toState(turn))) as ToolLoopResult<Output>),
          requests: course.requests,
          history: conversation.history,
        }),
        error: end.type === 'unanswered' && isHoldfastError(end.error) ? end.error : undefined,
      });
      if (how === 'native') {
        const open = state?.protocol === 'native' ? state.turn : undefined;
        const end = await runRounds(run, nativeProtocol(run), open);
        return conclude(end, (turn) => ({ ...kept, protocol: 'native', turn }));
      }
      const steps = state?.protocol === 'text' ? [...state.steps] : [];
      const open = state?.protocol === 'text' ? state.turn : undefined;
      const end = await runRounds(run, textProtocol({ ...run, programs: textPrograms(), input, steps }), open);
      return conclude(end, (turn) => ({ ...kept, protocol: 'text', turn, steps }));
    });
  };
  const begin = async (input: Input, run: LoopRunOptions): Promise<Conducted<Output>> =>
    conduct({ protocol: protocolOf(run.model ?? model), input: readInput(program, input), state: undefined }, run);

  return Object.freeze<ReactPredictor<Input, Output>>({
    signature,
    predictorType: 'react',
    program,
    model,
    render: (input) => renderFirst(protocolOf(model), readInput(program, input)),
    run: async (input, run = {}) => (await begin(input, run)).result,
    async resume(given, run = {}) {
      const state = reactState.read(given, signature.name);
      const { protocol: how, input } = state;
      return (await conduct({ protocol: how, input, state }, run)).result;
    },
    async invoke(input, run = {}) {
      const { result, error } = await begin(input, run);
      if (result.error === undefined) {
        const { output, reasoning, usage, requests } = result;
        return Object.freeze({ output, ...(reasoning === undefined ? {} : { reasoning }), usage, requests });
      }
      const { signal } = catalog.callOptions(putOver(options, run));
      if (result.reason === 'aborted' && signal?.aborted === true) throw signal.reason;
      throw error ?? new HoldfastError(result.error.code, result.error.message);
    },
  });
}

interface Start {
  readonly protocol: ReactProtocol;
  readonly input: JsonObject;
  /** Of a run that is resumed. */
  readonly state: ReactState | undefined;
}

interface Conducted<Output> {
  readonly result: ReactResult<Output>;
  /** With its cause. */
  readonly error: HoldfastError | undefined;
}

function checkReserved(catalog: ToolCatalog, protocol: ReactProtocol): void {
  const reserved = protocol === 'native' ? submitName : finishName;
  if (catalog.get(reserved) === undefined) return;
  throw new HoldfastError(
    'modules.tool_reserved',
    `A tool is called \`${reserved}\`, as \`react\` calls its own; give it another name.`,
    { data: { name: reserved } },
  );
}
