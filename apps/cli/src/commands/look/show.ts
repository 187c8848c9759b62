import { resolve } from 'node:path';
import type { LogRecord } from '@holdfast/session';
import { readLog } from '@holdfast/session/jsonl';
import type { Command } from 'commander';
import type { LineStyle } from '../../calls/line.ts';
import { describeStyle } from '../../calls/line.ts';
import type { CommandContext } from '../../flags/command.ts';
import { formatSessionTitle, isDamaged, warnOfDamage } from '../../logs/damage.ts';
import { describeLog } from '../../logs/lines.ts';
import { readTerms } from '../../run/terms.ts';
import type { ExitCode } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { toJsonText } from '../../terminal/json.ts';
import { toPrintable, wrapBlock } from '../../terminal/text.ts';
import { shortenPath } from '../../workspace/folder.ts';
import { findSession } from '../../workspace/known.ts';

const help = `
Examples:
  $ holdfast show                               the newest session of this folder
  $ holdfast show 20260517-093012345-k3x9 --workspace ~/project
  $ holdfast show --json | jq 'select(.type == "tool-call-end").outcome.kind'

Exits with 1 when the log is torn or was changed after it was written.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  command
    .argument('[id]', 'id of the session (default: the newest)')
    .option('--workspace <dir>', 'folder that the session worked in', '.')
    .option('--json', 'the records as they are, one a line')
    .addHelpText('after', help)
    .action(async (id: string | undefined, flags: Omit<ShowOptions, 'id'>) =>
      end(await showSession({ id, ...flags }, host)),
    );
}

export interface ShowOptions {
  /** Absent: the newest. */
  readonly id: string | undefined;
  readonly workspace: string;
  readonly json?: boolean | undefined;
}

/** Prints a session log; 1 when it is damaged. */
export async function showSession({ id, workspace, json }: ShowOptions, host: Host): Promise<ExitCode> {
  const log = await findSession(resolve(host.directory, workspace), id, host);
  const reading = readLog(log.path);
  if (json) {
    for (const record of reading.records) host.stdout.write(`${toJsonText(record)}\n`);
    warnOfDamage(reading, host.stderr);
  } else {
    const style = describeStyle(host);
    host.stdout.write(`${formatSessionTitle(log.id, shortenPath(log.path, host.directory), style)}\n`);
    const lines = [...describeConfig(reading.records, style), ...describeLog(reading, style)];
    for (const line of lines) host.stdout.write(`${line}\n`);
  }
  return isDamaged(reading) ? 1 : 0;
}

/** The plugins and packs that the last run of a log was begun with; none where nothing was configured. */
export function describeConfig(records: Iterable<LogRecord>, { colors, columns }: LineStyle): readonly string[] {
  const { config } = readTerms(records, Number.POSITIVE_INFINITY) ?? {};
  if (config === undefined) return [];
  const { file, plugins, packs, allowTools, denyTools } = config;
  const rows: readonly (readonly [label: string, names: readonly string[] | undefined])[] = [
    ['config', file === null ? undefined : [file]],
    [
      'plugins',
      plugins.map(({ name, version, prefix }) => `${name} ${version}${prefix === undefined ? '' : ` as ${prefix}`}`),
    ],
    ['guards', packs.map(({ id, version, preset }) => `${id} ${version} (${preset})`)],
    ['allowed', allowTools?.length === 0 ? ['no tool'] : allowTools],
    ['denied', denyTools],
  ];
  return rows.flatMap(([label, names = []]) =>
    names.length === 0
      ? []
      : wrapBlock(`${label.padEnd(7)}  ${toPrintable(names.join(', '))}`, Math.min(columns, 140) - 1).map((line) =>
          colors.dim(line),
        ),
  );
}
