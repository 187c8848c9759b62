import type { Json } from '@holdfast/core';
import {
  type ComparedPlugin,
  compareDefinitions,
  type DefinitionChange,
  type DefinitionComparison,
} from '@holdfast/loader/plugins';
import { findPluginLock, openEquipment } from '../settings/equipment.ts';
import type { Settings } from '../settings/settings.ts';
import type { Colors } from '../terminal/colors.ts';
import type { Host } from '../terminal/host.ts';
import { measureColumns, toPrintable } from '../terminal/text.ts';
import type { ToolsFolder } from '../workspace/toolset.ts';
import { paintState } from './view.ts';

/** The plugins and packs of a configuration, compared with a lock. */
export interface PluginLock {
  readonly comparison: DefinitionComparison;
  /** Plugins and packs that failed to load, and so are neither locked nor compared. */
  readonly problems: readonly { readonly code: string; readonly message: string }[];
}

/**
 * Compares a configuration's plugins and packs with a lock; `undefined` without a configuration.
 *
 * @throws HoldfastError as `openEquipment`, and as `compareDefinitions`.
 */
export async function comparePlugins(
  settings: Settings,
  folder: ToolsFolder,
  host: Host,
): Promise<PluginLock | undefined> {
  if (settings.file === null) return undefined;
  const lock = await findPluginLock(folder, settings);
  const { keeper, leftOut, close } = await openEquipment(
    settings,
    { ...folder, path: undefined },
    { lock: { tools: 'ignore', plugins: 'ignore' } },
    host,
  );
  await close();
  return {
    comparison: compareDefinitions(keeper.definitions, { lock, incomplete: leftOut.length > 0 }),
    problems: leftOut,
  };
}

/** A line for each one that differs from the lock, with its changes. */
export function formatPlugins(plugins: readonly ComparedPlugin[], colors: Colors): readonly string[] {
  const differing = plugins.filter(({ state }) => state !== 'same');
  const width = Math.max(0, ...differing.map(({ id }) => measureColumns(id)));
  return differing.map(({ id, state, changes }) => {
    const what = state === 'changed' ? `  ${[...new Set(changes.map(nameChange))].join(', ')}` : '';
    return `${paintState(state, colors)}  ${colors.bold(id.padEnd(width))}${toPrintable(what)}`.trimEnd();
  });
}

/** Every change in one, before and after. */
export function formatPluginChanges({ id, state, changes }: ComparedPlugin, colors: Colors): readonly string[] {
  return [
    `${paintState(state, colors)}  ${colors.bold(id)}`,
    ...changes.flatMap((change) => [
      `  ${toPrintable(nameChange(change))}`,
      ...(change.before === null ? [] : [colors.red(`    - ${toPrintable(toText(change.before))}`)]),
      ...(change.after === null ? [] : [colors.green(`    + ${toPrintable(toText(change.after))}`)]),
    ]),
    '',
  ];
}

function nameChange({ definition, field, before, after }: DefinitionChange): string {
  if (definition === '') return field === 'digest' ? 'file' : field;
  if (field !== '') return `${definition} ${field}`;
  return `${definition} ${before === null ? '(new)' : after === null ? '(gone)' : ''}`.trimEnd();
}

function toText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
