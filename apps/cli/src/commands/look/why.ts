import { resolve } from 'node:path';
import { type CallExplanation, explainCall, type LogRecord } from '@holdfast/session';
import { readLog } from '@holdfast/session/jsonl';
import type { Command } from 'commander';
import { describeCallUse } from '../../calls/describe.ts';
import { findNearest, listCallIds, matchCallId } from '../../calls/ids.ts';
import { describeStyle, formatCount } from '../../calls/line.ts';
import type { CommandContext } from '../../flags/command.ts';
import { describeIntegrity, formatSessionTitle, isDamaged, warnOfDamage } from '../../logs/damage.ts';
import { type ExitCode, usageError } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { toJsonText } from '../../terminal/json.ts';
import { shortenPath } from '../../workspace/folder.ts';
import { findSession } from '../../workspace/known.ts';
import { listSessionIds } from '../../workspace/session-logs.ts';

const help = `
Examples:
  $ holdfast why call-2                         a call of the newest session; \`holdfast show\` has the ids
  $ holdfast why 20260517-093012345-k3x9 call-2 --workspace ~/project
  $ holdfast why call-2 --json | jq '.uses[].decisions'

The beginning of an id will do where only one call has it. Several calls of one id are told in order.
Exits with 1 when the log is torn or was changed after it was written.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  command
    .usage('[options] [id] <call>')
    .argument('<call...>', 'id of the session (default: the newest), and id of the call or the beginning of one')
    .option('--workspace <dir>', 'folder that the session worked in', '.')
    .option('--json', 'as JSON')
    .addHelpText('after', help)
    .action(async (ids: readonly string[], flags: Omit<WhyOptions, 'id' | 'call'>) => {
      const [call = '', id, ...rest] = ids.toReversed();
      if (rest.length > 0)
        command.error('error: too many arguments: `why` takes a session and a call, or a call alone');
      end(await explainWhy({ id, call, ...flags }, host));
    });
}

export interface WhyOptions {
  /** Absent: the newest session. */
  readonly id: string | undefined;
  /** The id of a call, or the beginning of one. */
  readonly call: string;
  readonly workspace: string;
  readonly json?: boolean | undefined;
}

/**
 * Prints why a call was allowed, asked for or denied, and what became of it; 1 when the log is damaged.
 *
 * @throws HoldfastError `usage.session_unknown`, `usage.call_unknown`, `usage.call_ambiguous`, `log.*`.
 */
export async function explainWhy({ id, call, workspace, json }: WhyOptions, host: Host): Promise<ExitCode> {
  const log = await findSession(resolve(host.directory, workspace), id, host);
  const reading = readLog(log.path);
  const explanation = await findCall(call, reading.records, { folder: log.workspace, session: log.id });
  if (json) {
    host.stdout.write(`${toJsonText(explanation, 2)}\n`);
    warnOfDamage(reading, host.stderr);
  } else {
    const style = describeStyle(host);
    const lines = [
      formatSessionTitle(log.id, shortenPath(log.path, host.directory), style),
      ...explanation.uses.flatMap((use) => ['', ...describeCallUse(use, use.changed.kept, style)]),
      ...(isDamaged(reading) ? ['', describeIntegrity(reading, style, 'searched')] : []),
    ];
    for (const line of lines) host.stdout.write(`${line}\n`);
  }
  return isDamaged(reading) ? 1 : 0;
}

interface SearchPlace {
  readonly folder: string;
  readonly session: string;
}

async function findCall(
  given: string,
  records: readonly LogRecord[],
  { folder, session }: SearchPlace,
): Promise<CallExplanation> {
  const ids = listCallIds(records);
  const [only, ...others] = matchCallId(given, ids);
  const explanation = only === undefined || others.length > 0 ? undefined : explainCall(records, only);
  if (explanation !== undefined) return explanation;
  if (only !== undefined && others.length > 0) {
    throw usageError(
      'usage.call_ambiguous',
      `\`${given}\` may be ${formatCount(others.length + 1, 'call')} of session \`${session}\`: ${quoteAll([only, ...others].slice(0, 5))}${others.length > 4 ? ', …' : ''}. Type more of it.`,
    );
  }
  const isSession = (await listSessionIds(folder)).includes(given);
  const help = isSession
    ? `That is a session: \`holdfast why ${given} CALL\` looks for a call in it.`
    : ids.length === 0
      ? 'Its log has no calls.'
      : `The nearest are ${quoteAll(findNearest(given, ids, 3))}; \`holdfast show ${session}\` lists all with their ids.`;
  throw usageError('usage.call_unknown', `There is no call \`${given}\` in session \`${session}\`. ${help}`);
}

function quoteAll(ids: readonly string[]): string {
  return ids.map((id) => `\`${id}\``).join(', ');
}
