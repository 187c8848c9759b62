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

/** What `fanOutTool` takes. */
export interface FanOutToolOptions extends SubRunOptions {
  /** Default `run_plans`. */
  readonly name?: string;
  readonly description?: string;
  /** Requests that one call may have. Default 5. */
  readonly maxRuns?: number;
  /** Of them, how many run at the same time. Default: all. */
  readonly maxParallel?: number;
}

/** What somebody wants done, each apart from the others. */
export interface FanOutToolInput {
  readonly requests: readonly string[];
}

/** What came of one request. JSON. */
export interface FanOutRun {
  readonly request: string;
  /** How its call ended: `ok` where it has an output. */
  readonly kind: string;
  /** Why it has none. */
  readonly code: string | null;
  readonly message: string;
  /** Null where there was no plan. */
  readonly report: SubRunReport | null;
}

/** What came of all requests, in their order. JSON. */
export interface FanOutReport {
  readonly runs: readonly FanOutRun[];
}

/**
 * A tool that has a plan written and run for each of several requests, beside each other. It is as `planTool`, for each of them: in a
 * call and a session of its own, so that one that fails costs the others nothing and only its own files go. The call fails, with
 * `plan.failed`, where none of them succeeds, and with `plan.fan_out` where there are more than `maxRuns` requests, or none.
 *
 * @throws HoldfastError `options.invalid`, and as `defineTool`.
 */
export function fanOutTool(options: FanOutToolOptions): ExecutableTool<FanOutToolInput, FanOutReport> {
  const { name = 'run_plans', tools, maxRuns = 5, maxParallel = maxRuns } = options;
  const { description = `Have plans made for up to ${maxRuns} requests that do not need each other, and run them.` } =
    options;
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
          description: `What is to be done, in words: 1 to ${maxRuns} requests, each with all that is needed for it.`,
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
        return toolError(message, { code: 'plan.fan_out', value: { requests: count, maxRuns } });
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

/** Seconds. The runs have the time of the call around them, and no other. */
const endless = 2_000_000;

/** A plan of one node for each request: what runs plans bounds them, keeps them apart and says what became of them. */
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

/** A request is found by its number: as an input, its text would be read for references. */
function runOne(requests: readonly string[], options: FanOutToolOptions, reports: Map<number, SubRunReport>): Tool {
  return defineTool({
    name: 'run_one',
    description: 'Have a plan made for one request, and run it.',
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
  // A report is JSON; an interface does not say so to the compiler.
  const value = { runs } as unknown as JsonObject;
  return toolError(message, { code: status === 'aborted' ? 'plan.aborted' : 'plan.failed', value });
}

function checkCount(name: string, value: number): void {
  if (Number.isInteger(value) && value >= 1) return;
  throw new HoldfastError('options.invalid', `\`${name}\` must be a positive integer, got ${value}.`);
}
