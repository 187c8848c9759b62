import { resolve } from 'node:path';
import { readLog } from '@holdfast/session/jsonl';
import { createColors } from './colors.ts';
import type { ExitCode } from './failure.ts';
import { describeTerminal, type Host } from './host.ts';
import { toJsonText } from './json-text.ts';
import { findLog } from './session-logs.ts';
import { describeLog } from './show-log.ts';
import { toPrintable } from './terminal-text.ts';
import { shortenPath } from './workspace.ts';

export interface ShowOptions {
  /** Absent: the newest. */
  readonly id: string | undefined;
  readonly workspace: string;
  readonly json: boolean;
}

/** Prints a session log; 1 when it is damaged. */
export async function showSession({ id, workspace, json }: ShowOptions, host: Host): Promise<ExitCode> {
  const log = await findLog(resolve(host.directory, workspace), id);
  const reading = readLog(log.path);
  const { torn, problem } = reading;
  if (json) {
    for (const record of reading.records) host.stdout.write(`${toJsonText(record)}\n`);
    if (torn !== undefined)
      host.stderr.write(
        `warning: the log is torn: its last ${torn.bytes} bytes, from byte ${torn.offset} on, are half a record\n`,
      );
    if (problem !== undefined)
      host.stderr.write(
        `warning: the log is broken at record ${problem.seq} (byte ${problem.offset}): ${toPrintable(problem.message)} (${problem.code})\n`,
      );
  } else {
    const terminal = describeTerminal(host.stdout, host.environment);
    const style = { colors: createColors(terminal.color), columns: terminal.columns };
    host.stdout.write(
      `${style.colors.bold(`Session ${log.id}`)}  ${style.colors.dim(toPrintable(shortenPath(log.path, host.directory)))}\n`,
    );
    for (const line of describeLog(reading, style)) host.stdout.write(`${line}\n`);
  }
  return torn === undefined && problem === undefined ? 0 : 1;
}
