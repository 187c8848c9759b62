import { resolve } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import { toReason } from '@holdfast/core/internal';
import type { LockState } from '../pins/compare.ts';
import { readLock, writeLock } from '../pins/lock-file.ts';
import type { LockedDefinitions, LockedPlugins } from '../pins/locked-definitions.ts';
import { makeVisible } from '../text/hidden-text.ts';
import { type DefinitionChange, describeDefinitionChanges, findDefinitionChanges, lockReason } from './changes.ts';
import type { DefinitionSource, PluginDefinitions } from './definitions.ts';

/** The state of a plugin or pack relative to the lock. */
export interface ComparedPlugin {
  /** `plugin:git` or `pack:shell-guard`. */
  readonly id: string;
  readonly kind: 'plugin' | 'pack';
  readonly name: string;
  readonly state: LockState;
  /** The differences: everything for a new one, nothing for one that is gone. */
  readonly changes: readonly DefinitionChange[];
}

/** A file of a plugin or pack before its import. */
export interface FileToImport {
  readonly kind: 'plugin' | 'pack';
  /** The entry in the configuration. */
  readonly entry: string;
  readonly source: DefinitionSource;
}

/** The plugins and packs of a lock, read once, for a host that checks them one by one. */
export interface DefinitionLock {
  /** Absolute path of the lock. */
  readonly lock: string;
  /** True if the lock covers plugins and packs; otherwise a host runs them unverified. */
  readonly found: boolean;
  /** `new`, `same` or `changed`; see `findDefinitionProblem`. */
  compare(current: PluginDefinitions): ComparedPlugin;
  /**
   * Returns the error if a file must not be imported, because it is not locked for its package (`lock.changed`). `undefined`: it may run,
   * and its declarations are compared afterwards; also if the lock does not cover plugins and packs.
   */
  findImportProblem(file: FileToImport): HoldfastError | undefined;
}

/** A snapshot of plugins and packs and their lock. */
export interface DefinitionComparison extends Pick<DefinitionLock, 'lock' | 'found'> {
  /** Sorted by id. */
  readonly plugins: readonly ComparedPlugin[];
  /**
   * Locks the compared state. Default: all; without any, nothing is written. Those that are gone leave the lock; refused ones and the
   * tools of folders keep their entries.
   *
   * @throws HoldfastError `lock.invalid`, and for the lock the errors of `compareDefinitions`.
   */
  accept(ids?: readonly string[]): Promise<void>;
}

export interface CompareDefinitionsOptions {
  /** Path of the lock. */
  readonly lock: string;
  /**
   * True if some plugin or pack failed to load. Missing ones are then `refused` instead of `gone`, because any of them
   * may be the failed one. Default false.
   */
  readonly incomplete?: boolean;
}

/**
 * Reads the plugins and packs of a lock.
 *
 * @throws HoldfastError `lock.invalid`.
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
 * Compares plugins and packs, see `definitionsOf`, with a lock.
 *
 * @throws HoldfastError `lock.invalid`, also for two different ones with the same name.
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
        throw new HoldfastError('lock.invalid', `\`${unknown}\` is neither in use nor in the lock.`, {
          data: { reason: 'unknown', id: unknown },
        });
      }
      if (chosen.length === 0) return;
      // Another process may have accepted other ones, and tools, meanwhile.
      const latest = readLock(path);
      const next = new Map(latest?.plugins ?? []);
      for (const { id, state } of plugins.filter((one) => chosen.includes(one.id))) {
        const definitions = now.get(id);
        if (definitions !== undefined) next.set(id, definitions);
        else if (state === 'gone') next.delete(id);
      }
      await writeLock(path, { tools: latest?.tools ?? new Map(), plugins: next, servers: latest?.servers });
    },
  };
}

function toMap(current: readonly PluginDefinitions[]): ReadonlyMap<string, PluginDefinitions> {
  const byId = new Map<string, PluginDefinitions>();
  for (const one of current) {
    const other = byId.get(one.id);
    // A pack may be used twice with different options.
    if (other !== undefined && findDefinitionChanges(other, one).length > 0) {
      const message = `Two different \`${one.id}\` are in use, versions ${other.version} and ${one.version}: use one of them.`;
      throw new HoldfastError('lock.invalid', message, { data: { reason: 'duplicate', id: one.id } });
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
 * The error for a plugin or pack that must not be used because it is not locked or differs from the
 * lock (`lock.changed`), otherwise `undefined`. A host that enforces its lock throws or reports it.
 */
export function findDefinitionProblem({ id, kind, name, state, changes }: ComparedPlugin): HoldfastError | undefined {
  const look = `review it with \`holdfast lock --check --accept ${id}\`; run that without \`--check\` to lock it`;
  switch (state) {
    case 'same':
    case 'gone':
    case 'refused':
      // Missing, so not used.
      return undefined;
    case 'new':
    case 'changed': {
      const how =
        state === 'new' ? 'is not in the lock' : `differs from the lock (${describeDefinitionChanges(changes)})`;
      const message = `The ${kind} \`${name}\` ${how}: ${look}.`;
      return new HoldfastError('lock.changed', message, {
        data: { ...toReason({ reason: lockReason(kind, state) }), [kind]: name },
      });
    }
    default:
      return state satisfies never;
  }
}

/**
 * The error if a file must not be imported, for a lock that covers plugins and packs. Its id is unknown before its code
 * runs, so an entry for the same file of the same package is sufficient.
 */
function findImportProblem({ kind, entry, source }: FileToImport, locked: LockedPlugins): HoldfastError | undefined {
  const { package: packageName, version: packageVersion, digest } = source;
  const known = [...locked].filter(
    ([id, one]) => id.startsWith(`${kind}:`) && one.package === packageName && one.digest !== undefined,
  );
  if (known.some(([, one]) => one.digest === digest)) return undefined;
  const [first] = known;
  const refuse = (state: 'new' | 'changed', problem: string, accept = ''): HoldfastError => {
    const message = `The ${kind} \`${makeVisible(entry).slice(0, 200)}\` ${problem}, so its code was not run. \`holdfast lock --check${accept}\` runs it and shows its declarations; without \`--check\` it also locks them.`;
    return new HoldfastError('lock.changed', message, {
      data: { ...toReason({ reason: lockReason(kind, state) }), [kind]: makeVisible(entry) },
    });
  };
  if (first === undefined) return refuse('new', 'is not in the lock');
  // Any entry without a package may be for this path.
  if (packageName === undefined) return refuse('changed', 'does not match any locked file');
  const [id, before] = first;
  const changes = findDefinitionChanges(before, { ...before, packageVersion, digest });
  return refuse('changed', `differs from the lock (${describeDefinitionChanges(changes)})`, ` --accept ${id}`);
}
