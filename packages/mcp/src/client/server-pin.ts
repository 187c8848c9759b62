import type { Json, JsonObject } from '@holdfast/core';
import { isPlainObject, toCanonicalJson } from '@holdfast/core/internal';
import type { McpTools } from './imported.ts';
import { type ListedKind, lists } from './lists.ts';
import { type McpPins, type McpSeen, toPins } from './pins.ts';

/** How a server is started or reached. JSON. */
export type McpStart =
  | {
      readonly command: string;
      readonly args: readonly string[];
      /** Names of the variables that it gets, sorted; never their values. */
      readonly environment: readonly string[];
    }
  | {
      readonly url: string;
      /** Names of the headers that it is sent, sorted; never their values. */
      readonly headers: readonly string[];
    };

/** A server as a person has seen it: what a lock has of it. JSON. */
export type McpServerPin = McpStart & {
  /** The package that a package manager starts. Without `integrity` only its version is held. */
  readonly package?: { readonly name: string; readonly version: string; readonly integrity?: string };
  /** The script or program that it is started from, by its word in the command. */
  readonly file?: { readonly path: string; readonly sha256: string };
  /** As it calls itself. */
  readonly server: { readonly name: string; readonly version: string };
  /** Its words. Their digests are what is compared. */
  readonly seen: McpSeen;
};

/** The pin of a server as it is now, with what is known of the files that it is started from. */
export function toServerPin(
  start: McpStart,
  { server, seen }: Pick<McpTools, 'server' | 'seen'>,
  { package: locked, file }: { readonly [Key in 'package' | 'file']?: McpServerPin[Key] | undefined } = {},
): McpServerPin {
  const { name, version } = server.info;
  const from = { ...(locked === undefined ? {} : { package: locked }), ...(file === undefined ? {} : { file }) };
  return { ...start, ...from, server: { name, version }, seen };
}

/** The pins to which `mcpTools` holds the server. */
export function pinsOf({ server, seen }: McpServerPin): McpPins {
  return { ...toPins(seen), server };
}

/** True if a server would be started or reached in another way than its pin says. */
export function startsOtherwise(pinned: McpServerPin, now: McpStart): boolean {
  return compare('start', 'start', toStart(pinned), toStart(now)).length > 0;
}

/** One difference between a pinned server and the server now. Its texts are the server's: show them as untrusted. */
export interface McpDrift {
  readonly kind: 'start' | 'package' | 'file' | 'server' | 'instructions' | ListedKind;
  readonly name: string;
  readonly change: 'added' | 'removed' | 'changed';
  readonly before?: Json;
  readonly now?: Json;
}

const listedKinds = ['tools', 'resources', 'templates', 'prompts'] as const;

/** How a server differs from its pin, in order; empty if it does not. */
export function findDrift(pinned: McpServerPin, now: McpServerPin): readonly McpDrift[] {
  return [
    ...compare('start', 'start', toStart(pinned), toStart(now)),
    ...compare('package', 'package', pinned.package, now.package),
    ...compare('file', now.file?.path ?? 'file', pinned.file, now.file),
    ...compare('server', 'server', pinned.server, now.server),
    ...compare(
      'instructions',
      'instructions',
      pinned.seen.instructions ?? undefined,
      now.seen.instructions ?? undefined,
    ),
    ...listedKinds.flatMap((kind) => {
      const [before, after] = [byName(kind, pinned.seen), byName(kind, now.seen)];
      const names = [...new Set([...before.keys(), ...after.keys()])].sort();
      return names.flatMap((name) => compare(kind, name, before.get(name), after.get(name)));
    }),
  ];
}

function toStart(start: McpStart): Json {
  if ('url' in start) return { url: start.url, headers: start.headers.toSorted() };
  return { command: start.command, args: start.args, environment: start.environment.toSorted() };
}

function compare(kind: McpDrift['kind'], name: string, before?: Json, now?: Json): readonly McpDrift[] {
  if (before === undefined && now === undefined) return [];
  if (before === undefined) return [{ kind, name, change: 'added', now: now ?? null }];
  if (now === undefined) return [{ kind, name, change: 'removed', before }];
  return toCanonicalJson(before) === toCanonicalJson(now) ? [] : [{ kind, name, change: 'changed', before, now }];
}

function byName(kind: ListedKind, seen: McpSeen): ReadonlyMap<string, JsonObject> {
  return new Map(seen[kind].map((listed) => [String(listed[lists[kind].id]), listed]));
}

/** Reads a pin from a lock; `undefined` if it is none. */
export function readServerPin(value: unknown): McpServerPin | undefined {
  if (!isPlainObject(value)) return undefined;
  const { command, args, environment, url, headers, package: locked, file, server, seen } = value;
  const isProgram = typeof command === 'string' && areTexts(args) && areTexts(environment) && url === undefined;
  const isAddress = typeof url === 'string' && areTexts(headers) && command === undefined;
  const holds =
    (isProgram || isAddress) &&
    (locked === undefined || hasTexts(locked, ['name', 'version'])) &&
    (file === undefined || hasTexts(file, ['path', 'sha256'])) &&
    hasTexts(server, ['name', 'version']) &&
    isSeen(seen);
  return holds ? (value as unknown as McpServerPin) : undefined;
}

function isSeen(value: unknown): boolean {
  if (!isPlainObject(value)) return false;
  const { instructions } = value;
  if (instructions !== null && typeof instructions !== 'string') return false;
  return listedKinds.every((kind) => {
    const all = value[kind];
    return Array.isArray(all) && all.every((one) => hasTexts(one, [lists[kind].id]));
  });
}

function hasTexts(value: unknown, keys: readonly string[]): boolean {
  return isPlainObject(value) && keys.every((key) => typeof value[key] === 'string');
}

function areTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
