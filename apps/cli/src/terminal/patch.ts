import { createTwoFilesPatch, OMIT_HEADERS } from 'diff';
import type { Colors } from './colors.ts';
import { toPrintable, toPrintableBlock } from './text.ts';

/** Two texts and their names. */
export interface TextPair {
  readonly from: string;
  readonly to: string;
  readonly names: readonly [from: string, to: string];
}

/** A unified diff of two texts, with control and invisible characters escaped. */
export function toTextPatch({ from, to, names: [fromName, toName] }: TextPair): string {
  return `--- ${toPrintable(fromName)}\n+++ ${toPrintable(toName)}\n${toPrintableBlock(compareTexts(from, to))}`;
}

/** The lines of a unified diff, with characters unchanged. */
export function compareTexts(from: string, to: string): string {
  const lines = createTwoFilesPatch('', '', from, to, undefined, undefined, {
    context: 3,
    maxEditLength: 2_000,
    headerOptions: OMIT_HEADERS,
  });
  return lines ?? replaceAll(from, to);
}

/** A full replacement, for texts with too many differences. */
function replaceAll(from: string, to: string): string {
  const mark = (text: string, sign: string): string =>
    text === '' ? '' : `${sign}${text.replace(/\n$/, '').replaceAll('\n', `\n${sign}`)}\n`;
  return `${mark(from, '-')}${mark(to, '+')}`;
}

/** The lines of a patch, colored. */
export function paintPatch(patch: string, colors: Colors): readonly string[] {
  return patch
    .replace(/\n$/, '')
    .split('\n')
    .map((line, index) => (index < 2 ? colors.bold(line) : choosePaint(line, colors)(line)));
}

/** The color of a line in a patch. */
export function choosePaint(line: string, colors: Colors): (text: string) => string {
  if (line.startsWith('@@')) return colors.cyan;
  if (line.startsWith('-')) return colors.red;
  return line.startsWith('+') ? colors.green : (text) => text;
}
