import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describeCode } from '@holdfast/core/internal';
import { compareLock, formatDiagnostic, type LockComparison } from '@holdfast/loader';
import type { ComparedTool } from '@holdfast/loader/internal';
import type { ComparedPlugin } from '@holdfast/loader/plugins';
import type { Command } from 'commander';
import { describeStyle } from '../../calls/line.ts';
import type { CommandContext } from '../../flags/command.ts';
import { addConfigOptions, addTrustOption, type ConfigFlags } from '../../flags/config.ts';
import { collect, subfoldersText } from '../../flags/values.ts';
import { comparePlugins, formatPluginChanges, formatPlugins } from '../../lock/plugins.ts';
import { lockServers, type ServerLock, splitServers } from '../../lock/servers.ts';
import { countStates, formatChanges, formatComparison, type ShownChange, showChanges } from '../../lock/view.ts';
import { findFolder, readSettings, type Settings } from '../../settings/settings.ts';
import { type ExitCode, usageError } from '../../terminal/failure.ts';
import type { Host } from '../../terminal/host.ts';
import { printJson, printLines } from '../../terminal/print.ts';
import { toPrintable } from '../../terminal/text.ts';
import { lockName, shortenPath } from '../../workspace/folder.ts';
import { languages } from '../../workspace/languages.ts';
import { requireToolsFolder, type ToolsFolder, toolFileEndings } from '../../workspace/toolset.ts';

const help = `
Examples:
  $ holdfast lock                        write holdfast.lock beside the tools folder; commit it
  $ holdfast lock --check                for CI: exit with 1 if anything differs
  $ holdfast lock --accept make_slug     show what changed in one tool, and lock its current state
  $ holdfast lock --accept plugin:git    the same for a plugin; pack:NAME for a pack
  $ holdfast lock --accept mcp:files     the same for an MCP server of \`holdfast mcp wrap\`; with --user for one of yours
  $ holdfast lock --check --accept make_slug   only show the changes
  $ holdfast lock --subfolders           include subfolders, as a run with --subfolders does
  $ holdfast lock --check --json | jq -r '.tools[] | select(.state != "same").name'

The lock covers each tool file and its relative imports byte by byte, package versions, schemas, descriptions and other metadata;
for configured plugins and packs, their declarations and the imported file. Once a lock exists, a tool or plugin that differs is not
used, and nothing runs with a pack that differs. MCP servers are started, shown and locked only by name. Locking runs no code of
tool files, but imports plugins. Exits with 1 if a file is invalid or a plugin fails to load.`;

export function declare(command: Command, { host, end }: CommandContext): void {
  command
    .option('--tools <dir>', 'folder of tool files (default: ./plugins)')
    .option('--subfolders', subfoldersText)
    .option('--check', 'write nothing; exit with 1 if anything differs')
    .option('--accept <tool>', 'show what changed in this tool and lock only it; repeatable', collect)
    .option('--user', "MCP servers of the user's own lock rather than the project's")
    .option('--json', 'print JSON');
  addTrustOption(addConfigOptions(command))
    .addHelpText('after', help)
    .action(async (flags: LockOptions) => end(await lockFolder(flags, host)));
}

export interface LockOptions extends ConfigFlags {
  /** Default: `./plugins`. */
  readonly tools?: string | undefined;
  /** Reads subfolders, too. */
  readonly subfolders?: boolean | undefined;
  /** Writes nothing. */
  readonly check?: boolean;
  /** The tools, plugins (`plugin:git`), packs and MCP servers (`mcp:files`) to lock. Default: all but servers. */
  readonly accept?: readonly string[];
  /** Locks servers of the user. */
  readonly user?: boolean;
  readonly json?: boolean;
}

/**
 * Locks the current tools of a folder and the plugins and packs of a configuration, or only some of them, or reports what differs from
 * the lock. Returns 1 if one is refused or, when nothing is written, if anything differs. For chosen tools it shows every change and
 * ignores the others.
 *
 * @throws HoldfastError `usage.invalid` (`folder_missing`, `tools_missing`, `tool_unknown`), `lock.*`, and as `comparePlugins` and
 * `lockServers`.
 */
