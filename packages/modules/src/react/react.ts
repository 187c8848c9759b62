import { HoldfastError, isHoldfastError, type JsonObject, type Message, type Model, type Tool } from '@holdfast/core';
import { toReason } from '@holdfast/core/internal';
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

/** How a model requests calls. `native`: through offered tools. `text`: in fields of its answer. */
export type ReactProtocol = 'native' | 'text';

export interface ReactOptions extends Tuning, ToolCatalogOptions {
  readonly model: Model;
  readonly tools: readonly Tool[] | ToolCatalog;
  /** Maximum number of rounds, not counting the final request for the answer. Integer, default 20. */
  readonly maxIterations?: number | undefined;
  /** Default: `native`, or `text` if the model cannot call tools (`callsTools` is false). */
  readonly protocol?: ReactProtocol | undefined;
  /** `instruction` already lists the tools and describes a step, so `text` uses it unchanged. Default false. */
  readonly listsTools?: boolean | undefined;
  /**
   * The tuning of the final request of `text`, which extracts the answer from the steps and may be corrected once. Default: the
   * instruction, without demos.
   */
  readonly extract?: Tuning | undefined;
}

/**
 * As for any loop. `submit`: the model gave its answer. `forced-submit`: it gave its answer in the final request at the limit. `calls` has
 * all other calls.
 */
export type ReactResult<Output = unknown> = ToolLoopResult<Output> & {
  /** The number of requests to the model. */
  readonly requests: number;
  /** All messages, including those later left out for the model. */
  readonly history: readonly Message[];
};

/** A predictor that calls tools until it has its answer. */
export interface ReactPredictor<Input = unknown, Output = unknown> extends Predictor<Input, Output> {
  /**
   * Failures during the run are in the result; if the conversation does not fit into the model's context even without its three oldest
   * rounds, the error is `modules.failed`. Rejects for a wrong configuration: HoldfastError `modules.invalid` (a tool is named `submit`, or, with `text`, `finish`), `options.invalid`, and the errors of `executeToolCall`.
   */
  run(input: Input, options?: LoopRunOptions): Promise<ReactResult<Output>>;
  /**
   * Resumes a suspended run from its `state`, in the same protocol, like `ToolLoop.resume`. Rejects with HoldfastError
   * `modules.invalid`, and as `run`.
   */
  resume(state: JsonObject, options?: LoopRunOptions): Promise<ReactResult<Output>>;
  /** Like `run`, but rejects if there is no answer, with the HoldfastError of the result or the reason of an aborted signal. */
  invoke(input: Input, options?: LoopRunOptions): Promise<Prediction<Output>>;
}

/**
 * Lets a model reason, call tools and answer.
 *
 * Source: `ReAct` and `ReActV2` of DSPy, `dspy/predict/react.py` and `dspy/predict/react_v2.py`.
 *
 * @throws HoldfastError `options.invalid`, `modules.invalid` (with `text`, a field has the name of a
 * step's field), and as `predict` and `createToolCatalog`.
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
  // Report problems of the signature and the tools now.
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
        // The signature's schema has validated the outputs.
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
      throw error ?? new HoldfastError(result.error.code, result.error.message, { data: toReason(result.error) });
    },
  });
}

interface Start {
  readonly protocol: ReactProtocol;
  readonly input: JsonObject;
  /** For a resumed run. */
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
    'modules.invalid',
    `The tool name \`${reserved}\` is reserved by \`react\`. Rename the tool.`,
    { data: { reason: 'tool_reserved', name: reserved } },
  );
}
