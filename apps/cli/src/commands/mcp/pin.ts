import { describeStyle } from '../../calls/line.ts';
import { findImpostor, requirePerson } from '../../guard/person.ts';
import { loadMcp } from '../../mcp/load.ts';
import { formatLook, lookAtServer } from '../../mcp/look-at-server.ts';
import { type ServerEntry, writePinned } from '../../mcp/pins.ts';
import type { ExitCode } from '../../terminal/failure.ts';
import { findQuestionStream, type Host } from '../../terminal/host.ts';
import { printLines } from '../../terminal/print.ts';
import { choose } from '../../terminal/prompt.ts';

/**
 * Starts a server and shows how it differs from its pin; pins it as it is with `accept`, or if a person at the terminal says so. Returns 1
 * if there is a difference that was not accepted.
 *
 * @throws HoldfastError `guard.person_required`, `terminal.interrupted`, `mcp.unreachable`, and as `lookAtServer` and `writePinned`.
 */
export async function pinServer(
  entry: ServerEntry,
  { accept }: { readonly accept: boolean },
  host: Host,
): Promise<ExitCode> {
  if (accept) requirePerson('pin a server', host);
  const looked = await lookAtServer(entry, await loadMcp(), host);
  const { colors } = describeStyle(host);
  printLines(host, formatLook(looked, colors));
  if (looked.state === 'same') {
    printLines(host, ['The server is as it was pinned.']);
    return 0;
  }
  if (!accept && !(await askPerson(entry.name, host))) {
    printLines(host, ['Not pinned: add --accept, at a terminal, to accept this.']);
    return 1;
  }
  await writePinned(entry, looked.now, host);
  printLines(host, ['Pinned.']);
  return 0;
}

async function askPerson(name: string, host: Host): Promise<boolean> {
  const output = findQuestionStream(host, { stdin: false, stdout: false });
  if (output === undefined || findImpostor(host) !== undefined) return false;
  const answer = await choose({
    message: `Pin the server ${name} like this?`,
    options: [
      { value: false, label: 'No' },
      { value: true, label: 'Yes' },
    ],
    initialValue: false,
    input: host.stdin,
    output,
  });
  return answer === true;
}
