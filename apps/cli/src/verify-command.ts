import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type LogReading, readLog } from '@holdfast/session/jsonl';
import { formatCount, type LineStyle } from './call-line.ts';
import { createColors } from './colors.ts';
import { type ExitCode, usageError } from './failure.ts';
import { describeTerminal, type Host } from './host.ts';
import { toJsonText } from './json-text.ts';
import { describeIntegrity, formatSessionTitle, isDamaged } from './log-damage.ts';
import { findLog } from './session-logs.ts';
import { toPrintable } from './terminal-text.ts';
import { shortenPath } from './workspace.ts';

export interface VerifyOptions {
  /** Absent: the newest. */
  readonly id: string | undefined;
  readonly workspace: string;
  /** A head that was noted earlier; absent: only what is there is looked at. */
  readonly head: string | undefined;
  readonly json: boolean;
}

/**
 * Says whether a log is as it was written. The chain alone shows every edit but one: a tail that was cut or written anew at the
 * edge of a record. With a head that was noted earlier that shows as well. 1 when something is wrong.
 *
 * @throws HoldfastError `usage.session_unknown`, `usage.head_invalid`, `log.*`.
 */
export async function verifyLog({ id, workspace, head, json }: VerifyOptions, host: Host): Promise<ExitCode> {
  if (head !== undefined && !/^[0-9a-f]{64}$/i.test(head)) {
    throw usageError('usage.head_invalid', `\`--head\` takes the 64 hexadecimal digits that \`verify\` prints.`);
  }
  const log = await findLog(resolve(host.directory, workspace), id);
  const reading = readLog(log.path);
  const noted = head === undefined ? undefined : await findHead(log.path, head.toLowerCase(), reading);
  const whole = !isDamaged(reading) && noted?.seq !== null;
  if (json) {
    const { records, torn, problem } = reading;
    const found = { session: log.id, whole, records: records.length, head: reading.head, torn, problem, noted };
    host.stdout.write(`${toJsonText(found, 2)}\n`);
  } else {
    const terminal = describeTerminal(host.stdout, host.environment);
    const style = { colors: createColors(terminal.color), columns: terminal.columns };
    const lines = [
      formatSessionTitle(log.id, shortenPath(log.path, host.directory), style),
      describeIntegrity(reading, style, 'good'),
      ...(noted === undefined ? [] : [describeNoted(noted, reading, style)]),
    ];
    for (const line of lines) host.stdout.write(`${line}\n`);
  }
  return whole ? 0 : 1;
}

interface NotedHead {
  readonly head: string;
  /** The last record that there was when it was noted; null when the log never had it. */
  readonly seq: number | null;
}

/** Each line holds the link of the line before it, so a head that the log once had stands in the line after. */
async function findHead(path: string, head: string, { records, head: last }: LogReading): Promise<NotedHead> {
  if (head === last) return { head, seq: records.length - 1 };
  const lines = (await readFile(path, 'utf8')).split('\n', records.length);
  const next = lines.findIndex((line, seq) => seq > 0 && line.includes(`"prev":"${head}"`) && linkIn(line) === head);
  return { head, seq: next < 0 ? null : next - 1 };
}

function linkIn(line: string): unknown {
  // The line has been read before: it is an object.
  return (JSON.parse(line) as { readonly prev: unknown }).prev;
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
