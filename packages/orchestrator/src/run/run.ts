import { type Clock, HoldfastError, type Json, type JsonObject } from '@holdfast/core';
import type { Caller } from '@holdfast/executor';
import { type LogEntry, type Session, sealContent } from '@holdfast/session';
import { type CheckedPlan, checkedWith, checkPlan } from '../check/plan.ts';
import type { InputTree, Plan } from '../plan/types.ts';
import { claimPlan } from './claims.ts';
import { checkRunOptions, checkSurroundings, type RunPlanOptions } from './options.ts';
import { type BegunPlan, type PlanRun, performPlan, startPlanRun } from './perform.ts';

/**
 * Runs a plan that `checkPlan` or `compilePlan` gave, without asking a model: each node is one governed call, made when the nodes that
 * it needs have ended. What fails is told in the trace. The run begins after the current microtask, so an iteration begun at once
 * misses nothing.
 *
 * @throws HoldfastError `plan.unchecked` (it was not checked, or is a copy of what was), `options.invalid`; `result` rejects with
 * `plan.invalid` (it does not fit the tools that it is to be run with; `data.violations`), with what `executeToolCall` throws for a
 * wrong configuration, and when the session's log cannot be written, once nothing is under way any more.
 */
export function runPlan(plan: CheckedPlan, options: RunPlanOptions): PlanRun {
  checkOrigin(plan);
  checkSurroundings(options);
  checkRunOptions(options);
  return startPlanRun(async (stream) => {
    const checked = await fitToTools(plan, options);
    // What `context.child()` gives is a session that core knows less of.
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

/** @throws HoldfastError `plan.unchecked`. */
export function checkOrigin(plan: CheckedPlan): void {
  if (checkedWith(plan) !== undefined) return;
  throw new HoldfastError(
    'plan.unchecked',
    'Only a plan that `checkPlan` or `compilePlan` gave can be run, as it was given: check this one first.',
  );
}

/** The plan as the tools of a run have it. @throws HoldfastError `plan.invalid`. */
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
    `The plan does not fit the tools that it is to be run with: ${first?.message ?? 'it says why there is none'}${violations.length > 1 ? ` And ${violations.length - 1} more, in \`data.violations\`.` : ''}`,
    // Made of JSON; an interface does not say so to the compiler.
    { data: { violations: violations as unknown as Json } },
  );
}

/** The record of the plan comes before the calls, by which secrets become known otherwise. */
function learnInputs({ plan, inputs }: CheckedPlan, caller: Caller): void {
  if (caller.session.redactor === undefined) return;
  for (const [position, { tool }] of plan.nodes.entries()) caller.learn(tool, toLiteral(inputs[position]));
}

/** What the plan itself says, without what it refers to. */
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
    // A plan is JSON; its type has names where JSON's has none.
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

/** Of a plan that was compiled. */
function requestOf(plan: CheckedPlan): string | undefined {
  return 'request' in plan && typeof plan.request === 'string' ? plan.request : undefined;
}
