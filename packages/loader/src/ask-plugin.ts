import {
  describeThrown,
  HoldfastError,
  isPlainObject,
  type JsonObject,
  type Plugin,
  type PluginContributions,
} from '@holdfast/core';
import { type CompiledSchema, compileSchema, describeIssues } from '@holdfast/schema';
import { makeVisible } from './hidden-text.ts';

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
export function askPlugin(plugin: Plugin, config: JsonObject): PluginContributions {
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
