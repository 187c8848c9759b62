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

/** Options of plans that run within a call. The enclosing call sets budget, deadline and approvals. */
export interface SubRunOptions {
  readonly planner: Planner;
  /** The tools that the plans may use. */
  readonly tools: readonly Tool[];
  readonly functions?: ReadonlyMap<string, string>;
  readonly limits?: PlanLimits;
  /**
   * Policies for the calls of the plans, also asked before they run. The policies of the enclosing call do not apply: pass on those that
   * must.
   */
  readonly policies?: readonly Policy[];
  /** As in `compilePlan`. */
  readonly maxRounds?: number;
  /** Maximum nesting of sub-runs, including this one. An enclosing sub-run may allow less. Default 3. */
  readonly maxDepth?: number;
  /** As in `runPlan`. */
  readonly maxConcurrency?: number;
  readonly rateLimits?: Readonly<Record<string, RateLimit>>;
  readonly lockTimeoutMs?: number;
  readonly clock?: Clock;
}

/** The result of a sub-run. JSON. */
export interface SubRunReport {
  readonly status: PlanStatus | 'running';
  /** The result of the final node; null if it did not succeed. */
  readonly output: Json;
  /** The number of nodes, and of those that succeeded. */
  readonly nodes: number;
  readonly succeeded: number;
  /** The nodes that did not succeed, in plan order; at most 20. */
  readonly failed: readonly {
    readonly node: NodeId;
    readonly tool: string;
    readonly kind: NodeKind;
    readonly code: string | null;
    readonly reason?: string;
    readonly message: string;
  }[];
  /** The tokens used by the planner; null if unknown. */
  readonly usage: ModelUsage | null;
  /** The id under which `childRecords` finds its records. */
  readonly session: string;
}

const maxFailed = 20;
const maxMessage = 500;

/**
 * Compiles a plan for `request` and runs it in a session of its own within the call of `context`. If the plan fails, the call fails and its
 * staged changes are discarded. `toolsAt`: the tools of the plan, depending on whether another sub-run may be nested.
 *
 * @throws HoldfastError `plan.failed`, `budget.used`, and as `compilePlan` and `runPlan`.
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
    // Stopped while the plan was compiled: it leaves no records of a run.
    context.signal.throwIfAborted();
    return toResult(await runPlan(compiled, own), compiled.usage);
  } finally {
    leave?.();
    caller.dispose();
  }
}

/** Runs `compile` with a planner whose tokens count against the budgets of `caller`. The answer that exceeds a budget is the last one. */
async function compileWithin(
  caller: Caller,
  planner: Planner,
  compile: (planner: Planner, signal: AbortSignal) => Promise<CompiledPlan>,
): Promise<CompiledPlan> {
  const controller = new AbortController();
  let refused: HoldfastError | undefined;
  const refuse = (message: string): HoldfastError => {
    refused = new HoldfastError('budget.used', message, { data: { reason: 'tokens' } });
    // Stop the compilation: a failed planner would be asked again.
    controller.abort(refused);
    return refused;
  };
  const spending: Planner = {
    id: planner.id,
    async plan(request) {
      if (caller.exhausted) throw refuse(`\`${planner.id}\` was not asked for a plan: the budget is used up.`);
      const answer = await planner.plan(request);
      const usage = 'text' in answer ? answer.usage : undefined;
      if (usage !== undefined && caller.spend(usage)) {
        throw refuse(`The plan was not run: \`${planner.id}\` used up the token budget.`);
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
  // A report is JSON, but its interface has no index signature.
  const value = report as unknown as JsonObject;
  return toolError(message, { code: status === 'aborted' ? 'plan.aborted' : 'plan.failed', value });
}

function toReport(trace: PlanTrace, missing: readonly NodeTrace[], usage: ModelUsage | undefined): SubRunReport {
  return {
    status: trace.status,
    output: realOutputOf(trace) ?? null,
    nodes: trace.nodes.length,
    succeeded: trace.nodes.length - missing.length,
    failed: missing.slice(0, maxFailed).map(({ node, tool, kind, code = null, reason, message }) => ({
      node,
      tool,
      kind,
      code,
      ...(reason === undefined ? {} : { reason }),
      message: shorten(message, maxMessage),
    })),
    usage: usage ?? null,
    session: trace.sessionId,
  };
}

function describeEnd({ status, nodes, succeeded }: SubRunReport, missing: readonly NodeTrace[]): string {
  const how = status === 'partial' ? 'partly succeeded' : status;
  // Prefer a node that failed itself over a skipped one.
  const cause = missing.find(({ kind }) => toneOf(kind) !== 'skipped') ?? missing[0];
  const why =
    cause &&
    ` Node \`${cause.node}\` (\`${cause.tool}\`) is ${cause.kind}${cause.code === undefined ? '' : `, \`${cause.code}\``}: ${shorten(cause.message, maxMessage)}`;
  return `The plan ${how}: ${succeeded} of ${nodes} ${nodes === 1 ? 'node' : 'nodes'} succeeded.${why ?? ''}`;
}

interface Level {
  /** The prefix of the ids of nested sessions. */
  readonly prefix: string;
  readonly depth: number;
  readonly maxDepth: number;
}

const underWay = perSession(() => new Set<Level>());

/**
 * Counts nested sub-runs until `leave` is called. The lowest `maxDepth` of all enclosing sub-runs applies. `hasRoom`: another sub-run may
 * be nested.
 *
 * @throws HoldfastError `plan.failed`.
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
    const message = `This would nest plans ${depth} levels deep; \`maxDepth\` is ${least}. Use other tools for the work.`;
    throw new HoldfastError('plan.failed', message, { data: { reason: 'depth', depth, maxDepth: least } });
  }
  const level: Level = { prefix: `${session.id}/`, depth, maxDepth: least };
  levels.add(level);
  return { hasRoom: depth < least, leave: () => void levels.delete(level) };
}
