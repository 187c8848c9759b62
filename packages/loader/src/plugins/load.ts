import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  definePlugin,
  describeThrown,
  HoldfastError,
  isPlainObject,
  type JsonObject,
  type Plugin,
  type PluginContributions,
  type Tool,
} from '@holdfast/core';
import { type CompiledSchema, compileSchema, describeIssues } from '@holdfast/schema';
import { type LoadedTools, type LoadToolsOptions, loadTools } from '../load/tools.ts';
import type { Diagnostic } from '../text/diagnostic.ts';
import { makeVisible } from '../text/hidden-text.ts';
import { type DefinitionSource, definitionsOf, type PluginDefinitions } from './definitions.ts';

export interface LoadPluginOptions extends Omit<LoadToolsOptions, 'lock'> {
  /** The plugin's options, as a host writes them. Default: none. */
  readonly config?: JsonObject;
  readonly source?: DefinitionSource;
}

export interface LoadedPlugin {
  /**
   * The plugin with everything that it brings in its lists: what its `setup` gave for the options, and the tools of its folders. It has no
   * `setup`, no options and no folders any more, so that what was described is what is used.
   */
  readonly plugin: Plugin;
  readonly definitions: PluginDefinitions;
  /** Absolute paths of its folders. What a run could write there, the next one would run. */
  readonly folders: readonly string[];
  /** Of the tool files; `file` begins with the name of the folder. A file that is refused costs its tool alone. */
  readonly diagnostics: readonly Diagnostic[];
  /** Ends the processes in which the tools of the folders run. */
  close(): Promise<void>;
}

/**
 * Makes of a plugin one that needs nothing more: asks its `setup`, once, and loads the tools of its folders, as `loadTools` does
 * without a lock. Their origin is `plugin`, with the digest of their file, and so stands among the definitions.
 *
 * @throws HoldfastError `plugin.config.invalid`, `plugin.failed` (`setup` threw, or what it gave is wrong), `plugin.invalid`,
 * `plugin.definition.invalid`, `plugin.text.hidden`, and `tools.folder.*` as `loadTools`.
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
  const message = `The plugin \`${plugin}\` has a tool folder that is no file URL: write \`new URL('./tools/', import.meta.url)\`.`;
  throw new HoldfastError('plugin.invalid', message, { data: { plugin } });
}

/** Where it is from is told with the plugin and the folder: two folders may hold files of one name. */
function toPluginTool(tool: Tool, { plugin, folder }: { readonly plugin: string; readonly folder: string }): Tool {
  const { source = '', digest } = tool.origin ?? {};
  const origin = { kind: 'plugin' as const, source: `${plugin}: ${folder}/${source}` };
  return Object.freeze({ ...tool, origin: digest === undefined ? origin : { ...origin, digest } });
}

// A record, so that the compiler names what is missing.
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
 * What a plugin brings for these options: its own lists, and what its `setup` gives.
 *
 * @throws HoldfastError `plugin.config.invalid`, `plugin.failed`.
 */
function askPlugin(plugin: Plugin, config: JsonObject): PluginContributions {
  const options = readConfig(plugin, config);
  const given = plugin.setup === undefined ? {} : askSetup(plugin, options);
  return Object.fromEntries(
    Object.keys(kinds).flatMap((kind) => {
      // The keys of the record.
      const key = kind as keyof PluginContributions;
      const list: readonly unknown[] = [...(plugin[key] ?? []), ...(given[key] ?? [])];
      return list.length === 0 ? [] : [[key, list]];
    }),
  );
}

function readConfig({ name, configSchema }: Plugin, config: JsonObject): unknown {
  const refuse = (problem: string): never => {
    throw new HoldfastError('plugin.config.invalid', `The options of the plugin \`${name}\` do not fit: ${problem}`, {
      data: { plugin: name },
    });
  };
  if (configSchema === undefined) return Object.keys(config).length === 0 ? {} : refuse('it has none.');
  let compiled: CompiledSchema;
  try {
    compiled = compileSchema(configSchema);
  } catch (thrown) {
    throw failed(name, `its \`configSchema\` cannot be used: ${describeThrown(thrown)}`, thrown);
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
  // So that a rejection of what nobody waits for is handled.
  if (given instanceof Promise) void Promise.allSettled([given]);
  if (!isPlainObject(given)) throw failed(name, 'its `setup` gave no object with lists, at once');
  for (const [key, list] of Object.entries(given)) {
    if (!Object.hasOwn(kinds, key)) throw failed(name, `its \`setup\` gave the unknown key \`${key.slice(0, 100)}\``);
    if (list !== undefined && !Array.isArray(list))
      throw failed(name, `its \`setup\` gave \`${key}\` that are no list`);
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
