import type { LogRecord } from '@holdfast/session';
import type { Command } from 'commander';
import { describeStyle, type LineStyle } from '../../calls/line.ts';
import type { CommandContext } from '../../flags/command.ts';
import { addSessionOptions, type SessionOptions } from '../../flags/session.ts';
import { isDamaged, readSession, warnOfDamage } from '../../logs/damage.ts';
import { describeLog } from '../../logs/lines.ts';
import { readTerms } from '../../run/terms.ts';
import type { ExitCode } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { toJsonText } from '../../terminal/json.ts';
import { printLines } from '../../terminal/print.ts';
import { toPrintable, wrapBlock } from '../../terminal/text.ts';

const help = `
Examples:
  $ holdfast show                               the newest session of this folder
  $ holdfast show 20260517-093012345-k3x9 --workspace ~/project
  $ holdfast show desk.jsonl                    the log file of a program
  $ holdfast show --json | jq 'select(.type == "tool-call-end").outcome.kind'

Exits with 1 if the log is torn or was modified.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  addSessionOptions(command, { json: 'print the records as JSON lines' })
    .addHelpText('after', help)
    .action(async (id: string | undefined, flags: SessionOptions) => end(await showSession({ ...flags, id }, host)));
}

/** Prints a session log. Returns 1 if it is damaged. */
export async function showSession(options: SessionOptions, host: Host): Promise<ExitCode> {
  const { reading, title } = await readSession(options, host);
  if (options.json) {
    for (const record of reading.records) host.stdout.write(`${toJsonText(record)}\n`);
    warnOfDamage(reading, host.stderr);
  } else {
    const style = describeStyle(host);
    printLines(host, [title(style), ...describeConfig(reading.records, style), ...describeLog(reading, style)]);
  }
  return isDamaged(reading) ? 1 : 0;
}

/** The plugins and packs that the last run of a log was started with; empty if nothing was configured. */
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
