import type { ExecutableTool, Tool } from '@holdfast/core';
import type { Diagnostic } from './diagnostic.ts';
import { toFileTool } from './file-tool.ts';
import type { PinHooks, ToolFile } from './folder-pins.ts';
import { createImport } from './import-function.ts';
import { loadLocked, type ReadyTool } from './load-locked.ts';
import { type ScanFolderOptions, type ScannedFile, scanFolder } from './scan-folder.ts';

export interface LoadToolsOptions extends ScanFolderOptions {
  /**
   * Path of a lock, whose folder holds the tools folder. Then only tools that are as it says are loaded, and what runs is a copy of
   * the bytes that it pins. Default: none; a file runs where it lies, if it has not changed since it was loaded.
   */
  readonly lock?: string;
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
 * @throws HoldfastError `tools.folder.missing`, `tools.folder.not_directory`, `tools.folder.unreadable`; with a lock also
 * `tools.lock.missing`, `tools.lock.outside`, `tools.lock.unreadable`, `tools.lock.invalid`, `tools.lock.version`.
 */
export function loadTools(directory: string, options: LoadToolsOptions = {}): Promise<LoadedTools> {
  return loadToolsWith(directory, options, {});
}

/** As `loadTools`, for tests that change files in between. */
export async function loadToolsWith(
  directory: string,
  { lock, ...options }: LoadToolsOptions,
  hooks: PinHooks,
): Promise<LoadedTools> {
  if (lock === undefined) {
    const { files, diagnostics } = await scanFolder(directory, options);
    return { tools: files.flatMap((file) => (file.type === 'tool' ? [toTool(file)] : [])), diagnostics, files };
  }
  const { tools, diagnostics, files } = await loadLocked(directory, { ...options, lock }, hooks);
  return { tools: tools.map(toPinnedTool), diagnostics, files };
}

function toTool(scanned: ToolFile): ExecutableTool {
  const importFunction = createImport(scanned);
  return toFileTool(scanned, async (input, context) => (await importFunction())(input, context));
}

function toPinnedTool({ tool, fileDigest, prepare }: ReadyTool): ExecutableTool {
  const { file, entry, metadata } = tool;
  const importFunction = createImport({ file, path: entry, digest: fileDigest, metadata });
  let prepared = false;
  return toFileTool(tool, async (input, context) => {
    // Until it has been imported: later calls read no file.
    if (!prepared) await prepare();
    const run = await importFunction();
    prepared = true;
    return run(input, context);
  });
}
