import { HoldfastError, type Pack } from '@holdfast/core';
import { type EffectiveValue, type PackEntry, showEntry } from '../config/config.ts';
import { readEntryName } from '../resolve/names.ts';
import type { PackageSource, Registry } from '../resolve/types.ts';
import { importPack } from './import-entry.ts';
import type { OpenRegistryOptions, UsedPack } from './open-registry.ts';
import type { OpenedPlugins } from './plugins.ts';
import { folderOf } from './small-file.ts';

export interface OpenedPacks {
  readonly registry: Registry;
  readonly used: readonly UsedPack[];
}

/** A pack of the host, active or only offered by a plugin. */
interface KnownPack {
  /** The entry in the configuration, or `plugin/pack`. */
  readonly entry: string;
  readonly pack: Pack;
  readonly source: PackageSource;
}

interface HostPacks {
  readonly own: KnownPack[];
  readonly offered: ReadonlyMap<string, KnownPack>;
  /** The problems of plugins that were left out, each after a space. */
  readonly leftOut: string;
}

/** @throws HoldfastError as `openRegistry` for packs. */
export async function openPacks(
  entries: readonly EffectiveValue<PackEntry>[],
  plugins: Omit<OpenedPlugins, 'used'>,
  options: OpenRegistryOptions,
): Promise<OpenedPacks> {
  const host: HostPacks = {
    own: [],
    offered: listOffered(plugins),
    // Explains why a plugin's pack is missing.
    leftOut: [...plugins.diagnostics, ...plugins.registry.problems].map(({ message }) => ` ${message}`).join(''),
  };
  const ids = new Set<string>();
  const used: UsedPack[] = [];
  let { registry } = plugins;

  const use = async (
    { entry, pack, source }: KnownPack,
    { value, origin }: EffectiveValue<PackEntry>,
  ): Promise<void> => {
    await options.preparePack?.(pack, { source });
    const { pack: _named, ...chosen } = value;
    const id = origin.layer === 'workspace' ? toFreeId(pack.name, ids) : (chosen.id ?? pack.name);
    ids.add(id);
    registry = registry.use(pack, { ...chosen, id, source });
    const { name, version } = pack;
    used.push({ entry, name, version, ...chosen, id, preset: chosen.preset ?? 'recommended', source, origin });
  };

  for (const given of entries) {
    if (given.origin.layer === 'workspace') continue;
    const known = await havePack(given, host, options);
    host.own.push(known);
    await use(known, given);
  }
  // Last: a workspace may name only packs of the host.
  for (const given of entries) {
    if (given.origin.layer === 'workspace') await use(findForWorkspace(given, host), given);
  }
  return { registry, used };
}

function listOffered({ registry, sources }: Omit<OpenedPlugins, 'used'>): ReadonlyMap<string, KnownPack> {
  const known = [...registry.packs].map(([entry, pack]): readonly [string, KnownPack] => {
    const source = sources.get(entry.split('/')[0] ?? '') ?? {};
    return [entry, { entry, pack, source }];
  });
  return new Map(known);
}

async function havePack(
  { value: { pack: named }, origin }: EffectiveValue<PackEntry>,
  { offered, leftOut }: HostPacks,
  { directory, prepareImport }: OpenRegistryOptions,
): Promise<KnownPack> {
  const entry = showEntry(named);
  if (typeof named !== 'string')
    return { entry, pack: named, source: origin.file === undefined ? {} : { file: origin.file } };
  const name = readEntryName(named);
  if (name !== undefined && name.type !== 'offered') {
    const { thing, source } = await importPack(name, {
      from: folderOf(origin, directory),
      directory,
      beforeImport: (known) => prepareImport?.({ kind: 'pack', entry, source: known }),
    });
    return { entry, pack: thing, source };
  }
  const found = offered.get(named);
  if (found !== undefined) return found;
  throw new HoldfastError(
    'config.invalid',
    `Unknown pack \`${named}\`: no active plugin offers it, and nothing runs without it. ${listNames(offered.keys(), 'No packs are offered')}.${leftOut}`,
    { data: { reason: 'pack.unknown', pack: named } },
  );
}

function findForWorkspace(
  { value: { pack: named }, origin }: EffectiveValue<PackEntry>,
  { own, offered, leftOut }: HostPacks,
): KnownPack {
  const name = showEntry(named);
  const byName = [...own, ...offered.values()].filter(({ pack }) => pack.name === name);
  const [only] = byName;
  const found =
    own.find(({ entry }) => entry === name) ??
    offered.get(name) ??
    (new Set(byName.map(({ pack }) => pack)).size === 1 ? only : undefined);
  if (found !== undefined) return found;
  const several = byName.length > 1 ? '; several packs have this name' : '';
  const names = listNames(new Set([...own.map(({ pack }) => pack.name), ...offered.keys()]), 'It has none');
  throw new HoldfastError(
    'config.invalid',
    `\`${origin.file ?? 'The workspace'}\` requires the pack \`${name.slice(0, 200)}\`, which the host must provide before anything runs${several}. ${names}.${leftOut}`,
    { data: { reason: 'policy', pack: name.slice(0, 200) } },
  );
}

function listNames(names: Iterable<string>, none: string): string {
  const list = [...names].map((name) => `\`${name}\``).join(', ');
  return list === '' ? none : `Available: ${list}`;
}

/** Stable across runs, because policy state is stored under it. */
function toFreeId(name: string, taken: ReadonlySet<string>): string {
  const id = `workspace-${name}`.slice(0, 28).replace(/-+$/, '');
  let free = id;
  for (let count = 2; taken.has(free); count += 1) free = `${id}-${count}`;
  return free;
}
