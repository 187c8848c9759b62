import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import {
  type ComparedPlugin,
  type ComparedTool,
  compareLock,
  formatDiagnostic,
  type LockComparison,
} from '@holdfast/loader';
import type { Command } from 'commander';
import { describeStyle } from '../../calls/line.ts';
import type { CommandContext } from '../../flags/command.ts';
import { addConfigOptions, addTrustOption, type ConfigFlags } from '../../flags/config.ts';
import { collect, subfoldersText } from '../../flags/values.ts';
import { comparePlugins, formatPluginChanges, formatPlugins } from '../../lock/plugins.ts';
import { countStates, formatChanges, formatComparison, type ShownChange, showChanges } from '../../lock/view.ts';
import { findFolder, readSettings, type Settings } from '../../settings/settings.ts';
import { type ExitCode, usageError } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { printJson, printLines } from '../../terminal/print.ts';
import { toPrintable } from '../../terminal/text.ts';
import { shortenPath } from '../../workspace/folder.ts';
import { languages } from '../../workspace/languages.ts';
import { lockName, requireToolsFolder, type ToolsFolder, toolFileEndings } from '../../workspace/toolset.ts';

const help = `
Examples:
  $ holdfast lock                        writes holdfast.lock beside the tools folder; put it under version control
  $ holdfast lock --check                for CI: exits with 1 when anything differs
  $ holdfast lock --accept make_slug     shows what differs in one tool, and locks it as it is now
  $ holdfast lock --accept plugin:git    the same for a plugin, or with pack:NAME for a pack
  $ holdfast lock --check --accept make_slug   only shows it
  $ holdfast lock --subfolders           also the folders in it; a run takes them with --subfolders, too
  $ holdfast lock --check --json | jq -r '.tools[] | select(.state != "same").name'

What is locked: each tool file and what it imports by path, byte by byte; versions of packages; schema, description and what else the
file says. Of the plugins and packs that the configuration names: what they declare, and the file that is imported. Once there is a
lock, a tool or plugin that differs is not used, and nothing runs with a pack that does. Here, no line of a tool file runs; plugins are
imported. Exits with 1 when a file is refused, or a plugin cannot be loaded.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  command
    .option('--tools <dir>', 'folder of tool files (default: ./plugins)')
    .option('--subfolders', subfoldersText)
    .option('--check', 'write nothing, and exit with 1 when anything differs')
    .option('--accept <tool>', 'show what differs in this tool, and lock it alone; may be repeated', collect)
    .option('--json', 'as JSON');
  addTrustOption(addConfigOptions(command))
    .addHelpText('after', help)
    .action(async (flags: LockOptions) => end(await lockFolder(flags, host)));
}

export interface LockOptions extends ConfigFlags {
  /** Absent: the default folder. */
  readonly tools?: string | undefined;
  /** Reads the folders in it, too. */
  readonly subfolders?: boolean | undefined;
  /** Writes nothing. */
  readonly check?: boolean;
  /** The tools, and the plugins and packs as `plugin:git`, to lock; none: all of them. */
  readonly accept?: readonly string[];
  readonly json?: boolean;
}

/**
 * Locks the tools of a folder, and the plugins and packs of a configuration, as they are, or some of them, or says what differs from the
 * lock; 1 when one is refused and, where nothing is written, when anything differs. Of what was chosen all that differs is shown, and
 * the others do not matter.
 *
 * @throws HoldfastError `usage.folder_missing`, `usage.tool_unknown`, `tools.lock.*`, and as `comparePlugins`.
 */
export async function lockFolder(options: LockOptions, host: Host): Promise<ExitCode> {
  const { config, trust, tools, check = false, accept = [], json = false } = options;
  // Tool files are read and not run.
  const settings = await readSettings(
    { config, tools, subfolders: options.subfolders },
    { host, found: { untrusted: 'refuse', trust, tools: false, taken: { stdin: false, stdout: json } } },
  );
  const folder = await findFolder(settings);
  const plugins = await comparePlugins(settings, folder, host);
  // Without anything to lock there has to be a folder.
  if (plugins === undefined)
    await requireToolsFolder(folder.path === undefined ? undefined : folder.name, host.directory);
  const comparison = await compareFolder(folder, settings);
  const compared = { tools: comparison?.tools ?? [], plugins: plugins?.comparison.plugins ?? [] };
  const chosen = chooseSubjects(accept, compared);
  const shown = await Promise.all(
    chosen.tools.map(async (tool) => ({ tool, changes: comparison ? await showChanges(tool, comparison) : [] })),
  );
  if (!check && accept.length === 0 && comparison !== undefined) demandTools(comparison, folder, plugins !== undefined);
  if (!check) {
    const all = accept.length === 0;
    await comparison?.accept(all ? undefined : chosen.tools.map(({ name }) => name));
    await plugins?.comparison.accept(all ? undefined : chosen.plugins.map(({ id }) => id));
  }

  const subjects = accept.length === 0 ? compared : chosen;
  const states = [...subjects.tools, ...subjects.plugins].map(({ state }) => state);
  const diagnostics = comparison?.diagnostics ?? [];
  const isRefused =
    states.includes('refused') ||
    (accept.length === 0 &&
      (diagnostics.some(({ severity }) => severity === 'error') || (plugins?.problems.length ?? 0) > 0));
  const found = comparison?.found ?? plugins?.comparison.found ?? false;
  const ok = !isRefused && (!check || (found && states.every((state) => state === 'same')));
  const place = comparison?.lock ?? plugins?.comparison.lock ?? '';
  const path = shortenPath(place, host.directory);
  const pluginPath = plugins === undefined ? null : shortenPath(plugins.comparison.lock, host.directory);
  if (json) {
    const described = {
      lock: path,
      pluginLock: pluginPath,
      found,
      tools: describeTools(compared.tools, shown),
      plugins: compared.plugins,
      diagnostics,
    };
    printJson(host, { ...described, problems: plugins?.problems ?? [], written: !check, ok });
    return ok ? 0 : 1;
  }
  if (isRefused || accept.length === 0) {
    for (const diagnostic of diagnostics)
      host.stderr.write(`${formatDiagnostic(diagnostic, { folder: folder.name })}\n`);
    for (const { message, code } of plugins?.problems ?? []) host.stderr.write(`${toPrintable(message)} (${code})\n`);
  }
  const { colors } = describeStyle(host);
  const lines =
    accept.length === 0
      ? [...formatComparison(compared.tools, colors), ...formatPlugins(compared.plugins, colors)]
      : [
          ...shown.flatMap(({ tool, changes }) => formatChanges(tool, changes, colors)),
          ...chosen.plugins.flatMap((plugin) => formatPluginChanges(plugin, colors)),
        ];
  const state = check ? (found ? '' : 'there is no ') : 'wrote ';
  const end = [
    `${state}${toPrintable(path)}`,
    ...countSubjects(subjects, { check, named: accept.length > 0, elsewhere: pluginPath === path ? null : pluginPath }),
  ].join(', ');
  printLines(host, [...lines, (ok ? colors.green : colors.red)(end)]);
  return ok ? 0 : 1;
}

/** A lock without a tool, where there was one before or nothing else is locked, is rather a mistake. */
function demandTools({ tools, diagnostics }: LockComparison, { name }: ToolsFolder, hasPlugins: boolean): void {
  const isEmptied = tools.length > 0 && tools.every(({ state }) => state === 'gone');
  if (!isEmptied && (tools.length > 0 || hasPlugins)) return;
  // They say why there is no tool.
  if (diagnostics.some(({ severity }) => severity === 'error')) return;
  const hint = isEmptied
    ? `Put the files back, or take each tool out of the lock: ${tools.map((tool) => `\`--accept ${tool.name}\``).join(', ')}.`
    : `Tool files end in ${toolFileEndings}; \`holdfast new tool NAME\` makes one.`;
  throw new HoldfastError(
    'usage.folder_missing',
    `There is no tool in \`${name}\` to lock${isEmptied ? ', and the lock has some: it stays as it is' : ''}.`,
    { data: { reason: 'empty', hint } },
  );
}

