import type { LineStyle } from './call-line.ts';
import { toPrintable, toPrintableBlock, wrapBlock } from './terminal-text.ts';

/** What the model was told during a run by others than the user and its tools. */
export interface ShownFeedback {
  readonly type: 'feedback';
  readonly given: readonly { readonly name: string; readonly text: string }[];
  readonly failed: readonly { readonly name: string; readonly message: string }[];
}

/** The lines of it; none where nothing was told. */
export function formatFeedback({ given, failed }: ShownFeedback, { colors, columns }: LineStyle): readonly string[] {
  const told = given.flatMap(({ name, text }) =>
    wrapBlock(`  ${toPrintable(name)}: ${toPrintableBlock(text.trim()).replaceAll('\n', '\n    ')}`, columns - 1),
  );
  const missed = failed.flatMap(({ name, message }) =>
    wrapBlock(`  ${toPrintable(name)} could not say anything: ${toPrintable(message)}`, columns - 1),
  );
  return [...told.map(colors.cyan), ...missed.map(colors.red)];
}

/** What a completion checker still missed at the end of a run. */
export function formatUnfinished(unfinished: string | undefined, { colors, columns }: LineStyle): readonly string[] {
  if (unfinished === undefined) return [];
  return wrapBlock(`Not finished: ${toPrintableBlock(unfinished.trim())}`, columns - 1).map(colors.yellow);
}
