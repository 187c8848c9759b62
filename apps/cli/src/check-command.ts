import { formatDiagnostic } from '@holdfast/loader';
import { formatCount } from './call-line.ts';
import { createColors } from './colors.ts';
import type { ExitCode } from './failure.ts';
import { describeTerminal, type Host } from './host.ts';
import { toJsonText } from './json-text.ts';
import { toPrintable } from './terminal-text.ts';
import { openToolset, requireToolsFolder } from './toolset.ts';

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
export async function checkFolder(
  { folder: name, strict, subfolders, json }: CheckOptions,
  host: Host,
): Promise<ExitCode> {
  const found = await requireToolsFolder(name, host.directory);
  const folder = found.name;
  const { folderTools: tools, diagnostics } = await openToolset(found, {
    strict,
    subfolders,
    // What a file is worth, not whether it is the one that was locked.
    lock: 'ignore',
  });
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const exitCode = errors.length === 0 ? 0 : 1;
  if (json) {
    const summary = { tools: tools.map(({ name, origin }) => ({ name, file: origin?.source ?? null })), diagnostics };
    host.stdout.write(`${toJsonText(summary, 2)}\n`);
    return exitCode;
  }
  const colors = createColors(describeTerminal(host.stdout, host.environment).color);
  for (const diagnostic of diagnostics) host.stdout.write(`${formatDiagnostic(diagnostic, { folder })}\n`);
  if (diagnostics.length > 0) host.stdout.write('\n');
  if (tools.length === 0 && diagnostics.length === 0) {
    host.stdout.write(
      `No tool files in ${toPrintable(folder)}: a tool file ends in .js, .mjs, .ts or .mts${subfolders ? '' : ' and lies directly in the folder; --subfolders also reads the folders in it'}.\n`,
    );
    return exitCode;
  }
  const counts = [
    formatCount(tools.length, 'good tool'),
    formatCount(errors.length, 'error'),
    formatCount(diagnostics.length - errors.length, 'warning'),
  ].join(', ');
  host.stdout.write(`${(exitCode === 0 ? colors.green : colors.red)(counts)}\n`);
  return exitCode;
}
