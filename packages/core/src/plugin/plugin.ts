import { checkOptions } from '../basics/check-options.ts';
import { HoldfastError } from '../basics/errors.ts';
import { isPlainObject } from '../basics/json.ts';
import type { Schema } from '../basics/schema.ts';
import type { Policy } from '../call/policy.ts';
import type { Section } from '../call/section.ts';
import type { Tool } from '../call/tool.ts';
import type { Model } from '../model/model.ts';
import type { ResourceDefinition } from '../state/resource-definition.ts';
import type { Slice } from '../state/slice.ts';
import { isLine, type Pack, packageNamePattern, versionPattern } from './pack.ts';

/** A model of a plugin, created when a host requests it. */
export interface PluginModel {
  /** Lower case words joined by `-` or `.`, at most 64 characters. */
  readonly name: string;
  /** One line of 1 to 200 characters. */
  readonly description: string;
  create(): Model | Promise<Model>;
}

/** The environment of a plugin's command. */
export interface PluginCommandContext {
  /** Writes to standard output unchanged. */
  print(text: string): void;
  /** Writes to standard error. */
  printError(text: string): void;
  /** Base of relative paths: an absolute path. */
  readonly directory: string;
  /** Aborted when the user ends the program. */
  readonly signal: AbortSignal;
}

/** A command for the command line, `holdfast NAME ...`. */
export interface PluginCommand {
  /** Lower case words joined by `-`, at most 32 characters. */
  readonly name: string;
  /** One line of 1 to 200 characters. */
  readonly description: string;
  /** `words`: the arguments after the name, unparsed. Returns the exit code, 0 to 125; an error is 1. */
  run(words: readonly string[], context: PluginCommandContext): number | Promise<number>;
}

/** The contributions of a plugin. */
export interface PluginContributions {
  readonly tools?: readonly Tool[];
  /** Folders of tool files, absolute: `new URL('./tools/', import.meta.url)`. Their tools are loaded by the host. */
  readonly toolFolders?: readonly URL[];
  /** Policies for the plugin's own tools. To guard other tools, publish a pack, which the host chooses. */
  readonly policies?: readonly Policy[];
  /** Packs offered as `<plugin>/<pack>`, in force if the host selects them. */
  readonly packs?: readonly Pack[];
  /** Sections of a prompt, with their tools and policies. */
  readonly sections?: readonly Section[];
  readonly slices?: readonly Slice[];
  readonly models?: readonly PluginModel[];
  readonly resources?: readonly ResourceDefinition[];
  readonly commands?: readonly PluginCommand[];
}

/** The argument of `definePlugin`. */
export interface PluginDefinition<Config, RawConfig = unknown> extends PluginContributions {
  /** Lower case words joined by `-`, at most 32 characters. */
  readonly name: string;
  /** The package's version, `1.2.3`. */
  readonly version: string;
  /** Its purpose: one line of 1 to 200 characters. */
  readonly description: string;
  /** Supported versions of Holdfast, as an npm range: `^1.2.0`. */
  readonly holdfast: string;
  /** Schema of an object whose keys are the plugin's options. Default: no options. */
  readonly configSchema?: Schema<Config, RawConfig>;
  /** Further contributions, created from validated options. An error disables only this plugin. */
  setup?(config: Config): PluginContributions;
}

/** Tools, policies, sections and more under one name and version. Frozen. */
export interface Plugin<Config = unknown> extends PluginContributions {
  readonly type: 'plugin';
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly holdfast: string;
  readonly configSchema: Schema<Config> | undefined;
  // A method, so that a Plugin<{ url: string }> is a Plugin; it only gets values of its own schema.
  setup?(config: Config): PluginContributions;
}

const kinds = [
  'tools',
  'toolFolders',
  'policies',
  'packs',
  'sections',
  'slices',
  'models',
  'resources',
  'commands',
] as const satisfies readonly (keyof PluginContributions)[];
const ownKeys = ['name', 'version', 'description', 'holdfast', 'configSchema', 'setup'];

/**
 * Declares a plugin. It has no effect until a host uses it.
 *
 * @throws HoldfastError `plugin.invalid`.
 */
export function definePlugin<Config = Readonly<Record<string, never>>, RawConfig = unknown>(
  definition: PluginDefinition<Config, RawConfig>,
): Plugin<Config> {
  checkOptions('definePlugin', definition, {}, { strays: 'misspelled' });
  const { name, version, description, holdfast, configSchema, setup } = definition;
  const refuse = (problem: string): never => {
    throw new HoldfastError('plugin.invalid', `The plugin \`${String(name).slice(0, 100)}\` ${problem}.`);
  };
  if (typeof name !== 'string' || !packageNamePattern.test(name))
    refuse(`needs a name that matches ${packageNamePattern.source}`);
  if (typeof version !== 'string' || !versionPattern.test(version)) refuse('needs a `version` such as 1.2.3');
  if (!isLine(description)) refuse('needs a `description`: one line of 1 to 200 characters');
  if (typeof holdfast !== 'string' || holdfast.trim() === '')
    refuse('needs `holdfast`, the supported versions of Holdfast, such as ^1.2.0');
  if (configSchema !== undefined && (typeof configSchema !== 'object' || configSchema === null))
    refuse('has a `configSchema` that is not a schema');
  if (setup !== undefined && typeof setup !== 'function') refuse('has a `setup` that is not a function');
  const known = new Set<string>([...ownKeys, ...kinds]);
  for (const key of Object.keys(definition)) {
    if (!known.has(key)) refuse(`has the unknown key \`${key.slice(0, 100)}\``);
  }
  return Object.freeze({
    type: 'plugin',
    name,
    version,
    description,
    holdfast,
    configSchema,
    ...(setup === undefined ? {} : { setup }),
    ...copyLists(definition, refuse),
  });
}

function copyLists(contributions: PluginContributions, refuse: (problem: string) => never): PluginContributions {
  const lists = kinds.flatMap((kind) => {
    const list: unknown = contributions[kind];
    if (list === undefined) return [];
    if (!Array.isArray(list)) return refuse(`has \`${kind}\` that is not a list`);
    return [[kind, Object.freeze([...list])] as const];
  });
  return Object.fromEntries(lists);
}

/** True if `value` was created by `definePlugin`, from any copy of this package. */
export function isPlugin(value: unknown): value is Plugin {
  return isPlainObject(value) && value['type'] === 'plugin' && typeof value['holdfast'] === 'string';
}
