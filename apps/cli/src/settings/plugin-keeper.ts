import { fileURLToPath } from 'node:url';
import {
  describeThrown,
  HoldfastError,
  isHoldfastError,
  type JsonObject,
  type Pack,
  type Plugin,
} from '@holdfast/core';
import {
  type Diagnostic,
  definitionsOf,
  type FileToImport,
  findDefinitionProblem,
  type LoadPluginOptions,
  loadPlugin,
  type PluginDefinitions,
  readDefinitionLock,
} from '@holdfast/loader';
import { createPrompt } from '@holdfast/prompt';
import type { PackageSource } from '@holdfast/registry';
import { languages } from '../workspace/languages.ts';

export interface PluginKeeperOptions {
  /** Path of the lock that plugins and packs are kept to; `undefined`: to none. */
  readonly lock: string | undefined;
  /** Whether they have to be locked. Otherwise they are kept to a lock that says anything of plugins. */
  readonly required: boolean;
  readonly load: Pick<LoadPluginOptions, 'isolation' | 'processes' | 'environment'>;
  /** Takes what is wrong with tool files of a plugin. */
  report(diagnostic: Diagnostic, plugin: string): void;
}

/** Looks at plugins and packs before they are used: loads their folders, and lets none through that differs from the lock. */
export interface PluginKeeper {
  /** What everything that was looked at declares, in the order of use. */
  readonly definitions: readonly PluginDefinitions[];
  /** Absolute paths of the folders of tool files of everything that was looked at. */
  readonly folders: readonly string[];
  /** Whether they are kept to a lock. */
  readonly isKept: boolean;
  /** Asked before a file is imported. @throws HoldfastError where it is not as it is locked. */
  prepareImport(file: FileToImport): void;
  /** @throws HoldfastError of what costs the plugin. */
  preparePlugin(
    plugin: Plugin,
    given: { readonly config: JsonObject | undefined; readonly source: PackageSource },
  ): Promise<Plugin>;
  /** @throws HoldfastError of what keeps the pack from being in force. */
  preparePack(pack: Pack, given: { readonly source: PackageSource }): void;
  /** Ends the processes in which tools of plugins run. */
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
    // What a configuration has imported itself has not been asked for before.
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
      // Those of a plugin that is left out below, too: the next run may use it.
      folders.push(...listFolders(plugin));
      const loaded = await loadPlugin(plugin, {
        ...load,
        languages,
        source,
        ...(config === undefined ? {} : { config }),
      });
      closers.push(loaded.close);
      folders.push(...loaded.folders);
      // First of all: what is left out is not locked either.
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
      // No folder of this machine: loading the plugin says so.
      return [];
    }
  });
}

// They are told when all of the prompt is there, because they may be about other plugins.
const aboutOthers: ReadonlySet<string> = new Set(['policy.tool.unknown', 'task.example.invalid']);

/** A section that no prompt can be made of must cost its plugin, and not the run. */
function checkSections({ name, sections = [] }: Plugin): void {
  if (sections.length === 0) return;
  try {
    createPrompt({ ns: 'holdfast', key: 'check', sections }).render();
  } catch (thrown) {
    const code = isHoldfastError(thrown) ? thrown.code : 'plugin.failed';
    if (aboutOthers.has(code)) return;
    throw new HoldfastError(code, `The plugin \`${name}\` is left out: ${describeThrown(thrown)}`, {
      data: { plugin: name },
      cause: thrown,
    });
  }
}

function notLocked(kind: FileToImport['kind'], name: string): HoldfastError {
  return new HoldfastError(
    kind === 'pack' ? 'pack.lock.new' : 'plugin.lock.new',
    `The ${kind} \`${name}\` is not locked, and only what is locked may be used: look at it, and lock it with \`holdfast lock\`.`,
    { data: { [kind]: name } },
  );
}
