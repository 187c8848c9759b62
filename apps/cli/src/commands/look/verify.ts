import { isHoldfastError } from '@holdfast/core';
import { formatCount } from '@holdfast/orchestrator/text';
import { type LogRecord, type SnapshotVerification, verifySnapshots } from '@holdfast/session';
import type { LogReading } from '@holdfast/session/jsonl';
import type { Command } from 'commander';
import { describeStyle, type LineStyle } from '../../calls/line.ts';
import type { CommandContext } from '../../flags/command.ts';
import { addSessionOptions, type SessionOptions } from '../../flags/session.ts';
import { describeIntegrity, isDamaged, readSession } from '../../logs/damage.ts';
import { listKnown, listReducing } from '../../logs/replay.ts';
import { type ExitCode, usageError } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { printJson, printLines } from '../../terminal/print.ts';
import { toPrintable } from '../../terminal/text.ts';

const help = `
Examples:
  $ holdfast verify                             the log of the newest session of this folder
  $ holdfast verify 20260517-093012345-k3x9 --head 3b1f…
  $ holdfast verify --json | jq -r .head        what to note elsewhere

Every edit breaks the chain of hashes, except an end that is cut off or written anew at the edge of a record: that shows only
against a head that was noted before. Exits with 1 when something is wrong.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  addSessionOptions(command)
    .option('--head <hash>', 'a head that was noted earlier: also finds an end that was cut off')
    .addHelpText('after', help)
    .action(async (id: string | undefined, flags: VerifyOptions) => end(await verifyLog({ ...flags, id }, host)));
}

export interface VerifyOptions extends SessionOptions {
  /** A head that was noted earlier; absent: only what is there is looked at. */
  readonly head?: string | undefined;
}

/**
 * Says whether a log is as it was written, and its snapshots hold what the records before them have made. The chain alone shows
 * every edit but one: a tail that was cut or written anew at the edge of a record. With a head that was noted earlier that shows as
 * well. 1 when something is wrong.
 *
 * @throws HoldfastError `usage.session_unknown`, `usage.head_invalid`, `log.*`.
 */
export async function verifyLog(options: VerifyOptions, host: Host): Promise<ExitCode> {
  const head = options.head?.toLowerCase();
  if (head !== undefined && !/^[0-9a-f]{64}$/.test(head)) {
    throw usageError('usage.head_invalid', `\`--head\` takes the 64 hexadecimal digits that \`verify\` prints.`);
  }
  const { id, reading, title } = await readSession(options, host, head === undefined ? {} : { head });
  const noted = head === undefined ? undefined : { head, seq: reading.notedSeq ?? null };
  const snapshots = compareSnapshots(reading.records);
  const whole = !isDamaged(reading) && noted?.seq !== null && snapshots?.problem === undefined;
  if (options.json) {
    const { records, head: last, torn, problem } = reading;
    printJson(host, { session: id, whole, records: records.length, head: last, torn, problem, snapshots, noted });
  } else {
    const style = describeStyle(host);
    printLines(host, [
      title(style),
      describeIntegrity(reading, style, 'good'),
      ...(snapshots === undefined ? [] : describeSnapshots(snapshots, style)),
      ...(noted === undefined ? [] : [describeNoted(noted, reading, style)]),
    ]);
  }
  return whole ? 0 : 1;
}

interface ComparedSnapshots extends Pick<SnapshotVerification, 'compared' | 'unchecked'> {
  readonly problem?: { readonly code: string; readonly message: string };
}

function compareSnapshots(records: readonly LogRecord[]): ComparedSnapshots | undefined {
  if (!records.some(({ type }) => type === 'snapshot')) return undefined;
  try {
    return verifySnapshots(records, { slices: listKnown([...listReducing(records).values()]) });
  } catch (thrown) {
    if (!isHoldfastError(thrown)) throw thrown;
    return { compared: 0, unchecked: [], problem: { code: thrown.code, message: thrown.message } };
  }
}

function describeSnapshots(
  { compared, unchecked, problem }: ComparedSnapshots,
  { colors }: LineStyle,
): readonly string[] {
  if (problem !== undefined) return [colors.red(`${toPrintable(problem.message)} (${problem.code})`)];
  const holds = compared === 1 ? 'holds' : 'hold';
  const names = unchecked.map((id) => `\`${toPrintable(id)}\``).join(', ');
  return [
    colors.dim(`${formatCount(compared, 'snapshot')} ${holds} what the records before have made`),
    ...(unchecked.length === 0
      ? []
      : [colors.yellow(`Not compared, for their reducers are no part of this program: ${names}`)]),
  ];
}

interface NotedHead {
  readonly head: string;
  /** The last record that there was when it was noted; null when the log never had it. */
  readonly seq: number | null;
}

function describeNoted({ head, seq }: NotedHead, { records }: LogReading, { colors }: LineStyle): string {
  if (seq === null) {
    return colors.red(
      `The head ${toPrintable(head)} was never that of this log as it is now: its end was cut off or written anew.`,
    );
  }
  const since = records.length - 1 - seq;
  const more = since === 0 ? 'and nothing has been added' : `and ${formatCount(since, 'record')} came after it`;
  return colors.dim(`The noted head is that of record ${seq}, ${more}.`);
}
