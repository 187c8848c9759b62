import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HoldfastError, type JsonObject } from '@holdfast/core';
import { lockServer, readLockedServer } from '@holdfast/loader/lock';
import type { McpServerPin, McpStart } from '@holdfast/mcp';
import { findWorkFolder } from '../guard/place.ts';
import type { Host } from '../terminal/host.ts';
import { userFolder } from '../user/folder.ts';
import { lockName } from '../workspace/folder.ts';
import type { McpPackage } from './load.ts';

/** A server as a client's configuration has it. */
export interface ServerEntry {
  readonly name: string;
  /** True for a server of the user, which is in the user's own lock; otherwise it is the project's. */
  readonly user: boolean;
  readonly start: McpStart;
}

export type ServerName = Pick<ServerEntry, 'name' | 'user'>;

type PinHost = Pick<Host, 'environment' | 'directory'>;

/** The lock that has the pin of a server. */
export function findLockPath({ user }: Pick<ServerEntry, 'user'>, host: PinHost): string {
  return join(user ? userFolder(host) : findProject(host), lockName);
}

/** The project's folder, on top of its Git worktree. */
export function findProject({ directory }: Pick<Host, 'directory'>): string {
  return findWorkFolder(directory, existsSync).workspace;
}

/** `undefined`: not pinned. @throws HoldfastError `lock.invalid`. */
export function readPinned(
  entry: ServerName,
  { readServerPin }: Pick<McpPackage, 'readServerPin'>,
  host: PinHost,
): McpServerPin | undefined {
  const path = findLockPath(entry, host);
  const found = readLockedServer(path, entry.name);
  if (found === undefined) return undefined;
  const pinned = readServerPin(found);
  if (pinned !== undefined) return pinned;
  const message = `\`${path}\` has no usable pin under \`mcp.${entry.name}\`. Remove it there, and pin the server again.`;
  throw new HoldfastError('lock.invalid', message, { data: { reason: 'mcp', path, server: entry.name } });
}

/** @throws HoldfastError `lock.invalid`. */
export async function writePinned(entry: ServerName, pinned: McpServerPin, host: PinHost): Promise<void> {
  const path = findLockPath(entry, host);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // JSON by construction; TypeScript cannot see that of an interface.
  await lockServer(path, entry.name, pinned as unknown as JsonObject);
}

const here = '<workspace>';

/** A start as a lock has it: the same for everyone who has the project in another folder. */
export function toPortable({ start, user }: ServerEntry, host: PinHost): McpStart {
  const project = findProject(host);
  if (user || 'url' in start) return start;
  const replace = (word: string): string =>
    word === project || word.startsWith(`${project}/`) ? `${here}${word.slice(project.length)}` : word;
  return { ...start, command: replace(start.command), args: start.args.map(replace) };
}

/** The inverse of `toPortable`. */
export function fromPortable(start: McpStart, user: boolean, host: PinHost): McpStart {
  const project = findProject(host);
  if (user || 'url' in start) return start;
  const replace = (word: string): string =>
    word === here || word.startsWith(`${here}/`) ? `${project}${word.slice(here.length)}` : word;
  return { ...start, command: replace(start.command), args: start.args.map(replace) };
}
