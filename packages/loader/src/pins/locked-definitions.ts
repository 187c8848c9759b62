import type { JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { versionPattern } from '../imports/packages.ts';

/** The lock entry of a plugin or pack: its origin and all its declarations. */
export interface LockedDefinitions {
  /** Its declared version. */
  readonly version: string;
  /** The package that it was imported from, with its version. */
  readonly package: string | undefined;
  readonly packageVersion: string | undefined;
  /** SHA-256 in hexadecimal of the imported file. */
  readonly digest: string | undefined;
  /** By kind and name, `tool:push`; in canonical form. */
  readonly definitions: ReadonlyMap<string, JsonObject>;
}

/** By kind and name, `plugin:git` or `pack:shell-guard`. */
export type LockedPlugins = ReadonlyMap<string, LockedDefinitions>;

const idPattern = /^(?:plugin|pack):[a-z0-9][a-z0-9-]{0,31}$/;
const definitionPattern =
  /^(?:plugin|pack|tool|policy|section|slice|model|resource|command):[^\p{Cc}\u2028\u2029]{1,1000}$/u;
/** All locked keys except the definitions. */
export const sourceKeys: readonly (keyof Omit<LockedDefinitions, 'definitions'>)[] = [
  'package',
  'packageVersion',
  'version',
  'digest',
];
const required = ['version', 'definitions'];

/** Rejects with a problem, the rest of a sentence that starts with the path. */
export type Refuse = (at: string, problem: string) => never;

/** Reads the plugins and packs of a parsed lock. */
export function readLockedPlugins(value: unknown, refuse: Refuse): LockedPlugins {
  if (!isPlainObject(value)) return refuse('plugins', 'is not an object');
  const plugins = new Map<string, LockedDefinitions>();
  for (const id of Object.keys(value)) {
    const at = `plugins.${id}`;
    if (!isPluginId(id)) refuse(at, 'is not a valid name of a plugin or pack');
    plugins.set(
      id,
      readLockedDefinitions(value[id], (problem) => refuse(at, problem)),
    );
  }
  return plugins;
}

export function isPluginId(id: string): boolean {
  return idPattern.test(id);
}

/** Reads one of them. */
export function readLockedDefinitions(value: unknown, refuse: (problem: string) => never): LockedDefinitions {
  if (!isPlainObject(value)) return refuse('is not an object');
  for (const key of Object.keys(value)) {
    if (key !== 'definitions' && !sourceKeys.some((one) => one === key)) refuse(`has the unknown key \`${key}\``);
  }
  for (const key of required) if (!Object.hasOwn(value, key)) refuse(`lacks \`${key}\``);
  const { version, package: source, packageVersion, digest, definitions } = value;
  if (typeof version !== 'string' || !versionPattern.test(version)) return refuse('has an invalid `version`');
  if (!isAbsentOr(source, isPackageName)) return refuse('has an invalid `package` name');
  if (!isAbsentOr(packageVersion, (text) => versionPattern.test(text)))
    return refuse('has an invalid `packageVersion`');
  if (!isAbsentOr(digest, isHash)) return refuse('has a `digest` that is not a hash');
  if (!isPlainObject(definitions)) return refuse('has `definitions` that are not an object');
  const read = new Map<string, JsonObject>();
  for (const key of Object.keys(definitions)) {
    const definition = definitions[key];
    if (!definitionPattern.test(key)) refuse(`has a definition with the invalid name \`${key}\``);
    if (!isPlainObject(definition)) return refuse(`has the definition \`${key}\`, which is not an object`);
    // Parsed from JSON.
    read.set(key, definition as JsonObject);
  }
  return { version, package: source, packageVersion, digest, definitions: read };
}

function isAbsentOr(value: unknown, isGood: (text: string) => boolean): value is string | undefined {
  return value === undefined || (typeof value === 'string' && isGood(value));
}

/** The JSON of the plugins in a lock, in the same order for any input order. Fields keep their author's key order. */
export function toLockedPluginsJson(plugins: LockedPlugins): JsonObject {
  return sortMembers([...plugins].map(([id, locked]) => [id, toLockedDefinitionsJson(locked)]));
}

/** The JSON of one of them. */
export function toLockedDefinitionsJson(locked: LockedDefinitions): JsonObject {
  const source = sourceKeys.flatMap((key) => {
    const text = locked[key];
    return text === undefined ? [] : [[key, text] as const];
  });
  const sorted = [...locked.definitions].map(([key, fields]) => [key, sortMembers(Object.entries(fields))] as const);
  return sortMembers([...source, ['definitions', sortMembers(sorted)]]);
}

/** An object with sorted keys. */
export function sortMembers(members: Iterable<readonly [string, JsonObject[string]]>): JsonObject {
  return Object.fromEntries([...members].sort(([left], [right]) => (left < right ? -1 : 1)));
}

const hashPattern = /^[\da-f]{64}$/;
const packagePattern = /^(?:@[\w.~-]+\/)?(?![._])[\w.~-]+$/;

/** True for a SHA-256 in hexadecimal. */
export function isHash(text: string): boolean {
  return hashPattern.test(text);
}

/** True for a valid package name. */
export function isPackageName(text: string): boolean {
  return packagePattern.test(text);
}
