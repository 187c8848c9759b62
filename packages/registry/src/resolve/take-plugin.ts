import {
  definePlugin,
  HoldfastError,
  type JsonObject,
  type Pack,
  type Plugin,
  type PluginContributions,
} from '@holdfast/core';
import { copyJson, describeThrown, toReason } from '@holdfast/core/internal';
import type { Problem, ToolOrigin } from '@holdfast/core/types';
import { packPolicies } from '@holdfast/policy';
import { compileSchema, describeIssues } from '@holdfast/schema';
import type { Claim } from './claims.ts';
import { findVersionProblem } from './holdfast-version.ts';
import { HostMistake, invalid, readOptions, readTexts, type Winners } from './host-options.ts';
import { type PlacedPlugin, placePlugin } from './place-plugin.ts';
import { type ContributionOptions, type Contributions, readContributions } from './read-contributions.ts';
import type {
  PackageSource,
  Provenance,
  RegisteredPack,
  RegisteredPlugin,
  RegistryProblem,
  UsePackOptions,
  UsePluginOptions,
} from './types.ts';

/** A plugin with its active contributions, or the reason why it is left out. */
export type TakenPlugin =
  | {
      readonly type: 'plugin';
      readonly claims: readonly Claim[];
      readonly registered: RegisteredPlugin;
      readonly contributions: Contributions;
      readonly placed: PlacedPlugin;
    }
  | {
      readonly type: 'left-out';
      readonly claims: readonly Claim[];
      readonly registered: RegisteredPlugin;
      readonly problem: RegistryProblem;
    };

const prefixPattern = /^[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*$/;

/**
 * Reads a plugin once and runs its `setup`. An error in the plugin becomes its problem; an error of the host is thrown.
 *
 * @throws HoldfastError `registry.invalid`, `plugin.invalid`.
 */
export function takePlugin(plugin: Plugin, options: UsePluginOptions | undefined, winners: Winners): TakenPlugin {
  const keys = ['prefix', 'config', 'source', 'gateUndeclared'] as const;
  const { prefix, config, source, gateUndeclared = false } = readOptions('The options of a plugin', options, keys);
  checkPrefix(prefix);
  const { name, version, description, holdfast } = readHead(plugin);
  const provenance = toProvenance({ name, version }, source);
  const about = { name, version, description, holdfast, prefix, provenance };
  const leaveOut = ({ message, ...kind }: Problem): TakenPlugin => {
    const problem = Object.freeze({ code: kind.code, ...toReason(kind), message, plugin: name });
    // A plugin that was left out still takes its name: a second one would be an error.
    const claims = [pluginClaim(about)];
    return { type: 'left-out', claims, problem, registered: Object.freeze({ ...about, state: 'left-out', problem }) };
  };
  const what = `The plugin \`${name}\` ${version}`;
  const mismatch = findVersionProblem(what, holdfast);
  if (mismatch !== undefined) return leaveOut(mismatch);
  try {
    const contributions = contributionsOf(plugin, config, { origin: toOrigin(provenance), gateUndeclared });
    if (contributions.toolFolders.length > 0) {
      const message = `${what} is left out: its tool folders are not loaded. Use the result of \`loadPlugin\` from \`@holdfast/loader\`.`;
      return leaveOut({ code: 'plugin.failed', reason: 'folders.unloaded', message });
    }
    const placed = placePlugin(about, contributions, winners);
    const registered = Object.freeze({ ...about, state: 'in-force' as const, problem: undefined });
    return { type: 'plugin', claims: [pluginClaim(about), ...placed.claims], registered, contributions, placed };
  } catch (thrown) {
    if (thrown instanceof HostMistake) throw thrown.error;
    const message = `${what} is left out: ${describeThrown(thrown).slice(0, 2_000)}`;
    return leaveOut({ code: 'plugin.failed', message });
  }
}

function pluginClaim({ name, version }: Pick<Plugin, 'name' | 'version'>): Claim {
  return { kind: 'plugin', name, owner: `the plugin \`${name}\` ${version}` };
}

/** With a digest, an approval of the tool applies only to this code. */
function toOrigin({ plugin, package: packageName, digest }: Provenance): ToolOrigin | undefined {
  if (packageName === undefined && digest === undefined) return undefined;
  return Object.freeze({ kind: 'plugin', source: packageName ?? plugin, ...(digest === undefined ? {} : { digest }) });
}

/** @throws HoldfastError `registry.invalid`. */
export function checkPrefix(prefix: unknown): void {
  if (prefix === undefined) return;
  if (typeof prefix === 'string' && prefix.length <= 32 && prefixPattern.test(prefix)) return;
  throw new HoldfastError(
    'registry.invalid',
    `The prefix ${typeof prefix === 'string' ? `\`${prefix.slice(0, 100)}\`` : `of type ${typeof prefix}`} must be lower-case words joined by \`_\` or \`-\`, at most 32 characters.`,
    { data: { reason: 'prefix.invalid' } },
  );
}

