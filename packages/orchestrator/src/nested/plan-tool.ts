import {
  defineTool,
  type Effects,
  type ExecutableTool,
  HoldfastError,
  type JsonObject,
  type Repeat,
  type Tool,
} from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import { checkRunOptions } from '../run/options.ts';
import { runSubPlan, type SubRunOptions, type SubRunReport } from './sub-run.ts';

/** What `planTool` takes. */
export interface PlanToolOptions extends SubRunOptions {
  /** Default `run_plan`. */
  readonly name?: string;
  readonly description?: string;
  /** The plans may use the tool itself, as far as `maxDepth` lets them. Default false. */
  readonly recursive?: boolean;
}

/** What somebody wants done, in words. */
export interface PlanToolInput {
  readonly request: string;
}

const inputSchema = jsonSchema<PlanToolInput>({
  type: 'object',
  properties: {
    request: {
      type: 'string',
      minLength: 1,
      pattern: '\\S',
      description: 'What is to be done, in words. Say all that is needed.',
    },
  },
  required: ['request'],
});

/** Of `SubRunReport`, for plans that refer to what a sub-run answers. */
export const reportSchema: JsonObject = {
  type: 'object',
  properties: {
    status: { enum: ['succeeded', 'partial', 'failed', 'aborted'] },
    output: { description: 'What the last step of the plan returned.' },
    nodes: { type: 'integer' },
    succeeded: { type: 'integer' },
    failed: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          node: { type: ['integer', 'string'] },
          tool: { type: 'string' },
          kind: { type: 'string' },
          code: { type: ['string', 'null'] },
          message: { type: 'string' },
        },
        required: ['node', 'tool', 'kind', 'code', 'message'],
      },
    },
    usage: {
      type: ['object', 'null'],
      properties: { inputTokens: { type: 'number' }, outputTokens: { type: 'number' } },
    },
    session: { type: 'string' },
  },
  required: ['status', 'output', 'nodes', 'succeeded', 'failed', 'usage', 'session'],
};

/**
 * A tool that has a plan written for a request and runs it, within its call: in a session of its own, with the deadline, budget, grants,
 * `approve`, resources, locks and rate limits of the call. Nothing in its arguments changes any of that. What a plan asks a person for is
 * denied, `approval.nested`, unless a grant or `approve` answers. The tool has the strongest effects of `tools`, and may be repeated only
 * where all of them are `safe`: a second plan may do other things. Where the plan fails, the call fails, and what was staged goes.
 *
 * Calls end as `failed` with `plan.failed` or `plan.aborted`, with a `SubRunReport` as value; `plan.depth`; `budget.tokens`, where the
 * planner used them up; or as `compilePlan` throws.
 *
 * @throws HoldfastError `options.invalid`, and as `defineTool`.
 */
export function planTool(options: PlanToolOptions): ExecutableTool<PlanToolInput, SubRunReport> {
  const { name = 'run_plan', description = 'Have a plan made for a request, and run it.', tools, recursive } = options;
  checkOptions(options);
  const tool: ExecutableTool<PlanToolInput, SubRunReport> = defineTool({
    name,
    description,
    inputSchema,
    outputSchema: jsonSchema<SubRunReport>(reportSchema),
    ...facetsOf(tools),
    execute: ({ request }, context) =>
      runSubPlan(request, context, options, (hasRoom) => (recursive === true && hasRoom ? [...tools, tool] : tools)),
  });
  return tool;
}

/** @throws HoldfastError `options.invalid`. */
export function checkOptions(options: SubRunOptions): void {
  const { tools, maxDepth = 3 } = options;
  checkRunOptions(options);
  if (tools.length === 0) throw new HoldfastError('options.invalid', '`tools` is empty: a plan needs some to use.');
  if (!Number.isInteger(maxDepth) || maxDepth < 1) {
    throw new HoldfastError('options.invalid', `\`maxDepth\` must be a positive integer, got ${maxDepth}.`);
  }
}

const strengths: readonly Effects[] = ['none', 'state', 'external'];

/** What whoever uses any of `tools` has to declare. */
export function facetsOf(tools: readonly Tool[]): { readonly effects: Effects; readonly repeat: Repeat } {
  const strongest = Math.max(...tools.map(({ effects }) => strengths.indexOf(effects)));
  return {
    effects: strengths[strongest] ?? 'external',
    // Not `keyed`: the same key may stand for another call in another plan.
    repeat: tools.every(({ repeat }) => repeat === 'safe') ? 'safe' : 'never',
  };
}
