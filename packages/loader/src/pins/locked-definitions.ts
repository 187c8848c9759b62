import { isPlainObject, type JsonObject } from '@holdfast/core';
import { versionPattern } from '../imports/packages.ts';

/** A plugin or pack as a lock knows it: from where it came, and everything that it declares. */
export interface LockedDefinitions {
  /** As it says itself. */
  readonly version: string;
  /** The package that it was imported from, and its version there. */
  readonly package: string | undefined;
  readonly packageVersion: string | undefined;
  /** SHA-256 in hexadecimal of the file that was imported. */
  readonly digest: string | undefined;
  /** By kind and name, `tool:push`; what is the same is said the same way. */
  readonly definitions: ReadonlyMap<string, JsonObject>;
}

/** By kind and name, `plugin:git` or `pack:shell-guard`. */
export type LockedPlugins = ReadonlyMap<string, LockedDefinitions>;

const idPattern = /^(?:plugin|pack):[a-z0-9][a-z0-9-]{0,31}$/;
const definitionPattern =
  /^(?:plugin|pack|tool|policy|section|slice|model|resource|command):[^\p{Cc}\u2028\u2029]{1,1000}$/u;
/** All that is locked beside the definitions. */
export const sourceKeys: readonly (keyof Omit<LockedDefinitions, 'definitions'>)[] = [
  'package',
  'packageVersion',
  'version',
  'digest',
];
const required = ['version', 'definitions'];

/** What is wrong, as the rest of a sentence that begins with the place. */
export type Refuse = (at: string, problem: string) => never;

/** Reads what a lock says of plugins and packs, of JSON that was parsed already. */
export function readLockedPlugins(value: unknown, refuse: Refuse): LockedPlugins {
  if (!isPlainObject(value)) return refuse('plugins', 'is no object');
  const plugins = new Map<string, LockedDefinitions>();
  for (const id of Object.keys(value)) {
    const at = `plugins.${id}`;
    if (!isPluginId(id)) refuse(at, 'is no name of a plugin or a pack');
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
  if (!isPlainObject(value)) return refuse('is no object');
  for (const key of Object.keys(value)) {
    if (key !== 'definitions' && !sourceKeys.some((one) => one === key)) refuse(`has the unknown key \`${key}\``);
  }
  for (const key of required) if (!Object.hasOwn(value, key)) refuse(`has no \`${key}\``);
  const { version, package: source, packageVersion, digest, definitions } = value;
  if (typeof version !== 'string' || !versionPattern.test(version)) return refuse('has a `version` that is none');
  if (!isAbsentOr(source, isPackageName)) return refuse('has a `package` that is no name of one');
  if (!isAbsentOr(packageVersion, (text) => versionPattern.test(text)))
    return refuse('has a `packageVersion` that is none');
  if (!isAbsentOr(digest, isHash)) return refuse('has a `digest` that is no hash');
  if (!isPlainObject(definitions)) return refuse('has `definitions` that are no object');
  const read = new Map<string, JsonObject>();
  for (const key of Object.keys(definitions)) {
    const definition = definitions[key];
    if (!definitionPattern.test(key)) refuse(`has the definition \`${key}\`, which is no name of one`);
    if (!isPlainObject(definition)) return refuse(`has the definition \`${key}\`, which is no object`);
    // Came from JSON.
    read.set(key, definition as JsonObject);
  }
  return { version, package: source, packageVersion, digest, definitions: read };
}

function isAbsentOr(value: unknown, isGood: (text: string) => boolean): value is string | undefined {
  return value === undefined || (typeof value === 'string' && isGood(value));
}

/** The JSON of a lock's part, in one order whatever order they come in. What stands within a field keeps the order of its author. */
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

/** As an object whose keys are in order. */
export function sortMembers(members: Iterable<readonly [string, JsonObject[string]]>): JsonObject {
  return Object.fromEntries([...members].sort(([left], [right]) => (left < right ? -1 : 1)));
}

const hashPattern = /^[\da-f]{64}$/;
const packagePattern = /^(?:@[\w.~-]+\/)?(?![._])[\w.~-]+$/;

/** Whether a text is a SHA-256 in hexadecimal, as a lock has it. */
export function isHash(text: string): boolean {
  return hashPattern.test(text);
}

/** Whether a text is the name of a package, as a lock has it. */
export function isPackageName(text: string): boolean {
  return packagePattern.test(text);
}
