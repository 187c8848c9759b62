import { resolve } from 'node:path';
import type { Command } from 'commander';
import { describeStyle } from '../../calls/line.ts';
import { openPreviews } from '../../calls/preview.ts';
import type { CommandContext } from '../../flags/command.ts';
import { addSessionOptions, type SessionOptions } from '../../flags/session.ts';
import { describeWaiting } from '../../logs/describe-waiting.ts';
import { isWaiting, readWaiting, type WaitingSession } from '../../logs/waiting.ts';
import type { ExitCode } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { printJson } from '../../terminal/print.ts';
import { toPrintable } from '../../terminal/text.ts';
import { guardFolder, resolveLinks } from '../../user/guard-folder.ts';
import { shortenPath } from '../../workspace/folder.ts';
import { findSession, listShared } from '../../workspace/known.ts';
import { findLogFolder, listLogs } from '../../workspace/session-logs.ts';

const help = `
Examples:
  $ holdfast pending                            every session of this folder with pending work
  $ holdfast pending 20260517-093012345-k3x9    one session: full arguments and changes of up to 10 calls
  $ holdfast pending --guard                    every session of a guarded agent with pending work
  $ holdfast pending --json | jq -r '.[] | .session as $id | .calls[] | select(.state == "waiting") | "\\($id) \\(.callId)"'

For the built-in file tools, shows the files that the call would create, change or remove, with sizes and a diff. Long arguments and
diffs are cut in the middle unless you name a session.

Takes no lock, so it works while another process has the session open. Exits with 1 if a log is damaged.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  addSessionOptions(command, { otherwise: 'all with pending work' })
    .addHelpText('after', help)
    .option('--guard', 'the sessions of guarded agents')
    .action(async (id: string | undefined, { guard, ...flags }: SessionOptions & { readonly guard?: boolean }) => {
      const workspace = guard ? guardFolder(host) : flags.workspace;
      end(await showPending({ ...flags, workspace, id }, host));
    });
}

/**
 * Prints pending work. Returns 1 if a log is damaged. Takes no lock, so that it works while another process has the session open.
 *
 * @throws HoldfastError `usage.invalid` (`session_unknown`), `log.*`.
 */
export async function showPending({ id, workspace, json }: SessionOptions, host: Host): Promise<ExitCode> {
  const found = id === undefined ? undefined : await findSession({ id, workspace }, host);
  const folder = found?.workspace ?? resolve(host.directory, workspace);
  const isGuarded = resolveLinks(folder) === resolveLinks(guardFolder(host));
  const shared = found === undefined && isGuarded ? await listShared(host) : [];
  const logs = found === undefined ? [...(await listLogs(folder)), ...shared] : [found];
  const nowMs = host.clock.now();
  const preview = openPreviews(folder, host.clock);
  const read: WaitingSession[] = [];
  for (const log of logs) read.push(await readWaiting(log, { nowMs, preview }));
  const sessions = read.filter((session) => id !== undefined || isWaiting(session));
  if (json) {
    printJson(host, sessions);
  } else if (sessions.length === 0) {
    host.stdout.write(`Nothing is pending in ${toPrintable(shortenPath(findLogFolder(folder), host.directory))}.\n`);
  } else {
    const style = describeStyle(host);
    const isAsked = id !== undefined;
    const view = { style, host, workspace: folder, nowMs, maxDetailed: isAsked ? 10 : 3, isWhole: isAsked };
    const lines = sessions.map((session) => {
      const [head = '', ...others] = describeWaiting(session, view);
      return [head, ...(others.length === 0 ? ['Nothing is pending.'] : others)].join('\n');
    });
    host.stdout.write(`${lines.join('\n\n')}\n`);
  }
  return sessions.some(({ problem }) => problem !== undefined) ? 1 : 0;
}
