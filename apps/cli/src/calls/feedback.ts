import { toPrintable } from '../terminal/text.ts';
import { labelText } from './foreign-text.ts';
import type { LineStyle } from './line.ts';

/** What the model was told during a run by others than the user and its tools. */
export interface ShownFeedback {
  readonly type: 'feedback';
  readonly given: readonly { readonly name: string; readonly text: string }[];
  readonly failed: readonly { readonly name: string; readonly message: string }[];
}

/** The lines of it; none where nothing was told. */
export function formatFeedback({ given, failed }: ShownFeedback, { colors, columns }: LineStyle): readonly string[] {
  const told = given.flatMap(({ name, text }) => labelText(`  ${toPrintable(name)}: `, text.trim(), columns));
  const missed = failed.flatMap(({ name, message }) =>
    labelText(`  ${toPrintable(name)} could not say anything: `, toPrintable(message), columns),
  );
  return [...told.map(colors.cyan), ...missed.map(colors.red)];
}

/** What a completion checker still missed at the end of a run. */
export function formatUnfinished(unfinished: string | undefined, { colors, columns }: LineStyle): readonly string[] {
  if (unfinished === undefined) return [];
  return labelText('Not finished: ', unfinished.trim(), columns).map(colors.yellow);
}
