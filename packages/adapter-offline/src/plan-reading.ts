import { isAction } from './concepts.ts';
import type { Clause } from './reading.ts';
import { readRequest } from './request.ts';
import type { Toolbox } from './toolbox.ts';
import { describeUnread } from './unread.ts';
import { findValues } from './values.ts';
import { splitName, stemOf } from './words.ts';

/** What a request says of how a step is to be done, beside what is to be done. */
export interface Manner {
  readonly onFail: OnFail;
  /** How often it is tried again. */
  readonly retry: number;
}

export type OnFail = 'halt' | 'continue' | 'skip_dependents';

/** A clause of the request, with its place among the others. */
export interface OrderedClause {
  readonly clause: Clause;
  /** `then`: after all that came before. `and`: beside the one before, and after what that one waits for. `new`: on its own. */
  readonly order: 'then' | 'and' | 'new';
  readonly manner: Manner;
}

export type RequestReading =
  | { readonly type: 'read'; readonly clauses: readonly OrderedClause[] }
  /** `why` is a sentence. */
  | { readonly type: 'unreadable'; readonly why: string };

/** Reads a request into clauses, or says what of it no plan can express: conditions, choices, repetition. */
export function readPlanRequest(request: string, toolbox: Toolbox): RequestReading {
  const [unread] = describeUnread(request);
  if (unread !== undefined) return { type: 'unreadable', why: unread };
  const ordered = inOrder(cutQuestions(request.replace(/\bget rid of\b/giu, 'delete')), toolbox);
  const { text, manners } = readManners(ordered);
  const open = findOpen(text);
  if (open !== undefined) return { type: 'unreadable', why: open };
  // A tool may be called like what it does, whatever word that is: "average them".
  const names = toolbox.profiles.flatMap(({ tool }) => splitName(tool.name).slice(0, 1).map(stemOf));
  const clauses = readRequest(text, { ...toolbox, actionStems: new Set([...toolbox.actionStems, ...names]) }, isStep);
  return {
    type: 'read',
    clauses: clauses.map((clause, index) => {
      const [start, end] = placeOf(clause);
      const before = clauses[index - 1];
      const gap = before === undefined ? '.' : text.slice(placeOf(before)[1], start);
      const next = clauses[index + 1];
      const until = next === undefined ? text.length : placeOf(next)[0];
      const mine = manners.filter(({ at, scope }) => scope === 'all' || (at >= start && at < Math.max(until, end)));
      return {
        clause,
        order:
          index > 0 && /\b(?:then|after|afterwards|finally)\b/iu.test(gap)
            ? 'then'
            : /[.!?;\n]/u.test(gap)
              ? 'new'
              : 'and',
        manner: {
          onFail: mine.find(({ onFail }) => onFail !== undefined)?.onFail ?? 'halt',
          retry: mine.find(({ retry }) => retry !== undefined)?.retry ?? 0,
        },
      };
    }),
  };
}

/** What begins with something to do, and says what to. */
function isStep({ verb, items }: Clause): boolean {
  if (verb === undefined || verb.index < 0 || !isAction(verb.stem) || /^(?:set|use|make)$/u.test(verb.stem))
    return false;
  const next = items[verb.index + 1];
  return next?.type === 'word' && /^(?:the|it|them|its|their|both|all|each)$/u.test(next.lower);
}

function placeOf({ items }: Clause): readonly [start: number, end: number] {
  return [items[0]?.start ?? 0, items.at(-1)?.end ?? 0];
}

/** The text with its quoted texts, addresses and paths blotted out: words in them are no words of the request. */
function maskValues(text: string): string {
  let masked = '';
  let at = 0;
  for (const { kind, start, end } of findValues(text)) {
    if (!/^(?:quoted|url|email|path|glob|code|formula)$/u.test(kind)) continue;
    masked += text.slice(at, start) + '¤'.repeat(end - start);
    at = end;
  }
  return masked + text.slice(at);
}

/** "Read a, and what is in b" asks for two things. */
function cutQuestions(request: string): string {
  const masked = maskValues(request);
  let text = '';
  let at = 0;
  for (const match of masked.matchAll(/,?\s+and(?=\s+(?:what|which|how many)\b)/giu)) {
    text += `${request.slice(at, match.index)}.`;
    at = match.index + match[0].length;
  }
  return text + request.slice(at);
}

