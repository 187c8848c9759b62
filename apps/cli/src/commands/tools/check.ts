import { followImports } from '@holdfast/loader';
import { createColors } from '../../terminal/colors.ts';
import type { ExitCode } from '../../terminal/failure.ts';
import { describeTerminal, type Host } from '../../terminal/host.ts';
import { toJsonText } from '../../terminal/json.ts';
import { openToolset, requireToolsFolder } from '../../workspace/toolset.ts';
import { countErrors, describeCheck, formatCheck } from './check-view.ts';

export interface CheckOptions {
  /** Absent: the default folder. */
  readonly folder: string | undefined;
  /** Treats warnings as errors. */
  readonly strict: boolean;
  /** Reads the folders in the folder, too. */
  readonly subfolders: boolean;
  readonly json: boolean;
}

/** Checks a tools folder without running anything in it; 1 when a file is refused. */
export async function checkFolder({ folder, strict, subfolders, json }: CheckOptions, host: Host): Promise<ExitCode> {
  const found = await requireToolsFolder(folder, host.directory);
  const { folderTools, diagnostics, files } = await openToolset(found, {
    strict,
    subfolders,
    // What a file is worth, not whether it is the one that was locked.
    lock: 'ignore',
  });
  const followed = await followImports(found.path, { files, diagnostics }, { strict });
  const good = new Set(followed.files.flatMap(({ type, file }) => (type === 'tool' ? [file] : [])));
  const tools = folderTools.filter(({ origin }) => good.has(origin?.source ?? ''));
  const checked = { tools, diagnostics: followed.diagnostics };
  const colors = createColors(describeTerminal(host.stdout, host.environment).color);
  host.stdout.write(
    json
      ? `${toJsonText(describeCheck(checked), 2)}\n`
      : formatCheck(checked, { folder: found.name, subfolders, colors }),
  );
  return countErrors(checked) === 0 ? 0 : 1;
}
