import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { definePlugin, HoldfastError, type JsonObject, type Plugin, type Tool } from '@holdfast/core';
import { askPlugin } from './ask-plugin.ts';
import type { Diagnostic } from './diagnostic.ts';
import { type LoadedTools, type LoadToolsOptions, loadTools } from './load-tools.ts';
import { type DefinitionSource, definitionsOf, type PluginDefinitions } from './plugin-definitions.ts';

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
  throw new HoldfastError(
    'plugin.invalid',
    `The plugin \`${plugin}\` has a tool folder that is no file URL: write \`new URL('./tools/', import.meta.url)\`.`,
    { data: { plugin } },
  );
}

/** Where it is from is told with the plugin and the folder: two folders may hold files of one name. */
function toPluginTool(tool: Tool, { plugin, folder }: { readonly plugin: string; readonly folder: string }): Tool {
  const { source = '', digest } = tool.origin ?? {};
  const origin = { kind: 'plugin' as const, source: `${plugin}: ${folder}/${source}` };
  return Object.freeze({ ...tool, origin: digest === undefined ? origin : { ...origin, digest } });
}
