import { HoldfastError, type JsonObject, type Model, type ModelEvent, type ModelRequest } from '@holdfast/core';
import { toModelUsage } from '@holdfast/core/internal';
import type { LoadedModule } from '../files/load-module.ts';
import { toPredictor } from '../files/to-predictor.ts';
import { type LoopCaller, openLoopCaller } from '../loop/caller.ts';
import type { ToolLoopResult } from '../loop/result.ts';
import type { ToolCatalog } from '../loop/tool-catalog.ts';
import { type LoopRunOptions, wrapTools } from '../loop/tool-loop.ts';
import type { Prediction, Predictor } from '../predict/predict.ts';

/** Values shared by all runs of an engine. */
export interface ModuleRunParts {
  readonly catalog: ToolCatalog;
  readonly model: Model;
  /** Default: that of the loop. */
  readonly maxIterations: number | undefined;
}

/** A runnable version of a module. */
interface Runner {
  readonly invoke: (input: unknown, options: LoopRunOptions) => Promise<Prediction>;
  /** @throws HoldfastError `options.invalid`. */
  readonly loop: (toolResultKey: string | undefined) => RunnerLoop;
}

interface RunnerLoop {
  readonly run: (input: unknown, options: LoopRunOptions) => Promise<ToolLoopResult>;
  readonly resume: (state: JsonObject, options: LoopRunOptions) => Promise<ToolLoopResult>;
}

/** Runs versions of modules. Each is prepared once and released with its version. */
export class ModuleRuns {
  readonly #parts: ModuleRunParts;
  readonly #runners = new WeakMap<LoadedModule, Runner>();

  constructor(parts: ModuleRunParts) {
    this.#parts = parts;
  }

  /** @throws HoldfastError for a module that does not make a predictor. */
  of(module: LoadedModule): Runner {
    let runner = this.#runners.get(module);
    if (runner === undefined) {
      runner = createRunner(module, this.#parts);
      this.#runners.set(module, runner);
    }
    return runner;
  }
}

function createRunner(module: LoadedModule, { catalog, model, maxIterations }: ModuleRunParts): Runner {
  const predictor = toPredictor(module, { model, tools: catalog, maxIterations });
  if ('run' in predictor) {
    const { run, resume, invoke } = predictor;
    return {
      invoke,
      loop(toolResultKey) {
        if (toolResultKey === undefined) return { run, resume };
        const message = '`toolResultKey` does not apply to `react` modules, which show results in the conversation.';
        throw new HoldfastError('options.invalid', message);
      },
    };
  }
  const make = (toolResultKey?: string): RunnerLoop => {
    const { invoke: run, resume } = wrapTools(predictor, { tools: catalog, maxIterations, toolResultKey });
    return { run, resume };
  };
  let made: RunnerLoop | undefined;
  return {
    invoke: (input, options) => askWithin(predictor, input, { catalog, options }),
    loop(toolResultKey) {
      if (toolResultKey !== undefined) return make(toolResultKey);
      made ??= make();
      return made;
    },
  };
}

/**
 * Asks a predictor without tools, within the signal, time and budget of `options` or of the catalog. Rejects as `Predictor.invoke`, and
 * with HoldfastError `modules.stopped`. An answer that exceeds the budget is still returned.
 */
async function askWithin(
  predictor: Predictor,
  input: unknown,
  {
    catalog,
    // The predictor is asked only once.
    options: { model = predictor.model, maxIterations: _limit, ...options },
  }: { readonly catalog: ToolCatalog; readonly options: LoopRunOptions },
): Promise<Prediction> {
  const { signal, timeoutMs, budget } = catalog.callOptions(options);
  if (timeoutMs === undefined && budget === undefined)
    return predictor.invoke(input, { model, ...(signal === undefined ? {} : { signal }) });
  const limits = openLoopCaller(catalog, options);
  const counted = new CountedModel(model, limits);
  try {
    return await predictor.invoke(input, { signal: limits.signal, model: counted });
  } catch (thrown) {
    switch (counted.wasRefused ? 'budget' : limits.caller.ended) {
      case 'aborted':
        throw signal?.reason;
      case 'deadline':
        throw new HoldfastError('modules.stopped', `The model did not answer within ${timeoutMs} ms.`, {
          data: { reason: 'deadline' },
          cause: thrown,
        });
      case 'budget':
        throw new HoldfastError('modules.stopped', 'The model was not asked: the budget is used up.', {
          data: { reason: 'budget' },
          cause: thrown,
        });
      default:
        throw thrown;
    }
  } finally {
    limits.dispose();
  }
}

/** Counts the model's tokens against the budget, even for unusable answers, and refuses requests once it is used up. */
class CountedModel implements Model {
  readonly id: string;
  wasRefused = false;
  readonly #model: Model;
  readonly #limits: LoopCaller;

  constructor(model: Model, limits: LoopCaller) {
    this.id = model.id;
    this.#model = model;
    this.#limits = limits;
  }

  async *stream(request: ModelRequest): AsyncGenerator<ModelEvent> {
    const { caller, deadline } = this.#limits;
    if (caller.exhausted) {
      this.wasRefused = true;
      throw new Error('The budget is used up.');
    }
    for await (const event of this.#model.stream({ ...request, deadline })) {
      if (event.type === 'finish') {
        const usage = toModelUsage(event.usage);
        if (usage !== undefined) caller.spend(usage);
      }
      yield event;
    }
  }
}
