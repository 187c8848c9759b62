import {
  type Clock,
  HoldfastError,
  type Json,
  type ModelUsage,
  type Planner,
  systemClock,
  type Tool,
} from '@holdfast/core';
import { copyJson, deepFreeze, describeThrown, toReason } from '@holdfast/core/internal';
import type { PlannerAnswer, PlannerAttempt, PlannerProblem, PlannerTool } from '@holdfast/core/types';
import { type CheckedPlan, type CheckPlanOptions, checkPlan, markChecked, type PlanCheck } from '../check/plan.ts';
import type { NodeAsk } from '../check/policies.ts';
import { createToolTable } from '../check/tool-facts.ts';
import { jsonLimits } from '../plan/draft.ts';
import { cut } from '../plan/text.ts';
import type { PlanViolation } from '../plan/types.ts';
import { askPlanner } from './ask-planner.ts';
import { extractPlan } from './extract-json.ts';

/** Options of `compilePlan`: those of `checkPlan`, and a planner. */
export interface CompilePlanOptions extends CheckPlanOptions {
  /** The task, in the user's words. */
  readonly request: string;
  readonly planner: Planner;
  /** Plans to check at most: 1 to 10, default 3. Answers without JSON are counted separately; two are tolerated. */
  readonly maxRounds?: number;
  readonly signal?: AbortSignal;
  /** Used by policies and for the delays between retries of the planner. */
  readonly clock?: Clock;
  /** Receives progress, including the planner's texts, which errors never contain. An error thrown here ends the compilation. */
  readonly onEvent?: (event: CompileEvent) => void;
}

/** Progress of a compilation. `round` counts plans, from 1. */
export type CompileEvent =
  | { readonly type: 'planner-asked'; readonly round: number }
  /** Asking the planner failed; `message` is the reason. */
  | { readonly type: 'planner-failed'; readonly round: number; readonly message: string }
  | {
      readonly type: 'planner-answered';
      readonly round: number;
      /** `undefined` if the planner returned a value. */
      readonly text: string | undefined;
      /** The tokens used by this answer. */
      readonly usage: ModelUsage | undefined;
      readonly violations: readonly PlanViolation[];
      readonly warnings: readonly PlanViolation[];
    };

/** A valid plan that was written for a request. Frozen. */
export interface CompiledPlan extends CheckedPlan {
  readonly request: string;
  /** The id of the planner. */
  readonly planner: string;
  /** Repairs that were needed to read the plan, then the warnings of `checkPlan`. */
  readonly warnings: readonly PlanViolation[];
  /** The approvals that the plan will need, as in `checkPlan`. */
  readonly asks: readonly NodeAsk[];
  /** The number of plans checked, including this one. */
  readonly rounds: number;
  /** The tokens of all answers; `undefined` if the planner does not report any. */
  readonly usage: ModelUsage | undefined;
}

const maxSyntaxRepairs = 2;
/** Limits of the earlier answers shown to the planner: characters of text, and problems. */
const maxAttemptText = 200_000;
const maxAttemptProblems = 50;

/**
 * Asks a planner for a plan and checks it as `checkPlan` does. All problems are sent back to the planner for another round. Nothing is run.
 *
 * @throws HoldfastError `plan.declined`, with the planner's reason (`data.explanation`); `plan.invalid` after the last
 * round or a repeated answer, with the problems of the last plan (`data.violations`); `planner.no_json` for an answer without a brace;
 * `planner.failed`, with the cause; `plan.aborted`; `options.invalid`; and the errors of `checkPlan`.
 */
