import { type Choice, isContent } from './choose.ts';
import { isDestructive } from './concepts.ts';
import { asksToShow } from './follow.ts';
import type { Parameter } from './parameters.ts';
import { type Assigned, type Assignment, assign } from './plan-assign.ts';
import { findChoice } from './plan-choice.ts';
import type { Draft } from './plan-draft.ts';
import { fillSurely, findNarrowing, wantsMany, wantsOf } from './plan-filling.ts';
import { type Input, stepsIn } from './plan-inputs.ts';
import { findMentions, joinMentions, type Mention, withoutManner, withoutMentions } from './plan-mentions.ts';
import { isWorkOf } from './plan-outputs.ts';
import type { OrderedClause } from './plan-reading.ts';
import type { Source, Step } from './plan-step.ts';
import { isDangerous, takesText } from './plan-tools.ts';
import { findMaker, findUnspoken, show, type Unsaid, type Unspoken } from './plan-unspoken.ts';
import { findSources, quote, spreadOf, valuesOf, withoutFiles } from './plan-values.ts';
import type { Clause } from './reading.ts';

/** Adds the steps that a clause asks for. Returns why it cannot: a sentence. */
export function addClause(ordered: OrderedClause, draft: Draft): string | undefined {
  const { clause } = ordered;
  if (draft.steps.length > 0 && asksToShow(clause) && !asksForMore(clause, draft)) return undefined;
  const plain = withoutManner(clause);
  const spoken = isSpokenOf(plain, draft) ? { ...plain, refersBack: true } : plain;
  const found = findChoice(spoken, draft);
  if (typeof found === 'string') return found;
  const added = addChoice(found, { ...ordered, clause: spoken }, draft);
  return typeof added === 'string' ? added : undefined;
}

/** "Give me a summary of it" asks to show what no step has made yet. */
function asksForMore({ items }: Clause, { toolbox, steps }: Draft): boolean {
  return toolbox.profiles.some(
    (profile) =>
      !steps.some((step) => step.profile === profile) &&
      items.some((item) => item.type === 'word' && item.stem !== 'list' && isWorkOf(item.stem, profile)),
  );
}

/**
 * The steps for a clause and its tool, or why there are none. `isMaker`: it makes what another step of the clause stores, and nothing is
 * made for it in turn.
 */
function addChoice(
  choice: Choice,
  ordered: OrderedClause,
  draft: Draft,
  isMaker: boolean = false,
): readonly Step[] | string {
  const { clause } = ordered;
  const { profile } = choice;
  const fits = `\`${profile.tool.name}\` fits "${show(clause)}", but`;
  // "The ticket" that is to be closed may well be one that a step has found; the words that are counted are none.
  const own = profile.objectStems.filter((stem) => !profile.parameterStems.has(stem));
  const mentions = findMentions(clause, own, draft.steps);
  const lost = mentions.find((mention) => mention.sources.length === 0);
  if (lost !== undefined) return `Nothing before "${show(clause)}" is what ${quote(clause.items[lost.at])} speaks of.`;
  const said = withoutMentions(takesText(profile, draft) ? withoutFiles(clause) : clause, mentions);
  const filling = fillSurely(said, profile);
  if (wantsMany(clause, filling, profile))
    return `\`${profile.tool.name}\` takes one at a time, and which "${show(clause)}" means only turns out when the plan runs.`;
  const isStrict = isDestructive(profile.actionConcepts) || isDangerous(profile, draft);
  const narrowing = findNarrowing(said, filling, profile, isStrict);
  if (narrowing !== undefined) return `${fits} takes nothing for "${narrowing}".`;
  const wants = wantsOf(profile, filling);
  const values = valuesOf(clause, filling, profile);
  const more = spreadOf(said, filling, values, profile);
  const left = values.filter((at) => !more.used.has(at));
  const about = findAbout(
    { choice: { ...choice, filling }, clause, said, mentions, wants, left, isMaker },
    ordered,
    draft,
  );
  if (typeof about === 'string') return about;
  if (about.leftOver !== undefined) return `${fits} takes nothing such as ${quote(clause.items[about.leftOver])}.`;
  const { isBound, areListed } = about;
  const assigned = assignSpoken(about.spoken, { profile, wants, filling, clause, isBound, areListed }, ordered, draft);
  if (typeof assigned === 'string') return assigned;
  if (assigned.type === 'lacking') return `${fits} ${assigned.why}.`;
  const rows = more.rows.length === 0 ? [filling.given] : more.rows;
  if (rows.length > 1 && assigned.rows.length > 1)
    return `"${show(clause)}" asks for every one of several things with every one of several results: say it one by one.`;
  return rows.flatMap((given) =>
    assigned.rows.map((taken) => draft.add({ profile, ordered, given, taken, about: assigned.about, isHelp: false })),
  );
}

