import {
  type Clock,
  HoldfastError,
  type Json,
  type JsonObject,
  type ModelUsage,
  type Planner,
  type Policy,
  type Tool,
  type ToolContext,
  type ToolResult,
  toolError,
  toolOk,
} from '@holdfast/core';
import { type Caller, openCaller } from '@holdfast/executor';
import type { PlanLimits } from '../check/plan.ts';
import { type CompiledPlan, compilePlan } from '../compile/compile.ts';
import { perSession } from '../limits/per-session.ts';
import type { RateLimit } from '../limits/rates.ts';
import { shorten } from '../plan/text.ts';
import type { NodeId } from '../plan/types.ts';
import { missingNodes, toneOf } from '../report/report.ts';
import { realOutputOf } from '../run/perform.ts';
import { runPlan } from '../run/run.ts';
import type { NodeKind, NodeTrace, PlanStatus, PlanTrace } from '../trace/trace.ts';

/** How plans within a call are made and run. What a call may spend, how long it may take and who is asked comes from around it. */
export interface SubRunOptions {
  readonly planner: Planner;
  /** All that the plans may use. */
  readonly tools: readonly Tool[];
  readonly functions?: ReadonlyMap<string, string>;
  readonly limits?: PlanLimits;
  /** In force for the calls of the plans, and asked ahead. Those of the call around are not: pass on what must hold here, too. */
  readonly policies?: readonly Policy[];
  /** As for `compilePlan`. */
  readonly maxRounds?: number;
  /** How deep sub-runs may be within each other, this one counted. Those around it may allow less. Default 3. */
  readonly maxDepth?: number;
  /** As for `runPlan`. */
  readonly maxConcurrency?: number;
  readonly rateLimits?: Readonly<Record<string, RateLimit>>;
  readonly lockTimeoutMs?: number;
  readonly clock?: Clock;
}

/** What a sub-run answers. JSON. */
export interface SubRunReport {
  readonly status: PlanStatus | 'running';
  /** What the final node returned; null where it did not succeed. */
  readonly output: Json;
  /** How many nodes the plan has, and how many of them succeeded. */
  readonly nodes: number;
  readonly succeeded: number;
  /** The others, in plan order; at most 20. */
  readonly failed: readonly {
    readonly node: NodeId;
    readonly tool: string;
    readonly kind: NodeKind;
    readonly code: string | null;
    readonly message: string;
  }[];
  /** What the planner took; null where it does not tell. */
  readonly usage: ModelUsage | null;
  /** By this its records are found in the log: see `childRecords`. */
  readonly session: string;
}

const maxFailed = 20;
const maxMessage = 500;

/**
 * Compiles a plan for `request` and runs it in a session of its own within the call of `context`. Where the plan fails, so does the
 * call, and with it goes what was staged. `toolsAt`: what the plan may use, if there may be another sub-run within it or not.
 *
 * @throws HoldfastError `plan.depth`, `budget.tokens`, and as `compilePlan` and `runPlan`.
 */
export async function runSubPlan(
  request: string,
  context: ToolContext,
  options: SubRunOptions,
  toolsAt: (hasRoom: boolean) => readonly Tool[] = () => options.tools,
): Promise<ToolResult<SubRunReport>> {
  const { maxDepth = 3, clock } = options;
  const session = context.child();
  const caller = openCaller({ tools: [], session, ...(clock === undefined ? {} : { clock }) });
  let leave: (() => void) | undefined;
  try {
    const level = enterSubRun(caller, maxDepth);
    ({ leave } = level);
    const own = { ...options, tools: toolsAt(level.hasRoom), session };
    const compiled = await compileWithin(caller, options.planner, (planner, signal) =>
      compilePlan({ ...own, request, planner, signal: AbortSignal.any([signal, context.signal]) }),
    );
    return toResult(await runPlan(compiled, own), compiled.usage);
  } finally {
    leave?.();
    caller.dispose();
  }
}

