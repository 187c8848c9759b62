import type { RunResult } from '@holdfast/executor';
import { shortenCallIds } from '../calls/ids.ts';
import { formatArguments, type LineStyle } from '../calls/line.ts';
import type { Host } from '../terminal/host.ts';
import { fitColumns, toPrintable } from '../terminal/text.ts';
import { toCommand } from '../terminal/words.ts';

export interface SessionPlace {
  readonly session: string;
  readonly workspace: string;
}

const maxShown = 5;

/** The pending calls of a suspended run, and the next commands. */
export function describeNextSteps(
  { pending }: Pick<RunResult, 'pending'>,
  { session, workspace }: SessionPlace,
  { style, host }: { readonly style: LineStyle; readonly host: Host },
): readonly string[] {
  const [first] = pending;
  if (first === undefined) return [];
  const { colors, columns } = style;
  const command = (...words: readonly [string, ...string[]]): string => toCommand({ words, workspace }, host);
  const ids = shortenCallIds(pending.map(({ callId }) => callId));
  const idOf = (callId: string): string => ids.get(callId) ?? callId;
  const shown = pending.slice(0, maxShown).map(({ callId, name, input }) => {
    // The mark keeps an id chosen by a model from passing for the state of a call.
    const line = `  ? ${toPrintable(idOf(callId))}  ${toPrintable(name)}  ${formatArguments(input)}`;
    return fitColumns(line, Math.min(columns, 160) - 1);
  });
  const more = pending.length - shown.length;
  return [
    '',
    colors.bold('Pending calls:'),
    ...shown,
    ...(more > 0 ? [`  … and ${more} more`] : []),
    colors.bold('To continue:'),
    `  ${command('pending', session)}`,
    `  ${command('approve', session, idOf(first.callId))}`,
    `  ${command('deny', session, idOf(first.callId))}`,
    `  ${command('resume', session)}`,
  ];
}
