import { type Choice, choose, isContent } from './choose.ts';
import { type Filling, fill } from './fill.ts';
import { asksToShow } from './follow.ts';
import { type Parameter, readObjects } from './parameters.ts';
import { type Assigned, type Assignment, assign } from './plan-assign.ts';
import type { Draft } from './plan-draft.ts';
import { type Input, stepsIn } from './plan-inputs.ts';
import { findMentions, withoutManner, withoutMentions } from './plan-mentions.ts';
import { mainField } from './plan-outputs.ts';
import type { OrderedClause } from './plan-reading.ts';
import { freshOf, type Source, type Step } from './plan-step.ts';
import { isAskedFor, isDangerous, takesText } from './plan-tools.ts';
import { findUnspoken, show, type Unspoken } from './plan-unspoken.ts';
import { findSources, quote, spreadOf, valuesOf, withoutFiles } from './plan-values.ts';
import type { Clause } from './reading.ts';
import type { Profile } from './toolbox.ts';
import { stemOf } from './words.ts';

/** Adds the steps that a clause asks for. Returns why it cannot: a sentence. */
export function addClause(ordered: OrderedClause, draft: Draft): string | undefined {
  const { clause } = ordered;
  if (draft.steps.length > 0 && asksToShow(clause)) return undefined;
  const plain = withoutManner(clause);
  const spoken = isSpokenOf(plain, draft) ? { ...plain, refersBack: true } : plain;
  const found = findChoice(spoken, draft);
  if (typeof found === 'string') return found;
  const added = addChoice(found, { ...ordered, clause: spoken }, draft);
  return typeof added === 'string' ? added : undefined;
}

function findChoice(clause: Clause, draft: Draft): Choice | string {
  const { toolbox } = draft;
  const about = wordsAbout(clause, draft);
  const isOpen = (profile: Profile): boolean =>
    draft.isAllowed(profile) && (!isDangerous(profile, draft) || isAskedFor(clause, profile));
  const isCounting = clause.verb?.index === -1 && clause.verb.concepts.has('count');
  const texts = withoutFiles(clause);
  // "How many words has a.txt" asks to count, and "summarize a.txt" for a tool that takes a text, if another one reads the file.
  const readings: readonly { readonly said: Clause; accept(profile: Profile): boolean }[] = [
    { said: texts, accept: (each) => isCounting && each.actionConcepts.has('count') },
    { said: clause, accept: (each) => !isMisplaced(each, clause) },
    { said: texts, accept: (each) => texts !== clause && takesText(each, draft) },
  ];
  for (const { said, accept } of readings) {
    const words = said === clause ? about : ['text', ...about];
    const choice = choose(said, toolbox, { accept: (each) => isOpen(each) && accept(each), about: words });
    if (choice === undefined) continue;
    const others = (each: Profile): boolean => isOpen(each) && accept(each) && each !== choice.profile;
    const rival = choose(said, toolbox, { accept: others, about: words });
    if (rival === undefined || rival.score < choice.score - 1e-9) return choice;
    return `Both \`${choice.profile.tool.name}\` and \`${rival.profile.tool.name}\` could do "${show(clause)}": name the one that is meant.`;
  }
  return `No tool is there for "${show(clause)}".`;
}

/** Whether a tool for files would get an address, or one for addresses a file. */
function isMisplaced(profile: Profile, clause: Clause): boolean {
  return [...fill(profile.parameters, clause, profile).given].some(([parameter, value]) => {
    const isAddress = /^[a-z][a-z0-9+.-]*:\/\//iu.test(String(value));
    switch (profile.roles.get(parameter)) {
      case 'path':
        return isAddress;
      case 'url':
        return typeof value === 'string' && !isAddress && !/^[^/]+\.[a-z]{2,}(?:\/|$)/iu.test(value);
      default:
        return false;
    }
  });
}

