import { basename, resolve } from 'node:path';
import { describeCode } from '@holdfast/core/internal';
import { formatCount } from '@holdfast/orchestrator/text';
import type { LogProblem, LogReading, ReadLogOptions } from '@holdfast/session/jsonl';
import type { LineStyle } from '../calls/line.ts';
import type { Host, OutputStream } from '../terminal/host.ts';
import { toPrintable } from '../terminal/text.ts';
import { isFile, shortenPath } from '../workspace/folder.ts';
import { findSession, type SessionName } from '../workspace/known.ts';
import { type FoundLog, readFoundLog } from '../workspace/session-logs.ts';

/** A log that was read without a lock. */
export interface ReadSession {
  readonly id: string;
  readonly reading: LogReading;
  /** The first line of every listing. */
  title(style: LineStyle): string;
}

/** Reads the log of a session, or the log file of a program: `name.id` is then a path that ends in `.jsonl`. @throws HoldfastError `usage.invalid` (`session_unknown`), `log.*`. */
export async function readSession(
  name: SessionName,
  host: Pick<Host, 'directory' | 'environment' | 'stderr'>,
  options: ReadLogOptions = {},
): Promise<ReadSession> {
  const log = (await findFile(name, host)) ?? (await findSession(name, host));
  return {
    id: log.id,
    reading: await readFoundLog(log, options),
    title: ({ colors }) =>
      `${colors.bold(`Session ${log.id}`)}  ${colors.dim(toPrintable(log.store?.name ?? shortenPath(log.path, host.directory)))}`,
  };
}

async function findFile({ id }: SessionName, { directory }: Pick<Host, 'directory'>): Promise<FoundLog | undefined> {
  if (!id?.endsWith('.jsonl')) return undefined;
  const path = resolve(directory, id);
  return (await isFile(path)) ? { id: basename(path), path } : undefined;
}

/** The integrity of a log: the last line of a listing. `done`: what was done with the valid records. */
export function describeIntegrity(
  { records, head, torn, problem }: LogReading,
  { colors }: LineStyle,
  done: 'shown' | 'replayed' | 'searched' | 'good',
): string {
  const { length } = records;
  if (length === 0 && problem === undefined && torn === undefined) {
    return colors.yellow('The log is empty: its session did nothing.');
  }
  if (problem !== undefined) {
    return colors.red(
      `The log is broken at record ${problem.seq} (${describePlace(problem)}): ${toPrintable(problem.message)} (${describeCode(problem)}) The ${formatCount(length, 'record')} before it ${length === 1 ? 'is' : 'are'} ${done}.`,
    );
  }
  if (torn !== undefined) {
    return colors.yellow(
      `The log is torn: the last ${torn.bytes} bytes, from byte ${torn.offset}, are an incomplete record. The ${formatCount(length, 'complete record')} ${length === 1 ? 'is' : 'are'} ${done}.`,
    );
  }
  return colors.dim(`${formatCount(length, 'record')}, hash chain intact, head ${head}`);
}

export function isDamaged({ torn, problem }: LogReading): boolean {
  return torn !== undefined || problem !== undefined;
}

/** Warns on stderr about a damaged log when stdout has JSON. */
export function warnOfDamage({ torn, problem }: LogReading, stderr: OutputStream): void {
  if (torn !== undefined)
    stderr.write(
      `warning: the log is torn: the last ${torn.bytes} bytes, from byte ${torn.offset}, are an incomplete record\n`,
    );
  if (problem !== undefined)
    stderr.write(
      `warning: the log is broken at record ${problem.seq} (${describePlace(problem)}): ${toPrintable(problem.message)} (${describeCode(problem)})\n`,
    );
}

/** Names the file only if it is an older file of the log. */
function describePlace({ path, offset }: LogProblem): string {
  if (!path.includes('.jsonl')) return `in ${toPrintable(path)}`;
  const name = basename(path);
  return /\.before-\d+$/.test(name) ? `byte ${offset} of ${toPrintable(name)}` : `byte ${offset}`;
}
