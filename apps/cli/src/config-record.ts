import { digestJson, HoldfastError, type JsonObject } from '@holdfast/core';
import * as v from 'valibot';
import type { Equipment } from './equipment.ts';

/** What of a configuration was in force when a run began, as its log keeps it: options only as a digest, because they may be keys. */
export interface ConfigRecord {
  /** The host's file, from the directory of the run; null: none. */
  readonly file: string | null;
  readonly plugins: readonly RecordedPlugin[];
  readonly packs: readonly RecordedPack[];
  /** Absent: all tools. */
  readonly allowTools?: readonly string[] | undefined;
  readonly denyTools: readonly string[];
  /** Whether plugins and packs have to be locked: they were when the run began. */
  readonly locked: boolean;
}

export interface RecordedPlugin {
  readonly name: string;
  readonly version: string;
  readonly prefix?: string | undefined;
  /** Digest of the options; absent: there were none. */
  readonly options?: string | undefined;
}

export interface RecordedPack {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly preset: string;
  readonly observe?: boolean | undefined;
  /** As of a plugin. */
  readonly options?: string | undefined;
}

const digest = v.optional(v.string());
export const configRecord: v.GenericSchema<unknown, ConfigRecord> = v.object({
  file: v.nullable(v.string()),
  plugins: v.array(
    v.object({ name: v.string(), version: v.string(), prefix: v.optional(v.string()), options: digest }),
  ),
  packs: v.array(
    v.object({
      id: v.string(),
      name: v.string(),
      version: v.string(),
      preset: v.string(),
      observe: v.optional(v.boolean()),
      options: digest,
    }),
  ),
  allowTools: v.optional(v.array(v.string())),
  denyTools: v.array(v.string()),
  locked: v.boolean(),
});

/** What is in force now; `undefined` where nothing was configured. */
export async function toConfigRecord({ settings, used, keeper }: Equipment): Promise<ConfigRecord | undefined> {
  const { effective, file, found } = settings;
  if (!found) return undefined;
  const { allowTools, denyTools } = effective;
  return {
    file,
    plugins: used.plugins.map(({ name, version, prefix, configDigest }) => ({
      name,
      version,
      ...(prefix === undefined ? {} : { prefix }),
      ...(configDigest === undefined ? {} : { options: configDigest }),
    })),
    packs: await Promise.all(
      used.packs.map(async ({ id, name, version, preset, observe, config }) => ({
        id,
        name,
        version,
        preset,
        ...(observe === undefined ? {} : { observe }),
        ...(await toOptions(config)),
      })),
    ),
    ...(allowTools === undefined ? {} : { allowTools: [...allowTools.value] }),
    denyTools: denyTools.map(({ value }) => value),
    locked: keeper.isKept,
  };
}

async function toOptions(config: JsonObject | undefined): Promise<{ readonly options?: string }> {
  return config === undefined || Object.keys(config).length === 0 ? {} : { options: await digestJson(config) };
}

/**
 * Makes sure that a run is gone on with by what it was begun with. What is new beside that, and lists that let less through, are no matter.
 *
 * @throws HoldfastError `run.config.changed`.
 */
export function checkSameConfig(before: ConfigRecord, now: ConfigRecord | undefined): void {
  const changes = findChanges(before, now ?? { file: null, plugins: [], packs: [], denyTools: [], locked: false });
  if (changes.length === 0) return;
  throw new HoldfastError(
    'run.config.changed',
    `The run was begun with another configuration: ${changes.join('; ')}. Nothing is run.`,
    {
      data: {
        changes: [...changes],
        hint: 'Put it back as it was, name the file with `--config`, or go on with what there is now by `--accept-config`.',
      },
    },
  );
}

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
    ...(freed.length === 0 ? [] : [`no longer denied: ${freed.map((name) => `\`${name}\``).join(', ')}`]),
    ...(before.allowTools === undefined || added.length === 0 ? [] : [`newly allowed: ${added.join(', ')}`]),
  ];
}

function describe(what: string, before: RecordedPlugin | RecordedPack, now: object | undefined): readonly string[] {
  if (now === undefined) return [`${what} is not there`];
  const fields = new Map<string, unknown>(Object.entries(now));
  const recorded = new Map<string, unknown>(Object.entries(before));
  const changed = [...new Set([...recorded.keys(), ...fields.keys()])].flatMap((field) => {
    const [was, is] = [recorded.get(field), fields.get(field)];
    if (was === is) return [];
    if (field === 'options') return ['has other options'];
    return [`has the ${field} \`${String(is ?? 'none')}\` in place of \`${String(was ?? 'none')}\``];
  });
  return changed.length === 0 ? [] : [`${what} ${changed.join(' and ')}`];
}
