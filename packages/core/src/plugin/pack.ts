import { checkOptions } from '../basics/check-options.ts';
import { HoldfastError } from '../basics/errors.ts';
import { copyJson, deepFreeze, isPlainObject, type JsonObject } from '../basics/json.ts';
import type { Schema } from '../basics/schema.ts';
import { hasControl } from '../basics/unicode.ts';
import type { Policy } from '../call/policy.ts';

/** A named choice of options by a pack's author. */
export interface PackPreset<RawConfig = JsonObject> {
  /** Its purpose: one line of 1 to 200 characters. */
  readonly description: string;
  /** JSON. Omitted options have the defaults of `configSchema`. */
  readonly config: RawConfig;
  /** True for a dry run: the policies allow everything, and their decisions are recorded. Default false. */
  readonly observe?: boolean;
}

/** The argument of `definePack`. */
export interface PackDefinition<Config, RawConfig = unknown> {
  /** Lower case words joined by `-`, at most 32 characters. */
  readonly name: string;
  /** The package's version, `1.2.3`. */
  readonly version: string;
  /** Its protection: one line of 1 to 200 characters. */
  readonly description: string;
  /** Schema of an object whose keys are the pack's options. */
  readonly configSchema: Schema<Config, RawConfig>;
  /**
   * By name. `recommended` is the default, `strict` allows less; `observe`, if not given, is a dry run of `recommended`.
   */
  readonly presets: {
    readonly recommended: PackPreset<NoInfer<RawConfig>>;
    readonly strict: PackPreset<NoInfer<RawConfig>>;
    readonly observe?: PackPreset<NoInfer<RawConfig>>;
    readonly [name: string]: PackPreset<NoInfer<RawConfig>> | undefined;
  };
  /** Creates policies with distinct ids from validated options. */
  readonly policies: (config: Config) => readonly Policy[];
}

/** Policies published together, with their options and presets. Frozen. */
export interface Pack<Config = unknown> {
  readonly type: 'pack';
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly configSchema: Schema<Config>;
  /** JSON, printable; look names up with `Object.hasOwn`. */
  readonly presets: Readonly<Record<string, Required<PackPreset>>>;
  // A method, so that a Pack<{ maxCalls: number }> is a Pack; it only gets values of its own schema.
  policies(config: Config): readonly Policy[];
}

/** The pattern for names of packs and plugins. */
export const packageNamePattern: RegExp = /^[a-z0-9][a-z0-9-]{0,31}$/;
export const versionPattern: RegExp = /^\d{1,9}\.\d{1,9}\.\d{1,9}(?:[-+][0-9A-Za-z.+-]{1,100})?$/;

/**
 * Declares a pack of policies. It has no effect until a host uses its policies.
 *
 * @throws HoldfastError `pack.invalid`.
 */
export function definePack<Config, RawConfig = unknown>(definition: PackDefinition<Config, RawConfig>): Pack<Config> {
  checkOptions('definePack', definition, {}, { strays: 'misspelled' });
  const { name, version, description, configSchema, presets, policies } = definition;
  const refuse = (problem: string): never => {
    throw new HoldfastError('pack.invalid', `The pack \`${String(name).slice(0, 100)}\` ${problem}.`);
  };
  if (typeof name !== 'string' || !packageNamePattern.test(name))
    refuse(`needs a name that matches ${packageNamePattern.source}`);
  if (typeof version !== 'string' || !versionPattern.test(version)) refuse('needs a `version` such as 1.2.3');
  if (!isLine(description)) refuse('needs a `description`: one line of 1 to 200 characters');
  if (typeof configSchema !== 'object' || configSchema === null) refuse('needs a `configSchema`');
  if (typeof policies !== 'function') refuse('needs a function `policies`');
  if (!isPlainObject(presets)) refuse('needs `presets`');

  const read: Record<string, Required<PackPreset>> = {};
  for (const [key, preset] of Object.entries(presets)) {
    if (!packageNamePattern.test(key))
      refuse(`has the preset \`${key.slice(0, 100)}\`, a name that does not match ${packageNamePattern.source}`);
    if (preset !== undefined)
      read[key] = readPreset(preset, (problem) => refuse(`has the preset \`${key}\`, which ${problem}`));
  }
  const { recommended, strict } = read;
  if (recommended === undefined || strict === undefined) return refuse('needs the presets `recommended` and `strict`');
  read['observe'] ??= { ...recommended, description: 'A dry run of `recommended`.', observe: true };
  if (!read['observe'].observe) refuse('has a preset `observe` without `observe: true`');
  const pack = { name, version, description, configSchema, presets: deepFreeze(read), policies };
  return Object.freeze({ type: 'pack', ...pack });
}

/** True if `value` was created by `definePack`, from any copy of this package. */
export function isPack(value: unknown): value is Pack {
  return isPlainObject(value) && value['type'] === 'pack' && typeof value['policies'] === 'function';
}

function readPreset(preset: PackPreset<unknown>, refuse: (problem: string) => never): Required<PackPreset> {
  if (!isPlainObject(preset)) return refuse('is not an object');
  const { description, config, observe = false } = preset as PackPreset<unknown>;
  if (!isLine(description)) refuse('needs a `description`: one line of 1 to 200 characters');
  if (typeof observe !== 'boolean') refuse('has an `observe` that is neither true nor false');
  const copied = copyJson(config);
  if (!copied.ok) return refuse(`has a \`config\` that is not JSON: ${copied.problem}`);
  if (!isPlainObject(copied.value)) return refuse('has a `config` that is not an object');
  // A plain object, copied as JSON.
  return { description, config: copied.value as JsonObject, observe };
}

/** One line of 1 to 200 characters. */
export function isLine(text: unknown): text is string {
  return typeof text === 'string' && /^.{1,200}$/u.test(text) && !hasControl(text) && text.trim() !== '';
}
