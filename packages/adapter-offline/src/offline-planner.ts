import type { Json, JsonObject, Planner } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import type { PlannerAnswer, PlannerRequest, PlannerTool } from '@holdfast/core/types';
import { capitalize } from './answer/report.ts';
import { type Match, matchClause } from './read/match.ts';
import { explainUnclear } from './read/understand.ts';
import { describeUnread } from './read/unread.ts';
import { membersOf, referTo, type Step, stepsIn } from './references.ts';
import { type Clause, isResultWord, readClauses, type Token, textOf } from './words/clauses.ts';
import { readTool, type ToolWords, verbsOf } from './words/tool-words.ts';
import { isPronoun, splitName, stemOf } from './words/words.ts';

/**
 * Creates a rule-based stand-in for a planner: no network, no weights, no memory, and the same answer to the same
 * request. Steps are joined by "and" and "then"; each is one call, read like a request to `offlineModel`. "It", "both"
 * and "the counts" refer to results of earlier steps, resolved by the names and types of their output schemas.
 * Read-only steps run in parallel; a step with effects waits for all earlier steps, and all later steps wait for it.
 *
 * It never guesses: if a tool, an argument or a reference is unclear, the plan has `status: "error"` and says why. It
 * does not rewrite a rejected plan.
 */
export function offlinePlanner(): Planner {
  return {
    id: 'offline:rules',
    async plan(request): Promise<PlannerAnswer> {
      request.signal.throwIfAborted();
      const made = planFor(request);
      return { plan: typeof made === 'string' ? { version: 1, status: 'error', error: made } : writePlan(made) };
    },
  };
}

/** The steps so far, and those of the last clause, which "it" and "them" refer to. */
interface Draft {
  readonly tools: readonly PlannerTool[];
  readonly known: readonly ToolWords[];
  readonly steps: readonly Step[];
  readonly last: readonly Step[];
}

/** A string explains why there is no plan. */
function planFor({ request, tools, attempts }: PlannerRequest): readonly Step[] | string {
  const [refused] = attempts
    .slice(-1)
    .map(({ problems }) =>
      problems.map(({ path, message, ...kind }) => `${describeCode(kind)} at ${path}: ${message}`),
    );
  if (refused !== undefined) return `I have no alternative to the rejected plan. ${refused.join(' ').slice(0, 1500)}`;
  const unread = describeUnread(request);
  if (unread !== undefined || tools.length === 0) return unread ?? 'No tools are available.';
  const known = tools.map(readTool);
  let draft: Draft = { tools, known, steps: [], last: [] };
  for (const clause of readClauses(request, verbsOf(known))) {
    const next = addClause(clause, draft);
    if (typeof next === 'string') return `${next} This is about "${textOf(clause).slice(0, 200)}".`;
    draft = next;
  }
  return draft.steps.length === 0 ? 'The request does not name an action for a tool.' : draft.steps;
}

function addClause(clause: Clause, draft: Draft): Draft | string {
  const unsaid = findUnsaid(clause, draft);
  const begun = unsaid === undefined ? draft : addSteps(unsaid.match, { ...clause, joint: '' }, draft);
  if (typeof begun === 'string') return begun;
  const results = begun.steps.flatMap(({ tool }) => [
    tool.name,
    ...membersOf(tool.outputSchema ?? {}).map(({ name }) => name),
  ]);
  const names = new Set([...results.flatMap(splitName).map(stemOf), unsaid?.noun]);
  const isName = ({ type, lower, stem }: Token): boolean => type === 'word' && (isResultWord(lower) || names.has(stem));
  // "The counts" refers to a result, "count the words" does not.
  const isDefinite = (at: number): boolean =>
    /^(?:the|its|their|these|those|all)$/u.test(clause.tokens[at - 1]?.lower ?? '');
  const isReference = (token: Token, at: number): boolean =>
    isPronoun(token.lower) || token.lower === 'each' || (isName(token) && isDefinite(at));
  const references = new Set(begun.steps.length > 0 ? clause.tokens.filter(isReference) : []);
  const matched = matchClause(clause, draft.known, references.size > 0 ? (token) => references.has(token) : undefined);
  return matched.type === 'matched' ? addSteps(matched.match, clause, begun) : explainUnclear(matched);
}

