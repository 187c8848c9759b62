import type { ExecutableTool, Tool } from '@holdfast/core';
import type { Diagnostic } from './diagnostic.ts';
import { toFileTool } from './file-tool.ts';
import { createImport } from './import-function.ts';
import { type ScannedFile, scanFolder } from './scan-folder.ts';

export interface LoadToolsOptions {
  /** Makes errors of the two warnings, a missing description and a missing `dangerous`. Default false. */
  readonly strict?: boolean;
}

export interface LoadedTools {
  /** In file order. */
  readonly tools: readonly Tool[];
  readonly diagnostics: readonly Diagnostic[];
  /** Every tool file of the folder, also the refused ones. */
  readonly files: readonly ScannedFile[];
}

/**
 * Makes tools of the verified files of a folder. A file is imported into this process, with all that this process may do, when
 * its tool is first called; what is refused stands in the diagnostics.
 *
 * @throws HoldfastError `tools.folder.missing`, `tools.folder.not_directory`, `tools.folder.unreadable`.
 */
export async function loadTools(directory: string, { strict = false }: LoadToolsOptions = {}): Promise<LoadedTools> {
  const { files, diagnostics } = await scanFolder(directory, { strict });
  return { tools: files.flatMap((file) => (file.type === 'tool' ? [toTool(file)] : [])), diagnostics, files };
}

function toTool(scanned: Extract<ScannedFile, { type: 'tool' }>): ExecutableTool {
  const importFunction = createImport(scanned);
  return toFileTool(scanned, async (input, context) => (await importFunction())(input, context));
}
