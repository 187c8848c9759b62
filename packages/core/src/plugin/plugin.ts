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

/** A model that a plugin brings along. Nothing is made until a host asks for it. */
export interface PluginModel {
  /** Lower case words joined by `-` or `.`, 64 characters at most. */
  readonly name: string;
  /** One line of 1 to 200 characters. */
  readonly description: string;
  create(): Model | Promise<Model>;
}

/** What a command of a plugin may use. */
export interface PluginCommandContext {
  /** Writes to standard output as it is. */
  print(text: string): void;
  /** Writes to standard error. */
  printError(text: string): void;
  /** Where relative paths begin: an absolute path. */
  readonly directory: string;
  /** Fires when the user ends the program. */
  readonly signal: AbortSignal;
}

/** A command for the command line, `holdfast NAME ...`. */
export interface PluginCommand {
  /** Lower case words joined by `-`, 32 characters at most. */
  readonly name: string;
  /** One line of 1 to 200 characters. */
  readonly description: string;
  /** `words` is what stands behind the name, as it was given. Answers the exit code, 0 to 125; throwing is 1. */
  run(words: readonly string[], context: PluginCommandContext): number | Promise<number>;
}

/** What a plugin brings along. */
export interface PluginContributions {
  readonly tools?: readonly Tool[];
  /** Folders of tool files, absolute: `new URL('./tools/', import.meta.url)`. Their tools are loaded by the host. */
  readonly toolFolders?: readonly URL[];
  /** In force for the plugin's own tools. What guards the tools of others is a pack, which a host has to choose. */
  readonly policies?: readonly Policy[];
  /** Offered to the host by `<plugin>/<pack>`; in force when it takes them. */
  readonly packs?: readonly Pack[];
  /** Parts of a prompt, with tools and policies of their own. */
  readonly sections?: readonly Section[];
  readonly slices?: readonly Slice[];
  readonly models?: readonly PluginModel[];
  readonly resources?: readonly ResourceDefinition[];
  readonly commands?: readonly PluginCommand[];
}

/** What `definePlugin` takes. */
export interface PluginDefinition<Config, RawConfig = unknown> extends PluginContributions {
  /** Lower case words joined by `-`, 32 characters at most. */
  readonly name: string;
  /** `1.2.3`, as of its package. */
  readonly version: string;
  /** What it is for: one line of 1 to 200 characters. */
  readonly description: string;
  /** The versions of Holdfast that it works with, as npm writes ranges: `^1.2.0`. */
  readonly holdfast: string;
  /** Of an object, whose keys are the plugin's options. Default: it has none. */
  readonly configSchema?: Schema<Config, RawConfig>;
  /** What it brings along beside the rest, for options that have met `configSchema`. Throwing costs this plugin, and no other. */
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
  // A method, so that a Plugin<{ url: string }> is a Plugin; it only ever gets what its own schema made.
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
 * Declares a plugin. Nothing of it is in force until a host uses it.
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
    refuse('needs `holdfast`, the versions of Holdfast that it works with, such as ^1.2.0');
  if (configSchema !== undefined && (typeof configSchema !== 'object' || configSchema === null))
    refuse('has a `configSchema` that is none');
  if (setup !== undefined && typeof setup !== 'function') refuse('has a `setup` that is no function');
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
    if (!Array.isArray(list)) return refuse(`has \`${kind}\` that are no list`);
    return [[kind, Object.freeze([...list])] as const];
  });
  return Object.fromEntries(lists);
}

/** Whether `value` was made by `definePlugin`, of any copy of this package. */
export function isPlugin(value: unknown): value is Plugin {
  return isPlainObject(value) && value['type'] === 'plugin' && typeof value['holdfast'] === 'string';
}
