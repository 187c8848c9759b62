import { type Grant, listGrants, withdrawGrant } from '@holdfast/executor';
import type { Command } from 'commander';
import { describeStyle } from '../../calls/line.ts';
import type { CommandContext } from '../../flags/command.ts';
import { addSessionOptions, type SessionOptions } from '../../flags/session.ts';
import { collect } from '../../flags/values.ts';
import { isDamaged, warnOfDamage } from '../../logs/damage.ts';
import { openSession } from '../../logs/open-session.ts';
import { replayLog } from '../../logs/replay.ts';
import { type ExitCode, usageError } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { printJson, printLines } from '../../terminal/print.ts';
import { toPrintable } from '../../terminal/text.ts';
import { type FoundSession, findSession } from '../../workspace/known.ts';
import { type FoundLog, readFoundLog } from '../../workspace/session-logs.ts';

const help = `
Examples:
  $ holdfast grants                             the newest session of this folder
  $ holdfast grants 20260517-093012345-k3x9 --withdraw delete_files

A grant is bound to the tool as it was: a tool that has changed needs approval again.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  addSessionOptions(command)
    .option('--withdraw <name>', 'ask again at the next call of this tool; repeatable', collect)
    .addHelpText('after', help)
    .action(async (id: string | undefined, flags: GrantsOptions) => end(await showGrants({ ...flags, id }, host)));
}

export interface GrantsOptions extends SessionOptions {
  /** Tools to withdraw. */
  readonly withdraw?: readonly string[];
}

/**
 * Lists the tools granted for a session, or withdraws some. Returns 1 if the log is damaged.
 *
 * @throws HoldfastError `usage.invalid` (`session_unknown`, `grant_unknown`), `log.*`, `replay.*`.
 */
export async function showGrants({ withdraw = [], json, ...name }: GrantsOptions, host: Host): Promise<ExitCode> {
  const log = await findSession(name, host);
  const { grants, damaged } =
    withdraw.length === 0
      ? await readGrants(log, host)
      : { grants: await withdrawGrants(log, withdraw, host), damaged: false };
  const { colors } = describeStyle(host);
  if (json) printJson(host, { session: log.id, grants, withdrawn: withdraw });
  else
    printLines(host, [
      ...withdraw.map((name) => `Withdrawn: ${toPrintable(name)} needs approval again.`),
      grants.length === 0 ? `No tools are granted for session ${log.id}.` : `Granted for session ${log.id}:`,
      ...grants.map(
        ({ name, toolDigest }) => `  ${toPrintable(name)}  ${colors.dim(`tool digest ${toolDigest.slice(0, 12)}`)}`,
      ),
    ]);
  return damaged ? 1 : 0;
}

/** Takes no lock. */
async function readGrants(
  log: FoundLog,
  host: Host,
): Promise<{ readonly grants: readonly Grant[]; readonly damaged: boolean }> {
  const reading = await readFoundLog(log);
  warnOfDamage(reading, host.stderr);
  const grants = reading.records.length === 0 ? [] : listGrants(replayLog(reading.records).session);
  return { grants, damaged: isDamaged(reading) };
}

async function withdrawGrants(log: FoundSession, names: readonly string[], host: Host): Promise<readonly Grant[]> {
  const session = await openSession(log, log.workspace, host);
  try {
    const granted = listGrants(session);
    const unknown = names.find((name) => !granted.some((grant) => grant.name === name));
    if (unknown !== undefined) {
      const known = granted.map(({ name }) => `\`${name}\``).join(', ');
      throw usageError(
        'grant_unknown',
        `\`${unknown}\` is not granted for session \`${log.id}\`. Granted tools: ${known === '' ? 'none' : known}.`,
      );
    }
    for (const name of new Set(names)) withdrawGrant(session, name);
    await session.sync();
    return listGrants(session);
  } finally {
    await session.close();
  }
}