/** "After reading a, delete b" and "delete b after reading a" both become "reading a, then delete b"; "before" the other way round. */
function inOrder(request: string, toolbox: Toolbox): string {
  const masked = maskValues(request);
  let text = '';
  // A full stop that ends no sentence stands inside a value, and is masked.
  for (const match of masked.matchAll(/[^.!?;\n]*(?:[.!?;\n]+|$)/gu)) {
    const sentence = request.slice(match.index, match.index + match[0].length);
    text += orderSentence(sentence, match[0], toolbox);
  }
  return text;
}

function orderSentence(sentence: string, masked: string, { actionStems }: Toolbox): string {
  const found = /\b(after|before)\s+(?:you have |having )?(\p{L}+(?:ing|ed))\b/iu.exec(masked);
  const stem = stemOf(found?.[2] ?? '');
  if (found === null || !(isAction(stem) || actionStems.has(stem))) return sentence;
  const word = found[1]?.toLowerCase();
  const from = found.index + found[0].length - (found[2]?.length ?? 0);
  const tail = /[.!?;\n\s]*$/u.exec(masked)?.[0].length ?? 0;
  const end = sentence.length - tail;
  const head = masked.slice(0, found.index);
  const close = sentence.slice(end);
  if (/^[\s,]*(?:(?:please|and|then)[\s,]*)*$/iu.test(head)) {
    const comma = masked.indexOf(',', from);
    if (comma < 0) return sentence;
    const inner = sentence.slice(from, comma);
    const outer = sentence.slice(comma + 1, end).trim();
    const told = word === 'after' ? `${inner}, then ${outer}` : `${named(outer, inner)}, then ${inner}`;
    return `${sentence.slice(0, found.index)}${told}${close}`;
  }
  // What no longer begins the sentence would look like a name.
  const outer = sentence
    .slice(0, found.index)
    .replace(/[\s,]+$/u, '')
    .replace(/^\s*\p{Lu}(?=\p{Ll})/u, (first) => first.toLowerCase());
  const inner = sentence.slice(from, end);
  return `${word === 'after' ? ` ${named(inner, outer)}, then ${outer.trim()}` : `${outer}, then ${inner}`}${close}`;
}

/** "Delete a.txt after reading it": what comes first says by its name what the other part has named. */
function named(text: string, other: string): string {
  const [only, second] = findValues(other).filter(({ kind }) => /^(?:path|url|email|code)$/u.test(kind));
  if (only === undefined || second !== undefined) return text;
  const pronoun = /\bit\b/iu.exec(maskValues(text));
  if (pronoun === null) return text;
  return `${text.slice(0, pronoun.index)}${other.slice(only.start, only.end)}${text.slice(pronoun.index + 2)}`;
}

interface FoundManner {
  readonly at: number;
  /** Of the clause that it stands in, or of all. */
  readonly scope: 'clause' | 'all';
  readonly onFail?: OnFail;
  readonly retry?: number;
}

const one = '(?:it|that|this)';
const any =
  '(?:any(?:thing)?|something|one|either|some|they|a step|one step|any step|any|one of (?:them|these|the steps))';
const fails = "(?:fails?|is down|does(?: not|n['’]t) work|goes wrong|errors?)";
const going =
  "(?:(?:just |please )?(?:continue|go on|carry on|keep going|proceed|move on|ignore (?:it|that)|(?:do not|don['’]t) (?:stop|halt))(?: (?:anyway|with the rest|all the same))?)";
const skipping =
  '(?:(?:just |please )?skip (?:what|whatever|everything that|all that) (?:needs|depends on|uses) (?:it|that))';
const stopping = '(?:(?:just |please )?(?:stop|halt|abort)(?: everything| there| at once)?)';

