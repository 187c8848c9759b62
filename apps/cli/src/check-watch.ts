import type { Tool } from '@holdfast/core';
import { type ToolReload, type WatchedTools, watchTools } from '@holdfast/loader';
import type { CheckOptions } from './check-command.ts';
import { type CheckedFolder, describeCheck, formatCheck } from './check-view.ts';
import { type Colors, createColors } from './colors.ts';
import { type ExitCode, interruptionCodes } from './failure.ts';
import { describeTerminal, type Host, type Interruption } from './host.ts';
import { toJsonText } from './json-text.ts';
import { toPrintable } from './terminal-text.ts';
import { leaveOutClashes, requireToolsFolder } from './toolset.ts';

const nothing: ToolReload = { added: [], changed: [], removed: [], kept: [] };

/** Checks a tools folder, and again whenever something in it changes, until Ctrl-C: 0. Nothing of it runs. */
export async function watchFolder(
  { folder: name, strict, subfolders, json }: CheckOptions,
  host: Host,
): Promise<ExitCode> {
  const { path, name: folder } = await requireToolsFolder(name, host.directory);
  const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<Interruption>();
  const stopListening = host.onInterrupt(interrupt);
  const colors = createColors(describeTerminal(host.stdout, host.environment).color);
  const show = (watched: WatchedTools, reload: ToolReload): void => {
    const checked = toChecked(watched, reload);
    if (json) {
      host.stdout.write(`${toJsonText({ type: 'checked', ...describeCheck(checked), ...reload })}\n`);
      return;
    }
    const lines = formatReload(watched.tools, reload, colors).map((line) => `${line}\n`);
    host.stdout.write(`${lines.join('')}${formatCheck(checked, { folder, subfolders, colors })}\n`);
  };
  try {
    const watched = await watchTools(path, {
      strict,
      subfolders,
      onReload: (reload) => show(watched, reload),
    });
    try {
      show(watched, nothing);
      if (!json) host.stdout.write(`${colors.dim(`Watching ${toPrintable(folder)}; Ctrl-C ends it.`)}\n\n`);
      const cause = await interrupted;
      return cause === 'ctrl-c' ? 0 : interruptionCodes[cause];
    } finally {
      await watched.close();
    }
  } finally {
    stopListening();
  }
}

/** What the files are worth as they are now: neither what is kept nor how it would run. */
function toChecked({ tools, files, diagnostics }: WatchedTools, { kept }: ToolReload): CheckedFolder {
  const own = diagnostics.filter(({ code }) => code !== 'tool.watch.kept' && code !== 'tool.watch.unkept');
  return leaveOutClashes({ tools: tools.filter((tool) => !kept.includes(tool.name)), files, diagnostics: own });
}

function formatReload(
  tools: readonly Tool[],
  { added, changed, removed, kept }: ToolReload,
  colors: Colors,
): readonly string[] {
  const files = new Map(tools.map((tool) => [tool.name, tool.origin?.source ?? '']));
  const describe = (word: string, names: readonly string[], note = ''): readonly string[] =>
    names.map((name) => {
      const file = files.get(name);
      return `${word} ${name}${file === undefined ? '' : `  ${colors.dim(toPrintable(file))}`}${note}`;
    });
  return [
    ...describe(colors.green('new'.padEnd(8)), added),
    ...describe(colors.yellow('changed'.padEnd(8)), changed),
    ...describe(colors.red('gone'.padEnd(8)), removed),
    ...describe(colors.yellow('kept'.padEnd(8)), kept, '  as it was when it was last good'),
  ];
}