export async function lockFolder(options: LockOptions, host: Host): Promise<ExitCode> {
  const { config, trust, tools, check = false, user = false, json = false } = options;
  const { servers: serverNames, others: accept } = splitServers(options.accept ?? []);
  const locked = await lockServers(serverNames, { user, check }, host);
  const { colors } = describeStyle(host);
  const serversHold = !check || locked.servers.every(({ state }) => state === 'same');
  if (serverNames.length > 0 && accept.length === 0)
    return printServers(locked, { check, json, ok: serversHold }, host);
  // Tool files are only read, not run.
  const settings = await readSettings(
    { config, tools, subfolders: options.subfolders },
    { host, found: { untrusted: 'refuse', trust, tools: false, taken: { stdin: false, stdout: json } } },
  );
  const folder = await findFolder(settings);
  const plugins = await comparePlugins(settings, folder, host);
  // The folder is required if there is nothing else to lock.
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
  const ok = serversHold && !isRefused && (!check || (found && states.every((state) => state === 'same')));
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
      servers: locked.servers,
      diagnostics,
    };
    printJson(host, { ...described, problems: plugins?.problems ?? [], written: !check, ok });
    return ok ? 0 : 1;
  }
  if (isRefused || accept.length === 0) {
    for (const diagnostic of diagnostics)
      host.stderr.write(`${formatDiagnostic(diagnostic, { folder: folder.name })}\n`);
    for (const problem of plugins?.problems ?? [])
      host.stderr.write(`${toPrintable(problem.message)} (${describeCode(problem)})\n`);
  }
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
  printLines(host, [...locked.format(colors), ...lines, (ok ? colors.green : colors.red)(end)]);
  return ok ? 0 : 1;
}

function printServers(
  { found, servers, format }: ServerLock,
  { check, json, ok }: { readonly check: boolean; readonly json: boolean; readonly ok: boolean },
  host: Host,
): ExitCode {
  const lock = servers[0]?.lock ?? '';
  const exitCode = ok ? 0 : 1;
  if (json) {
    const nothing = { pluginLock: null, found, tools: [], plugins: [], diagnostics: [], problems: [] };
    printJson(host, { lock, ...nothing, servers, written: !check, ok });
    return exitCode;
  }
  const { colors } = describeStyle(host);
  const end = `${check ? '' : 'wrote '}${toPrintable(lock)}, ${countStates(servers, check ? 'as locked' : 'as before', 'named server')}`;
  printLines(host, [...format(colors), (ok ? colors.green : colors.red)(end)]);
  return exitCode;
}

/** Refuses a lock without tools if it had some before or nothing else is locked: probably a mistake. */
function demandTools({ tools, diagnostics }: LockComparison, { name }: ToolsFolder, hasPlugins: boolean): void {
  const isEmptied = tools.length > 0 && tools.every(({ state }) => state === 'gone');
  if (!isEmptied && (tools.length > 0 || hasPlugins)) return;
  // They explain the missing tools.
  if (diagnostics.some(({ severity }) => severity === 'error')) return;
  const hint = isEmptied
    ? `Restore the files, or remove each tool from the lock: ${tools.map((tool) => `\`--accept ${tool.name}\``).join(', ')}.`
    : `Tool files end in ${toolFileEndings}; create one with \`holdfast new tool NAME\`.`;
  throw usageError(
    'tools_missing',
    `No tools to lock in \`${name}\`${isEmptied ? ', but the lock has some; it was not changed' : ''}.`,
    { data: { hint } },
  );
}

async function compareFolder(
  { path }: ToolsFolder,
  { effective: { subfolders } }: Settings,
): Promise<LockComparison | undefined> {
  if (path === undefined) return undefined;
  // Beside the real folder, also if it was reached through a link.
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
      'tool_unknown',
      `Unknown name \`${name}\` for \`--accept\`. Known ${plugins.length === 0 ? 'tools' : 'tools, plugins and packs'}: ${known.join(', ') || 'none'}.`,
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
