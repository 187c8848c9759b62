import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import { HoldfastError, type Json } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { McpPins, McpTools } from '@holdfast/mcp';
import { readText, writeText } from '../guard/files.ts';
import { guardFolder } from '../guard/place.ts';
import type { Host } from '../terminal/host.ts';

/** A program that is started, or an address with the names of the headers to send: their values are in variables of that name. */
export type ServerPlace =
  | { readonly command: string; readonly args: readonly string[] }
  | { readonly url: string; readonly headers: readonly string[] };

/** A server as a client uses it. */
export type ServerEntry = { readonly name: string } & ServerPlace;

/** A server as a person has seen it. Names and values of its environment are not part of it. */
export type PinnedServer = ServerEntry & {
  readonly version: 1;
  readonly server: { readonly name: string; readonly version: string };
  readonly pins: McpPins;
  /** The texts behind the pins, for showing what changed. */
  readonly seen: Json;
};

export function toPinned(entry: ServerEntry, { server, pins, seen }: McpTools): PinnedServer {
  return {
    ...entry,
    version: 1,
    server: { name: server.info.name, version: server.info.version },
    pins,
    seen: { server: { name: server.info.name, version: server.info.version }, ...seen },
  };
}

/** `undefined`: not pinned. @throws HoldfastError `mcp.pins.invalid`, `guard.settings.invalid`. */
export async function readPinned(entry: ServerEntry, host: Host): Promise<PinnedServer | undefined> {
  const path = pinsPath(entry, host);
  const text = await readText(path);
  if (text === undefined) return undefined;
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    found = undefined;
  }
  if (isPinned(found)) return found;
  throw new HoldfastError(
    'mcp.pins.invalid',
    `\`${path}\` does not hold the pins of a server. Delete it, and pin the server again.`,
    {
      data: { path },
    },
  );
}

function isPinned(found: unknown): found is PinnedServer {
  if (!isPlainObject(found) || found['version'] !== 1) return false;
  const { pins } = found;
  if (!isPlainObject(pins)) return false;
  return ['tools', 'resources', 'templates', 'prompts'].every((kind) => {
    const digests = pins[kind];
    return isPlainObject(digests) && Object.values(digests).every(isDigest);
  });
}

function isDigest(value: unknown): boolean {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}

export async function writePinned(pinned: PinnedServer, host: Host): Promise<void> {
  await writeText(pinsPath(pinned, host), `${JSON.stringify(pinned, null, 2)}\n`);
}

function pinsPath(entry: ServerEntry, host: Host): string {
  const words = 'url' in entry ? [entry.url] : [entry.command, ...entry.args];
  const digest = createHash('sha256')
    .update(JSON.stringify([entry.name, ...words]))
    .digest('hex')
    .slice(0, 24);
  return join(guardFolder(host), 'mcp', `${digest}.json`);
}

const starters: ReadonlySet<string> = new Set(['npx', 'bunx', 'pnpx', 'uvx']);

/** The package that a package manager would start without a pinned version; `undefined`: none. */
export function findUnversioned(place: ServerPlace): string | undefined {
  if ('url' in place) return undefined;
  const { command, args } = place;
  if (!starters.has(basename(command).replace(/\.(?:cmd|exe)$/, ''))) return undefined;
  const name = args.find((word) => !word.startsWith('-'));
  // `@scope/name@1.2.3`, `name==1.2.3`; a path is not a package.
  const isVersioned = name === undefined || /.@\d+\.\d+\.\d+|==\d/.test(name) || /^\.{0,2}\//.test(name);
  return isVersioned ? undefined : name;
}
