import type { Json } from '@holdfast/core';
import { type ConfigOrigin, listConfigValues, type PassedOver } from '@holdfast/registry/config';
import type { Command } from 'commander';
import { describeStyle } from '../../calls/line.ts';
import type { CommandContext } from '../../flags/command.ts';
import { addConfigOptions } from '../../flags/config.ts';
import { type ConfigFlag, readSettings } from '../../settings/settings.ts';
import type { ExitCode } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { printJson, printLines } from '../../terminal/print.ts';
import { formatTable } from '../../terminal/table.ts';
import { toPrintable, wrapBlock } from '../../terminal/text.ts';
import { describeLeftOut } from '../../trust/trust.ts';
import { openWorkspace } from '../../workspace/folder.ts';

const help = `
Examples:
  $ holdfast config                       the effective configuration, each value with its origin
  $ holdfast config --config ci/holdfast.config.ts --workspace ~/project
  $ holdfast config --json | jq '.settings[] | select(.key == "denyTools")'

Later sources win: defaults; holdfast.config.ts of the current folder, or --config; holdfast.policy.json or .yaml of the workspace; the
command line. The workspace can only tighten: looser values are ignored and reported. Plugin options are shown by
name only. Exits with 2 if a file is invalid, and lists every problem.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  addConfigOptions(command)
    .option('--workspace <dir>', 'folder with the holdfast.policy.json or .yaml', '.')
    .option('--json', 'print JSON')
    .addHelpText('after', help)
    .action(async (flags: ConfigOptions) => end(await showConfig(flags, host)));
}

export interface ConfigOptions {
  readonly config?: ConfigFlag;
  readonly workspace: string;
  readonly json?: boolean | undefined;
}

/** Prints the effective configuration, each value with its origin. */
export async function showConfig({ config, workspace, json }: ConfigOptions, host: Host): Promise<ExitCode> {
  const place = await openWorkspace(workspace, host.directory);
  const found = { untrusted: 'leave-out', tools: false } as const;
  const { effective, file, untrusted } = await readSettings({ config }, { workspace: place, host, found });
  if (untrusted.length > 0) host.stderr.write(describeLeftOut(untrusted));
  const settings = listConfigValues(effective);
  const { passedOver } = effective;
  if (json) {
    printJson(host, { file, settings, passedOver });
    return 0;
  }
  const style = describeStyle(host);
  const head = [{ title: 'setting', paint: style.colors.bold }, { title: 'from' }, { title: 'value' }];
  const rows = settings.map(({ key, value, origins }) => [key, origins.map(describeOrigin).join(', '), toText(value)]);
  printLines(host, [
    ...(file === null ? ['No holdfast.config.ts in this folder.', ''] : []),
    ...formatTable(head, rows, style),
    ...passedOver.flatMap(({ key, value, origin, reason }) => [
      '',
      ...wrapBlock(
        `${style.colors.yellow('ignored')}: ${toPrintable(`${key} ${toText(value)} of ${describeOrigin(origin)}, ${reasons[reason]}`)}`,
        Math.min(style.columns, 140) - 1,
      ),
    ]),
  ]);
  return 0;
}

const reasons: Readonly<Record<PassedOver['reason'], string>> = {
  looser: 'because a workspace may only tighten',
  replaced: 'because the command line overrides it',
};

/** The file, if any, with the line of a rule; otherwise `default` or `command line`. */
function describeOrigin({ layer, file, line }: ConfigOrigin): string {
  if (file === undefined) return layer;
  return line === undefined ? file : `${file}:${line}`;
}

function toText(value: Json): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ');
  if (typeof value !== 'object' || value === null) return String(value);
  const [first, ...rest] = Object.entries(value);
  const others = rest.map(([key, part]) => `${key}: ${typeof part === 'string' ? part : JSON.stringify(part)}`);
  return [String(first?.[1] ?? ''), ...others].join(', ');
}
