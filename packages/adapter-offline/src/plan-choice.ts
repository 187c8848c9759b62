import { type Choice, choose } from './choose.ts';
import { fill } from './fill.ts';
import type { Draft } from './plan-draft.ts';
import { findMentions, withoutMentions } from './plan-mentions.ts';
import { isWorkOf, mainField } from './plan-outputs.ts';
import { freshOf } from './plan-step.ts';
import { isAskedFor, isDangerous, takesText } from './plan-tools.ts';
import { show } from './plan-unspoken.ts';
import { withoutFiles } from './plan-values.ts';
import type { Clause } from './reading.ts';
import type { Profile } from './toolbox.ts';

/** The one tool that a clause asks for, or why there is none: a sentence. */
export function findChoice(clause: Clause, draft: Draft): Choice | string {
  const { toolbox } = draft;
  const about = wordsAbout(clause, draft);
  const isOpen = (profile: Profile): boolean =>
    draft.isAllowed(profile) && (!isDangerous(profile, draft) || isAskedFor(clause, profile));
  const isCounting = clause.verb?.index === -1 && clause.verb.concepts.has('count');
  const texts = withoutFiles(clause);
  const spoken = withoutMentions(clause, findMentions(clause, [], draft.steps));
  const isFitting = (profile: Profile): boolean => !isMisplaced(profile, clause);
  // "How many words has a.txt" asks to count, and "summarize a.txt" for a tool that takes a text, if another one reads the file.
  const isGiving = clause.verb !== undefined && /^(?:giv|show|tell|get|mak|need|want)$/u.test(clause.verb.stem);
  const readings: readonly { readonly said: Clause; accept(profile: Profile): boolean }[] = [
    { said: texts, accept: (each) => isCounting && each.actionConcepts.has('count') },
    // "Give me a summary of it" asks to summarize.
    { said: withoutFiles(spoken), accept: (each) => isGiving && isMakerIn(each, clause) },
    { said: clause, accept: (each) => isNamedIn(each, clause) && isFitting(each) },
    { said: clause, accept: isFitting },
    { said: spoken, accept: (each) => spoken !== clause && isFitting(each) },
    {
      said: withoutFiles(spoken),
      accept: (each) => texts !== clause && takesText(each, draft) && isAskedFor(clause, each),
    },
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
  const named = toolbox.profiles.filter((each) => isOpen(each) && isNamedIn(each, clause));
  const [only, second] = named;
  // Whatever it lacks is then said of this tool.
  if (only !== undefined && second === undefined)
    return { profile: only, filling: fill(only.parameters, clause, only), score: 0 };
  return `No tool is there for "${show(clause)}".`;
}

function isMakerIn(profile: Profile, { items }: Clause): boolean {
  return items.some((item) => item.type === 'word' && item.stem !== 'list' && isWorkOf(item.stem, profile));
}

/** Whether the clause has all words of the tool's name, and does what it is called after: "get the ticket". */
function isNamedIn({ nameStems }: Profile, { items, verb }: Clause): boolean {
  if (verb === undefined || verb.index < 0 || !nameStems.has(verb.stem) || nameStems.size < 2) return false;
  return [...nameStems].every((stem) => items.some((item) => item.type === 'word' && item.stem === stem));
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
    ...last.profile.objectStems,
    ...(endings.length > 0 ? ['file'] : []),
    ...endings,
    ...fields.filter((stem) => /^(?:url|link)$/u.test(stem)),
  ];
}
