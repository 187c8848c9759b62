import { resolve } from 'node:path';
import { readLog } from '@holdfast/session/jsonl';
import { createColors } from './colors.ts';
import type { ExitCode } from './failure.ts';
import { describeTerminal, type Host } from './host.ts';
import { toJsonText } from './json-text.ts';
import { findSession } from './known-workspaces.ts';
import { formatSessionTitle, isDamaged, warnOfDamage } from './log-damage.ts';
import { describeConfig } from './show-config.ts';
import { describeLog } from './show-log.ts';
import { shortenPath } from './workspace.ts';

export interface ShowOptions {
  /** Absent: the newest. */
  readonly id: string | undefined;
  readonly workspace: string;
  readonly json: boolean;
}

/** Prints a session log; 1 when it is damaged. */
export async function showSession({ id, workspace, json }: ShowOptions, host: Host): Promise<ExitCode> {
  const log = await findSession(resolve(host.directory, workspace), id, host);
  const reading = readLog(log.path);
  if (json) {
    for (const record of reading.records) host.stdout.write(`${toJsonText(record)}\n`);
    warnOfDamage(reading, host.stderr);
  } else {
    const terminal = describeTerminal(host.stdout, host.environment);
    const style = { colors: createColors(terminal.color), columns: terminal.columns };
    host.stdout.write(`${formatSessionTitle(log.id, shortenPath(log.path, host.directory), style)}\n`);
    const lines = [...describeConfig(reading.records, style), ...describeLog(reading, style)];
    for (const line of lines) host.stdout.write(`${line}\n`);
  }
  return isDamaged(reading) ? 1 : 0;
}
