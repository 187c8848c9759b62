import { type Clock, HoldfastError, type Json, type JsonObject } from '@holdfast/core';
import type { Caller } from '@holdfast/executor';
import type { LogEntry, Session } from '@holdfast/session';
import { sealContent } from '@holdfast/session/internal';
import { type CheckedPlan, checkedWith, checkPlan } from '../check/plan.ts';
import type { InputTree, Plan } from '../plan/types.ts';
import { planError } from '../plan/violations.ts';
import { claimPlan } from './claims.ts';
import { checkRunOptions, checkSurroundings, type RunPlanOptions } from './options.ts';
import { type BegunPlan, type PlanRun, performPlan, startPlanRun } from './perform.ts';

/**
 * Runs a plan from `checkPlan` or `compilePlan` without a model. Each node is one governed call, made when its dependencies have ended;
 * failures are part of the trace. The run starts after the current microtask, so an iteration started immediately misses no event.
 *
 * @throws HoldfastError `plan.invalid` (the plan was not checked, or is a copy), `options.invalid`; `result` rejects with `plan.invalid`
 * (the plan does not fit the tools of the run; `data.violations`), with the errors of `executeToolCall` for a wrong configuration, and,
 * once nothing is running, if the session's log cannot be written.
 */
export function runPlan(plan: CheckedPlan, options: RunPlanOptions): PlanRun {
  checkOrigin(plan);
  checkSurroundings(options);
  checkRunOptions(options);
  return startPlanRun(async (stream) => {
    const checked = await fitToTools(plan, options);
    // `context.child()` returns a full session; its type in core is narrower.
    const session = options.session as Session;
    let release: (() => void) | undefined;
    const begin = (caller: Caller, clock: Clock): BegunPlan => {
      const run = session.snapshot().seq;
      release = claimPlan(session, run);
      learnInputs(checked, caller);
      return beginRun(checked, { session, run, request: requestOf(plan), atMs: clock.now() });
    };
    try {
      return await performPlan({ checked, options, stream, begin });
    } finally {
      release?.();
    }
  });
}

/** @throws HoldfastError `plan.invalid`. */
export function checkOrigin(plan: CheckedPlan): void {
  if (checkedWith(plan) !== undefined) return;
  throw planError(
    'unchecked',
    'This plan was not checked. Run the object that `checkPlan` or `compilePlan` returned, not a copy.',
  );
}

/** The plan with the functions of the run's tools. @throws HoldfastError `plan.invalid`. */
export async function fitToTools(plan: CheckedPlan, options: RunPlanOptions): Promise<CheckedPlan> {
  const { tools, functions, limits } = options;
  const before = checkedWith(plan);
  const known = new Map(before?.tools.map((tool) => [tool.name, tool]));
  const given = new Map(tools.map((tool) => [tool.name, tool]));
  const names = new Set(plan.plan.nodes.map(({ tool }) => tool));
  const isSame = [...names].every((name) => known.get(name) !== undefined && known.get(name) === given.get(name));
  if (isSame) return plan;
  const checking = { tools, functions: functions ?? before?.functions, limits: limits ?? before?.limits };
  return await checkAgain(plan.plan, checking);
}

/** @throws HoldfastError `plan.invalid`. */
export async function checkAgain(
  document: unknown,
  {
    tools,
    functions,
    limits,
  }: Pick<RunPlanOptions, 'tools'> & {
    readonly functions: RunPlanOptions['functions'] | undefined;
    readonly limits: RunPlanOptions['limits'] | undefined;
  },
): Promise<CheckedPlan> {
  const found = await checkPlan(document, {
    tools,
    ...(functions === undefined ? {} : { functions }),
    ...(limits === undefined ? {} : { limits }),
  });
  if (found.type === 'valid') return found.checked;
  const violations = found.type === 'invalid' ? found.violations : [];
  const [first] = violations;
  throw new HoldfastError(
    'plan.invalid',
    `The plan does not fit the tools of this run: ${first?.message ?? 'it declines the request'}${violations.length > 1 ? ` There are ${violations.length - 1} more problems in \`data.violations\`.` : ''}`,
    // Built from JSON, but the interface has no index signature.
    { data: { violations: violations as unknown as Json } },
  );
}

/** The plan is recorded before the calls that would otherwise collect its secrets. */
function learnInputs({ plan, inputs }: CheckedPlan, caller: Caller): void {
  if (caller.session.redactor === undefined) return;
  for (const [position, { tool }] of plan.nodes.entries()) caller.learn(tool, toLiteral(inputs[position]));
}

/** The inputs without their references. */
function toLiteral(tree: InputTree | undefined): Json {
  switch (tree?.type) {
    case undefined:
      return null;
    case 'value':
      return tree.value;
    case 'reference':
      return tree.reference.default ?? null;
    case 'text':
      return tree.parts.map((part) => (typeof part === 'string' ? part : (part.default ?? null)));
    case 'list':
      return tree.items.map(toLiteral);
    case 'object':
      return Object.fromEntries(tree.members.map(([key, inner]) => [key, toLiteral(inner)]));
    default:
      return tree satisfies never;
  }
}

interface Beginning {
  readonly session: Session;
  readonly run: number;
  readonly request: string | undefined;
  readonly atMs: number;
}

function beginRun({ plan, digest }: CheckedPlan, { session, run, request, atMs }: Beginning): BegunPlan {
  const entry: LogEntry = {
    type: 'plan-start',
    sessionId: session.id,
    plan: run,
    // A plan is JSON, but its interface has no index signature.
    document: plan as unknown as JsonObject,
    digest,
    ...(request === undefined ? {} : { request }),
    atMs,
  };
  session.record(entry);
  sealContent(session, { plan: run }, entry['document'] ?? null);
  const shown = session.redactor === undefined ? entry : session.redactor.maskRecord(entry);
  const count = plan.nodes.length;
  return {
    type: 'plan-start',
    head: {
      sessionId: session.id,
      run,
      request: shown['request'] as string | undefined,
      plan: shown['document'] as unknown as Plan,
      digest,
      startedAtMs: atMs,
    },
    facts: new Array<undefined>(count).fill(undefined),
    settled: new Array<undefined>(count).fill(undefined),
    masked: new Set(),
    open: new Set(),
    ended: [],
  };
}

/** The request of a compiled plan. */
function requestOf(plan: CheckedPlan): string | undefined {
  return 'request' in plan && typeof plan.request === 'string' ? plan.request : undefined;
}
