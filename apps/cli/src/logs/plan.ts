import { describeThrown } from '@holdfast/core';
import { planSlice, renderPlan } from '@holdfast/planning';
import type { LogRecord } from '@holdfast/session';
import { gutter } from '../calls/foreign-text.ts';
import type { LineStyle } from '../calls/line.ts';
import { toPrintable, wrapBlock } from '../terminal/text.ts';
import { listReducing, replayLog } from './replay.ts';

/** The plan of a session as its log leaves it, with a blank line before it; nothing where there is none. */
export function describePlan(records: readonly LogRecord[], { colors, columns }: LineStyle): readonly string[] {
  // Most sessions have none, and need not be replayed to say so.
  if (!listReducing(records).has(planSlice.id)) return [];
  try {
    const { session, missing } = replayLog(records);
    const plan = missing.some(({ id }) => id === planSlice.id) ? null : session.read(planSlice);
    if (plan === null) return [];
    const lines = renderPlan(plan, { color: colors.isColorSupported }).split('\n');
    return ['', ...lines.flatMap((line) => formatStep(line, columns))];
  } catch (thrown) {
    const problem = `The plan of the session cannot be rebuilt: ${toPrintable(describeThrown(thrown))}`;
    return ['', ...wrapBlock(problem, columns - 1).map(colors.yellow)];
  }
}

/** A step is text of a model: what does not fit into its row stands behind the gutter. */
function formatStep(line: string, columns: number): readonly string[] {
  const [first = '', ...rest] = wrapBlock(line, columns - gutter.length - 1);
  return [first, ...rest.map((row) => `  ${gutter}${row.trimStart()}`)];
}
