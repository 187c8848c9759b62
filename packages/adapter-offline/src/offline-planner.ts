import type {
  Json,
  Planner,
  PlannerAnswer,
  PlannerAttempt,
  PlannerProblem,
  PlannerRequest,
  PlannerTool,
} from '@holdfast/core';
import { addClause } from './plan-clause.ts';
import { createDraft, type Draft, type Reading } from './plan-draft.ts';
import { isFaithful, writeInput } from './plan-inputs.ts';
import { readPlanRequest } from './plan-reading.ts';
import { parentsOf, type Step } from './plan-step.ts';
import { toToolbox } from './toolbox.ts';

/** Steps of one plan. */
const maxSteps = 50;

/**
 * A rule-based stand-in for a planner: it has no network, no weights and no memory, and answers the same request in the same way. It
 * makes a plan of a simple English request of one to a few steps: each clause becomes a call of the tool that its words fit, with
 * arguments from the request, and references to what earlier steps give, chosen by names and types. Steps that need nothing of each
 * other stay unordered unless the request says "then", "after" or "before", or one changes what the other is about.
 *
 * It never guesses: where a tool, an argument or a meaning is missing, the plan has `status: "error"` and says which. Of a request
 * that is not English, or has more than 8,000 characters, it says so.
 *
 * After a refusal (`attempts`) it tries what else the words allow: another tool for the clause that was refused, or an order between
 * changes. Where there is nothing else, the plan's `error` names what it was refused for.
 */
export function offlinePlanner(): Planner {
  return {
    id: 'offline:rules',
    async plan(request): Promise<PlannerAnswer> {
      request.signal.throwIfAborted();
      return { plan: planFor(request) };
    },
  };
}

type Made =
  | { readonly type: 'made'; readonly steps: readonly Step[] }
  | { readonly type: 'declined'; readonly why: string };

function planFor({ request, tools, attempts }: PlannerRequest): Json {
  let reading: Reading = { without: new Map(), isInOrder: false };
  let made = makeSteps(request, tools, reading);
  for (const attempt of attempts) {
    const next = made.type === 'made' ? otherReading(reading, made.steps, attempt) : undefined;
    const other = next === undefined ? undefined : makeSteps(request, tools, next);
    if (next === undefined || other?.type !== 'made') return decline(explainRefusal(attempt, other));
    reading = next;
    made = other;
  }
  return made.type === 'made' ? writePlan(made.steps) : decline(made.why);
}

function makeSteps(request: string, tools: readonly PlannerTool[], reading: Reading): Made {
  // In the order of their names, so that the order in which they are offered does not matter.
  const sorted = [...tools].sort((left, right) => (left.name < right.name ? -1 : left.name > right.name ? 1 : 0));
  const toolbox = toToolbox(sorted);
  const read = readPlanRequest(request, toolbox);
  if (read.type === 'unreadable') return { type: 'declined', why: read.why };
  const draft = createDraft(toolbox, new Map(sorted.map((tool) => [tool.name, tool])), reading);
  for (const [index, ordered] of read.clauses.entries()) {
    draft.begin(ordered.order, index);
    const why = addClause(ordered, draft);
    if (why !== undefined)
      return { type: 'declined', why: draft.toolbox.profiles.length === 0 ? `${why} There are no tools.` : why };
    draft.end();
    if (draft.steps.length > maxSteps)
      return { type: 'declined', why: `The request asks for more than ${maxSteps} steps.` };
  }
  return checkMade(draft);
}

function checkMade({ steps, toolbox }: Draft): Made {
  if (steps.length === 0) {
    const names = toolbox.profiles.slice(0, 12).map(({ tool }) => `\`${tool.name}\``);
    const offered =
      names.length === 0
        ? 'There are no tools.'
        : `The tools are ${names.join(', ')}${toolbox.profiles.length > 12 ? ' and others' : ''}.`;
    return { type: 'declined', why: `The request names nothing that a tool could do. ${offered}` };
  }
  const unfaithful = steps.find(({ inputs }) => !isFaithful(inputs));
  if (unfaithful === undefined) return { type: 'made', steps };
  return {
    type: 'declined',
    why: `\`${unfaithful.profile.tool.name}\` would be given something that looks like a reference to a step, such as \`{{STEPS.\`: a plan cannot hold that as a text.`,
  };
}

/** What else the words of the request allow, where a plan was refused for something that this could mend. */
function otherReading(reading: Reading, steps: readonly Step[], { problems }: PlannerAttempt): Reading | undefined {
  if (!reading.isInOrder && problems.some(({ code }) => code === 'plan.locks.unordered'))
    return { ...reading, isInOrder: true };
  const without = new Map(reading.without);
  for (const { path } of problems) {
    const step = steps[Number(/^nodes\[(\d{1,4})\]/u.exec(path)?.[1] ?? -1)];
    if (step === undefined) continue;
    without.set(step.clauseIndex, new Set([...(without.get(step.clauseIndex) ?? []), step.profile.tool.name]));
  }
  return without.size > reading.without.size || sizeOf(without) > sizeOf(reading.without)
    ? { ...reading, without }
    : undefined;
}

function sizeOf(without: Reading['without']): number {
  return [...without.values()].reduce((sum, names) => sum + names.size, 0);
}

function explainRefusal({ problems }: PlannerAttempt, other: Made | undefined): string {
  const said = problems
    .slice(0, 3)
    .map(({ code, path, message }: PlannerProblem) => `${code}${path === '' ? '' : ` at ${path}`}: ${message}`);
  const why = said.length === 0 ? 'It was not said why.' : said.join(' ').slice(0, 1500);
  const lacking = other?.type === 'declined' ? ` ${other.why}` : '';
  return `The request can be read in no other way than the one that was refused. ${why}${lacking}`;
}

function decline(error: string): Json {
  return { version: 1, status: 'error', error };
}

function writePlan(steps: readonly Step[]): Json {
  return {
    version: 1,
    status: 'success',
    nodes: steps.map((step) => ({
      id: step.id,
      tool: step.profile.tool.name,
      inputs: Object.fromEntries([...step.inputs].map(([name, input]) => [name, writeInput(input)])),
      depends_on: [...parentsOf(step)],
      retry: step.manner.retry,
      on_fail: step.manner.onFail,
      metadata: { purpose: purposeOf(step, steps) },
    })),
    final_output_node: steps.length - 1,
  };
}

/** The words of the request; of several steps for the same words, with what each is about. */
function purposeOf(step: Step, steps: readonly Step[]): string {
  const { text } = step.clause;
  const words = `${text.charAt(0).toUpperCase()}${text.slice(1, 200)}`.replaceAll(/\s+/gu, ' ');
  const isShared = steps.some((other) => other !== step && other.clauseIndex === step.clauseIndex);
  return isShared ? `${words} (${step.profile.tool.name}: ${step.label})` : words;
}