export async function compilePlan(options: CompilePlanOptions): Promise<CompiledPlan> {
  const { request, planner, maxRounds = 3, signal, onEvent, ...checking } = options;
  const { clock = systemClock } = checking;
  if (typeof request !== 'string' || request.trim() === '')
    throw new HoldfastError('options.invalid', '`request` is empty. Describe the task.');
  // Passing a model as planner is a common mistake, which would otherwise surface only after three attempts.
  if (typeof (planner as Partial<Planner> | undefined)?.plan !== 'function') {
    const message =
      '`planner` must have a `plan` function. Use `modelPlanner(model)` for a model, or `planFrom(plan)` for an existing plan.';
    throw new HoldfastError('options.invalid', message);
  }
  if (!(Number.isInteger(maxRounds) && maxRounds >= 1 && maxRounds <= 10))
    throw new HoldfastError('options.invalid', `\`maxRounds\` must be an integer from 1 to 10, got ${maxRounds}.`);
  const tools = toPlannerTools(checking.tools);
  // Report mistakes of the host before paying for a plan.
  await checkPlan({}, checking);
  const heard = signal ?? new AbortController().signal;
  const attempts: PlannerAttempt[] = [];
  const known = new Set<string>();
  let usage: ModelUsage | undefined;
  let syntaxRepairs = 0;
  for (let round = 1; ; ) {
    onEvent?.({ type: 'planner-asked', round });
    const answer = await askPlanner(
      planner,
      Object.freeze({ request, tools, attempts: Object.freeze([...attempts]), signal: heard }),
      {
        clock,
        onFailure: (thrown) => onEvent?.({ type: 'planner-failed', round, message: describeThrown(thrown) }),
      },
    );
    const text = 'text' in answer ? answer.text : undefined;
    const used = 'text' in answer ? answer.usage : undefined;
    usage = addUsage(usage, used);
    const reading = await readAnswer(answer, checking);
    const { violations, warnings } = reading;
    onEvent?.({ type: 'planner-answered', round, text, usage: used, violations, warnings });
    if (reading.type === 'valid') {
      const { checked, asks } = reading;
      const told = { request, planner: planner.id, warnings, asks, rounds: round, usage };
      const compiled = Object.freeze({ ...checked, ...told });
      markChecked(compiled, checking);
      return compiled;
    }
    if (reading.type === 'declined') {
      const reason = cut(reading.reason, 1_000).text;
      throw new HoldfastError('plan.declined', `The planner declined the request: ${reason}`, {
        data: { explanation: reason },
      });
    }
    if (reading.type === 'none') {
      const message = `The planner \`${planner.id}\` returned no JSON.`;
      throw new HoldfastError('planner.no_json', message, { data: { planner: planner.id } });
    }
    const answered = reading.written.trim();
    const again = known.has(answered);
    const isMalformed = reading.type === 'malformed';
    if (again || (isMalformed ? syntaxRepairs === maxSyntaxRepairs : round === maxRounds))
      throw invalid(violations, { planner, again, rounds: round, usage });
    known.add(answered);
    if (isMalformed) syntaxRepairs += 1;
    else round += 1;
    attempts.push(toAttempt(reading.written, violations));
  }
}

interface Noted {
  readonly violations: readonly PlanViolation[];
  readonly warnings: readonly PlanViolation[];
}

/** A parsed answer. `written`: the plan as written, or else the whole answer. */
type Reading = Noted &
  (
    | { readonly type: 'valid'; readonly checked: CheckedPlan; readonly asks: readonly NodeAsk[] }
    | { readonly type: 'declined'; readonly reason: string }
    | { readonly type: 'none' }
    | { readonly type: 'malformed' | 'invalid'; readonly written: string }
  );

async function readAnswer(answer: PlannerAnswer, checking: CheckPlanOptions): Promise<Reading> {
  if (!('text' in answer)) {
    // Copied, so that the plan shown is the plan checked: a planner's value may change between reads.
    const copied = copyJson(answer.plan, jsonLimits);
    if (!copied.ok) return toReading(await checkPlan(answer.plan, checking), '', []);
    return toReading(await checkPlan(copied.value, checking), JSON.stringify(copied.value), []);
  }
  const { text, cut: isCut = false, warnings = [] } = answer;
  if (isCut) {
    const message = 'The answer was cut off at its length limit. Write a shorter plan and nothing else.';
    return {
      type: 'malformed',
      written: text,
      violations: [{ code: 'plan.invalid', reason: 'json.invalid', path: '', message }],
      warnings,
    };
  }
  const found = extractPlan(text);
  if (found.type === 'none') return { type: 'none', violations: [], warnings };
  if (found.type === 'malformed') return { type: 'malformed', written: text, violations: [found.violation], warnings };
  return toReading(await checkPlan(found.json, checking), found.json, [...warnings, ...found.warnings]);
}

