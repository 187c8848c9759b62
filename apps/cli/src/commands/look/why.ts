import { resolve } from 'node:path';
import { formatCount } from '@holdfast/orchestrator/text';
import { type CallExplanation, explainCall } from '@holdfast/session';
import type { Command } from 'commander';
import { describeCallUse } from '../../calls/describe.ts';
import { findNearest, listCallIds, matchCallId, quoteIds } from '../../calls/ids.ts';
import { describeStyle } from '../../calls/line.ts';
import type { CommandContext } from '../../flags/command.ts';
import { addWorkspaceOption, type SessionOptions } from '../../flags/session.ts';
import { describeIntegrity, isDamaged, type ReadSession, readSession, warnOfDamage } from '../../logs/damage.ts';
import { type ExitCode, usageError } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { printJson, printLines } from '../../terminal/print.ts';
import { findKnown } from '../../workspace/known.ts';
import { listSessionIds } from '../../workspace/session-logs.ts';

const help = `
Examples:
  $ holdfast why call-2                         a call of the newest session; see \`holdfast show\` for ids
  $ holdfast why 20260517-093012345-k3x9 call-2 --workspace ~/project
  $ holdfast why call-2 --json | jq '.uses[].decisions'

A unique prefix of a call id is enough. Several calls with the same id are shown in order. Exits with 1 if the log is torn or was
modified.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  addWorkspaceOption(command)
    .usage('[options] [id] <call>')
    .argument('<call...>', 'session id (default: the newest) and call id, or a unique prefix')
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action(async (ids: readonly string[], flags: SessionOptions) => {
      const [call = '', id, ...rest] = ids.toReversed();
      if (rest.length > 0)
        command.error('error: too many arguments: `why` takes a call id, or a session id and a call id');
      end(await explainWhy({ ...flags, id, call }, host));
    });
}

export interface WhyOptions extends SessionOptions {
  /** A call id, or a prefix. */
  readonly call: string;
}

/**
 * Prints why a call was allowed, held for approval or denied, and how it ended. Returns 1 if the log is damaged.
 *
 * @throws HoldfastError `usage.invalid` (`session_unknown`, `call_unknown`, `call_ambiguous`), `log.*`.
 */
export async function explainWhy(options: WhyOptions, host: Host): Promise<ExitCode> {
  const session = await readSession(options, host).catch(async (thrown: unknown) => {
    // Only a session id, in a folder without sessions.
    const isSession = options.id === undefined && (await findKnown(options.call, host)).length > 0;
    throw isSession ? usageError('call_unknown', describeSession(options.call)) : thrown;
  });
  const { reading, title } = session;
  const explanation = await findCall(options, session, host);
  if (options.json) {
    printJson(host, explanation);
    warnOfDamage(reading, host.stderr);
  } else {
    const style = describeStyle(host);
    printLines(host, [
      title(style),
      ...explanation.uses.flatMap((use) => ['', ...describeCallUse(use, use.changed.kept, style)]),
      ...(isDamaged(reading) ? ['', describeIntegrity(reading, style, 'searched')] : []),
    ]);
  }
  return isDamaged(reading) ? 1 : 0;
}

async function findCall(
  { call: given, workspace }: WhyOptions,
  { id: session, reading: { records } }: ReadSession,
  host: Host,
): Promise<CallExplanation> {
  const ids = listCallIds(records);
  const [only, ...others] = matchCallId(given, ids);
  const explanation = only === undefined || others.length > 0 ? undefined : explainCall(records, only);
  if (explanation !== undefined) return explanation;
  if (only !== undefined && others.length > 0) {
    throw usageError(
      'call_ambiguous',
      `\`${given}\` matches ${formatCount(others.length + 1, 'call')} of session \`${session}\`: ${quoteIds([only, ...others].slice(0, 5))}${others.length > 4 ? ', …' : ''}. Use a longer prefix.`,
    );
  }
  const isHere = (await listSessionIds(resolve(host.directory, workspace))).includes(given);
  const isSession = isHere || (await findKnown(given, host)).length > 0;
  const help = isSession
    ? describeSession(given)
    : ids.length === 0
      ? 'Its log has no calls.'
      : `Nearest: ${quoteIds(findNearest(given, ids))}. Run \`holdfast show ${session}\` for all ids.`;
  throw usageError('call_unknown', `Unknown call \`${given}\` in session \`${session}\`. ${help}`);
}

function describeSession(id: string): string {
  return `\`${id}\` is a session: use \`holdfast why ${id} CALL\`.`;
}
