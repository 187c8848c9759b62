import type { Json, JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';

/**
 * Ways to write arguments differently with the same meaning. `case`: letter case. `path`: spellings of a path. `unicode`: other forms,
 * look-alike and invisible characters. `space`: more space. `wrapped`: in a list, a number as text. `missing`: left out, or renamed.
 */
export type VariantKind = 'case' | 'path' | 'unicode' | 'space' | 'wrapped' | 'missing';

export const variantKinds: readonly VariantKind[] = ['case', 'path', 'unicode', 'space', 'wrapped', 'missing'];

/** Copies of `input` with one argument, or one text or number in it, in another spelling. */
export function variantsOf(input: JsonObject, kind: VariantKind): readonly JsonObject[] {
  if (kind === 'missing') return Object.keys(input).flatMap((key) => withoutKey(input, key));
  // A variant of an object is an object.
  return rewrite(input, kind) as readonly JsonObject[];
}

function withoutKey(input: JsonObject, key: string): readonly JsonObject[] {
  const { [key]: value = null, ...others } = input;
  const other = key.toUpperCase() === key ? key.toLowerCase() : key.toUpperCase();
  return [others, { ...others, [other]: value }];
}

type Spelling = Exclude<VariantKind, 'missing'>;

function rewrite(value: Json, kind: Spelling): readonly Json[] {
  if (Array.isArray(value)) {
    const items = value as readonly Json[];
    return items.flatMap((item, index) => rewrite(item, kind).map((other) => items.with(index, other)));
  }
  if (isPlainObject(value)) {
    return Object.entries(value).flatMap(([key, inner]) =>
      rewrite(inner as Json, kind).map((other) => ({ ...value, [key]: other }) as JsonObject),
    );
  }
  if (typeof value === 'string') return [...new Set(spellings[kind](value))].filter((other) => other !== value);
  return typeof value === 'number' && kind === 'wrapped' ? [[value], String(value)] : [];
}

const spellings: Readonly<Record<Spelling, (text: string) => readonly Json[]>> = {
  case: (text) => [text.toUpperCase(), text.toLowerCase(), text.slice(0, 1).toUpperCase() + text.slice(1)],
  path: (text) => [
    `./${text}`,
    `/${text}`,
    `//${text}`,
    `x/../${text}`,
    `${text}/.`,
    `${text}/`,
    text.replaceAll('/', '//'),
  ],
  unicode: (text) => [
    text.normalize('NFC'),
    text.normalize('NFD'),
    text.replace(/[!-~]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0)),
    text.replace(/[aceopxy]/g, (letter) => lookAlikes.get(letter) ?? letter),
    `${text.slice(0, 1)}\u200b${text.slice(1)}`,
    `${text}\u00ad`,
  ],
  space: (text) => [` ${text}`, `${text} `, `${text}\n`, `\t${text}`, `${text}\u00a0`, text.replaceAll(' ', '  ')],
  wrapped: (text) => [[text], [[text]]],
};

// Cyrillic.
const lookAlikes: ReadonlyMap<string, string> = new Map([
  ['a', '\u0430'],
  ['c', '\u0441'],
  ['e', '\u0435'],
  ['o', '\u043e'],
  ['p', '\u0440'],
  ['x', '\u0445'],
  ['y', '\u0443'],
]);
