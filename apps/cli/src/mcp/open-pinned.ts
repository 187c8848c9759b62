import type { HeldServer, McpServerPin, McpStart, McpTools } from '@holdfast/mcp';
import type { Host } from '../terminal/host.ts';
import type { McpPackage } from './load.ts';
import { writeOffer } from './offers.ts';
import { type OpenServerOptions, openServer } from './open-server.ts';
import { findInstalled, startPinned } from './packages.ts';
import { readPinned, type ServerEntry, toPortable } from './pins.ts';
import { findStartedFile } from './started-file.ts';

export type Opened =
  | {
      readonly type: 'opened';
      readonly tools: McpTools;
      readonly unchecked: string | undefined;
      /** As the package manager was told to start it. */
      readonly start: McpStart;
    }
  | { readonly type: 'held'; readonly held: HeldServer };

/**
 * Starts a server as its pin says. One that was never looked at, or that would be started otherwise, or whose package or file is another
 * one, is held back.
 *
 * @throws HoldfastError `lock.invalid`, `settings.invalid`, and as `openServer`.
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
  const file = findStartedFile(entry.start, toPortable(entry, host), host);
  if (pinned.file !== undefined && pinned.file.sha256 !== file?.sha256) {
    await writeOffer(entry, host);
    return hold(entry, { code: 'mcp.changed', why: `\`${pinned.file.path}\` is not the file that was pinned` });
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
  const unchecked = isUnchecked ? pinned.package?.name : undefined;
  return { type: 'opened', tools, unchecked, start: started.start };
}

/**
 * Holds a running server to its pin as it is now: what a person has accepted meanwhile is offered. A pin of another start or package holds
 * from the next start on.
 *
 * @throws HoldfastError `lock.invalid`, and as `refresh`.
 */
export async function takeAccepted(
  entry: ServerEntry,
  mcp: Pick<McpPackage, 'readServerPin' | 'startsOtherwise' | 'pinsOf'>,
  { tools, start }: { readonly tools: Pick<McpTools, 'refresh'>; readonly start: McpStart },
  host: Host,
): Promise<void> {
  const pinned = readPinned(entry, mcp, host);
  if (pinned === undefined || mcp.startsOtherwise(pinned, toPortable(entry, host))) return;
  if (JSON.stringify(startPinned(entry.start, pinned.package)) !== JSON.stringify(start)) return;
  await tools.refresh(mcp.pinsOf(pinned));
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
  const message = `Holdfast holds the MCP server \`${name}\` back: ${why}. Nothing of it was started. A person has to look at it: run \`${command}\` in the project's folder. A client that does not show its tools then has to start it again.`;
  return { type: 'held', held: { name, code, message } };
}
