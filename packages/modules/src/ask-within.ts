import { HoldfastError, type Model, type ModelEvent, type ModelRequest, toModelUsage } from '@holdfast/core';
import { type LoopCaller, openLoopCaller } from './loop-caller.ts';
import type { Prediction, Predictor } from './prediction.ts';
import type { LoopRunOptions } from './tool-loop.ts';
import type { Toolset } from './toolset.ts';

/**
 * Asks a predictor that calls no tools, within the signal, the time and the budget of `options`, or else of the toolset. Rejects as
 * `Predictor.invoke`, and with HoldfastError `modules.deadline`, `modules.budget`. An answer that took more than remained is one.
 */
export async function askWithin(
  predictor: Predictor,
  input: unknown,
  {
    toolset,
    // It is asked once.
    options: { model = predictor.model, maxIterations: _limit, ...options },
  }: { readonly toolset: Toolset; readonly options: LoopRunOptions },
): Promise<Prediction> {
  const { signal, timeoutMs, budget } = toolset.callOptions(options);
  if (timeoutMs === undefined && budget === undefined)
    return predictor.invoke(input, { model, ...(signal === undefined ? {} : { signal }) });
  const limits = openLoopCaller(toolset, options);
  const counted = new CountedModel(model, limits);
  try {
    return await predictor.invoke(input, { signal: limits.signal, model: counted });
  } catch (thrown) {
    switch (counted.wasRefused ? 'budget' : limits.caller.ended) {
      case 'aborted':
        throw signal?.reason;
      case 'deadline':
        throw new HoldfastError('modules.deadline', `The model had not answered after ${timeoutMs} ms.`, {
          cause: thrown,
        });
      case 'budget':
        throw new HoldfastError('modules.budget', 'Nothing was left of the budget to ask the model.', {
          cause: thrown,
        });
      default:
        throw thrown;
    }
  } finally {
    limits.dispose();
  }
}

/** Spends what the model takes, also for an answer that is none, and is not asked when nothing remains. */
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
      throw new Error('Nothing is left of the budget.');
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
