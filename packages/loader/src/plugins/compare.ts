import { resolve } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import type { LockState } from '../pins/compare.ts';
import { readLock, writeLock } from '../pins/lock-file.ts';
import type { LockedDefinitions, LockedPlugins } from '../pins/locked-definitions.ts';
import { makeVisible } from '../text/hidden-text.ts';
import { type DefinitionChange, describeDefinitionChanges, findDefinitionChanges, lockCode } from './changes.ts';
import type { DefinitionSource, PluginDefinitions } from './definitions.ts';

/** How a plugin or pack compares with what is locked. */
export interface ComparedPlugin {
  /** `plugin:git` or `pack:shell-guard`. */
  readonly id: string;
  readonly kind: 'plugin' | 'pack';
  readonly name: string;
  readonly state: LockState;
  /** What differs; of a new one everything, of one that is gone nothing. */
  readonly changes: readonly DefinitionChange[];
}

/** A file that a plugin or a pack is going to be imported from. */
export interface FileToImport {
  readonly kind: 'plugin' | 'pack';
  /** As a configuration names it. */
  readonly entry: string;
  readonly source: DefinitionSource;
}

/** What a lock says of plugins and packs, read at one moment, for a host that looks at one after another. */
export interface DefinitionLock {
  /** Absolute path of the lock. */
  readonly lock: string;
  /** Whether the lock says anything of plugins and packs; until it does, a host runs them as they are. */
  readonly found: boolean;
  /** `new`, `same` or `changed`; see `findDefinitionProblem`. */
  compare(current: PluginDefinitions): ComparedPlugin;
  /**
   * Why a file must not even be imported: it is none that is locked for its package (`plugin.lock.new`, `plugin.lock.changed`,
   * `pack.lock.new`, `pack.lock.changed`). `undefined`: its code may run, and what it declares is then compared; so it is, too, where the
   * lock says nothing of plugins and packs.
   */
  findImportProblem(file: FileToImport): HoldfastError | undefined;
}

/** Plugins and packs beside a lock, read at one moment. */
export interface DefinitionComparison extends Pick<DefinitionLock, 'lock' | 'found'> {
  /** In the order of their ids. */
  readonly plugins: readonly ComparedPlugin[];
  /**
   * Locks what was compared. Default: all of it; where there is nothing, nothing is written. Those that are gone leave the lock, refused ones stay as they are locked, and so do the
   * tools of folders.
   *
   * @throws HoldfastError `plugin.lock.unknown`, `tools.lock.unwritable`, and as `compareDefinitions` for the lock.
   */
  accept(ids?: readonly string[]): Promise<void>;
}

export interface CompareDefinitionsOptions {
  /** Path of the lock. */
  readonly lock: string;
  /**
   * Whether something that should be there could not be loaded. Then what is locked and not there is `refused` in place of `gone`: nobody
   * can say which of them it is. Default false.
   */
  readonly incomplete?: boolean;
}

/**
 * Reads what a lock says of plugins and packs.
 *
 * @throws HoldfastError `tools.lock.unreadable`, `tools.lock.invalid`, `tools.lock.version`.
 */
export function readDefinitionLock(lock: string): DefinitionLock {
  const path = resolve(lock);
  const found = readLock(path)?.plugins;
  return {
    lock: path,
    found: found !== undefined,
    compare: (current) =>
      comparePlugin(current.id, { locked: found?.get(current.id), now: current, incomplete: false }),
    findImportProblem: (file) => (found === undefined ? undefined : findImportProblem(file, found)),
  };
}

/**
 * Compares plugins and packs as they are, see `definitionsOf`, with a lock.
 *
 * @throws HoldfastError `plugin.lock.duplicate` (two of one name that differ), `tools.lock.unreadable`, `tools.lock.invalid`,
 * `tools.lock.version`.
 */
export function compareDefinitions(
  current: readonly PluginDefinitions[],
  { lock, incomplete = false }: CompareDefinitionsOptions,
): DefinitionComparison {
  const path = resolve(lock);
  const found = readLock(path)?.plugins;
  const locked: LockedPlugins = found ?? new Map<string, LockedDefinitions>();
  const now = toMap(current);
  const ids = [...new Set([...locked.keys(), ...now.keys()])].sort();
  const plugins = ids.map((id) => comparePlugin(id, { locked: locked.get(id), now: now.get(id), incomplete }));
  return {
    lock: path,
    found: found !== undefined,
    plugins,
    async accept(chosen = ids) {
      const unknown = chosen.find((id) => !ids.includes(id));
      if (unknown !== undefined) {
        throw new HoldfastError('plugin.lock.unknown', `\`${unknown}\` is neither in use nor locked.`, {
          data: { id: unknown },
        });
      }
      if (chosen.length === 0) return;
      // Somebody else may have accepted other ones, and tools, in the meantime.
      const latest = readLock(path);
      const next = new Map(latest?.plugins ?? []);
      for (const { id, state } of plugins.filter((one) => chosen.includes(one.id))) {
        const definitions = now.get(id);
        if (definitions !== undefined) next.set(id, definitions);
        else if (state === 'gone') next.delete(id);
      }
      await writeLock(path, { tools: latest?.tools ?? new Map(), plugins: next });
    },
  };
}

