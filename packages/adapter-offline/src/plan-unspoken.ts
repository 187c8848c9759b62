import { type Choice, choose } from './choose.ts';
import { isLooking } from './concepts.ts';
import { type Filling, fill } from './fill.ts';
import { sourceClause } from './follow.ts';
import type { Draft } from './plan-draft.ts';
import { isPlaceOfText } from './plan-filling.ts';
import { isWorkOf } from './plan-outputs.ts';
import { freshOf, type Source } from './plan-step.ts';
import { isDangerous } from './plan-tools.ts';
import { type Clause, references } from './reading.ts';
import { ownWords } from './references.ts';
import { isPreposition } from './roles.ts';
import type { Profile } from './toolbox.ts';
import { isStopWord } from './words.ts';

/** What a clause works on, when it does not say so. */
export type Unspoken =
  | { readonly type: 'sources'; readonly sources: readonly Source[] }
  /** Another tool makes it first: "write the comparison to a.md". */
  | { readonly type: 'made'; readonly choice: Choice; readonly clause: Clause }
  /** The request itself has the text. */
  | { readonly type: 'text'; readonly text: string }
  /** `why` is a sentence. */
  | { readonly type: 'unknown'; readonly why: string };

export interface Unsaid {
  readonly choice: Choice;
  readonly clause: Clause;
  /** The clause without what it says of earlier steps. */
  readonly said: Clause;
}

/**
 * Finds what a clause works on that speaks of nothing: its own words, or what was found before. `isContent`: a text for a file or a
 * message is wanted.
 */
export function findUnspoken({ choice, clause, said }: Unsaid, isContent: boolean, draft: Draft): Unspoken {
  const { profile, filling } = choice;
  if (isContent && clause.items.some((item) => item.type === 'word' && item.lower === 'empty'))
    return { type: 'text', text: '' };
  const fresh = freshOf(draft.steps);
  const own = isContent && fresh.length === 0 ? ownWords(clause, filling.used) : undefined;
  if (own !== undefined) return { type: 'text', text: own };
  const strange = strangeWord(said, filling, profile);
  if (strange !== undefined) return { type: 'unknown', why: `Nothing gives the "${strange}" of "${show(clause)}".` };
  return { type: 'sources', sources: fresh.map((step) => ({ step, field: undefined, isFirst: false })) };
}

/** "Write the comparison to a.md", "save a list of the tasks": what is to be stored is made first. */
export function findMaker({ choice, clause }: Unsaid, draft: Draft): Unspoken | undefined {
  const { toolbox } = draft;
  const inner = sourceClause(clause, choice, toolbox);
  // It is there to be read.
  if (inner.items.some((_, at) => isPlaceOfText(inner.items, at))) return undefined;
  const accept = (profile: Profile): boolean =>
    profile !== choice.profile &&
    draft.isAllowed(profile) &&
    isLooking(profile.actionConcepts) &&
    !isDangerous(profile, draft);
  const makers = toolbox.profiles.filter(
    (profile) => accept(profile) && inner.items.some((item) => item.type === 'word' && isWorkOf(item.stem, profile)),
  );
  const [maker, other] = makers;
  const made =
    maker !== undefined && other === undefined
      ? { profile: maker, filling: fill(maker.parameters, inner, maker), score: 1 }
      : choose(inner, toolbox, { accept });
  return made === undefined ? undefined : { type: 'made', choice: made, clause: inner };
}

/** A word of what the clause is about that neither the tool nor an argument knows: "poem" in "write a poem to a.txt". */
function strangeWord({ items, verb }: Clause, { used }: Filling, profile: Profile): string | undefined {
  const from = (verb?.index ?? -1) + 1;
  for (let at = from; at < items.length; at += 1) {
    const item = items[at];
    if (item?.type !== 'word' || used.has(at)) continue;
    if (isPreposition(item.lower) && at > from) return undefined;
    const known =
      isStopWord(item.lower) ||
      references.has(item.stem) ||
      /^(?:it|them|please|thanks?)$/u.test(item.lower) ||
      profile.nameStems.has(item.stem) ||
      profile.descriptionStems.has(item.stem) ||
      profile.parameterStems.has(item.stem) ||
      isWorkOf(item.stem, profile);
    if (!known) return item.text;
  }
  return undefined;
}

/** The clause for a message. */
export function show({ text }: Clause): string {
  return text.length <= 200 ? text : `${text.slice(0, 199)}…`;
}
