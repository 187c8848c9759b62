import type { Json } from '@holdfast/core';
import type { LockComparison } from '@holdfast/loader';
import type { ComparedTool, LockChange } from '@holdfast/loader/internal';
import type { Colors } from '../terminal/colors.ts';
import { paintPatch, toTextPatch } from '../terminal/patch.ts';
import { measureColumns, toPrintable } from '../terminal/text.ts';

/** A change; `patch` has the lines for a file and is `null` otherwise. */
export interface ShownChange extends LockChange {
  readonly patch: string | null;
}

/** A line for each tool that differs from the lock, with its changes. */
export function formatComparison(tools: readonly ComparedTool[], colors: Colors): readonly string[] {
  const differing = tools.filter(({ state }) => state !== 'same');
  const width = Math.max(0, ...differing.map(({ name }) => measureColumns(name)));
  return differing.map(({ name, file, state, changes }) => {
    const what = state === 'changed' ? `: ${changes.map(describeChange).join(', ')}` : '';
    return `${paintState(state, colors)}  ${colors.bold(name.padEnd(width))}  ${toPrintable(file)}${toPrintable(what)}`;
  });
}

/** `4 tools: 2 as locked, 1 new, 1 changed`; `same`: the words for unchanged ones; `what`: the noun. */
export function countStates(
  compared: readonly Pick<ComparedTool, 'state'>[],
  same: 'as locked' | 'as before',
  what: 'tool' | 'named tool' | 'plugin or pack' | 'named plugin or pack' | 'named server',
): string {
  const counts = (['new', 'changed', 'gone', 'refused'] as const).flatMap((state) => {
    const count = compared.filter((one) => one.state === state).length;
    return count === 0 ? [] : [`${count} ${state}`];
  });
  const kept = compared.filter(({ state }) => state === 'same').length;
  const { length } = compared;
  const named =
    length === 1
      ? `1 ${what}`
      : `${length} ${what.replace('plugin or pack', 'plugins and packs').replace(/(tool|server)$/, '$1s')}`;
  return `${named}: ${[`${kept} ${same}`, ...counts].join(', ')}`;
}

/** The changes in one tool, with the lines of its files. */
export async function showChanges(
  { name, file, changes }: ComparedTool,
  comparison: Pick<LockComparison, 'texts'>,
): Promise<readonly ShownChange[]> {
  return await Promise.all(
    changes.map(async (change) => {
      if (change.part !== 'file') return { ...change, patch: null };
      const { before, after } = await comparison.texts(name, change.name);
      const isForgotten = change.before !== null && before === undefined;
      const names: readonly [string, string] = [
        `${change.name} (${change.before === null ? 'does not exist' : isForgotten ? 'locked; text not available' : 'locked'})`,
        `${change.name} (${change.after === null ? `no longer imported by ${file}` : 'now'})`,
      ];
      return { ...change, patch: toTextPatch({ from: toLines(before), to: toLines(after), names }) };
    }),
  );
}

/** Formats `showChanges` for a terminal. */
export function formatChanges(
  { name, file, state }: ComparedTool,
  changes: readonly ShownChange[],
  colors: Colors,
): readonly string[] {
  return [
    `${paintState(state, colors)}  ${colors.bold(name)}  ${toPrintable(file)}`,
    ...changes.flatMap((change) =>
      change.patch === null
        ? [toPrintable(`  ${describeChange(change)}`) + showValues(change)]
        : ['', ...paintPatch(change.patch, colors)],
    ),
    '',
  ];
}

export function paintState(state: ComparedTool['state'], colors: Colors): string {
  const paint = {
    same: colors.green,
    new: colors.green,
    changed: colors.yellow,
    gone: colors.yellow,
    refused: colors.red,
  };
  return paint[state](state.padEnd('refused'.length));
}

function describeChange({ part, name, before, after }: LockChange): string {
  const fate = before === null ? ' (new)' : after === null ? ' (gone)' : '';
  switch (part) {
    case 'entry':
      return 'different file';
    case 'file':
      return `${name}${fate}`;
    case 'package':
      return `package ${name}${fate}`;
    case 'schema':
    case 'metadata':
      return `${name}${fate}`;
    default:
      return part satisfies never;
  }
}

/** Schema changes are visible in the lines of the file. */
function showValues({ part, before, after }: LockChange): string {
  if (part === 'schema') return '';
  return `: ${[before, after].flatMap((value) => (value === null ? [] : [toPrintable(toText(value))])).join(' -> ')}`;
}

function toText(value: Json): string {
  return JSON.stringify(value);
}

/** Makes carriage returns visible. */
function toLines(text: string | undefined): string {
  return (text ?? '').replaceAll('\r', '\\r');
}
