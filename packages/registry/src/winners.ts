import { isPlainObject } from '@holdfast/core';
import { foldName } from './fold-name.ts';
import { invalid } from './host-options.ts';

/** Whose a name is, as the host said it. */
export interface Winners {
  /** The plugin to which a name belongs; `undefined`: to whoever has it. */
  ownerOf(name: string): string | undefined;
  /** As they were given. */
  readonly entries: readonly (readonly [name: string, plugin: string])[];
}

/** @throws HoldfastError `registry.options.invalid`. */
export function readWinners(winners: Readonly<Record<string, string>> = {}): Winners {
  if (!isPlainObject(winners)) throw invalid('`winners` must be an object of names of plugins by names of tools.');
  const owners = new Map<string, string>();
  const entries = Object.entries(winners);
  for (const [name, plugin] of entries) {
    const given: unknown = plugin;
    if (typeof given !== 'string')
      throw invalid(`\`winners\` must give \`${name.slice(0, 100)}\` to the name of a plugin.`);
    const folded = foldName(name);
    if (owners.has(folded))
      throw invalid(`\`winners\` has the name \`${name.slice(0, 100)}\` twice, once perhaps spelled otherwise.`);
    owners.set(folded, plugin);
  }
  return { ownerOf: (name) => owners.get(foldName(name)), entries };
}
