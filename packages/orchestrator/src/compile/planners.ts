import { HoldfastError, type Json, type Model, type Planner } from '@holdfast/core';
import type { PlannerProblem } from '@holdfast/core/types';
import { askForText } from './ask-for-text.ts';
import { toPlannerMessages } from './planner-prompt.ts';

/**
 * A planner that asks a model for the plan. It offers the model no tools and no output schema: the inputs of a plan are open objects, which
 * providers with strict schemas reject.
 *
 * @throws HoldfastError `options.invalid` if `model` is not a model.
 */
export function modelPlanner(model: Model): Planner {
  if (typeof (model as Partial<Model> | undefined)?.stream !== 'function') {
    const message =
      '`modelPlanner` needs a model with a `stream` function. For a model of the AI SDK, use `aiSdkModel` of `@holdfast/adapter-ai-sdk`.';
    throw new HoldfastError('options.invalid', message);
  }
  const { id } = model;
  return {
    id,
    async plan({ signal, ...request }) {
      const asked = await askForText(model, { messages: toPlannerMessages(request), signal });
      if (asked.type === 'failed') {
        if (asked.cause instanceof Error) throw asked.cause;
        throw new Error(asked.message, { cause: asked.cause });
      }
      const { text, reason, calls, usage } = asked;
      if (reason === 'content-filter') {
        const message = `The content filter of the provider of \`${id}\` blocked the answer.`;
        throw new HoldfastError('planner.failed', message, { data: { planner: id, reason } });
      }
      return { text, usage, cut: reason === 'length', warnings: calls === 0 ? [] : [callsIgnored(calls)] };
    },
  };
}

function callsIgnored(calls: number): PlannerProblem {
  const message = `The model called tools instead of writing a plan (${calls}). The calls were not run.`;
  return { code: 'plan.invalid', reason: 'calls_ignored', path: '', message };
}

/** A planner that always returns the same plan, given as a value or as text that contains it. The plan is checked like any other. */
export function planFrom(source: unknown): Planner {
  return {
    id: 'plan',
    // The reader rejects a value that is not JSON.
    plan: async () => (typeof source === 'string' ? { text: source } : { plan: source as Json }),
  };
}
