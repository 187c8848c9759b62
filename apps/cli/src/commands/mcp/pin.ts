import { describeStyle } from '../../calls/line.ts';
import { requirePerson } from '../../guard/person.ts';
import { loadMcp } from '../../mcp/load.ts';
import { openServer } from '../../mcp/open-server.ts';
import { findUnversioned, readPinned, type ServerEntry, toPinned, writePinned } from '../../mcp/pins.ts';
import { type ExitCode, usageError } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { choosePaint, compareTexts } from '../../terminal/patch.ts';
import { printLines } from '../../terminal/print.ts';
import { toPrintable } from '../../terminal/text.ts';

/**
 * Starts a server and shows how it differs from what was pinned; with `accept`, pins it as it is. Returns 1 if there is a difference that
 * was not accepted.
 *
 * @throws HoldfastError `mcp.*`, `usage.invalid` (`version_missing`), `guard.person_required`, `guard.settings.*`.
 */
export async function pinServer(
  entry: ServerEntry,
  { accept }: { readonly accept: boolean },
  host: Host,
): Promise<ExitCode> {
  const unversioned = findUnversioned(entry);
  if (accept && unversioned !== undefined) {
    throw usageError(
      'version_missing',
      `\`${unversioned}\` would be another program tomorrow: name its version, as in \`${unversioned}@1.2.3\`.`,
    );
  }
  if (accept) requirePerson('pin a server', host);
  const before = await readPinned(entry, host);
  const opened = await openServer(entry, await loadMcp(), {}, host);
  const now = toPinned(entry, opened);
  await opened.close();
  const isSame = JSON.stringify(before?.pins) === JSON.stringify(now.pins);
  const { colors } = describeStyle(host);
  const [from = '', to = ''] = [before?.seen ?? {}, now.seen].map((seen) => `${JSON.stringify(seen, null, 2)}\n`);
  const patch = isSame ? [] : compareTexts(from, to).trimEnd().split('\n');
  const shown = patch.map((line) => choosePaint(line, colors)(toPrintable(line)));
  const state = isSame
    ? 'The server is as it was pinned.'
    : accept
      ? 'Pinned.'
      : 'Not pinned: add --accept to accept this.';
  printLines(host, [...shown, state]);
  if (accept) await writePinned(now, host);
  return isSame || accept ? 0 : 1;
}