function toReading(check: PlanCheck, written: string, before: readonly PlannerProblem[]): Reading {
  if (check.type === 'declined') return { type: 'declined', reason: check.error, violations: [], warnings: before };
  const warnings = Object.freeze([...before, ...check.warnings]);
  if (check.type === 'valid') return { ...check, violations: [], warnings };
  return { type: 'invalid', written, violations: check.violations, warnings };
}

function toAttempt(written: string, violations: readonly PlanViolation[]): PlannerAttempt {
  const problems: PlannerProblem[] = violations
    .slice(0, maxAttemptProblems)
    .map(({ path, message, ...kind }) => ({ code: kind.code, ...toReason(kind), path, message }));
  const more = violations.length - problems.length;
  if (more > 0)
    problems.push({
      code: 'plan.invalid',
      reason: 'violations.more',
      path: '',
      message: `${more} more problems are not listed.`,
    });
  const { text, leftOut } = cut(written, maxAttemptText);
  // Providers reject lone surrogates.
  const shown = `${text}${leftOut === 0 ? '' : '…'}`.toWellFormed();
  return Object.freeze({ text: shown, problems: Object.freeze(problems) });
}

interface Ending {
  readonly planner: Planner;
  /** True if the planner gave the same answer twice. */
  readonly again: boolean;
  readonly rounds: number;
  readonly usage: ModelUsage | undefined;
}

function invalid(violations: readonly PlanViolation[], { planner, again, rounds, usage }: Ending): HoldfastError {
  const [first] = violations;
  const more = violations.length > 1 ? ` This is the first of ${violations.length} problems.` : '';
  const how = again
    ? 'returned the same answer twice'
    : `returned no valid plan in ${rounds} ${rounds === 1 ? 'round' : 'rounds'}`;
  const place = first === undefined || first.path === '' ? '' : `\`${first.path}\`: `;
  const message = `The planner \`${planner.id}\` ${how}. ${place}${first?.message ?? ''}${more}`;
  // Violations are JSON, but their interface has no index signature.
  const listed = violations as unknown as Json;
  const data: Json = {
    planner: planner.id,
    rounds,
    violations: listed,
    ...(usage === undefined ? {} : { usage: { ...usage } }),
  };
  return new HoldfastError('plan.invalid', message, { data });
}

function addUsage(sum: ModelUsage | undefined, one: ModelUsage | undefined): ModelUsage | undefined {
  if (sum === undefined || one === undefined) return one ?? sum;
  return Object.freeze({
    inputTokens: sum.inputTokens + one.inputTokens,
    outputTokens: sum.outputTokens + one.outputTokens,
  });
}

/**
 * The description of `tools` for a planner: sorted by name, and only those that a plan can call.
 *
 * @throws HoldfastError `tool.invalid`, and the errors of `compileSchema`.
 */
export function toPlannerTools(tools: readonly Tool[]): readonly PlannerTool[] {
  const toolNamed = createToolTable(tools, new Map());
  const told: PlannerTool[] = [];
  for (const { name, description, effects, dangerous, execute } of tools) {
    const facts = toolNamed(name);
    if (execute === undefined || facts === undefined) continue;
    const outputSchema = facts.output?.jsonSchema;
    told.push({
      name,
      description,
      inputSchema: facts.input.jsonSchema,
      ...(outputSchema === undefined ? {} : { outputSchema }),
      effects,
      dangerous,
    });
  }
  return deepFreeze(told.sort((left, right) => (left.name < right.name ? -1 : 1)));
}