/** The steps for a clause and its tool, or why there are none. */
function addChoice(choice: Choice, ordered: OrderedClause, draft: Draft): readonly Step[] | string {
  const { clause } = ordered;
  const { profile } = choice;
  const { tool } = profile;
  const mentions = findMentions(clause, profile.objectStems, draft.steps);
  const lost = mentions.find((mention) => mention.sources.length === 0);
  if (lost !== undefined) return `Nothing before "${show(clause)}" is what ${quote(clause.items[lost.at])} speaks of.`;
  const said = withoutMentions(takesText(profile, draft) ? withoutFiles(clause) : clause, mentions);
  const filling = fill(profile.parameters, said, profile);
  const wants = wantsOf(profile, filling);
  if (wantsMany(clause, filling, profile))
    return `\`${tool.name}\` takes one file at a time, and which files "${show(clause)}" means only turns out when the plan runs.`;
  const values = valuesOf(clause, filling, profile);
  const more = spreadOf(said, filling, values);
  const left = values.filter((at) => !more.used.has(at));
  const found = wants.length === 0 ? [] : findSources(left, clause, profile, draft);
  if (typeof found === 'string') return found;
  const all = [...mentions, ...found].sort((one, other) => one.at - other.at);
  const sources = all.flatMap((mention) => mention.sources);
  const unsaid = {
    choice: { ...choice, filling },
    clause,
    said,
    isContent: wants.some((each) => isContent(each, profile)),
  };
  const spoken: Unspoken =
    sources.length > 0 || wants.length === 0 ? { type: 'sources', sources } : findUnspoken(unsaid, draft);
  // "Mail the weather in Paris to Ann": Paris is for the tool that makes what is mailed.
  const leftOver = spoken.type === 'made' ? undefined : left.find((at) => !found.some((each) => each.at === at));
  if (leftOver !== undefined)
    return `\`${tool.name}\` fits "${show(clause)}", but takes nothing such as ${quote(clause.items[leftOver])}.`;
  if (spoken.type === 'unknown' && draft.steps.length > 0) return spoken.why;
  const isBound = all.some(({ type }) => type !== 'noun');
  const assignment = { profile, wants, filling, clause, isBound, areListed: found.length > 0 };
  const assigned = assignSpoken(spoken, assignment, ordered, draft);
  if (typeof assigned === 'string') return assigned;
  if (assigned.type === 'lacking') return `\`${tool.name}\` fits "${show(clause)}", but ${assigned.why}.`;
  const rows = more.rows.length === 0 ? [filling.given] : more.rows;
  if (rows.length > 1 && assigned.rows.length > 1)
    return `"${show(clause)}" asks for every one of several things with every one of several results: say it one by one.`;
  return rows.flatMap((given) =>
    assigned.rows.map((taken) => draft.add({ profile, ordered, given, taken, about: assigned.about, isHelp: false })),
  );
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
      const steps = addChoice(spoken.choice, { ...ordered, clause: spoken.clause }, draft);
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

/** "Read all files in src" with a tool that reads one. */
function wantsMany({ items }: Clause, { given }: Filling, { roles }: Profile): boolean {
  const says = items.some((item, at) => {
    const before = items[at - 1];
    const isAll = before?.type === 'word' && /^(?:all|every|each|any)$/u.test(before.lower);
    return item.type === 'word' && isAll && /^(?:files?|documents?|pages?)$/u.test(item.lower);
  });
  return (
    says &&
    [...given].some(
      ([parameter, value]) =>
        roles.get(parameter) === 'path' &&
        !parameter.isList &&
        !parameter.nameStems.some((stem) => folders.has(stem)) &&
        !/\.\w+$/u.test(String(value)),
    )
  );
}

const folders: ReadonlySet<string> = new Set(['folder', 'directory', 'dir'].map(stemOf));

/** Required arguments without a value; an object of which nothing is given, as a whole. */
function wantsOf(profile: Profile, { given, missing }: Filling): readonly Parameter[] {
  const objects = readObjects(profile.tool.inputSchema).filter(
    ({ path: [name], isRequired }) => isRequired && ![...given.keys()].some(({ path }) => path[0] === name),
  );
  const whole = new Set(objects.map(({ path }) => path[0]));
  return [...missing.filter(({ path }) => !whole.has(path[0])), ...objects];
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

/** What the last results are, in words by which tools are chosen. */
function wordsAbout({ items }: Clause, { steps }: Draft): readonly string[] {
  const last = freshOf(steps).at(-1) ?? steps.at(-1);
  if (last === undefined) return [];
  const endings = last.literals.flatMap(([, value]) => /\.(\w+)$/u.exec(String(value))?.slice(1) ?? []);
  const isFirst = items.some((item) => item.type === 'word' && /^(?:first|top)$/u.test(item.lower));
  const fields = (isFirst ? last.outputs.first : last.outputs.fields).flatMap(({ stems }) => stems);
  const main = mainField(last.outputs, last.profile)?.type;
  return [
    'text',
    ...(last.outputs.fields.some(({ type }) => type === 'number') ? ['number'] : []),
    ...(main === 'array' ? ['list'] : []),
    ...(endings.length > 0 ? ['file'] : []),
    ...endings,
    ...fields.filter((stem) => /^(?:url|link)$/u.test(stem)),
  ];
}
