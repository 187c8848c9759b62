import type { Command } from 'commander';
import type { CommandContext } from '../../flags/command.ts';
import { readPort } from '../../flags/values.ts';
import { requirePerson } from '../../guard/person.ts';
import { readPageFiles } from '../../studio/page-files.ts';
import { serveStudio } from '../../studio/server.ts';
import { type ExitCode, interruptionCodes } from '../../terminal/failure.ts';
import type { Host, Interruption } from '../../terminal/host.ts';
import { printLines } from '../../terminal/print.ts';

const help = `
Examples:
  $ holdfast studio                     then open the printed link
  $ holdfast studio --port 8098         always on this port

One page for all sessions of this machine: the calls that wait for an answer, every call with its reason, and timelines. The link has
the secret that answers: it works as long as this command runs, and only in the tab that opens it.`;

interface StudioFlags {
  readonly port: number;
}

export function declare(command: Command, { host, end }: CommandContext): void {
  command
    .option('--port <number>', 'port of 127.0.0.1; 0: a free one', readPort, 0)
    .addHelpText('after', help)
    .action(async (flags: StudioFlags) => end(await openStudio(flags, host)));
}

/**
 * Serves the page until Ctrl-C.
 *
 * @throws HoldfastError `guard.person_required`, `command.failed`.
 */
export async function openStudio({ port }: StudioFlags, host: Host): Promise<ExitCode> {
  requirePerson('open the page that answers', host);
  const { promise: interrupted, resolve } = Promise.withResolvers<Interruption>();
  const stopListening = host.onInterrupt(resolve);
  try {
    const studio = await serveStudio({ page: await readPageFiles(), port }, host);
    try {
      // Not opened from here: the command line of a browser is visible to every process of the user.
      printLines(host, [`Open ${studio.link}`, 'Press Ctrl-C to stop.']);
      const cause = await interrupted;
      return cause === 'ctrl-c' ? 0 : interruptionCodes[cause];
    } finally {
      await studio.close();
    }
  } finally {
    stopListening();
  }
}