async function compareFolder(
  { path }: ToolsFolder,
  { effective: { subfolders } }: Settings,
): Promise<LockComparison | undefined> {
  if (path === undefined) return undefined;
  // Beside the folder itself, wherever a link to it lies.
  return await compareLock(path, {
    lock: join(dirname(await realpath(path)), lockName),
    subfolders: subfolders.value,
    languages,
  });
}

interface Subjects {
  readonly tools: readonly ComparedTool[];
  readonly plugins: readonly ComparedPlugin[];
}

function chooseSubjects(accept: readonly string[], { tools, plugins }: Subjects): Subjects {
  for (const name of accept) {
    if (tools.some((one) => one.name === name) || plugins.some(({ id }) => id === name)) continue;
    const known = [...tools.map((one) => one.name), ...plugins.map(({ id }) => id)];
    throw usageError(
      'usage.tool_unknown',
      `\`--accept\` names \`${name}\`, which is neither a good tool of the folder nor locked${plugins.length === 0 ? '' : ', nor a plugin or pack'}. There are: ${known.join(', ')}.`,
    );
  }
  const chosen = new Set(accept);
  return { tools: tools.filter(({ name }) => chosen.has(name)), plugins: plugins.filter(({ id }) => chosen.has(id)) };
}

function countSubjects(
  { tools, plugins }: Subjects,
  { check, named, elsewhere }: { readonly check: boolean; readonly named: boolean; readonly elsewhere: string | null },
): readonly string[] {
  const same = check ? 'as locked' : 'as before';
  const place = elsewhere === null ? '' : ` in ${toPrintable(elsewhere)}`;
  return [
    ...(tools.length === 0 && plugins.length > 0 ? [] : [countStates(tools, same, named ? 'named tool' : 'tool')]),
    ...(plugins.length === 0
      ? []
      : [countStates(plugins, same, named ? 'named plugin or pack' : 'plugin or pack') + place]),
  ];
}

interface Shown {
  readonly tool: ComparedTool;
  readonly changes: readonly ShownChange[];
}

function describeTools(tools: readonly ComparedTool[], shown: readonly Shown[]): readonly object[] {
  return tools.map((tool) => ({
    ...tool,
    changes:
      shown.find((one) => one.tool.name === tool.name)?.changes ??
      tool.changes.map((change) => ({ ...change, patch: null })),
  }));
}
