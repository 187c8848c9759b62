import type { OverrideReport } from '@holdfast/prompt';
import type { AppliedOverride } from '@holdfast/prompt/internal';
import type { Colors } from '../terminal/colors.ts';
import { paintPatch, toTextPatch } from '../terminal/patch.ts';
import { toPrintable, wrapBlock } from '../terminal/text.ts';

/** One override and its state. */
export interface OverrideState extends AppliedOverride {
  readonly state: 'applied' | 'stale' | 'unknown' | 'invalid';
  /** Why it was left out. */
  readonly why?: string;
}

export interface OverrideStyle {
  readonly colors: Colors;
  /** The line width. */
  readonly columns: number;
  readonly title: string;
}

/** All overrides of a report, those in force first. */
export function listStates({ applied, stale, unknown, invalid }: OverrideReport): readonly OverrideState[] {
  return [
    ...applied.map((override) => ({ ...override, state: 'applied' as const })),
    ...stale.map((override) => ({ ...override, state: 'stale' as const })),
    ...unknown.map((override) => ({ ...override, state: 'unknown' as const })),
    ...invalid.map((override) => ({ ...override, state: 'invalid' as const })),
  ];
}

/** A line for each override that was edited or left out, and the counts. */
export function formatStates(states: readonly OverrideState[], { colors, columns, title }: OverrideStyle): string {
  const lines = [colors.bold(toPrintable(title)), ''];
  for (const override of states.filter(isWorthTelling)) {
    const { state, edited, why, hash } = override;
    lines.push(`${paintState(override, colors)} ${describePlace(override)}`);
    if (why === undefined) continue;
    const pin = state === 'stale' && edited ? ` To keep the override, pin it to ${hash ?? 'null'}.` : '';
    lines.push(...wrapBlock(`${indentation}${toPrintable(`${why}.${pin}`)}`, columns - 1).map(colors.dim));
  }
  if (lines.length > 2) lines.push('');
  lines.push(countStates(states));
  return `${lines.join('\n')}\n`;
}

/** The changes of each override, as unified diffs. */
export function formatDifferences(states: readonly OverrideState[], { colors, title }: OverrideStyle): string {
  if (states.length === 0) return `${colors.bold(toPrintable(title))}\n\nNothing differs from the prompt.\n`;
  const blocks = states.map((override) => {
    const { why } = override;
    const head = `${paintState(override, colors)} ${describePlace(override)}`;
    const patch = toPatch(override);
    return [
      ...[why === undefined ? head : `${head}: ${toPrintable(why)}`],
      ...(patch === undefined ? [] : paintPatch(patch, colors)),
    ].join('\n');
  });
  return `${[colors.bold(toPrintable(title)), ...blocks].join('\n\n')}\n`;
}

/**
 * A unified diff from the prompt's text to the override; for an unedited override, from the seeded text to the prompt's current text.
 * Control characters are escaped. `undefined` if there is nothing to compare.
 */
export function toPatch(override: OverrideState): string | undefined {
  const { state, edited, current, override: own } = override;
  if (state === 'unknown' || (current === null && own === null)) return undefined;
  const [said, says] = [toText(current), toText(own)];
  const place = describePlace(override);
  const [from, to, fromName, toName] = edited
    ? [said, says, `${place} (prompt)`, `${place} (override)`]
    : [says, said, `${place} (seeded)`, `${place} (prompt)`];
  return toTextPatch({ from, to, names: [fromName, toName] });
}

const indentation = ' '.repeat('applied '.length);

function isWorthTelling({ state, edited }: OverrideState): boolean {
  return edited || state !== 'applied';
}

function paintState({ state, edited }: OverrideState, colors: Colors): string {
  const paint = { applied: colors.green, stale: colors.yellow, unknown: colors.yellow, invalid: colors.red }[state];
  const word = state.padEnd(indentation.length - 1);
  return edited ? paint(word) : colors.dim(word);
}

function describePlace({ section, tool, part }: OverrideState): string {
  if (section !== undefined) return toPrintable(`section ${section}, ${part}`);
  return toPrintable(tool === undefined ? part : `tool ${tool}, ${part}`);
}

function countStates(states: readonly OverrideState[]): string {
  const count = (wanted: OverrideState['state']): number =>
    states.filter(({ state, edited }) => state === wanted && edited).length;
  const seeded = states.filter(({ edited }) => !edited).length;
  return `${count('applied')} applied, ${count('stale')} stale, ${count('unknown')} unknown, ${count('invalid')} invalid; ${seeded} not edited since seeding`;
}

function toText(json: AppliedOverride['current']): string {
  if (json === null) return '';
  return `${typeof json === 'string' ? json : JSON.stringify(json, undefined, 2)}\n`;
}
