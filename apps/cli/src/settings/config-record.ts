import { HoldfastError, type JsonObject } from '@holdfast/core';
import { digestJson } from '@holdfast/core/internal';
import type { PackageSource } from '@holdfast/registry';
import { listRules } from '@holdfast/registry/config';
import * as v from 'valibot';
import type { Equipment } from './equipment.ts';

/** The effective configuration of a run, as recorded in its log: options only as a digest, because they may contain keys. */
export interface ConfigRecord {
  /** The host's file, relative to the directory of the run; null: none. */
  readonly file: string | null;
  readonly plugins: readonly RecordedPlugin[];
  readonly packs: readonly RecordedPack[];
  /** Absent: all tools. */
  readonly allowTools?: readonly string[] | undefined;
  readonly denyTools: readonly string[];
  /** `host ask.runs git push`: the layer, the answer and what calls do. Absent: none. */
  readonly rules?: readonly string[] | undefined;
  /** The plugin that keeps a name used by several plugins. */
  readonly winners: Readonly<Record<string, string>>;
  /** True if plugins and packs must be locked, because they were when the run started. */
  readonly locked: boolean;
}

/** The origin of an import. */
interface RecordedSource {
  readonly package?: string | undefined;
  /** SHA-256 of the file. */
  readonly digest?: string | undefined;
}

export interface RecordedPlugin extends RecordedSource {
  readonly name: string;
  readonly version: string;
  readonly prefix?: string | undefined;
  /** Digest of the options; absent: none. */
  readonly options?: string | undefined;
}

export interface RecordedPack extends RecordedSource {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly preset: string;
  readonly observe?: boolean | undefined;
  /** Like a plugin's. */
  readonly options?: string | undefined;
}

const text = v.optional(v.string());
export const configRecord: v.GenericSchema<unknown, ConfigRecord> = v.object({
  file: v.nullable(v.string()),
  plugins: v.array(
    v.object({ name: v.string(), version: v.string(), prefix: text, options: text, package: text, digest: text }),
  ),
  packs: v.array(
    v.object({
      id: v.string(),
      name: v.string(),
      version: v.string(),
      preset: v.string(),
      observe: v.optional(v.boolean()),
      options: text,
      package: text,
      digest: text,
    }),
  ),
  allowTools: v.optional(v.array(v.string())),
  denyTools: v.array(v.string()),
  rules: v.optional(v.array(v.string())),
  winners: v.record(v.string(), v.string()),
  locked: v.boolean(),
});

/** The effective configuration now; `undefined` if nothing is configured. */
export async function toConfigRecord({ settings, used, keeper }: Equipment): Promise<ConfigRecord | undefined> {
  const { effective, file, found } = settings;
  if (!found) return undefined;
  const { allowTools, denyTools, winners } = effective;
  const rules = effective.rules.flatMap(({ value, origin: { layer } }) =>
    listRules(value).map((rule) => `${layer} ${rule.key} ${String(rule.value)}`),
  );
  return {
    file,
    plugins: used.plugins.map(({ name, version, prefix, configDigest, source }) => ({
      name,
      version,
      ...(prefix === undefined ? {} : { prefix }),
      ...(configDigest === undefined ? {} : { options: configDigest }),
      ...toSource(source),
    })),
    packs: await Promise.all(
      used.packs.map(async ({ id, name, version, preset, observe, config, source }) => ({
        id,
        name,
        version,
        preset,
        ...(observe === undefined ? {} : { observe }),
        ...(await toOptions(config)),
        ...toSource(source),
      })),
    ),
    ...(allowTools === undefined ? {} : { allowTools: [...allowTools.value] }),
    denyTools: denyTools.map(({ value }) => value),
    ...(rules.length === 0 ? {} : { rules }),
    winners: Object.fromEntries([...winners].map(([name, { value }]) => [name, value])),
    locked: keeper.isKept,
  };
}

function toSource({ package: name, digest }: PackageSource): RecordedSource {
  return { ...(name === undefined ? {} : { package: name }), ...(digest === undefined ? {} : { digest }) };
}

