import { isHoldfastError } from '@holdfast/core';
import { describeCode, toProblem } from '@holdfast/core/internal';
import type { Problem } from '@holdfast/core/types';
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
  $ holdfast verify --json | jq -r .head        the head, to note elsewhere

Every edit breaks the hash chain, except a tail that was cut off or rewritten at a record boundary: only a head noted earlier
reveals that. Exits with 1 if something is wrong.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  addSessionOptions(command)
    .option('--head <hash>', 'a head noted earlier: also detects a tail that was cut off')
    .addHelpText('after', help)
    .action(async (id: string | undefined, flags: VerifyOptions) => end(await verifyLog({ ...flags, id }, host)));
}

export interface VerifyOptions extends SessionOptions {
  /** A head noted earlier. Absent: only the chain is checked. */
  readonly head?: string | undefined;
}

/**
 * Checks that a log is intact and that its snapshots match the records before them. The chain alone detects every edit except a tail
 * that was cut off or rewritten at a record boundary; a head noted earlier detects that too. Returns 1 if something is wrong.
 *
 * @throws HoldfastError `usage.invalid` (`session_unknown`, `head_invalid`), `log.*`.
 */
export async function verifyLog(options: VerifyOptions, host: Host): Promise<ExitCode> {
  const head = options.head?.toLowerCase();
  if (head !== undefined && !/^[0-9a-f]{64}$/.test(head)) {
    throw usageError('head_invalid', `\`--head\` must be the 64 hexadecimal digits that \`verify\` prints.`);
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
  readonly problem?: Problem;
}

function compareSnapshots(records: readonly LogRecord[]): ComparedSnapshots | undefined {
  if (!records.some(({ type }) => type === 'snapshot')) return undefined;
  try {
    return verifySnapshots(records, { slices: listKnown([...listReducing(records).values()]) });
  } catch (thrown) {
    if (!isHoldfastError(thrown)) throw thrown;
    return { compared: 0, unchecked: [], problem: toProblem(thrown, { code: thrown.code }) };
  }
}

function describeSnapshots(
  { compared, unchecked, problem }: ComparedSnapshots,
  { colors }: LineStyle,
): readonly string[] {
  if (problem !== undefined) return [colors.red(`${toPrintable(problem.message)} (${describeCode(problem)})`)];
  const holds = compared === 1 ? 'matches' : 'match';
  const names = unchecked.map((id) => `\`${toPrintable(id)}\``).join(', ');
  return [
    colors.dim(`${formatCount(compared, 'snapshot')} ${holds} the records before`),
    ...(unchecked.length === 0
      ? []
      : [colors.yellow(`Not compared, because their reducers are not part of this program: ${names}`)]),
  ];
}

interface NotedHead {
  readonly head: string;
  /** The last record when the head was noted; null if the log never had this head. */
  readonly seq: number | null;
}

function describeNoted({ head, seq }: NotedHead, { records }: LogReading, { colors }: LineStyle): string {
  if (seq === null) {
    return colors.red(`This log never had the head ${toPrintable(head)}: its tail was cut off or rewritten.`);
  }
  const since = records.length - 1 - seq;
  const more = since === 0 ? 'the last one' : `followed by ${formatCount(since, 'more record')}`;
  return colors.dim(`The head matches record ${seq}, ${more}.`);
}