/** What a clause works on beside what it gives itself. */
interface About {
  readonly spoken: Unspoken;
  readonly isBound: boolean;
  readonly areListed: boolean;
  /** Where a value stands that nothing takes. */
  readonly leftOver: number | undefined;
}

interface Asked extends Unsaid {
  readonly mentions: readonly Mention[];
  readonly wants: readonly Parameter[];
  /** Places of values that no argument has taken. */
  readonly left: readonly number[];
  readonly isMaker: boolean;
}

function findAbout(asked: Asked, ordered: OrderedClause, draft: Draft): About | string {
  const { choice, clause, mentions, wants, left, isMaker } = asked;
  const { profile } = choice;
  const wantsContent = wants.some((each) => isContent(each, profile));
  // "Mail the weather in Paris to Ann": Paris is for the tool that makes what is mailed.
  const maker = wantsContent && mentions.length === 0 && !isMaker ? findMaker(asked, draft) : undefined;
  if (maker !== undefined) return { spoken: maker, isBound: false, areListed: false, leftOver: undefined };
  const found = wants.length === 0 ? [] : findSources(left, ordered, profile, draft);
  if (typeof found === 'string') return found;
  const together = [...mentions, ...found].sort((one, other) => one.at - other.at);
  const all = joinMentions(together, clause, draft.steps);
  if (all === undefined) return `It is not clear what "${show(clause)}" speaks of: say it in two sentences.`;
  const sources = all.flatMap((mention) => mention.sources);
  const leftOver = left.find((at) => !found.some((each) => each.at === at));
  const spoken: Unspoken =
    sources.length > 0 || wants.length === 0 || leftOver !== undefined
      ? { type: 'sources', sources }
      : findUnspoken(asked, wantsContent, draft);
  if (spoken.type === 'unknown' && draft.steps.length > 0) return spoken.why;
  return { spoken, isBound: all.some(({ type }) => type !== 'noun'), areListed: found.length > 0, leftOver };
}

function assignSpoken(
  spoken: Unspoken,
  assignment: Assignment,
  ordered: OrderedClause,
  draft: Draft,
): Assigned | string {
  switch (spoken.type) {
    case 'sources':
      return assignNearest(assignment, spoken.sources, draft.steps);
    case 'unknown':
      return assign(assignment, []);
    case 'text':
      return ownContent(spoken.text, assignment);
    case 'made': {
      const steps = addChoice(spoken.choice, { ...ordered, clause: spoken.clause }, draft, true);
      if (typeof steps === 'string') return steps;
      return assign(
        assignment,
        steps.map((step) => ({ step, field: undefined, isFirst: false })),
      );
    }
    default:
      return spoken satisfies never;
  }
}

/** "Count its words and measure its readability": what cannot be of the count is of what was counted. */
function assignNearest(assignment: Assignment, sources: readonly Source[], steps: readonly Step[]): Assigned {
  const assigned = assign(assignment, sources);
  if (assigned.type === 'assigned' || sources.some(({ field, isFirst }) => field !== undefined || isFirst))
    return assigned;
  // A list is not passed over: it may well be what is meant.
  if (sources.some(({ step }) => step.outputs.fields.some(({ type }) => type === 'array'))) return assigned;
  const before = [...new Set(sources.flatMap(({ step }) => [...step.inputs.values()].flatMap(stepsIn)))];
  if (before.length === 0) return assigned;
  const inner = before
    .flatMap((id) => steps[id] ?? [])
    .map((step): Source => ({ step, field: undefined, isFirst: false }));
  const other = assignNearest(assignment, inner, steps);
  return other.type === 'assigned' ? other : assigned;
}

function ownContent(text: string, { wants, profile }: Assignment): Assigned {
  const other = wants.find((parameter) => !isContent(parameter, profile));
  if (other !== undefined) return { type: 'lacking', why: `the request does not say \`${other.path.join('.')}\`` };
  const input: Input = { type: 'literal', value: text };
  return { type: 'assigned', rows: [new Map(wants.map((parameter) => [parameter, input]))], about: [] };
}

/** Whether a clause surely speaks of what earlier steps give. */
function isSpokenOf(clause: Clause, { steps }: Draft): boolean {
  return findMentions(clause, [], steps).some(
    ({ type, sources }) => type === 'pronoun' || sources.some(({ isFirst }) => isFirst),
  );
}
