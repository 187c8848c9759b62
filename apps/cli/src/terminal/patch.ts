import { createTwoFilesPatch, OMIT_HEADERS } from 'diff';
import type { Colors } from './colors.ts';
import { toPrintable, toPrintableBlock } from './text.ts';

/** Two texts and what to call them. */
export interface TextPair {
  readonly from: string;
  readonly to: string;
  readonly names: readonly [from: string, to: string];
}

/** Unified lines from one text to the other. Characters that a terminal would obey or a reader not see are escapes. */
export function toTextPatch({ from, to, names: [fromName, toName] }: TextPair): string {
  return `--- ${toPrintable(fromName)}\n+++ ${toPrintable(toName)}\n${toPrintableBlock(compareTexts(from, to))}`;
}

/** The lines of a unified diff, with the characters as they are. */
export function compareTexts(from: string, to: string): string {
  const lines = createTwoFilesPatch('', '', from, to, undefined, undefined, {
    context: 3,
    maxEditLength: 2_000,
    headerOptions: OMIT_HEADERS,
  });
  return lines ?? replaceAll(from, to);
}

/** What differs in more places than it is worth looking for. */
function replaceAll(from: string, to: string): string {
  const mark = (text: string, sign: string): string =>
    text === '' ? '' : `${sign}${text.replace(/\n$/, '').replaceAll('\n', `\n${sign}`)}\n`;
  return `${mark(from, '-')}${mark(to, '+')}`;
}

/** The lines of a patch in the colours of one. */
export function paintPatch(patch: string, colors: Colors): readonly string[] {
  return patch
    .replace(/\n$/, '')
    .split('\n')
    .map((line, index) => (index < 2 ? colors.bold(line) : choosePaint(line, colors)(line)));
}

/** How a line of a patch is painted. */
export function choosePaint(line: string, colors: Colors): (text: string) => string {
  if (line.startsWith('@@')) return colors.cyan;
  if (line.startsWith('-')) return colors.red;
  return line.startsWith('+') ? colors.green : (text) => text;
}
