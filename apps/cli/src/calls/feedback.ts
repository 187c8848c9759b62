import { toPrintable } from '../terminal/text.ts';
import { labelText } from './foreign-text.ts';
import type { LineStyle } from './line.ts';

/** Feedback that a run gave the model, beyond user input and tool results. */
export interface ShownFeedback {
  readonly type: 'feedback';
  readonly given: readonly { readonly name: string; readonly text: string }[];
  readonly failed: readonly { readonly name: string; readonly message: string }[];
}

/** Formats feedback; no lines if there was none. */
export function formatFeedback({ given, failed }: ShownFeedback, { colors, columns }: LineStyle): readonly string[] {
  const told = given.flatMap(({ name, text }) => labelText(`  ${toPrintable(name)}: `, text.trim(), columns));
  const missed = failed.flatMap(({ name, message }) =>
    labelText(`  ${toPrintable(name)} failed: `, toPrintable(message), columns),
  );
  return [...told.map(colors.cyan), ...missed.map(colors.red)];
}

/** Formats the work that a completion checker found missing at the end of a run. */
export function formatUnfinished(unfinished: string | undefined, { colors, columns }: LineStyle): readonly string[] {
  if (unfinished === undefined) return [];
  return labelText('Not finished: ', unfinished.trim(), columns).map(colors.yellow);
}
