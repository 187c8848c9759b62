import { deepFreeze, digestJson, HoldfastError, type Json, type Tool } from '@holdfast/core';
import { type DraftNode, type DraftPlan, type Reports, readDraft } from '../plan/draft.ts';
import { toPlan } from '../plan/read.ts';
import type { InputTree, NodeId, Plan, PlanViolation } from '../plan/types.ts';
import { createNearestList, createReport, type Place, show } from '../plan/violations.ts';
import type { ForeseeOptions } from '../preview/foresee.ts';
import { checkGraph, type PlanGraph } from './graph.ts';
import { type CheckedInputs, checkInputs } from './inputs.ts';
import { checkLocks } from './locks.ts';
import { type CheckedNodes, checkPolicies, checkPolicyOptions, type NodeAsk } from './policies.ts';
import { checkHole } from './references.ts';
import { createToolTable, type ToolFacts } from './tool-facts.ts';

/** What a plan may not exceed. Whole numbers, except `maxTimeoutSeconds`. */
export interface PlanLimits {
  /** Default 10,000. */
  readonly maxNodes?: number;
  /** Nodes in the longest chain in which each waits for the next. Default 1,000. */
  readonly maxDepth?: number;
  /** Default 10, at most 1,000. */
  readonly maxRetry?: number;
  /** Default 3,600. */
  readonly maxTimeoutSeconds?: number;
}

/**
 * What a plan is checked against. `policies` are asked about every node, as they will be when it runs with the same `session`
 * (default: a fresh one), `resources` and `grants`.
 */
export interface CheckPlanOptions extends ForeseeOptions {
  /** All that the plan may use. */
  readonly tools: readonly Tool[];
  /**
   * What does a tool's work, by the name of the tool, as the loader knows it from the tool's file (`metadata.function`). A node that
   * names a function must name this one. Default: the function of a tool is called like the tool.
   */
  readonly functions?: ReadonlyMap<string, string>;
  readonly limits?: PlanLimits;
}

/** A plan in which everything fits. Frozen: what its source becomes later does not matter. */
export interface CheckedPlan {
  /** What was read, in its normal form: JSON that is the same plan when it is read again. Its functions are filled in. */
  readonly plan: Plan;
  /** SHA-256 of the canonical text of `plan`, in hexadecimal. */
  readonly digest: string;
  /** The inputs of each node of `plan`, in the same order, with their references found. */
  readonly inputs: readonly InputTree[];
}

/** What came of checking. Lists are in the order of the plan. */
export type PlanCheck =
  | {
      readonly type: 'valid';
      readonly checked: CheckedPlan;
      readonly warnings: readonly PlanViolation[];
      /** Nodes for which a person will be asked, as far as is known: as if everything before them in the plan had succeeded. */
      readonly asks: readonly NodeAsk[];
    }
  /** The plan is one that says why there is none. */
  | { readonly type: 'declined'; readonly error: string }
  | {
      readonly type: 'invalid';
      readonly violations: readonly PlanViolation[];
      readonly warnings: readonly PlanViolation[];
    };

/**
 * Reads a plan, from JSON text or a value and checks it as a whole. Reports everything that is
 * wrong at once, at most 1,000 things. Nothing of any tool runs but its schemas and its `locks`. Policies are asked when all else is
 * right; `session` is read, and left as it is.
 *
 * @throws HoldfastError `options.invalid`, `tool.name.duplicate`, `policy.key.duplicate`, `policy.tool.unknown`, and what `compileSchema`
 * throws for a schema of a tool: mistakes of the host, not of the plan.
 */
export async function checkPlan(source: unknown, options: CheckPlanOptions): Promise<PlanCheck> {
  const limits = readLimits(options.limits ?? {});
  // While policies are asked, the host's list may change.
  const tools = [...options.tools];
  const toolNamed = createToolTable(tools, options.functions ?? new Map());
  const listTools = createNearestList(tools.map(({ name }) => name));
  const reports: Reports = { violations: createReport(), warnings: createReport() };
  const reading = readDraft(source, reports);
  await checkPolicyOptions(options);
  if (reading.type === 'declined') return Object.freeze({ type: 'declined', error: reading.error });
  const nodes =
    reading.type === 'plan' ? checkDraft(reading.plan, { limits, toolNamed, listTools, options, reports }) : undefined;
  // No policy is shown what is no call.
  const asked = nodes === undefined || reports.violations.list().length > 0 ? undefined : nodes;
  const asks = asked === undefined ? [] : await checkPolicies(asked, options, reports.violations);
  const [violations, warnings] = [reports.violations.list(), reports.warnings.list()];
  const plan =
    violations.length > 0 || reading.type !== 'plan'
      ? undefined
      : toPlan(reading.plan, (name) => toolNamed(name)?.functionName);
  if (plan === undefined) return Object.freeze({ type: 'invalid', violations, warnings });
  // A plan is JSON; its type has names where JSON's has none.
  const digest = await digestJson(plan as unknown as Json);
  const inputs = nodes?.inputs.flatMap((checked) => (checked === undefined ? [] : [checked.tree])) ?? [];
  const valid = deepFreeze({ type: 'valid' as const, checked: { plan, digest, inputs }, warnings, asks });
  markChecked(valid.checked, { ...options, tools });
  return valid;
}

interface Checking {
  readonly limits: Required<PlanLimits>;
  readonly toolNamed: (name: string) => ToolFacts | undefined;
  readonly listTools: (wanted: string) => string;
  readonly options: CheckPlanOptions;
  readonly reports: Reports;
}

