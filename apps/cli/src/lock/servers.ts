import { existsSync } from 'node:fs';
import type { McpDrift } from '@holdfast/mcp';
import { requirePerson } from '../guard/person.ts';
import { loadMcp } from '../mcp/load.ts';
import { formatLook, type LookedAt, lookAtServer } from '../mcp/look-at-server.ts';
import { readOffer } from '../mcp/offers.ts';
import { findLockPath, fromPortable, readPinned, type ServerEntry, writePinned } from '../mcp/pins.ts';
import type { Colors } from '../terminal/colors.ts';
import { usageError } from '../terminal/failure.ts';
import type { Host } from '../terminal/host.ts';
import { shortenPath } from '../workspace/folder.ts';
import { paintState } from './view.ts';

const prefix = 'mcp:';

/** The names of MCP servers among those to accept, and the others. */
export function splitServers(accept: readonly string[]): {
  readonly servers: readonly string[];
  readonly others: readonly string[];
} {
  const isServer = (name: string): boolean => name.startsWith(prefix);
  return {
    servers: accept.filter(isServer).map((name) => name.slice(prefix.length)),
    others: accept.filter((name) => !isServer(name)),
  };
}

/** A server as `lock --json` has it. */
export interface LockedServer {
  readonly name: string;
  /** The lock that has it. */
  readonly lock: string;
  readonly state: LookedAt['state'];
  readonly changes: readonly McpDrift[];
}

export interface ServerLock {
  /** True if the lock existed before. */
  readonly found: boolean;
  readonly servers: readonly LockedServer[];
  format(colors: Colors): readonly string[];
}

export interface LockServersOptions {
  /** Servers of the user rather than of the project. */
  readonly user: boolean;
  /** Writes nothing. */
  readonly check: boolean;
}

/**
 * Starts MCP servers as their clients last wanted to, else as they are pinned, and pins them as they are.
 *
 * @throws HoldfastError `guard.person_required`, `usage.invalid` (`server_missing`), `mcp.unreachable`, and as `lookAtServer`.
 */
export async function lockServers(
  names: readonly string[],
  { user, check }: LockServersOptions,
  host: Host,
): Promise<ServerLock> {
  if (names.length === 0) return { found: false, servers: [], format: () => [] };
  if (!check) requirePerson('pin a server', host);
  const mcp = await loadMcp();
  const looked: LookedAt[] = [];
  const path = findLockPath({ user }, host);
  const found = existsSync(path);
  const lock = shortenPath(path, host.directory);
  for (const name of names) {
    const named = { name, user };
    const pinned = readPinned(named, mcp, host);
    const start =
      (await readOffer(named, host)) ?? (pinned === undefined ? undefined : fromPortable(pinned, user, host));
    if (start === undefined) throw unknownServer(named);
    const entry: ServerEntry = { ...named, start };
    const one = await lookAtServer(entry, mcp, host);
    if (!check && one.state !== 'same') await writePinned(entry, one.now, host);
    looked.push(one);
  }
  return {
    found,
    servers: looked.map(({ name, state, changes }) => ({ name, lock, state, changes })),
    format: (colors) =>
      looked.flatMap((one) => [
        `${paintState(one.state, colors)}  ${colors.bold(`${prefix}${one.name}`)}`,
        ...formatLook(one, colors),
        '',
      ]),
  };
}

function unknownServer({ name, user }: Pick<ServerEntry, 'name' | 'user'>): Error {
  const pin = `holdfast mcp pin${user ? ' --user' : ''} --name ${name} -- COMMAND`;
  return usageError(
    'server_missing',
    `No server \`${name}\` is ${user ? "in the user's lock" : "in the project's lock"}, and no client has started one through Holdfast.`,
    { data: { hint: `Start it once in its client, or pin it with its command: \`${pin}\`.` } },
  );
}