/** The phrases about failing, and about trying again. What they stand on is left out of what the clauses are read from. */
function readManners(source: string): { readonly text: string; readonly manners: readonly FoundManner[] } {
  let text = source;
  const manners: FoundManner[] = [];
  for (const { pattern, manner } of phrases) {
    const masked = maskValues(text);
    for (const match of masked.matchAll(pattern)) {
      manners.push({ at: match.index, ...manner(match) });
      const blank = match[0].replace(/[^.;!?\n]/gu, ' ');
      text = text.slice(0, match.index) + blank + text.slice(match.index + match[0].length);
    }
  }
  return { text, manners };
}

interface Phrase {
  readonly pattern: RegExp;
  manner(match: RegExpExecArray): Omit<FoundManner, 'at'>;
}

const times = new Map([
  ['once', 1],
  ['twice', 2],
]);

const phrases: readonly Phrase[] = [
  ...(
    [
      [going, 'continue'],
      [skipping, 'skip_dependents'],
      [stopping, 'halt'],
    ] as const
  ).flatMap(([doing, onFail]): readonly Phrase[] =>
    (
      [
        [one, 'clause'],
        [any, 'all'],
      ] as const
    ).flatMap(([what, scope]) => [
      {
        pattern: new RegExp(
          `[\\s,(]{0,3}(?:\\band |\\bbut )?\\b(?:even )?(?:if|when|should) ${what} ${fails}[\\s,]*${doing}\\b\\)?`,
          'giu',
        ),
        manner: () => ({ scope, onFail }),
      },
      {
        pattern: new RegExp(
          `[\\s,(]{0,3}(?:\\band |\\bbut )?\\b${doing} (?:even )?(?:if|when|should) ${what} ${fails}\\b\\)?`,
          'giu',
        ),
        manner: () => ({ scope, onFail }),
      },
    ]),
  ),
  {
    pattern: new RegExp(`[\\s,(]{0,3}(?:\\bbut )?\\beven (?:if|when) ${one} ${fails}\\b\\)?`, 'giu'),
    manner: () => ({ scope: 'clause', onFail: 'continue' }),
  },
  {
    pattern: new RegExp(
      `[\\s,(]{0,3}(?:\\bbut )?\\beven (?:if|when) ${any} ${fails}\\b\\)?|[\\s,(]{0,3}(?:\\band )?\\bignor(?:e|ing) (?:all |any )?(?:errors|failures)\\b\\)?`,
      'giu',
    ),
    manner: () => ({ scope: 'all', onFail: 'continue' }),
  },
  {
    pattern:
      /[\s,(]{0,3}(?:\band |\bbut )?\b(?:retry(?:ing)?|try(?:ing)?)(?: (?:it|that|this))?(?: again)?(?: up to| at most)? (once|twice|(\d|10) times)(?: (?:if|when) (?:it|that|this) fails)?\b\)?/giu,
    manner: (match) => ({ scope: 'clause', retry: times.get((match[1] ?? '').toLowerCase()) ?? Number(match[2]) }),
  },
];

/** What leaves open whether, which or how often: a plan says what is done before anything is known. */
function findOpen(text: string): string | undefined {
  const masked = maskValues(text);
  for (const [pattern, why] of openWords) {
    const found = pattern.exec(masked);
    if (found === null) continue;
    const words = text.slice(found.index, found.index + found[0].length).trim();
    return `"${words.slice(0, 60)}" ${why}`;
  }
  return undefined;
}

const openWords: readonly (readonly [RegExp, string])[] = [
  [
    /\b(?:if(?! (?:possible|you (?:can|please|like|want)))|unless|until|whenever|otherwise|in case|depending on|as soon as|when(?=\s+(?:the|it|there|they|somebody|someone|a|an)\b)|while(?=\s+(?:the|it|there|they)\b))\b/iu,
    'makes a step depend on what only turns out when it runs, and a plan has no conditions.',
  ],
  [
    /\b(?:(?:every|each) (?:minute|hour|day|night|week|month|year|morning|evening|(?:mon|tues|wednes|thurs|fri|satur|sun)day|time)|hourly|daily|weekly|repeatedly|over and over|again and again|forever)\b/iu,
    'asks for something again and again, and a plan does each step once.',
  ],
  [/(?:\beither\b|¤+\s*,?\s*\bor\b\s*(?:the )?¤+)/iu, 'leaves a choice open: say which one.'],
];
