import type { Tool } from '@holdfast/core';
import { type Diagnostic, formatDiagnostic } from '@holdfast/loader';
import { formatCount } from '@holdfast/orchestrator/text';
import type { Colors } from '../../terminal/colors.ts';
import { toPrintable } from '../../terminal/text.ts';
import { toolFileEndings } from '../../workspace/toolset.ts';

/** The valid tools of a folder, and the problems of the others. */
export interface CheckedFolder {
  readonly tools: readonly Tool[];
  readonly diagnostics: readonly Diagnostic[];
}

export interface CheckStyle {
  /** The folder as the user named it. */
  readonly folder: string;
  /** True if subfolders are read. */
  readonly subfolders: boolean;
  readonly colors: Colors;
}

export function countErrors({ diagnostics }: CheckedFolder): number {
  return diagnostics.filter(({ severity }) => severity === 'error').length;
}

/** The JSON output. */
export function describeCheck({ tools, diagnostics }: CheckedFolder): object {
  return { tools: tools.map(({ name, origin }) => ({ name, file: origin?.source ?? null })), diagnostics };
}

/** Every diagnostic, and the number of valid tools, errors and warnings. */
export function formatCheck(checked: CheckedFolder, { folder, subfolders, colors }: CheckStyle): readonly string[] {
  const { tools, diagnostics } = checked;
  if (tools.length === 0 && diagnostics.length === 0) {
    const where = subfolders ? '' : '; use --subfolders to include subfolders';
    return [`No tool files in ${toPrintable(folder)}: tool files end in ${toolFileEndings}${where}.`];
  }
  const errors = countErrors(checked);
  const counts = [
    formatCount(tools.length, 'valid tool'),
    formatCount(errors, 'error'),
    formatCount(diagnostics.length - errors, 'warning'),
  ].join(', ');
  const lines = diagnostics.map((diagnostic) => formatDiagnostic(diagnostic, { folder }));
  return [...lines, ...(lines.length > 0 ? [''] : []), (errors === 0 ? colors.green : colors.red)(counts)];
}
