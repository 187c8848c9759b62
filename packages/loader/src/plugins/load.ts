import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  definePlugin,
  HoldfastError,
  type JsonObject,
  type Plugin,
  type PluginContributions,
  type Tool,
} from '@holdfast/core';
import { describeThrown, isPlainObject } from '@holdfast/core/internal';
import { type CompiledSchema, compileSchema, describeIssues } from '@holdfast/schema';
import { type LoadedTools, type LoadToolsOptions, loadTools } from '../load/tools.ts';
import type { Diagnostic } from '../text/diagnostic.ts';
import { makeVisible } from '../text/hidden-text.ts';
import { type DefinitionSource, definitionsOf, type PluginDefinitions } from './definitions.ts';

export interface LoadPluginOptions extends Omit<LoadToolsOptions, 'lock'> {
  /** The plugin's options from the host. Default: none. */
  readonly config?: JsonObject;
  readonly source?: DefinitionSource;
}

export interface LoadedPlugin {
  /**
   * The plugin with all contributions in its lists, including those of its `setup` and the tools of its folders.
   * Without `setup`, options and folders, so that what was described is what is used.
   */
  readonly plugin: Plugin;
  readonly definitions: PluginDefinitions;
  /** Absolute paths of its folders. A run that can write there controls the code of the next run. */
  readonly folders: readonly string[];
  /** Diagnostics of the tool files; `file` starts with the name of the folder. A refused file only affects its own tool. */
  readonly diagnostics: readonly Diagnostic[];
  /** Ends the processes of the folders' tools. */
  close(): Promise<void>;
}

/**
 * Resolves a plugin: calls its `setup` once, and loads the tools of its folders like `loadTools` without a lock. These
 * tools have the origin `plugin` with the digest of their file, which is part of the definitions.
 *
 * @throws HoldfastError `plugin.invalid`, `plugin.failed` (`setup` threw or returned an invalid value), and the `tools.folder.*` errors of
 * `loadTools`.
 */
export async function loadPlugin(
  plugin: Plugin,
  { config = {}, source = {}, ...options }: LoadPluginOptions = {},
): Promise<LoadedPlugin> {
  const { name, version, description, holdfast } = plugin;
  const given = askPlugin(plugin, config);
  const loaded: LoadedTools[] = [];
  const diagnostics: Diagnostic[] = [];
  const tools: Tool[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(loaded.map((folder) => folder.close()));
  };
  try {
    const folders = (given.toolFolders ?? []).map((url) => toFolderPath(name, url));
    for (const path of folders) {
      const folder = await loadTools(path, options);
      loaded.push(folder);
      tools.push(...folder.tools.map((tool) => toPluginTool(tool, { plugin: name, folder: basename(path) })));
      diagnostics.push(...folder.diagnostics.map((one) => ({ ...one, file: `${basename(path)}/${one.file}` })));
    }
    const { toolFolders: _, ...contributions } = given;
    const settled = definePlugin({
      name,
      version,
      description,
      holdfast,
      ...contributions,
      tools: [...(given.tools ?? []), ...tools],
    });
    return { plugin: settled, definitions: definitionsOf(settled, source), folders, diagnostics, close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

function toFolderPath(plugin: string, url: unknown): string {
  if (url instanceof URL && url.protocol === 'file:') return fileURLToPath(url).replace(/(?<=.)[/\\]+$/, '');
  const message = `The tool folder of the plugin \`${plugin}\` must be a file URL: use \`new URL('./tools/', import.meta.url)\`.`;
  throw new HoldfastError('plugin.invalid', message, { data: { plugin } });
}

/** The source includes plugin and folder: two folders may contain files with the same name. */
function toPluginTool(tool: Tool, { plugin, folder }: { readonly plugin: string; readonly folder: string }): Tool {
  const { source = '', digest } = tool.origin ?? {};
  const origin = { kind: 'plugin' as const, source: `${plugin}: ${folder}/${source}` };
  return Object.freeze({ ...tool, origin: digest === undefined ? origin : { ...origin, digest } });
}

// A record, so that the compiler reports missing kinds.
const kinds: Readonly<Record<keyof PluginContributions, true>> = {
  tools: true,
  toolFolders: true,
  policies: true,
  packs: true,
  sections: true,
  slices: true,
  models: true,
  resources: true,
  commands: true,
};

/**
 * The contributions of a plugin for these options, from its lists and its `setup`.
 *
 * @throws HoldfastError `plugin.invalid`, `plugin.failed`.
 */
function askPlugin(plugin: Plugin, config: JsonObject): PluginContributions {
  const options = readConfig(plugin, config);
  const given = plugin.setup === undefined ? {} : askSetup(plugin, options);
  return Object.fromEntries(
    Object.keys(kinds).flatMap((kind) => {
      // A key of the record.
      const key = kind as keyof PluginContributions;
      const list: readonly unknown[] = [...(plugin[key] ?? []), ...(given[key] ?? [])];
      return list.length === 0 ? [] : [[key, list]];
    }),
  );
}

function readConfig({ name, configSchema }: Plugin, config: JsonObject): unknown {
  const refuse = (problem: string): never => {
    throw new HoldfastError('plugin.invalid', `Invalid options for the plugin \`${name}\`: ${problem}`, {
      data: { reason: 'config', plugin: name },
    });
  };
  if (configSchema === undefined) return Object.keys(config).length === 0 ? {} : refuse('it takes none.');
  let compiled: CompiledSchema;
  try {
    compiled = compileSchema(configSchema);
  } catch (thrown) {
    throw failed(name, `its \`configSchema\` is invalid: ${describeThrown(thrown)}`, thrown);
  }
  const validation = compiled.validate(config);
  return validation.ok ? validation.value : refuse(describeIssues(validation.issues));
}

function askSetup(plugin: Plugin, options: unknown): PluginContributions {
  const { name } = plugin;
  let given: unknown;
  try {
    given = plugin.setup?.(options);
  } catch (thrown) {
    throw failed(name, `its \`setup\` threw: ${describeThrown(thrown)}`, thrown);
  }
  // Marks a rejection as handled; nothing awaits it.
  if (given instanceof Promise) void Promise.allSettled([given]);
  if (!isPlainObject(given)) throw failed(name, 'its `setup` must return an object of lists, synchronously');
  for (const [key, list] of Object.entries(given)) {
    if (!Object.hasOwn(kinds, key))
      throw failed(name, `its \`setup\` returned the unknown key \`${key.slice(0, 100)}\``);
    if (list !== undefined && !Array.isArray(list)) throw failed(name, `\`${key}\` of its \`setup\` must be a list`);
  }
  return given;
}

function failed(plugin: string, problem: string, cause?: unknown): HoldfastError {
  return new HoldfastError(
    'plugin.failed',
    makeVisible(`The plugin \`${plugin}\` is left out: ${problem.slice(0, 500)}.`),
    { data: { plugin }, ...(cause === undefined ? {} : { cause }) },
  );
}
