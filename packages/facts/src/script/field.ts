import type { Place } from '@holdfast/core';

/** A word of a command after all expansions, as far as it is known before the command runs. */
export interface Field {
  /** All of it when it is `known`, otherwise what it begins with. */
  readonly text: string;
  readonly known: boolean;
  /** Of one that is not known: it may become several words, or none. */
  readonly splits: boolean;
  /** Of one that is not known: how it ends. */
  readonly ends?: string;
  /** A pattern stands for it, so that there may be others before it when the command runs. */
  readonly matched?: true;
  /** One that is not known is the name of a file in there. */
  readonly tree?: Place;
}

export function known(text: string): Field {
  return { text, known: true, splits: false };
}

/** One word of which nothing is known. */
export const unknownWord: Field = { text: '', known: false, splits: false };

/** Any number of words. */
export const unknownWords: Field = { text: '', known: false, splits: true };

/** Whether a word may be an option, or a word that begins an option. */
export function mayBeOption({ text, known: isKnown, splits, tree }: Field): boolean {
  if (tree !== undefined) return false;
  return text.startsWith('-') || (!isKnown && (text === '' || splits));
}

/** What stands for one of many words. */
export function joinFields(values: readonly Field[]): Field {
  const trees = new Set(values.map(({ tree }) => tree));
  const [first] = values;
  return trees.size === 1 && first?.tree !== undefined ? first : unknownWord;
}

/** For a person or a model: one line, not too long, no backtick that would end the quote. */
export function show(text: string): string {
  const line = text
    .slice(0, 200)
    .toWellFormed()
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .replaceAll('`', "'");
  return line.length > 60 ? `${line.slice(0, 60).toWellFormed()}…` : line;
}
