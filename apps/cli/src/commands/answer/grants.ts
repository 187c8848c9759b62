import { type Grant, listGrants, withdrawGrant } from '@holdfast/executor';
import { readLog } from '@holdfast/session/jsonl';
import type { Command } from 'commander';
import { describeStyle } from '../../calls/line.ts';
import type { CommandContext } from '../../flags/command.ts';
import { collect } from '../../flags/values.ts';
import { isDamaged, warnOfDamage } from '../../logs/damage.ts';
import { openSession } from '../../logs/open-session.ts';
import { replayLog } from '../../logs/replay.ts';
import { type ExitCode, usageError } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { toJsonText } from '../../terminal/json.ts';
import { toPrintable } from '../../terminal/text.ts';
import { openWorkspace } from '../../workspace/folder.ts';
import { type FoundSession, findSession } from '../../workspace/known.ts';
import type { FoundLog } from '../../workspace/session-logs.ts';

const help = `
Examples:
  $ holdfast grants                             of the newest session of this folder
  $ holdfast grants 20260517-093012345-k3x9 --withdraw delete_files

A grant holds for the tool as it was: one that was changed since is asked for again.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  command
    .argument('[id]', 'id of the session (default: the newest)')
    .option('--withdraw <name>', 'ask again at the next call of this tool; may be repeated', collect)
    .option('--workspace <dir>', 'folder that the session works in', '.')
    .option('--json', 'as JSON')
    .addHelpText('after', help)
    .action(async (id: string | undefined, flags: Omit<GrantsOptions, 'id'>) =>
      end(await showGrants({ id, ...flags }, host)),
    );
}

export interface GrantsOptions {
  /** Absent: the newest session. */
  readonly id: string | undefined;
  /** Tools that are asked for again from now on. */
  readonly withdraw?: readonly string[];
  readonly workspace: string;
  readonly json?: boolean | undefined;
}

/**
 * Lists the tools that were granted for a session, and withdraws some; 1 when the log is damaged.
 *
 * @throws HoldfastError `usage.session_unknown`, `usage.grant_unknown`, `log.*`, `replay.*`.
 */
export async function showGrants({ id, withdraw = [], workspace, json }: GrantsOptions, host: Host): Promise<ExitCode> {
  const log = await findSession(await openWorkspace(workspace, host.directory), id, host);
  const { grants, damaged } =
    withdraw.length === 0
      ? readGrants(log, host)
      : { grants: await withdrawGrants(log, withdraw, host), damaged: false };
  if (json) {
    host.stdout.write(`${toJsonText({ session: log.id, grants, withdrawn: withdraw }, 2)}\n`);
    return damaged ? 1 : 0;
  }
  const { colors } = describeStyle(host);
  for (const name of withdraw) host.stdout.write(`Withdrawn: ${toPrintable(name)} is asked for again.\n`);
  if (grants.length === 0) host.stdout.write(`No tool is granted for session ${log.id}.\n`);
  else host.stdout.write(`Granted for session ${log.id}:\n`);
  for (const { name, toolDigest } of grants) {
    host.stdout.write(
      `  ${toPrintable(name)}  ${colors.dim(`as the tool was with the digest ${toolDigest.slice(0, 12)}`)}\n`,
    );
  }
  return damaged ? 1 : 0;
}

/** Without a lock. */
function readGrants({ path }: FoundLog, host: Host): { readonly grants: readonly Grant[]; readonly damaged: boolean } {
  const reading = readLog(path);
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
        'usage.grant_unknown',
        `\`${unknown}\` is not granted for session \`${log.id}\`: ${known === '' ? 'no tool is' : `only ${known}`}.`,
      );
    }
    for (const name of new Set(names)) withdrawGrant(session, name);
    await session.sync();
    return listGrants(session);
  } finally {
    await session.close();
  }
}
