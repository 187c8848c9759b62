import type { Place } from '@holdfast/core';

/** A word of a command after expansion, as far as it is known in advance. */
export interface Field {
  /** The whole text if `known`, otherwise its start. */
  readonly text: string;
  readonly known: boolean;
  /** An unknown word may become several words, or none. */
  readonly splits: boolean;
  /** The end of an unknown word. */
  readonly ends?: string;
  /** A pattern produced it, so other words may precede it at run time. */
  readonly matched?: true;
  /** The folder of the file that an unknown word names. */
  readonly tree?: Place;
}

export function known(text: string): Field {
  return { text, known: true, splits: false };
}

/** One unknown word. */
export const unknownWord: Field = { text: '', known: false, splits: false };

/** Any number of unknown words. */
export const unknownWords: Field = { text: '', known: false, splits: true };

/** True if a word may be an option or begin one. */
export function mayBeOption({ text, known: isKnown, splits, tree }: Field): boolean {
  if (tree !== undefined) return false;
  return text.startsWith('-') || (!isKnown && (text === '' || splits));
}

/** The common part of many words. */
export function joinFields(values: readonly Field[]): Field {
  const trees = new Set(values.map(({ tree }) => tree));
  const [first] = values;
  return trees.size === 1 && first?.tree !== undefined ? first : unknownWord;
}

/** Shortens text for a person or a model: one line without backticks. */
export function show(text: string): string {
  const line = text
    .slice(0, 200)
    .toWellFormed()
    .replace(/[\p{C}\p{Z}]+/gu, ' ')
    .replaceAll('`', "'");
  return line.length > 60 ? `${line.slice(0, 60).toWellFormed()}…` : line;
}