function toMap(current: readonly PluginDefinitions[]): ReadonlyMap<string, PluginDefinitions> {
  const byId = new Map<string, PluginDefinitions>();
  for (const one of current) {
    const other = byId.get(one.id);
    // A pack may be in use twice, with options of its own each time.
    if (other !== undefined && findDefinitionChanges(other, one).length > 0) {
      const message = `There are two different \`${one.id}\`, the versions ${other.version} and ${one.version}: use one of them.`;
      throw new HoldfastError('plugin.lock.duplicate', message, { data: { id: one.id } });
    }
    byId.set(one.id, one);
  }
  return byId;
}

function comparePlugin(
  id: string,
  {
    locked,
    now,
    incomplete,
  }: {
    readonly locked: LockedDefinitions | undefined;
    readonly now: PluginDefinitions | undefined;
    readonly incomplete: boolean;
  },
): ComparedPlugin {
  const kind = id.startsWith('pack:') ? 'pack' : 'plugin';
  const name = id.slice(kind.length + 1);
  if (now === undefined) return { id, kind, name, state: incomplete ? 'refused' : 'gone', changes: [] };
  const changes = findDefinitionChanges(locked, now);
  const state = locked === undefined ? 'new' : changes.length === 0 ? 'same' : 'changed';
  return { id, kind, name, state, changes };
}

/**
 * Why what was compared must not be used: it is not locked (`plugin.lock.new`, `pack.lock.new`), or not as it is locked
 * (`plugin.lock.changed`, `pack.lock.changed`). `undefined`: it may be. To be thrown, or told, by a host that goes by its lock.
 */
export function findDefinitionProblem({ id, kind, name, state, changes }: ComparedPlugin): HoldfastError | undefined {
  const look = `look at it with \`holdfast lock --check --accept ${id}\`; without \`--check\` it is locked as it is now`;
  switch (state) {
    case 'same':
    case 'gone':
    case 'refused':
      // What is not there is not used.
      return undefined;
    case 'new':
    case 'changed': {
      const how = state === 'new' ? 'in the lock' : `as it is locked (${describeDefinitionChanges(changes)})`;
      const message = `The ${kind} \`${name}\` is not ${how}: ${look}.`;
      return new HoldfastError(lockCode(kind, state), message, { data: { [kind]: name } });
    }
    default:
      return state satisfies never;
  }
}

/**
 * Why a file must not be imported, by a lock that says something of plugins and packs. Which of them it has is not known before its code
 * has run: any that is locked from the same file of the same package will do.
 */
function findImportProblem({ kind, entry, source }: FileToImport, locked: LockedPlugins): HoldfastError | undefined {
  const { package: packageName, version: packageVersion, digest } = source;
  const known = [...locked].filter(
    ([id, one]) => id.startsWith(`${kind}:`) && one.package === packageName && one.digest !== undefined,
  );
  if (known.some(([, one]) => one.digest === digest)) return undefined;
  const [first] = known;
  const refuse = (state: 'new' | 'changed', problem: string, accept = ''): HoldfastError => {
    const message = `The ${kind} \`${makeVisible(entry).slice(0, 200)}\` ${problem}, and nothing of it was run. \`holdfast lock --check${accept}\` runs it, and shows what it declares; without \`--check\` it is locked as it is now.`;
    return new HoldfastError(lockCode(kind, state), message, { data: { [kind]: makeVisible(entry) } });
  };
  if (first === undefined) return refuse('new', 'is not in the lock');
  // A path may be that of any which comes from no package.
  if (packageName === undefined) return refuse('changed', 'is no file that is locked');
  const [id, before] = first;
  const changes = findDefinitionChanges(before, { ...before, packageVersion, digest });
  return refuse('changed', `is not as it is locked (${describeDefinitionChanges(changes)})`, ` --accept ${id}`);
}
