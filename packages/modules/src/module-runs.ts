import { HoldfastError, type JsonObject, type Model } from '@holdfast/core';
import { askWithin } from './ask-within.ts';
import type { LoadedModule } from './load-module.ts';
import type { Prediction } from './prediction.ts';
import { toPredictor } from './to-predictor.ts';
import { type LoopRunOptions, wrapTools } from './tool-loop.ts';
import type { ToolLoopResult } from './tool-loop-result.ts';
import type { Toolset } from './toolset.ts';

/** What all runs of an engine share. */
export interface ModuleRunParts {
  readonly toolset: Toolset;
  readonly model: Model;
  /** Default: that of the kind of loop. */
  readonly maxIterations: number | undefined;
}

/** One version of a module, as it is run. */
interface Runner {
  readonly invoke: (input: unknown, options: LoopRunOptions) => Promise<Prediction>;
  /** @throws HoldfastError `options.invalid`. */
  readonly loop: (toolResultKey: string | undefined) => RunnerLoop;
}

interface RunnerLoop {
  readonly run: (input: unknown, options: LoopRunOptions) => Promise<ToolLoopResult>;
  readonly resume: (state: JsonObject, options: LoopRunOptions) => Promise<ToolLoopResult>;
}

/** Runs versions of modules. Each is prepared once, and let go with its version. */
export class ModuleRuns {
  readonly #parts: ModuleRunParts;
  readonly #runners = new WeakMap<LoadedModule, Runner>();

  constructor(parts: ModuleRunParts) {
    this.#parts = parts;
  }

  /** @throws HoldfastError as what makes predictors of modules. */
  of(module: LoadedModule): Runner {
    let runner = this.#runners.get(module);
    if (runner === undefined) {
      runner = createRunner(module, this.#parts);
      this.#runners.set(module, runner);
    }
    return runner;
  }
}

function createRunner(module: LoadedModule, { toolset, model, maxIterations }: ModuleRunParts): Runner {
  const limit = maxIterations === undefined ? {} : { maxIterations };
  const predictor = toPredictor(module, { model, tools: toolset, ...limit });
  if ('run' in predictor) {
    const { run, resume, invoke } = predictor;
    return {
      invoke,
      loop(toolResultKey) {
        if (toolResultKey === undefined) return { run, resume };
        const message =
          '`toolResultKey` is for modules that are asked anew in each round: `react` shows results in its conversation.';
        throw new HoldfastError('options.invalid', message);
      },
    };
  }
  const make = (more: { readonly toolResultKey?: string }): RunnerLoop => {
    const { invoke: run, resume } = wrapTools(predictor, { tools: toolset, ...limit, ...more });
    return { run, resume };
  };
  let made: RunnerLoop | undefined;
  return {
    invoke: (input, options) => askWithin(predictor, input, { toolset, options }),
    loop(toolResultKey) {
      if (toolResultKey !== undefined) return make({ toolResultKey });
      made ??= make({});
      return made;
    },
  };
}
