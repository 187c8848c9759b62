import { fileURLToPath } from 'node:url';
import { HoldfastError, isHoldfastError, type JsonObject, type Pack, type Plugin } from '@holdfast/core';
import { describeCode, describeThrown, toReason } from '@holdfast/core/internal';
import type { Diagnostic } from '@holdfast/loader';
import {
  definitionsOf,
  type FileToImport,
  findDefinitionProblem,
  type LoadPluginOptions,
  loadPlugin,
  type PluginDefinitions,
  readDefinitionLock,
} from '@holdfast/loader/plugins';
import { createPrompt } from '@holdfast/prompt';
import type { PackageSource } from '@holdfast/registry';
import { languages } from '../workspace/languages.ts';

export interface PluginKeeperOptions {
  /** The lock for plugins and packs; `undefined`: none. */
  readonly lock: string | undefined;
  /** True if they must be locked. Otherwise a lock applies only if it covers plugins. */
  readonly required: boolean;
  readonly load: Pick<LoadPluginOptions, 'isolation' | 'processes' | 'environment'>;
  /** Receives diagnostics of a plugin's tool files. */
  report(diagnostic: Diagnostic, plugin: string): void;
}

/** Prepares plugins and packs: loads their tool folders and refuses those that differ from the lock. */
export interface PluginKeeper {
  /** The definitions of everything prepared, in order of use. */
  readonly definitions: readonly PluginDefinitions[];
  /** Absolute paths of all tool folders. */
  readonly folders: readonly string[];
  /** True if a lock applies. */
  readonly isKept: boolean;
  /** Called before a file is imported. @throws HoldfastError if it differs from the lock. */
  prepareImport(file: FileToImport): void;
  /** @throws HoldfastError if the plugin cannot be used. */
  preparePlugin(
    plugin: Plugin,
    given: { readonly config: JsonObject | undefined; readonly source: PackageSource },
  ): Promise<Plugin>;
  /** @throws HoldfastError if the pack cannot be put in force. */
  preparePack(pack: Pack, given: { readonly source: PackageSource }): void;
  /** Ends the tool processes of plugins. */
  close(): Promise<void>;
}

export function createPluginKeeper({ lock, required, load, report }: PluginKeeperOptions): PluginKeeper {
  const definitions: PluginDefinitions[] = [];
  const folders: string[] = [];
  const closers: (() => Promise<void>)[] = [];
  const locked = lock === undefined ? undefined : readDefinitionLock(lock);
  const check = (current: PluginDefinitions): void => {
    definitions.push(current);
    if (locked === undefined) return;
    // Modules that a configuration imports itself have not been checked before.
    if (!locked.found && required) throw notLocked(current.kind, current.name);
    if (!locked.found) return;
    const problem = findDefinitionProblem(locked.compare(current));
    if (problem !== undefined) throw problem;
  };
  return {
    definitions,
    folders,
    isKept: locked?.found === true,
    prepareImport(file) {
      if (locked === undefined) return;
      if (!locked.found && required) throw notLocked(file.kind, file.entry);
      const problem = locked.findImportProblem(file);
      if (problem !== undefined) throw problem;
    },
    async preparePlugin(plugin, { config, source }) {
      // Includes plugins that are left out below: a later run may use them.
      folders.push(...listFolders(plugin));
      const loaded = await loadPlugin(plugin, {
        ...load,
        languages,
        source,
        ...(config === undefined ? {} : { config }),
      });
      closers.push(loaded.close);
      folders.push(...loaded.folders);
      // Checked first, because a plugin that is left out is not locked either.
      checkSections(loaded.plugin);
      check(loaded.definitions);
      for (const diagnostic of loaded.diagnostics) report(diagnostic, plugin.name);
      return loaded.plugin;
    },
    preparePack(pack, { source }) {
      check(definitionsOf(pack, source));
    },
    async close() {
      await Promise.all(closers.map((close) => close()));
    },
  };
}

function listFolders({ toolFolders = [] }: Plugin): readonly string[] {
  return toolFolders.flatMap((url) => {
    try {
      return [fileURLToPath(url)];
    } catch {
      // Not a folder of this machine; loading the plugin reports it.
      return [];
    }
  });
}

// Reported later, with the whole prompt, because they may concern other plugins.
const aboutOthers: ReadonlySet<string> = new Set(['policy.invalid: tool.unknown', 'prompt.invalid: example']);

/** A broken section costs its plugin, not the run. */
function checkSections({ name, sections = [] }: Plugin): void {
  if (sections.length === 0) return;
  try {
    createPrompt({ ns: 'holdfast', key: 'check', sections }).render();
  } catch (thrown) {
    const kind = isHoldfastError(thrown) ? thrown : { code: 'plugin.failed' };
    if (aboutOthers.has(describeCode(kind))) return;
    throw new HoldfastError(kind.code, `The plugin \`${name}\` is left out: ${describeThrown(thrown)}`, {
      data: { ...toReason(kind), plugin: name },
      cause: thrown,
    });
  }
}

function notLocked(kind: FileToImport['kind'], name: string): HoldfastError {
  return new HoldfastError(
    'lock.changed',
    `The ${kind} \`${name}\` is not locked, but a lock is required: review it, then lock it with \`holdfast lock\`.`,
    { data: { reason: kind === 'pack' ? 'pack_new' : 'new', [kind]: name } },
  );
}