/** Has `compile` ask a planner whose tokens are spent from the budgets of `caller`. The answer that goes over them is the last one. */
async function compileWithin(
  caller: Caller,
  planner: Planner,
  compile: (planner: Planner, signal: AbortSignal) => Promise<CompiledPlan>,
): Promise<CompiledPlan> {
  const controller = new AbortController();
  let refused: HoldfastError | undefined;
  const refuse = (message: string): HoldfastError => {
    refused = new HoldfastError('budget.tokens', message);
    // Whoever could not ask a planner asks again; nobody asks this one.
    controller.abort(refused);
    return refused;
  };
  const spending: Planner = {
    id: planner.id,
    async plan(request) {
      if (caller.exhausted) throw refuse(`\`${planner.id}\` was not asked for a plan: nothing remains of the budget.`);
      const answer = await planner.plan(request);
      const usage = 'text' in answer ? answer.usage : undefined;
      if (usage !== undefined && caller.spend(usage)) {
        throw refuse(`The plan was not run: what \`${planner.id}\` took for it used up the tokens of the budget.`);
      }
      return answer;
    },
  };
  try {
    return await compile(spending, controller.signal);
  } catch (thrown) {
    throw refused ?? thrown;
  }
}

function toResult(trace: PlanTrace, usage: ModelUsage | undefined): ToolResult<SubRunReport> {
  const missing = missingNodes(trace);
  const report = toReport(trace, missing, usage);
  const { status } = trace;
  if (status === 'succeeded') return toolOk(report);
  const message = describeEnd(report, missing);
  if (status === 'partial') return toolOk(report, message);
  // A report is JSON; an interface does not say so to the compiler.
  const value = report as unknown as JsonObject;
  return toolError(message, { code: status === 'aborted' ? 'plan.aborted' : 'plan.failed', value });
}

function toReport(trace: PlanTrace, missing: readonly NodeTrace[], usage: ModelUsage | undefined): SubRunReport {
  return {
    status: trace.status,
    output: realOutputOf(trace) ?? null,
    nodes: trace.nodes.length,
    succeeded: trace.nodes.length - missing.length,
    failed: missing.slice(0, maxFailed).map(({ node, tool, kind, code = null, message }) => ({
      node,
      tool,
      kind,
      code,
      message: shorten(message, maxMessage),
    })),
    usage: usage ?? null,
    session: trace.sessionId,
  };
}

function describeEnd({ status, nodes, succeeded }: SubRunReport, missing: readonly NodeTrace[]): string {
  const how = status === 'partial' ? 'succeeded in part' : status;
  // What was skipped was skipped because of another one.
  const cause = missing.find(({ kind }) => toneOf(kind) !== 'skipped') ?? missing[0];
  const why =
    cause &&
    ` Node \`${cause.node}\` (\`${cause.tool}\`) is ${cause.kind}${cause.code === undefined ? '' : `, \`${cause.code}\``}: ${shorten(cause.message, maxMessage)}`;
  return `The plan ${how}: ${succeeded} of ${nodes} ${nodes === 1 ? 'node' : 'nodes'} succeeded.${why ?? ''}`;
}

interface Level {
  /** What the ids of sessions within it begin with. */
  readonly prefix: string;
  readonly depth: number;
  readonly maxDepth: number;
}

const underWay = perSession(() => new Set<Level>());

/**
 * Counts how deep sub-runs are within each other, until the answer's `leave` is called. The least that any of them allows holds for all
 * within it. `hasRoom`: another one may be within this one.
 *
 * @throws HoldfastError `plan.depth`.
 */
function enterSubRun(
  { rootSession, session }: Caller,
  maxDepth: number,
): { readonly hasRoom: boolean; readonly leave: () => void } {
  const levels = underWay(rootSession);
  let around: Level | undefined;
  for (const level of levels) {
    if (session.id.startsWith(level.prefix) && level.depth > (around?.depth ?? 0)) around = level;
  }
  const depth = (around?.depth ?? 0) + 1;
  const least = Math.min(around?.maxDepth ?? maxDepth, maxDepth);
  if (depth > least) {
    const message = `This would be plan ${depth} of plans within each other; \`maxDepth\` is ${least}. Do the work with other tools.`;
    throw new HoldfastError('plan.depth', message, { data: { depth, maxDepth: least } });
  }
  const level: Level = { prefix: `${session.id}/`, depth, maxDepth: least };
  levels.add(level);
  return { hasRoom: depth < least, leave: () => void levels.delete(level) };
}
