import type { Tool } from '@holdfast/core';
import { ReadOnlyMap } from '@holdfast/core/internal';
import type { Winners } from '../resolve/host-options.ts';
import { foldName } from '../resolve/names.ts';
import { renamePolicy } from '../resolve/own-names.ts';
import type { TakenPack, TakenPlugin } from '../resolve/take-plugin.ts';
import type { RegisteredPack, Registry, RegistryProblem } from '../resolve/types.ts';

/** Plugins and packs in order of use. */
export type Used = TakenPlugin | TakenPack;

type InForce = Extract<TakenPlugin, { readonly type: 'plugin' }>;

/** The public data of a registry. */
export interface RegistryView extends Omit<Registry, 'use' | 'resolve' | 'explain' | 'toJSON'> {
  readonly byQualifiedName: ReadonlyMap<string, Tool>;
}

export function toView(used: readonly Used[], winners: Winners): RegistryView {
  const registered = used.flatMap((one) => (one.type === 'pack' ? [] : [one.registered]));
  const inForce = used.flatMap((one) => (one.type === 'plugin' ? [one] : []));
  const packs = used.flatMap((one) => (one.type === 'pack' ? [inNamesOfOwner(one.registered, inForce)] : []));
  const valuesOf = <Value>(things: readonly { readonly value: Value | undefined }[]): readonly Value[] =>
    things.flatMap(({ value }) => (value === undefined ? [] : [value]));
  return {
    plugins: Object.freeze(registered),
    problems: Object.freeze([
      ...registered.flatMap(({ problem }) => (problem === undefined ? [] : [problem])),
      ...inForce.flatMap(findUndeclared),
      ...findUnusedWinners(used, winners),
    ]),
    tools: Object.freeze(inForce.flatMap(({ placed }) => valuesOf(placed.tools))),
    looseTools: Object.freeze(
      inForce.flatMap(({ registered: { name, description }, placed: { looseTools } }) =>
        looseTools.length === 0
          ? []
          : [Object.freeze({ plugin: name, description, tools: Object.freeze([...looseTools]) })],
      ),
    ),
    policies: Object.freeze([
      ...packs.flatMap(({ policies }) => policies),
      ...inForce.flatMap(({ placed }) => valuesOf(placed.policies)),
    ]),
    sections: Object.freeze(inForce.flatMap(({ placed }) => valuesOf(placed.sections))),
    // Several plugins may contribute the same slice.
    slices: Object.freeze([...new Set(inForce.flatMap(({ contributions }) => contributions.slices))]),
    models: new ReadOnlyMap(
      inForce.flatMap(({ registered: { name }, contributions }) =>
        contributions.models.map((model) => [`${name}/${model.name}`, model] as const),
      ),
    ),
    resources: new ReadOnlyMap(
      inForce.flatMap(({ contributions }) =>
        contributions.resources.map((resource) => [resource.name, resource] as const),
      ),
    ),
    commands: new ReadOnlyMap(
      inForce.flatMap(({ placed }) => valuesOf(placed.commands).map((command) => [command.name, command] as const)),
    ),
    packs: new ReadOnlyMap(
      inForce.flatMap(({ registered: { name }, contributions }) =>
        contributions.packs.map((pack) => [`${name}/${pack.name}`, pack] as const),
      ),
    ),
    packsInForce: Object.freeze(packs),
    byQualifiedName: new Map(
      inForce.flatMap(({ registered: { name }, placed }) =>
        placed.tools.flatMap(({ ownName, value }) =>
          value === undefined ? [] : [[`${name}/${ownName}`, value] as const],
        ),
      ),
    ),
  };
}

/** A pack offered by a plugin refers to the plugin's tools by their own names. */
function inNamesOfOwner(registered: RegisteredPack, plugins: readonly InForce[]): RegisteredPack {
  const [owner, another] = plugins.filter(({ contributions }) => contributions.packs.includes(registered.pack));
  // With several offers, the pack was not written for any one of them.
  if (owner === undefined || another !== undefined || owner.placed.names.same) return registered;
  const policies = registered.policies.map((policy) => renamePolicy(policy, owner.placed.names));
  return Object.freeze({ ...registered, policies: Object.freeze(policies) });
}

/** Tools that need approval because their author declares no effects. The loader reports tool files itself. */
function findUndeclared({ registered: { name: plugin }, placed }: InForce): readonly RegistryProblem[] {
  return placed.tools.flatMap(({ value, origin }) => {
    if (value?.undeclared !== true || !value.dangerous || origin?.kind === 'file') return [];
    const message = `\`${value.name}\` of the plugin \`${plugin}\` declares neither \`dangerous\` nor \`effects\`: each call needs approval.`;
    return [Object.freeze({ code: 'registry.invalid', reason: 'tool.undeclared', message, plugin })];
  });
}

/** Winners without effect, perhaps because of a misspelled name or a missing plugin. */
function findUnusedWinners(used: readonly Used[], { entries }: Winners): readonly RegistryProblem[] {
  if (entries.length === 0) return [];
  const ownersByName = new Map<string, Set<string>>();
  for (const one of used) {
    if (one.type !== 'plugin') continue;
    for (const { name } of [...one.placed.tools, ...one.placed.commands]) {
      const folded = foldName(name);
      const owners = ownersByName.get(folded);
      if (owners === undefined) ownersByName.set(folded, new Set([one.registered.name]));
      else owners.add(one.registered.name);
    }
  }
  return entries.flatMap(([name, plugin]) => {
    const owners = ownersByName.get(foldName(name));
    if (owners?.has(plugin) === true && owners.size > 1) return [];
    const why =
      owners === undefined
        ? 'but no plugin has a tool or command of that name'
        : owners.has(plugin)
          ? 'but no other plugin has a tool or command of that name'
          : 'which has no tool or command of that name, so nothing gets it';
    const message = `\`winners\` gives \`${name.slice(0, 100)}\` to the plugin \`${plugin.slice(0, 100)}\`, ${why}.`;
    return [Object.freeze({ code: 'registry.invalid', reason: 'winner.unused', message, plugin })];
  });
}
