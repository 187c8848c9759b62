import { HoldfastError, type Json, type Tool } from '@holdfast/core';
import { deepFreeze, digestJson } from '@holdfast/core/internal';
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

/** Limits of a plan. Integers, except `maxTimeoutSeconds`. */
export interface PlanLimits {
  /** Default 10,000. */
  readonly maxNodes?: number;
  /** Maximum length of a chain of dependencies, in nodes. Default 1,000. */
  readonly maxDepth?: number;
  /** Default 10, at most 1,000. */
  readonly maxRetry?: number;
  /** Default 3,600. */
  readonly maxTimeoutSeconds?: number;
}

/**
 * Options of `checkPlan`. `policies` are asked about every node, as if it ran with the given `session` (default: a new one), `resources`
 * and `grants`.
 */
export interface CheckPlanOptions extends ForeseeOptions {
  /** The tools that the plan may use. */
  readonly tools: readonly Tool[];
  /**
   * The function behind each tool, by tool name; the loader has it as `metadata.function`. A node that names a function must name this one.
   * Default: the name of the tool.
   */
  readonly functions?: ReadonlyMap<string, string>;
  readonly limits?: PlanLimits;
}

/** A valid plan. Frozen: later changes of its source have no effect. */
export interface CheckedPlan {
  /** The normal form of the plan; reading it again gives the same plan. Functions are filled in. */
  readonly plan: Plan;
  /** SHA-256 of the canonical text of `plan`, in hexadecimal. */
  readonly digest: string;
  /** The parsed inputs of each node of `plan`, in the same order. */
  readonly inputs: readonly InputTree[];
}

/** The result of `checkPlan`. Lists are in plan order. */
export type PlanCheck =
  | {
      readonly type: 'valid';
      readonly checked: CheckedPlan;
      readonly warnings: readonly PlanViolation[];
      /** Nodes that need approval, as far as is known, assuming that all earlier nodes succeed. */
      readonly asks: readonly NodeAsk[];
    }
  /** The source is a plan that declines the request. */
  | { readonly type: 'declined'; readonly error: string }
  | {
      readonly type: 'invalid';
      readonly violations: readonly PlanViolation[];
      readonly warnings: readonly PlanViolation[];
    };

/**
 * Reads a plan from JSON text or a value and checks all of it. Reports up to 1,000 problems at once. Runs no tool; only schemas and `locks`
 * are called. Policies are asked once everything else is valid; `session` is not changed.
 *
 * @throws HoldfastError `options.invalid`, `tool.invalid`, `policy.invalid`, and the errors of
 * `compileSchema` for a tool's schema. These are mistakes of the host, not of the plan.
 */
export async function checkPlan(source: unknown, options: CheckPlanOptions): Promise<PlanCheck> {
  const limits = readLimits(options.limits ?? {});
  // The host's list may change while policies are asked.
  const tools = [...options.tools];
  const toolNamed = createToolTable(tools, options.functions ?? new Map());
  const listTools = createNearestList(tools.map(({ name }) => name));
  const reports: Reports = { violations: createReport(), warnings: createReport() };
  const reading = readDraft(source, reports);
  await checkPolicyOptions(options);
  if (reading.type === 'declined') return Object.freeze({ type: 'declined', error: reading.error });
  const nodes =
    reading.type === 'plan' ? checkDraft(reading.plan, { limits, toolNamed, listTools, options, reports }) : undefined;
  // Policies see only valid calls.
  const asked = nodes === undefined || reports.violations.list().length > 0 ? undefined : nodes;
  const asks = asked === undefined ? [] : await checkPolicies(asked, options, reports.violations);
  const [violations, warnings] = [reports.violations.list(), reports.warnings.list()];
  const plan =
    violations.length > 0 || reading.type !== 'plan'
      ? undefined
      : toPlan(reading.plan, (name) => toolNamed(name)?.functionName);
  if (plan === undefined) return Object.freeze({ type: 'invalid', violations, warnings });
  // A plan is JSON, but its interface has no index signature.
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
    const message = `The plan has ${nodes.length} nodes; the limit is ${limits.maxNodes}. They were not checked.`;
    reports.violations.add('nodes.limit', { path: 'nodes' }, message);
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
    const known = options.tools.length === 0 ? 'No tools are available' : `Known tools: ${listTools(tool)}`;
    const message = `Unknown tool ${show(tool)}. ${known}.`;
    violations.add('plan.tool.unknown', { path: `${path}.tool`, node: id, index }, message);
    return undefined;
  }
  if (facts.tool.execute === undefined) {
    const message = `The tool ${show(tool)} has no \`execute\`, so it cannot be called.`;
    violations.add('tool.not_executable', { path: `${path}.tool`, node: id, index }, message);
  }
  if (functionName !== undefined && functionName !== facts.functionName) {
    const message = `The function of the tool ${show(tool)} is ${show(facts.functionName)}, not ${show(functionName)}.`;
    violations.add('function.unknown', { path: `${path}.function`, node: id, index }, message);
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
    violations.add('retry.limit', retryPlace, message);
  } else if (retry > 0 && facts?.tool.repeat === 'never') {
    const message = `\`${facts.tool.name}\` is not safe to repeat: \`retry\` is ignored.`;
    warnings.add('retry.ignored', retryPlace, message);
  }
  if (!(timeout > 0 && timeout <= maxTimeoutSeconds)) {
    const message = `\`timeout\` must be more than 0 and at most ${maxTimeoutSeconds} seconds, got ${timeout}.`;
    violations.add('timeout.limit', { path: `${path}.timeout`, node: id, index }, message);
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
      throw new HoldfastError('options.invalid', `\`limits.${name}\` is not a known limit, or its value is not valid.`);
    }
  }
  return limits;
}

const checkedPlans = new WeakMap<CheckedPlan, CheckPlanOptions>();

/** Records that this object is the result of a check with `options`. */
export function markChecked(plan: CheckedPlan, options: CheckPlanOptions): void {
  // A copy: the host's list may change.
  checkedPlans.set(plan, { ...options, tools: [...options.tools] });
}

/** The options that `plan` was checked with; `undefined` if it was never checked. */
export function checkedWith(plan: CheckedPlan): CheckPlanOptions | undefined {
  return checkedPlans.get(plan);
}