function checkDraft(draft: DraftPlan, checking: Checking): CheckedNodes | undefined {
  const { limits, reports } = checking;
  const { nodes } = draft;
  if (nodes.length > limits.maxNodes) {
    const message = `The plan has ${nodes.length} nodes; ${limits.maxNodes} is the limit. They were not looked at.`;
    reports.violations.add('plan.nodes.limit', { path: 'nodes' }, message);
    return undefined;
  }
  const graph = checkGraph(draft, limits.maxDepth, reports);
  const used = nodes.map((node) => checkTool(node, checking));
  for (const [position, node] of nodes.entries()) checkNumbers(node, used[position], checking);
  const inputs = nodes.map((node, position) => checkNodeInputs(node, { used, position, graph, reports }));
  const candidates = inputs.map((checked, position) => {
    const facts = used[position];
    return checked === undefined || facts === undefined ? undefined : { inputs: checked, facts };
  });
  checkLocks(nodes, candidates, { graph, reports });
  return { nodes, graph, used, inputs };
}

function checkTool(
  node: DraftNode,
  { toolNamed, listTools, options, reports: { violations } }: Checking,
): ToolFacts | undefined {
  const { tool, functionName, path, id, index } = node;
  if (tool === undefined) return undefined;
  const facts = toolNamed(tool);
  if (facts === undefined) {
    const known = options.tools.length === 0 ? 'There are no tools' : `The tools are ${listTools(tool)}`;
    const message = `There is no tool ${show(tool)}. ${known}.`;
    violations.add('plan.tool.unknown', { path: `${path}.tool`, node: id, index }, message);
    return undefined;
  }
  if (facts.tool.execute === undefined) {
    const message = `The tool ${show(tool)} is only declared: it cannot be called.`;
    violations.add('plan.tool.not_executable', { path: `${path}.tool`, node: id, index }, message);
  }
  if (functionName !== undefined && functionName !== facts.functionName) {
    const message = `The function of the tool ${show(tool)} is ${show(facts.functionName)}, not ${show(functionName)}.`;
    violations.add('plan.function.unknown', { path: `${path}.function`, node: id, index }, message);
  }
  return facts;
}

function checkNumbers(
  { retry, timeout, path, id, index }: DraftNode,
  facts: ToolFacts | undefined,
  { limits: { maxRetry, maxTimeoutSeconds }, reports: { violations, warnings } }: Checking,
): void {
  const retryPlace: Place = { path: `${path}.retry`, node: id, index };
  if (!Number.isInteger(retry) || retry < 0 || retry > maxRetry) {
    const message = `\`retry\` must be a whole number from 0 to ${maxRetry}, got ${retry}.`;
    violations.add('plan.retry.limit', retryPlace, message);
  } else if (retry > 0 && facts?.tool.repeat === 'never') {
    const message = `\`${facts.tool.name}\` must not be called twice for the same work: it is not tried again, whatever \`retry\` says.`;
    warnings.add('plan.retry.ignored', retryPlace, message);
  }
  if (!(timeout > 0 && timeout <= maxTimeoutSeconds)) {
    const message = `\`timeout\` must be more than 0 and at most ${maxTimeoutSeconds} seconds, got ${timeout}.`;
    violations.add('plan.timeout.limit', { path: `${path}.timeout`, node: id, index }, message);
  }
}

interface InputsChecking {
  readonly used: readonly (ToolFacts | undefined)[];
  readonly position: number;
  readonly graph: PlanGraph;
  readonly reports: Reports;
}

function checkNodeInputs(
  { inputs, id, index }: DraftNode,
  { used, position, graph: { byId }, reports: { violations } }: InputsChecking,
): CheckedInputs | undefined {
  const facts = used[position];
  if (inputs === undefined || facts === undefined) return undefined;
  const toolOf = (from: NodeId): ToolFacts | undefined => used[byId.get(from) ?? -1];
  return checkInputs(inputs.tree, facts, {
    place: { path: inputs.path, node: id, index },
    report: violations,
    checkHole: (hole) => checkHole(hole, toolOf, violations),
  });
}

const standardLimits: Required<PlanLimits> = Object.freeze({
  maxNodes: 10_000,
  maxDepth: 1_000,
  maxRetry: 10,
  maxTimeoutSeconds: 3_600,
});

function readLimits(given: PlanLimits): Required<PlanLimits> {
  const limits = { ...standardLimits, ...given };
  for (const [name, value] of Object.entries(limits)) {
    const least = name === 'maxRetry' ? 0 : 1;
    const most = name === 'maxRetry' ? 1_000 : Number.MAX_VALUE;
    const good = Object.hasOwn(standardLimits, name) && value >= least && value <= most;
    if (!good || (name !== 'maxTimeoutSeconds' && !Number.isInteger(value))) {
      throw new HoldfastError(
        'options.invalid',
        `\`limits.${name}\` is no limit of a plan, or not a number that can be one.`,
      );
    }
  }
  return limits;
}

const checkedPlans = new WeakMap<CheckedPlan, CheckPlanOptions>();

/** Notes that `plan`, this very object, came of a check with `options`. */
export function markChecked(plan: CheckedPlan, options: CheckPlanOptions): void {
  // The host's list may change; what was checked does not.
  checkedPlans.set(plan, { ...options, tools: [...options.tools] });
}

/** With what `plan` was checked; `undefined`: it only looks like a plan that was. */
export function checkedWith(plan: CheckedPlan): CheckPlanOptions | undefined {
  return checkedPlans.get(plan);
}
