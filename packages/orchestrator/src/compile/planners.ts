import { HoldfastError, type Json, type Model, type Planner, type PlannerProblem } from '@holdfast/core';
import { askForText } from './ask-for-text.ts';
import { toPlannerMessages } from './planner-prompt.ts';

/**
 * A planner that has a model write the plan. The model is offered no tools to call, and no output schema: plans are open where their
 * inputs are, which providers that hold a model to a schema do not take.
 *
 * @throws HoldfastError `options.invalid` for what is no model.
 */
export function modelPlanner(model: Model): Planner {
  if (typeof (model as Partial<Model> | undefined)?.stream !== 'function') {
    const message =
      '`modelPlanner` takes a model with a `stream` function; `aiSdkModel` of `@holdfast/adapter-ai-sdk` makes one of a model of the AI SDK.';
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
        const message = `The provider of \`${id}\` withheld the answer: its content filter stopped it.`;
        throw new HoldfastError('planner.failed', message, { data: { planner: id, reason } });
      }
      return { text, usage, cut: reason === 'length', warnings: calls === 0 ? [] : [callsIgnored(calls)] };
    },
  };
}

function callsIgnored(calls: number): PlannerProblem {
  const message = `The model called tools while it was to write a plan (${calls}). Nothing was called.`;
  return { code: 'planner.calls_ignored', path: '', message };
}

/**
 * A planner that answers with one plan, whatever it is asked: what somebody wrote by hand or kept, as a value or as text with a plan in
 * it. It is checked like any other.
 */
export function planFrom(source: unknown): Planner {
  return {
    id: 'plan',
    // A value that is no JSON is refused where it is read.
    plan: async () => (typeof source === 'string' ? { text: source } : { plan: source as Json }),
  };
}
