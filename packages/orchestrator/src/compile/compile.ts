import {
  type Clock,
  copyJson,
  deepFreeze,
  describeThrown,
  HoldfastError,
  type Json,
  type ModelUsage,
  type Planner,
  type PlannerAnswer,
  type PlannerAttempt,
  type PlannerProblem,
  type PlannerTool,
  systemClock,
  type Tool,
} from '@holdfast/core';
import { type CheckedPlan, type CheckPlanOptions, checkPlan, markChecked, type PlanCheck } from '../check/plan.ts';
import type { NodeAsk } from '../check/policies.ts';
import { createToolTable } from '../check/tool-facts.ts';
import { jsonLimits } from '../plan/draft.ts';
import { cut } from '../plan/text.ts';
import type { PlanViolation } from '../plan/types.ts';
import { askPlanner } from './ask-planner.ts';
import { extractPlan } from './extract-json.ts';

/** What `compilePlan` takes: what `checkPlan` does, and who writes the plan. */
export interface CompilePlanOptions extends CheckPlanOptions {
  /** What is to be done, in the user's words. */
  readonly request: string;
  readonly planner: Planner;
  /** Plans that are looked at, all in all: 1 to 10, default 3. Answers that are no JSON count apart, and two of them are forgiven. */
  readonly maxRounds?: number;
  readonly signal?: AbortSignal;
  /** For policies, and for the waits after a planner that could not be asked. */
  readonly clock?: Clock;
  /** Sees what is going on, also the texts of the planner, which no error holds. What it throws ends the compilation. */
  readonly onEvent?: (event: CompileEvent) => void;
}

/** How a compilation goes on. `round` counts plans, from 1. */
export type CompileEvent =
  | { readonly type: 'planner-asked'; readonly round: number }
  /** It could not be asked; `message` is what it threw. */
  | { readonly type: 'planner-failed'; readonly round: number; readonly message: string }
  | {
      readonly type: 'planner-answered';
      readonly round: number;
      /** `undefined` where the planner gave a value. */
      readonly text: string | undefined;
      /** Of this answer. */
      readonly usage: ModelUsage | undefined;
      readonly violations: readonly PlanViolation[];
      readonly warnings: readonly PlanViolation[];
    };

/** A plan that was written for a request, and in which everything fits. Frozen. */
export interface CompiledPlan extends CheckedPlan {
  readonly request: string;
  /** The id of the planner. */
  readonly planner: string;
  /** What is worth knowing: what had to be repaired to read the plan, then what `checkPlan` warns of. */
  readonly warnings: readonly PlanViolation[];
  /** As `checkPlan` answers: what will be asked for when the plan runs. */
  readonly asks: readonly NodeAsk[];
  /** Plans that were looked at, this one included. */
  readonly rounds: number;
  /** Of all answers together; `undefined` where the planner does not tell any. */
  readonly usage: ModelUsage | undefined;
}

const maxSyntaxRepairs = 2;
/** What a planner is shown of an earlier answer: characters of its text, and things that are wrong. */
const maxAttemptText = 200_000;
const maxAttemptProblems = 50;

/**
 * Has a plan written for a request, and checks it as `checkPlan` does. What is wrong goes back to the planner, all at once, for
 * another round. Nothing is run.
 *
 * @throws HoldfastError `plan.request.empty`; `plan.declined`, with what the planner says (`data.reason`); `plan.invalid` after the last
 * round or where an answer comes twice, with what is wrong with the last one (`data.violations`); `planner.no_json`, an answer without a
 * brace; `planner.failed`, with the cause; `planner.aborted`; `options.invalid`; and what `checkPlan` throws.
 */
export async function compilePlan(options: CompilePlanOptions): Promise<CompiledPlan> {
  const { request, planner, maxRounds = 3, signal, onEvent, ...checking } = options;
  const { clock = systemClock } = checking;
  if (typeof request !== 'string' || request.trim() === '')
    throw new HoldfastError('plan.request.empty', '`request` is empty: say what is to be done.');
  // A model is taken for a planner easily, and would be asked three times before it is told.
  if (typeof (planner as Partial<Planner> | undefined)?.plan !== 'function') {
    const message =
      '`planner` must have a `plan` function: `modelPlanner(model)` makes one of a model, `planFrom(plan)` one of a plan that is there.';
    throw new HoldfastError('options.invalid', message);
  }
  if (!(Number.isInteger(maxRounds) && maxRounds >= 1 && maxRounds <= 10))
    throw new HoldfastError('options.invalid', `\`maxRounds\` must be a whole number from 1 to 10, got ${maxRounds}.`);
  const tools = toPlannerTools(checking.tools);
  // The host's own mistakes are thrown before anybody is paid for a plan.
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
      throw new HoldfastError('plan.declined', `There is no plan for the request: ${reason}`, { data: { reason } });
    }
    if (reading.type === 'none') {
      const message = `The planner \`${planner.id}\` answered without any JSON.`;
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

/** What an answer is. `written`: the plan as it was written, else the whole answer. */
type Reading = Noted &
  (
    | { readonly type: 'valid'; readonly checked: CheckedPlan; readonly asks: readonly NodeAsk[] }
    | { readonly type: 'declined'; readonly reason: string }
    | { readonly type: 'none' }
    | { readonly type: 'malformed' | 'invalid'; readonly written: string }
  );

async function readAnswer(answer: PlannerAnswer, checking: CheckPlanOptions): Promise<Reading> {
  if (!('text' in answer)) {
    // What is checked is what will be shown: a value of a planner's may be another one the next time.
    const copied = copyJson(answer.plan, jsonLimits);
    if (!copied.ok) return toReading(await checkPlan(answer.plan, checking), '', []);
    return toReading(await checkPlan(copied.value, checking), JSON.stringify(copied.value), []);
  }
  const { text, cut: isCut = false, warnings = [] } = answer;
  if (isCut) {
    const message = 'The answer was cut off at the limit of its length. Write a shorter plan, and nothing beside it.';
    return {
      type: 'malformed',
      written: text,
      violations: [{ code: 'plan.json.invalid', path: '', message }],
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
    .map(({ code, path, message }) => ({ code, path, message }));
  const more = violations.length - problems.length;
  if (more > 0) problems.push({ code: 'plan.violations.more', path: '', message: `${more} more are not listed.` });
  const { text, leftOut } = cut(written, maxAttemptText);
  // Providers refuse half a sign.
  const shown = `${text}${leftOut === 0 ? '' : '…'}`.toWellFormed();
  return Object.freeze({ text: shown, problems: Object.freeze(problems) });
}

interface Ending {
  readonly planner: Planner;
  /** Whether the planner repeats itself. */
  readonly again: boolean;
  readonly rounds: number;
  readonly usage: ModelUsage | undefined;
}

function invalid(violations: readonly PlanViolation[], { planner, again, rounds, usage }: Ending): HoldfastError {
  const [first] = violations;
  const more = violations.length > 1 ? ` That is the first of ${violations.length} things that are wrong.` : '';
  const how = again
    ? 'gave the same answer again'
    : `gave no plan that can be run in ${rounds} ${rounds === 1 ? 'round' : 'rounds'}`;
  const place = first === undefined || first.path === '' ? '' : `\`${first.path}\`: `;
  const message = `The planner \`${planner.id}\` ${how}. ${place}${first?.message ?? ''}${more}`;
  // Violations are JSON; their type has names where JSON's has none.
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
 * What a planner is told of `tools`: by name, whatever order they come in, and only those that a plan can call.
 *
 * @throws HoldfastError `tool.name.duplicate`, and what `compileSchema` throws.
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
