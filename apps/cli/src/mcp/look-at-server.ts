import type { McpDrift, McpServerPin } from '@holdfast/mcp';
import type { Colors } from '../terminal/colors.ts';
import type { Host } from '../terminal/host.ts';
import { choosePaint, compareTexts } from '../terminal/patch.ts';
import { toPrintable } from '../terminal/text.ts';
import type { McpPackage } from './load.ts';
import { openServer } from './open-server.ts';
import { resolvePackage, startPinned } from './packages.ts';
import { readPinned, type ServerEntry, toPortable } from './pins.ts';
import { findStartedFile } from './started-file.ts';

/** A server beside its pin. */
export interface LookedAt {
  readonly name: string;
  readonly state: 'same' | 'new' | 'changed';
  readonly before: McpServerPin | undefined;
  readonly now: McpServerPin;
  readonly changes: readonly McpDrift[];
}

/**
 * Starts a server, in the version that its package would have from now on, and compares it with its pin.
 *
 * @throws HoldfastError `usage.invalid` (`version_missing`), and as `readPinned` and `openServer`.
 */
export async function lookAtServer(entry: ServerEntry, mcp: McpPackage, host: Host): Promise<LookedAt> {
  const before = readPinned(entry, mcp, host);
  const locked = await resolvePackage(entry.start, host);
  const shown = toPortable(entry, host);
  // Before it runs, since it could write itself anew.
  const file = findStartedFile(entry.start, shown, host);
  const opened = await openServer({ ...entry, start: startPinned(entry.start, locked) }, mcp, {}, host);
  const now = mcp.toServerPin(shown, opened, { package: locked, file });
  await opened.close();
  const changes = before === undefined ? [] : mcp.findDrift(before, now);
  const state = before === undefined ? 'new' : changes.length === 0 ? 'same' : 'changed';
  return { name: entry.name, state, before, now, changes };
}

/** Everything that differs, and what a pin cannot hold. The server's own words are made visible. */
export function formatLook({ state, before, now }: LookedAt, colors: Colors): readonly string[] {
  if (state === 'same') return [];
  const [from = '', to = ''] = [before ?? {}, now].map((pin) => `${JSON.stringify(pin, null, 2)}\n`);
  const patch = compareTexts(from, to).trimEnd().split('\n');
  return [...patch.map((line) => choosePaint(line, colors)(toPrintable(line))), describeUnchecked(now)];
}

function describeUnchecked(pin: McpServerPin): string {
  const place = 'url' in pin ? pin.url : [pin.command, ...pin.args].join(' ');
  const files = pin.file === undefined ? 'how it is started' : `the file \`${pin.file.path}\``;
  const held =
    pin.package?.integrity !== undefined
      ? 'the files of its package and what it says of itself, not what it does'
      : `${files} and what it says of itself, not its ${pin.file === undefined ? '' : 'other '}files and what it does`;
  return toPrintable(`A pin of \`${place.slice(0, 200)}\` holds ${held}.`);
}