async function toOptions(config: JsonObject | undefined): Promise<{ readonly options?: string }> {
  return config === undefined || Object.keys(config).length === 0 ? {} : { options: await digestJson(config) };
}

/**
 * Checks that a run is resumed with its original configuration. Additions and stricter lists are accepted.
 *
 * @throws HoldfastError `run.config.changed`.
 */
export function checkSameConfig(before: ConfigRecord, now: ConfigRecord | undefined): void {
  const changes = findChanges(before, now ?? nothing);
  if (changes.length === 0) return;
  throw new HoldfastError(
    'run.config.changed',
    `The configuration has changed since the run started: ${changes.join('; ')}. Nothing has run.`,
    {
      data: {
        changes: [...changes],
        hint: 'Restore it, pass the original file with `--config`, or accept the current configuration with `--accept-config`.',
      },
    },
  );
}

const nothing: ConfigRecord = { file: null, plugins: [], packs: [], denyTools: [], winners: {}, locked: false };

function findChanges(before: ConfigRecord, now: ConfigRecord): readonly string[] {
  const [plugins, packs] = [
    new Map(now.plugins.map((plugin) => [plugin.name, plugin])),
    new Map(now.packs.map((pack) => [pack.id, pack])),
  ];
  const denied = new Set(now.denyTools);
  const allowed = new Set(before.allowTools);
  const freed = before.denyTools.filter((name) => !denied.has(name));
  const added = now.allowTools?.filter((name) => !allowed.has(name)).map((name) => `\`${name}\``) ?? ['every tool'];
  return [
    ...before.plugins.flatMap((plugin) => describe(`the plugin \`${plugin.name}\``, plugin, plugins.get(plugin.name))),
    ...before.packs.flatMap((pack) => describe(`the pack \`${pack.id}\``, pack, packs.get(pack.id))),
    ...describeWinners(new Map(Object.entries(before.winners)), new Map(Object.entries(now.winners))),
    ...(freed.length === 0 ? [] : [`no longer denied: ${freed.map((name) => `\`${name}\``).join(', ')}`]),
    ...describeRules(before.rules ?? [], now.rules ?? []),
    ...(before.allowTools === undefined || added.length === 0 ? [] : [`newly allowed: ${added.join(', ')}`]),
  ];
}

/** A rule may be added, but not an exception; and none may be missing but an exception. */
function describeRules(before: readonly string[], now: readonly string[]): readonly string[] {
  const isException = (rule: string): boolean => / allow\.\w+ /.test(rule);
  const gone = before.filter((rule) => !isException(rule) && !now.includes(rule));
  const added = now.filter((rule) => isException(rule) && !before.includes(rule));
  return [
    ...gone.map((rule) => `the rule \`${rule}\` is missing`),
    ...added.map((rule) => `the exception \`${rule}\` is new`),
  ];
}

/** Every change counts: a name may now refer to another plugin's tool. */
function describeWinners(before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): readonly string[] {
  return [...new Set([...before.keys(), ...now.keys()])].flatMap((name) => {
    const [was = 'none', is = 'none'] = [before.get(name), now.get(name)];
    return was === is ? [] : [`\`winners\` assigns \`${name}\` to \`${is}\` instead of \`${was}\``];
  });
}

function describe(what: string, before: RecordedPlugin | RecordedPack, now: object | undefined): readonly string[] {
  if (now === undefined) return [`${what} is missing`];
  const fields = new Map<string, unknown>(Object.entries(now));
  const recorded = new Map<string, unknown>(Object.entries(before));
  const changed = [...new Set([...recorded.keys(), ...fields.keys()])].flatMap((field) => {
    const [was, is] = [recorded.get(field), fields.get(field)];
    if (was === is) return [];
    if (field === 'options') return ['has different options'];
    if (field === 'digest') return ['has a different file'];
    return [`has the ${field} \`${String(is ?? 'none')}\` instead of \`${String(was ?? 'none')}\``];
  });
  return changed.length === 0 ? [] : [`${what} ${changed.join(' and ')}`];
}
