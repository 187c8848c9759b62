import { isHoldfastError, type Tool } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import { type LoadedTools, type ToolReload, watchTools } from '@holdfast/loader';
import { type FolderScan, followImports } from '@holdfast/loader/internal';
import { describeStyle } from '../../calls/line.ts';
import type { Colors } from '../../terminal/colors.ts';
import { type ExitCode, interruptionCodes } from '../../terminal/failure.ts';
import type { Host, Interruption } from '../../terminal/host.ts';
import { toJsonText } from '../../terminal/json.ts';
import { printLines } from '../../terminal/print.ts';
import { toPrintable } from '../../terminal/text.ts';
import { languages } from '../../workspace/languages.ts';
import { leaveOutClashes, requireToolsFolder } from '../../workspace/toolset.ts';
import type { CheckOptions } from './check.ts';
import { type CheckedFolder, describeCheck, formatCheck } from './check-view.ts';

const nothing: ToolReload = { added: [], changed: [], removed: [], kept: [] };

/** Checks a tools folder now and after every change, until Ctrl-C. Runs none of it. */
export async function watchFolder(options: CheckOptions, host: Host): Promise<ExitCode> {
  const { folder: name, strict = false, subfolders = false, json = false } = options;
  const { path, name: folder } = await requireToolsFolder(name, host.directory);
  const { promise: interrupted, resolve: interrupt, reject: fail } = Promise.withResolvers<Interruption>();
  // A rejection before the await must not be unhandled.
  interrupted.catch(() => undefined);
  const stopListening = host.onInterrupt(interrupt);
  const { colors } = describeStyle(host);
  const show = async (loaded: LoadedState, reload: ToolReload): Promise<void> => {
    const checked = await check(path, loaded, strict);
    const lines = json
      ? [toJsonText({ type: 'checked', ...describeCheck(checked), ...reload })]
      : [...formatReload(loaded.tools, reload, colors), ...formatCheck(checked, { folder, subfolders, colors }), ''];
    printLines(host, lines);
  };
  // In sequence, each with the state at its time.
  let shown = Promise.resolve();
  try {
    const watched = await watchTools(path, {
      languages,
      strict,
      subfolders,
      onReload: (reload) => {
        const { tools, files, diagnostics } = watched;
        shown = shown.then(() => show({ tools, files, diagnostics }, reload));
        shown.catch(fail);
      },
    });
    try {
      shown = show(watched, nothing);
      await shown;
      if (!json) printLines(host, [colors.dim(`Watching ${toPrintable(folder)}; press Ctrl-C to stop.`), '']);
      const cause = await interrupted;
      await shown;
      return cause === 'ctrl-c' ? 0 : interruptionCodes[cause];
    } finally {
      await watched.close();
    }
  } finally {
    stopListening();
  }
}

type LoadedState = Omit<LoadedTools, 'close'>;

/** Checks the current files like `check`, independent of what is kept or how it would run. */
async function check(
  path: string,
  { tools, files, diagnostics }: LoadedState,
  strict: boolean,
): Promise<CheckedFolder> {
  const own = diagnostics.filter(
    ({ code, reason }) => code !== 'tool.watch.failed' || reason === undefined || reason === 'retained',
  );
  const followed = await follow(path, { files, diagnostics: own }, strict);
  const good = new Set(followed.files.flatMap(({ type, file }) => (type === 'tool' ? [file] : [])));
  const left = leaveOutClashes({ ...followed, tools: tools.filter(({ origin }) => good.has(origin?.source ?? '')) });
  const told = new Map(left.diagnostics.map((diagnostic) => [toJsonText(diagnostic), diagnostic]));
  return { tools: left.tools, diagnostics: [...told.values()] };
}

async function follow(path: string, scan: FolderScan, strict: boolean): Promise<FolderScan> {
  try {
    return await followImports(path, scan, { strict, languages });
  } catch (thrown) {
    // The next reload reports the removed folder.
    if (isHoldfastError(thrown) && describeCode(thrown) === 'tools.folder.unreadable: missing') return scan;
    throw thrown;
  }
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
    ...describe(colors.red('removed'.padEnd(8)), removed),
    ...describe(colors.yellow('kept'.padEnd(8)), kept, '  last valid version'),
  ];
}
