import type { ToolDeclaration } from '@holdfast/core';
import { type Parameter, readParameters } from './parameters.ts';
import { isLooking, isVerb } from './verbs.ts';
import { isAlike, stemOf, stemsOf } from './words.ts';

/** The words of a tool. */
export interface ToolWords {
  readonly tool: ToolDeclaration;
  readonly parameters: readonly Parameter[];
  /** Its verbs: from its name, the first of its description, and those after a colon. */
  readonly verbs: { readonly name: string | undefined; readonly lead: string; readonly more: readonly string[] };
  /** True if all its verbs are read-only. */
  readonly isLooking: boolean;
  readonly nameStems: readonly string[];
  /** From its name and description, except sentences about what it does not do. */
  readonly stems: ReadonlySet<string>;
  /** Its objects: the other words of its name, and those between the verb and the first preposition of its description. */
  readonly objects: readonly string[];
  /** The noun after "one", such as `file` in "one file": it handles a single object. */
  readonly onlyOne: string | undefined;
  /** Its description says that it works on all objects. */
  readonly worksOnAll: boolean;
}

const prepositions = /^(?:about|among|as|at|by|for|from|in|into|of|on|that|to|which|whose|with)$/iu;
const preamble =
  /^\W*(?:(?:an? |this )?(?:tool|function) (?:that|to|for)|use (?:it|this) to|allows? you to|lets you) /iu;

export function readTool(tool: ToolDeclaration): ToolWords {
  // Sample patterns and paths say nothing about the tool.
  const examples = /\S*[*/\\]\S*?(?=[.,;:)]*(?:\s|$))|(?<=\s)\.\w+/gu;
  const description = tool.description.slice(0, 1000).replaceAll(examples, ' ').replace(preamble, '');
  const isDenial = /\b(?:not|no|never|without|skips?|except|only)\b|n't\b/iu;
  const said = description
    .split(/(?<=[.;])\s/u)
    .filter((sentence) => !isDenial.test(sentence))
    .join(' ');
  const nameStems = stemsOf(tool.name);
  const words = description.match(/[\p{L}\p{N}]+/gu) ?? [];
  const [first = '', ...stems] = words.map(stemOf);
  const name = nameStems.find((stem) => stem === first || isVerb(stem));
  const lead = isVerb(first) ? first : (name ?? first);
  const begin = stems.findIndex((_, at) => !prepositions.test(words[at + 1] ?? ''));
  const length = stems.slice(begin).findIndex((_, at) => prepositions.test(words[begin + at + 1] ?? ''));
  const objects = stems.slice(Math.max(begin, 0), length < 0 ? begin + 8 : begin + length);
  const more = [...said.matchAll(/: (\p{L}+)/gu)].map(([, verb = '']) => stemOf(verb)).filter(isVerb);
  return {
    tool,
    parameters: readParameters(tool.inputSchema),
    verbs: { name, lead, more },
    isLooking: isLooking(lead) && (name === undefined || isLooking(name)),
    nameStems,
    stems: new Set([...nameStems, ...stemsOf(said)]),
    objects: [...nameStems.filter((stem) => stem !== name), ...objects],
    onlyOne: stemsOf(/\bone (?:exact )?(\p{L}+)/iu.exec(said)?.[1] ?? '')[0],
    worksOnAll: /\b(?:all|every|each|any)\b/iu.test(said),
  };
}

/** The verbs that can ask for one of the tools. */
export function verbsOf(tools: readonly ToolWords[]): ReadonlySet<string> {
  return new Set(tools.flatMap(({ verbs: { name, lead } }) => [lead, name ?? lead]));
}

/** True if the tool uses this word or a synonym. */
export function knows({ stems }: ToolWords, stem: string): boolean {
  return stems.has(stem) || [...stems].some((each) => isAlike(each, stem));
}

/** True if the tool's text argument is a search text. */
export function searches({ verbs: { lead } }: ToolWords): boolean {
  return /^(?:find|grep|search)$/u.test(lead);
}
