import {
  defineTool,
  type ExecutableTool,
  HoldfastError,
  type JsonObject,
  type Tool,
  type ToolContext,
  type ToolResult,
  toolError,
  toolOk,
} from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import { type CheckedPlan, checkPlan } from '../check/plan.ts';
import { runPlan } from '../run/run.ts';
import type { PlanTrace } from '../trace/trace.ts';
import { checkOptions, facetsOf, reportSchema } from './plan-tool.ts';
import { runSubPlan, type SubRunOptions, type SubRunReport } from './sub-run.ts';

/** Options of `fanOutTool`. */
export interface FanOutToolOptions extends SubRunOptions {
  /** Default `run_plans`. */
  readonly name?: string;
  readonly description?: string;
  /** Maximum number of requests per call. Default 5. */
  readonly maxRuns?: number;
  /** How many of them run in parallel. Default: all. */
  readonly maxParallel?: number;
}

/** The input of the tool: independent requests. */
export interface FanOutToolInput {
  readonly requests: readonly string[];
}

/** The result of one request. JSON. */
export interface FanOutRun {
  readonly request: string;
  /** The outcome of its call: `ok` if it has an output. */
  readonly kind: string;
  /** The error code if it has no output. */
  readonly code: string | null;
  readonly message: string;
  /** Null if there was no plan. */
  readonly report: SubRunReport | null;
}

/** The results of all requests, in order. JSON. */
export interface FanOutReport {
  readonly runs: readonly FanOutRun[];
}

/**
 * A tool that compiles and runs a plan for each of several requests in parallel. Each request works like a call of `planTool`, in a nested
 * call and session of its own: if one fails, only its own changes are discarded. The call fails with `plan.failed` if no request succeeds,
 * and with `plan.failed` for no requests or more than `maxRuns`.
 *
 * @throws HoldfastError `options.invalid`, and as `defineTool`.
 */
export function fanOutTool(options: FanOutToolOptions): ExecutableTool<FanOutToolInput, FanOutReport> {
  const { name = 'run_plans', tools, maxRuns = 5, maxParallel = maxRuns } = options;
  const { description = `Plan and run up to ${maxRuns} independent requests in parallel.` } = options;
  checkOptions(options);
  checkCount('maxRuns', maxRuns);
  checkCount('maxParallel', maxParallel);
  return defineTool({
    name,
    description,
    inputSchema: jsonSchema<FanOutToolInput>({
      type: 'object',
      properties: {
        requests: {
          type: 'array',
          items: { type: 'string', minLength: 1, pattern: '\\S' },
          description: `1 to ${maxRuns} tasks in words, each with all the details it needs.`,
        },
      },
      required: ['requests'],
    }),
    outputSchema: jsonSchema<FanOutReport>(fanOutSchema),
    ...facetsOf(tools),
    async execute({ requests }, context) {
      const count = requests.length;
      if (count === 0 || count > maxRuns) {
        const message = `\`requests\` has ${count} requests; this tool takes 1 to ${maxRuns}.`;
        return toolError(message, { code: 'plan.failed', reason: 'fan_out', value: { requests: count, maxRuns } });
      }
      return await runAll(requests, context, { ...options, maxParallel });
    },
  });
}

const fanOutSchema: JsonObject = {
  type: 'object',
  properties: {
    runs: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          request: { type: 'string' },
          kind: { type: 'string' },
          code: { type: ['string', 'null'] },
          message: { type: 'string' },
          report: { anyOf: [reportSchema, { type: 'null' }] },
        },
        required: ['request', 'kind', 'code', 'message', 'report'],
      },
    },
  },
  required: ['runs'],
};

/** Seconds. Only the deadline of the outer call limits the runs. */
const endless = 2_000_000;

/** Runs a plan with one node per request; the plan runner limits, isolates and reports them. */
async function runAll(
  requests: readonly string[],
  context: ToolContext,
  options: FanOutToolOptions & { readonly maxParallel: number },
): Promise<ToolResult<FanOutReport>> {
  const { maxParallel, clock } = options;
  const reports = new Map<number, SubRunReport>();
  const tool = runOne(requests, options, reports);
  const checked = await planRuns(requests.length, tool);
  const trace = await runPlan(checked, {
    tools: [tool],
    session: context.child(),
    maxConcurrency: maxParallel,
    ...(clock === undefined ? {} : { clock }),
  });
  return toResult(requests, trace, reports);
}

/** A node finds its request by number: as an input, the text would be parsed for references. */
function runOne(requests: readonly string[], options: FanOutToolOptions, reports: Map<number, SubRunReport>): Tool {
  return defineTool({
    name: 'run_one',
    description: 'Plan and run one request.',
    inputSchema: jsonSchema<{ readonly index: number }>({
      type: 'object',
      properties: { index: { type: 'integer' } },
      required: ['index'],
    }),
    ...facetsOf(options.tools),
    async execute({ index }, context) {
      const result = await runSubPlan(requests[index] ?? '', context, options);
      if (result.value !== null) reports.set(index, result.value);
      return result;
    },
  });
}

async function planRuns(count: number, tool: Tool): Promise<CheckedPlan> {
  const nodes = Array.from({ length: count }, (_, index) => ({
    id: index,
    tool: tool.name,
    inputs: { index },
    timeout: endless,
    on_fail: 'continue',
  }));
  const limits = { maxNodes: count, maxTimeoutSeconds: endless };
  const found = await checkPlan({ nodes, final_output_node: count - 1 }, { tools: [tool], limits });
  if (found.type === 'valid') return found.checked;
  throw new Error(`The plan of ${count} runs is ${found.type}.`);
}

function toResult(
  requests: readonly string[],
  { status, nodes }: PlanTrace,
  reports: ReadonlyMap<number, SubRunReport>,
): ToolResult<FanOutReport> {
  const runs = nodes.map(
    ({ kind, code = null, message }, index): FanOutRun => ({
      request: requests[index] ?? '',
      kind,
      code,
      message,
      report: reports.get(index) ?? null,
    }),
  );
  const succeeded = runs.filter(({ kind }) => kind === 'ok').length;
  const message = succeeded === runs.length ? '' : `${succeeded} of ${runs.length} requests succeeded.`;
  if (succeeded > 0 && status !== 'aborted') return toolOk({ runs }, message);
  // A report is JSON, but its interface has no index signature.
  const value = { runs } as unknown as JsonObject;
  return toolError(message, { code: status === 'aborted' ? 'plan.aborted' : 'plan.failed', value });
}

function checkCount(name: string, value: number): void {
  if (Number.isInteger(value) && value >= 1) return;
  throw new HoldfastError('options.invalid', `\`${name}\` must be a positive integer, got ${value}.`);
}
