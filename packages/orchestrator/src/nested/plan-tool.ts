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

/** Options of `planTool`. */
export interface PlanToolOptions extends SubRunOptions {
  /** Default `run_plan`. */
  readonly name?: string;
  readonly description?: string;
  /** Let the plans use this tool as well, up to `maxDepth`. Default false. */
  readonly recursive?: boolean;
}

/** The input of the tool: a task in words. */
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
      description: 'The task in words, with all the details it needs.',
    },
  },
  required: ['request'],
});

/** The schema of `SubRunReport`, for plans that refer to the result of a sub-run. */
export const reportSchema: JsonObject = {
  type: 'object',
  properties: {
    status: { enum: ['succeeded', 'partial', 'failed', 'aborted'] },
    output: { description: 'The result of the final node of the plan.' },
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
          reason: { type: 'string' },
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
 * A tool that compiles a plan for a request and runs it within its own call: in a session of its own, with the deadline, budget, grants,
 * `approve`, resources, locks and rate limits of the call. Its arguments cannot change any of these. A node that needs approval is denied
 * (`approval.nested`) unless a grant or `approve` answers. The tool declares the strongest effects of `tools`, and may be repeated only if
 * all of them are `safe`, because a second plan may do other things. If the plan fails, the call fails and its staged changes are
 * discarded.
 *
 * Failed calls have `plan.failed` or `plan.aborted`, with a `SubRunReport` as value; `plan.failed`; `budget.used` if the planner used them
 * up; or a code of `compilePlan`.
 *
 * @throws HoldfastError `options.invalid`, and as `defineTool`.
 */
export function planTool(options: PlanToolOptions): ExecutableTool<PlanToolInput, SubRunReport> {
  const { name = 'run_plan', description = 'Plan and run one request.', tools, recursive } = options;
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
  if (tools.length === 0)
    throw new HoldfastError('options.invalid', '`tools` is empty. Pass the tools that plans may use.');
  if (!Number.isInteger(maxDepth) || maxDepth < 1) {
    throw new HoldfastError('options.invalid', `\`maxDepth\` must be a positive integer, got ${maxDepth}.`);
  }
}

const strengths: readonly Effects[] = ['none', 'state', 'external'];

/** The effects and repeat that a user of any of `tools` must declare. */
export function facetsOf(tools: readonly Tool[]): { readonly effects: Effects; readonly repeat: Repeat } {
  const strongest = Math.max(...tools.map(({ effects }) => strengths.indexOf(effects)));
  return {
    effects: strengths[strongest] ?? 'external',
    // Not `keyed`: the same key may belong to a different call in another plan.
    repeat: tools.every(({ repeat }) => repeat === 'safe') ? 'safe' : 'never',
  };
}