/** @throws HoldfastError `registry.invalid`. */
function toProvenance(
  { name, version }: { readonly name: string; readonly version: string },
  source: PackageSource | undefined,
): Provenance {
  const known = readTexts('`source`', readOptions('`source`', source, ['package', 'version', 'file', 'digest']));
  const { package: packageName, version: packageVersion = version, file, digest } = known;
  return Object.freeze({
    plugin: name,
    version,
    ...(packageName === undefined ? {} : { package: packageName }),
    ...(packageVersion === version ? {} : { packageVersion }),
    ...(file === undefined ? {} : { file }),
    ...(digest === undefined ? {} : { digest }),
  });
}

/** The head identifies a plugin in its problems, so it must be readable. */
function readHead(plugin: Plugin): Pick<Plugin, 'name' | 'version' | 'description' | 'holdfast'> {
  try {
    const { name, version, description, holdfast } = plugin;
    // The plugin may be handwritten instead of made by `definePlugin`.
    return definePlugin({ name, version, description, holdfast });
  } catch (thrown) {
    throw invalid(`The argument of \`use\` is not a plugin: ${describeThrown(thrown)}`, thrown);
  }
}

function contributionsOf(
  plugin: Plugin,
  config: JsonObject | undefined,
  contributing: ContributionOptions,
): Contributions {
  // Reads each property once.
  const { type: _type, configSchema, ...definition } = plugin;
  const read = definePlugin(configSchema === undefined ? definition : { ...definition, configSchema });
  const options = readConfig(read, config);
  const { setup, ...still } = read;
  const own = readContributions(still, contributing);
  const more =
    setup === undefined ? undefined : readContributions(checkSetup(read, setup.call(plugin, options)), contributing);
  return more === undefined ? own : join(own, more);
}

function readConfig({ name, version, configSchema }: Plugin, config: JsonObject | undefined): unknown {
  const refuse = (problem: string): never => {
    throw new HostMistake(
      new HoldfastError('plugin.invalid', `Invalid options for the plugin \`${name}\` ${version}: ${problem}`, {
        data: { reason: 'config', plugin: name },
      }),
    );
  };
  const copied = copyJson(config ?? {});
  if (!copied.ok) return refuse(`they are not JSON: ${copied.problem}.`);
  if (configSchema === undefined) {
    const keys = Object.keys(copied.value ?? {});
    return keys.length === 0 ? copied.value : refuse(`it takes none, got \`${String(keys[0]).slice(0, 100)}\`.`);
  }
  const validation = compileSchema(configSchema).validate(copied.value);
  return validation.ok ? validation.value : refuse(describeIssues(validation.issues));
}

function checkSetup(plugin: Plugin, made: unknown): PluginContributions {
  if (typeof made !== 'object' || made === null || Array.isArray(made))
    throw new Error('its `setup` must return an object of contributions');
  if ('then' in made && typeof made.then === 'function') {
    // Nothing awaits it; a rejection must not end the process.
    void Promise.allSettled([Promise.resolve(made)]);
    throw new Error('its `setup` returned a promise: it must be synchronous');
  }
  // Checks the keys like the plugin's own contributions; its head is not a contribution.
  const { name, version, description, holdfast } = plugin;
  const head = { name, version, description, holdfast };
  const odd = [...Object.keys(head), 'configSchema', 'setup'].find((key) => Object.hasOwn(made, key));
  if (odd !== undefined) throw new Error(`its \`setup\` returned \`${odd}\`, which is not a contribution`);
  return definePlugin({ ...made, ...head });
}

function join(own: Contributions, more: Contributions): Contributions {
  return {
    tools: [...own.tools, ...more.tools],
    toolFolders: [...own.toolFolders, ...more.toolFolders],
    policies: [...own.policies, ...more.policies],
    packs: [...own.packs, ...more.packs],
    sections: [...own.sections, ...more.sections],
    slices: [...own.slices, ...more.slices],
    models: [...own.models, ...more.models],
    resources: [...own.resources, ...more.resources],
    commands: [...own.commands, ...more.commands],
  };
}

/** A pack that a host uses. */
export interface TakenPack {
  readonly type: 'pack';
  readonly registered: RegisteredPack;
  readonly claims: readonly Claim[];
}

/** @throws HoldfastError `registry.invalid`, and the errors of `packPolicies`. */
export function takePack(pack: Pack, options?: UsePackOptions): TakenPack {
  const known = ['preset', 'config', 'observe', 'id', 'source'] as const;
  const { source, ...packOptions } = readOptions('The options of a pack', options, known);
  const policies = Object.freeze([...packPolicies(pack, packOptions)]);
  const { name, version, presets } = pack;
  const { preset = 'recommended', id = name } = packOptions;
  const observe = packOptions.observe ?? presets[preset]?.observe ?? false;
  const provenance = toProvenance({ name, version }, source);
  const owner = `the pack \`${name}\` ${version}`;
  return {
    type: 'pack',
    registered: Object.freeze({ id, pack, preset, observe, policies, provenance }),
    claims: [
      { kind: 'pack', name: id, owner },
      { kind: 'pack-version', name, owner, value: `${name} ${version}` },
      ...policies.map((policy): Claim => ({ kind: 'policy', name: policy.id, owner })),
    ],
  };
}
