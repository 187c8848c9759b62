import type { HeldServer, McpServerPin, McpTools } from '@holdfast/mcp';
import type { Host } from '../terminal/host.ts';
import type { McpPackage } from './load.ts';
import { writeOffer } from './offers.ts';
import { type OpenServerOptions, openServer } from './open-server.ts';
import { findInstalled, startPinned } from './packages.ts';
import { readPinned, type ServerEntry, toPortable } from './pins.ts';

export type Opened =
  | { readonly type: 'opened'; readonly tools: McpTools; readonly unchecked: string | undefined }
  | { readonly type: 'held'; readonly held: HeldServer };

/**
 * Starts a server as its pin says. One that was never looked at, or that would be started otherwise, or whose package is another one, is
 * held back.
 *
 * @throws HoldfastError `tools.lock.invalid`, `guard.settings.unwritable`, and as `openServer`.
 */
export async function openPinned(
  entry: ServerEntry,
  mcp: McpPackage,
  options: Omit<OpenServerOptions, 'pins'>,
  host: Host,
): Promise<Opened> {
  const pinned = readPinned(entry, mcp, host);
  if (pinned === undefined) {
    await writeOffer(entry, host);
    return hold(entry, { code: 'mcp.unpinned', why: 'it was never looked at' });
  }
  if (mcp.startsOtherwise(pinned, toPortable(entry, host))) {
    await writeOffer(entry, host);
    return hold(entry, { code: 'mcp.changed', why: 'it would be started in another way than it was pinned' });
  }
  const started = { ...entry, start: startPinned(entry.start, pinned.package) };
  const otherPackage = { code: 'mcp.changed', why: 'its package is not the one that was pinned' };
  if (isOther(pinned, findInstalledOf(pinned, started, host))) return hold(entry, otherPackage);
  const tools = await openServer(started, mcp, { ...options, pins: mcp.pinsOf(pinned) }, host);
  // The package manager may have fetched it only now.
  const installed = findInstalledOf(pinned, started, host);
  if (isOther(pinned, installed)) {
    await tools.close();
    return hold(entry, otherPackage);
  }
  const isUnchecked = pinned.package !== undefined && installed === undefined;
  return { type: 'opened', tools, unchecked: isUnchecked ? pinned.package?.name : undefined };
}

function findInstalledOf({ package: locked }: McpServerPin, { start }: ServerEntry, host: Host): string | undefined {
  return locked === undefined ? undefined : findInstalled(start, locked, host);
}

function isOther({ package: locked }: McpServerPin, installed: string | undefined): boolean {
  return locked?.integrity !== undefined && installed !== undefined && installed !== locked.integrity;
}

function hold(
  { name, user }: ServerEntry,
  { code, why }: { readonly code: string; readonly why: string },
): { readonly type: 'held'; readonly held: HeldServer } {
  const command = `holdfast lock${user ? ' --user' : ''} --accept mcp:${name}`;
  const message = `Holdfast holds the MCP server \`${name}\` back: ${why}. Nothing of it was started. A person has to look at it: run \`${command}\` in the project's folder, then start the server again in the client.`;
  return { type: 'held', held: { name, code, message } };
}
