import { lstatSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type GuardHost, guardFolder } from '../../user/guard-folder.ts';

// Hooks load this for each call: nothing but what they need to find the daemon.

/** Tells a user's hooks how to reach the daemon; a file that only the user can read. */
export interface Announcement {
  readonly pid: number;
  /** Path of a Unix socket, or the name of a pipe. */
  readonly socket: string;
  /** Part of each question. */
  readonly token: string;
  /** Part of each answer: another server in its place would learn the token, but not this. */
  readonly proof: string;
  /** The hook's file that the daemon was started from; its folder names version and content. */
  readonly program: string;
  /** Variables that decide where the user's files lie. */
  readonly environment: Readonly<Record<string, string>>;
}

export function daemonFolder(host: GuardHost): string {
  return join(guardFolder(host), 'daemon');
}

export function announcementPath(folder: string): string {
  return join(folder, 'daemon.json');
}

const names = 'HOME USERPROFILE HOLDFAST_HOME XDG_STATE_HOME XDG_CONFIG_HOME LOCALAPPDATA APPDATA'.split(' ');

/** All that a decision takes from the environment. A daemon gets no more: a hook has the keys of its agent's model in it. */
export function keptEnvironment({ environment, directory }: GuardHost): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {};
  for (const name of names) {
    const value = environment[name];
    if (value === undefined || value === '') continue;
    kept[name] = name === 'HOLDFAST_HOME' ? resolve(directory, value) : value;
  }
  return kept;
}

export function isSameEnvironment(left: Announcement['environment'], right: Announcement['environment']): boolean {
  return names.every((name) => left[name] === right[name]);
}

/** True for the same file, or copies of it in two places: their folder names version and content. */
export function isSameProgram(left: string, right: string): boolean {
  const contentOf = (path: string): string =>
    /[\\/][^\\/]+-[0-9a-f]{12}[\\/]guard-hook-main\.cjs$/.exec(path)?.[0] ?? path;
  return contentOf(left) === contentOf(right);
}

/** True if a folder belongs to the user and no other user can look into it; on Windows, if it is there. */
export function isPrivate(folder: string): boolean {
  const status = lstatSync(folder, { throwIfNoEntry: false });
  if (status === undefined || !status.isDirectory()) return false;
  const mine = process.getuid?.();
  return mine === undefined || (status.uid === mine && (status.mode & 0o077) === 0);
}

/** `undefined` where there is none that can be trusted. */
export function readAnnouncement(folder: string): Announcement | undefined {
  try {
    return isPrivate(folder) ? toAnnouncement(JSON.parse(readFileSync(announcementPath(folder), 'utf8'))) : undefined;
  } catch {
    // None, or one that cannot be read: the hook decides by itself.
    return undefined;
  }
}

function toAnnouncement(value: Partial<Record<keyof Announcement, unknown>>): Announcement | undefined {
  const { pid, socket, token, proof, program, environment } = value;
  const isWhole =
    Number.isSafeInteger(pid) &&
    [socket, token, proof, program].every((text) => typeof text === 'string' && text !== '') &&
    typeof environment === 'object' &&
    environment !== null;
  // Checked above, as far as a hook relies on it.
  return isWhole ? (value as Announcement) : undefined;
}

/** Systems take no longer path for a socket: 104 bytes on macOS, 108 on Linux. */
const maxSocketBytes = 100;

/** Where a daemon listens; `undefined` if the folder's path is too long. `id`: of this daemon alone. */
export function toSocket(folder: string, id: string, platform: NodeJS.Platform = process.platform): string | undefined {
  // Pipes are not files; every user can see their names.
  if (platform === 'win32') return String.raw`\\.\pipe\holdfast-guard-${id}`;
  const path = join(folder, `${socketPrefix}${id.slice(0, 8)}`);
  return Buffer.byteLength(path) > maxSocketBytes ? undefined : path;
}

/** Of the sockets in a daemon's folder. */
export const socketPrefix = 's-';