/** "Write the comparison" before anything was compared: finds the one tool that compares. */
function findUnsaid(
  clause: Clause,
  { steps, known }: Draft,
): { readonly match: Match; readonly noun: string } | undefined {
  for (const [at, token] of clause.tokens.entries()) {
    if (steps.length === 0 || clause.tokens[at - 1]?.lower !== 'the') continue;
    const isMeant = ({ tool: { name }, verbs: { lead } }: ToolWords): boolean =>
      lead.length > 4 &&
      token.stem !== lead &&
      token.stem.startsWith(lead) &&
      steps.every((step) => step.tool.name !== name);
    const [tool, another] = known.filter(isMeant);
    if (tool === undefined || another !== undefined) continue;
    const verb = { ...token, stem: tool.verbs.lead };
    const matched = matchClause({ ...clause, tokens: [verb, token] }, [tool], (each) => each === token);
    if (matched.type === 'matched') return { match: matched.match, noun: token.stem };
  }
  return undefined;
}

/** The steps of one clause: one, or one for each earlier result that it refers to. */
function addSteps(
  { tool: { tool: declared }, filling, arguments: given }: Match,
  clause: Clause,
  draft: Draft,
): Draft | string {
  const tool = draft.tools.find(({ name }) => name === declared.name);
  const [missing, another] = filling.missing;
  if (tool === undefined || another !== undefined) return `\`${declared.name}\` needs more than one earlier result.`;
  if (/\{\{\s*steps\s*[.[|}]/iu.test(JSON.stringify(given)))
    return `\`${tool.name}\` would get a text that looks like a reference such as \`{{STEPS.\`, which a plan cannot contain.`;
  if (Object.hasOwn(given, '$from') || missing?.name === '$from')
    return `\`${tool.name}\` has a parameter \`$from\`, which a plan would read as a reference.`;
  if (missing === undefined) return extend(draft, [given], tool, clause);
  const said = new Set(clause.tokens.map(({ stem }) => stem));
  const references = sourcesOf(clause, draft, missing.isList).map((step) => referTo(missing, step, said));
  if (references.length === 0 || !references.every((reference) => reference !== undefined))
    return `It is unclear which earlier result to use as \`${missing.name}\` of \`${tool.name}\`.`;
  const values: readonly Json[] = missing.isList ? [references] : references;
  const inputs = values.map((value) => ({ ...given, [missing.name]: value }));
  return extend(draft, inputs, tool, clause);
}

/** "It" is the one unused result; "both" are the two unused results; "them" are those of the last clause, or all unused ones. */
function sourcesOf({ tokens }: Clause, { steps, last }: Draft, isList: boolean): readonly Step[] {
  const open = endsOf(steps);
  const words = tokens.map(({ lower }) => lower);
  if (words.includes('both')) return open.length === 2 ? open : [];
  const plural = /^(?:all|each|every|them|they|their|these|those)$/u;
  if (isList || words.some((word) => plural.test(word))) return last.length > 1 ? last : open;
  return open.length === 1 ? last : [];
}

function endsOf(steps: readonly Step[]): readonly Step[] {
  const awaited = new Set(steps.flatMap(({ after }) => after));
  return steps.filter(({ id }) => !awaited.has(id));
}

/** After "then", a step waits for all earlier steps; so does a step with effects, and each step after one. */
function extend(draft: Draft, inputs: readonly JsonObject[], tool: PlannerTool, clause: Clause): Draft {
  const { steps } = draft;
  const isLast = tool.effects !== 'none' || /\bthen\b/u.test(clause.joint);
  const change = steps.findLast((step) => step.tool.effects !== 'none');
  const waits = (isLast ? endsOf(steps) : steps.filter((step) => step === change)).map(({ id }) => id);
  const words = capitalize(textOf(clause).slice(0, 200).replaceAll(/\s+/gu, ' '));
  const last = inputs.map((each, index): Step => {
    const after = [...new Set([...stepsIn(each), ...waits])].sort((one, other) => one - other);
    const purpose = inputs.length === 1 ? words : `${words} (${index + 1} of ${inputs.length})`;
    return { id: steps.length + index, tool, inputs: each, after, purpose };
  });
  return { ...draft, steps: [...steps, ...last], last };
}

function writePlan(steps: readonly Step[]): Json {
  const nodes = steps.map(({ id, tool, inputs, after, purpose }) => {
    return { id, tool: tool.name, inputs, depends_on: after, retry: 0, on_fail: 'halt', metadata: { purpose } };
  });
  return { version: 1, status: 'success', nodes, final_output_node: steps.length - 1 };
}
