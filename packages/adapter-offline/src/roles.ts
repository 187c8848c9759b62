import type { Parameter } from './parameters.ts';
import type { ValueKind } from './values.ts';
import { stemOf } from './words.ts';

/** What a text argument is for, as its name and description tell. */
export type Role =
  | 'path'
  | 'glob'
  | 'url'
  | 'email'
  | 'date'
  | 'person'
  | 'place'
  | 'content'
  | 'text'
  | 'id'
  | 'ending'
  | 'neutral';

const wordsByRole: readonly (readonly [Role, string])[] = [
  ['glob', 'glob wildcard'],
  ['email', 'email mail mailbox recipient cc bcc'],
  ['url', 'url uri link website webpage site href'],
  ['path', 'path file filename filepath folder directory dir document script attachment'],
  ['date', 'date day when since until expiry birthday deadline due start end time'],
  ['content', 'content contents body message'],
  [
    'text',
    'query text term phrase keyword question title subject comment note caption headline topic reason prompt sentence search q pattern regex expression description summary',
  ],
  ['person', 'person author owner user assignee contact artist member sender pilot name'],
  ['place', 'city place location country region town village state destination origin'],
  ['id', 'id identifier code key serial ref reference order voucher case number barcode isin symbol ticker'],
];
const roleByStem = new Map(
  wordsByRole.flatMap(([role, words]) => words.split(' ').map((word) => [stemOf(word), role] as const)),
);

/** What an argument is for. The format decides, then the name's last word, its other words, and last the description. */
export function roleOf(
  { path, format, nameStems, description, descriptionStems }: Parameter,
  toolStems: ReadonlySet<string>,
): Role {
  switch (format) {
    case 'email':
      return 'email';
    case 'uri':
    case 'url':
      return 'url';
    case 'date':
    case 'date-time':
      return 'date';
    default:
  }
  if (/(?:ending|extension|suffix)$/iu.test(path.at(-1) ?? '')) return 'ending';
  for (const stem of nameStems.toReversed()) {
    const role = roleByStem.get(stem);
    if (role === undefined) continue;
    const words = new Set([...toolStems, ...descriptionStems]);
    if (
      stem === stemOf('pattern') &&
      (words.has(stemOf('glob')) || words.has(stemOf('wildcard')) || /\*/u.test(description))
    )
      return 'glob';
    return role;
  }
  for (const stem of descriptionStems.slice(0, 12)) {
    const role = roleByStem.get(stem);
    if (role !== undefined && role !== 'id' && role !== 'date') return role;
  }
  return 'neutral';
}

type Affinities = Readonly<Partial<Record<ValueKind, number>>>;

const affinities: Readonly<Record<Role, Affinities>> = {
  path: { path: 6, quoted: 3, bare: 3, code: 2, phrase: 0.6, url: 1 },
  glob: { glob: 6, quoted: 3, path: 2, code: 1, bare: 0.5, phrase: 0.3 },
  ending: { glob: 6, quoted: 2 },
  url: { url: 6, quoted: 2, path: 1 },
  email: { email: 6, capital: 2, bare: 1, quoted: 1, phrase: 0.5 },
  date: { date: 6, day: 4, time: 3, quoted: 2, number: 1 },
  person: { capital: 4, quoted: 2.5, email: 2.5, code: 1, bare: 1, phrase: 0.8, number: 0.1 },
  place: { capital: 4, quoted: 2.5, bare: 1.5, phrase: 1, url: 0.5 },
  content: { quoted: 5, phrase: 1, bare: 0.8, capital: 0.6, code: 0.5, url: 0.4 },
  text: {
    quoted: 5,
    formula: 5,
    day: 0.6,
    code: 2.5,
    capital: 2,
    phrase: 1.5,
    bare: 1.5,
    path: 0.4,
    url: 0.4,
    glob: 0.4,
    number: 0.2,
  },
  id: { code: 5, number: 2.5, quoted: 2, capital: 1.5, bare: 1, phrase: 0.6 },
  neutral: {
    formula: 3,
    quoted: 3,
    code: 2.5,
    capital: 2.5,
    email: 2,
    url: 2,
    path: 1.5,
    date: 1.5,
    day: 1,
    glob: 1,
    bare: 1,
    phrase: 0.8,
    time: 1,
    number: 0.4,
  },
};

/** How well a value's looks suit an argument's role; 0 when they do not. */
export function affinity(role: Role, kind: ValueKind): number {
  return affinities[role][kind] ?? 0;
}

const rolesByPreposition: Readonly<Record<string, readonly Role[]>> = {
  to: ['email', 'person', 'path', 'place'],
  from: ['path', 'place', 'person', 'url'],
  in: ['place', 'path', 'glob'],
  at: ['place', 'url', 'date'],
  near: ['place'],
  inside: ['path'],
  under: ['path'],
  within: ['path'],
  into: ['path'],
  on: ['date'],
  since: ['date'],
  until: ['date'],
  by: ['person', 'date'],
  for: ['text', 'person', 'place', 'id', 'date'],
  about: ['text'],
  regarding: ['text'],
  of: ['place', 'path', 'id', 'person', 'text'],
  called: ['person', 'id'],
  named: ['person', 'id'],
  titled: ['text'],
  saying: ['content', 'text'],
  says: ['content', 'text'],
  containing: ['text', 'content'],
  mentioning: ['text'],
  matching: ['glob', 'text'],
  with: ['text'],
  that: ['content'],
  using: ['path'],
};

// Names that a preposition points at whatever their role is.
const namesByPreposition: Readonly<Record<string, string>> = {
  to: 'to target destination dest recipient output new replacement into end',
  from: 'from source sender origin old start',
  with: 'new replacement with',
  by: 'by author artist new',
  called: 'name title label',
  named: 'name title label',
  titled: 'title name subject headline',
  about: 'subject topic query title',
  saying: 'text content body message',
  that: 'text content body message',
  containing: 'query text content pattern search term',
  into: 'to target destination output language',
  since: 'since from start',
  until: 'until to end',
};
const stemsByPreposition = new Map(
  Object.entries(namesByPreposition).map(([preposition, names]) => [
    preposition,
    new Set(names.split(' ').map(stemOf)),
  ]),
);

/** Whether `word` is one after which a value stands. */
export function isPreposition(word: string): boolean {
  return Object.hasOwn(rolesByPreposition, word);
}

/** How much the word before a value speaks for an argument. */
export function prepositionBonus(preposition: string, role: Role, nameStems: readonly string[]): number {
  if (!isPreposition(preposition)) return 0;
  const named = nameStems.some((stem) => stemsByPreposition.get(preposition)?.has(stem) === true);
  const fits = rolesByPreposition[preposition]?.includes(role) === true;
  return (named ? 4 : 0) + (fits ? (/^(?:in)?to$/u.test(preposition) ? 3 : 2) : 0);
}
