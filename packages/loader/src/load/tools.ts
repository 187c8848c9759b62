import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Tool } from '@holdfast/core';
import type { Isolation } from '../check/types.ts';
import { createClosureReader } from '../imports/closure.ts';
import type { GrantEnvironment } from '../isolate/environment.ts';
import { defaultIsolation } from '../isolate/tiers.ts';
import { digestPin } from '../pins/changes.ts';
import { type PinHooks, readCurrent, type ToolFile } from '../pins/folder.ts';
import { loadLocked } from '../pins/load-locked.ts';
import { type ScannedFile, scanFolder } from '../scan/folder.ts';
import type { ScanFolderOptions } from '../scan/tool-files.ts';
import type { Diagnostic } from '../text/diagnostic.ts';
import { createToolHost, type RunnableTool, type ToolProcessOptions } from './tool-host.ts';

export interface LoadToolsOptions extends ScanFolderOptions {
  /**
   * Path of a lock, whose folder contains the tools folder. Only tools that match the lock are loaded, and they run
   * from copies of the locked bytes. Default: none; a file runs in place unless it changed after loading.
   */
  readonly lock?: string;
  /**
   * The weakest isolation; a tool's file may ask for a stronger one, never a weaker one. Default `subprocess`. Use
   * `in-process` only for a folder whose code you trust like your own.
   */
  readonly isolation?: Isolation;
  readonly processes?: ToolProcessOptions;
  /**
   * Grants each tool its declared environment variables. Default: none, so a tool that requires one fails with
   * `tool.environment.missing`. Does not limit tools in this process, which see all of `process.env`.
   */
  readonly environment?: GrantEnvironment;
}

export interface LoadedTools {
  /** In file order. */
  readonly tools: readonly Tool[];
  readonly diagnostics: readonly Diagnostic[];
  /** Every tool file of the folder, including refused ones. */
  readonly files: readonly ScannedFile[];
  /** Ends all running calls and their processes; otherwise they end with this process. */
  close(): Promise<void>;
}

/**
 * Creates tools from the verified files of a folder. A file is imported on its tool's first call, into its own process
 * unless `isolation` says otherwise. Refused files are listed in the diagnostics.
 *
 * @throws HoldfastError `tools.folder.unreadable`; with a lock
 * also `lock.invalid`.
 */
export function loadTools(directory: string, options: LoadToolsOptions = {}): Promise<LoadedTools> {
  return loadToolsWith(directory, options, {});
}

/** Like `loadTools`, with hooks for tests that change files while loading. */
export async function loadToolsWith(
  directory: string,
  { lock, isolation = defaultIsolation, processes = {}, environment, ...options }: LoadToolsOptions,
  hooks: PinHooks,
): Promise<LoadedTools> {
  const { tools, diagnostics, files } =
    lock === undefined
      ? await loadUnlocked(directory, options)
      : await loadLocked(directory, { ...options, lock }, hooks);
  const host = createToolHost({ isolation, processes, environment, languages: options.languages });
  // Sequential: a person may be asked at a terminal.
  for (const { tool, findDigest } of tools) await host.grant(tool, findDigest);
  return { tools: tools.map((tool) => host.toTool(tool)), diagnostics, files, close: () => host.close() };
}

async function loadUnlocked(
  directory: string,
  options: ScanFolderOptions,
): Promise<{
  readonly tools: readonly (RunnableTool & { findDigest(): Promise<string | undefined> })[];
  readonly diagnostics: readonly Diagnostic[];
  readonly files: readonly ScannedFile[];
}> {
  const { files, diagnostics } = await scanFolder(directory, options);
  const tools = files.flatMap((scanned) => {
    if (scanned.type === 'refused') return [];
    return [{ ...toInPlaceTool(scanned), findDigest: () => digestInPlace(scanned, directory, options) }];
  });
  return { tools, diagnostics, files };
}

/** Digest of a file that runs in place, with its imports; `undefined` if they cannot be followed. */
async function digestInPlace(
  scanned: ToolFile,
  directory: string,
  { languages }: ScanFolderOptions,
): Promise<string | undefined> {
  const folder = await realpath(directory);
  await using reader = createClosureReader({ root: dirname(folder), folder, languages });
  const reading = await readCurrent(scanned, reader);
  return reading.type === 'refused' ? undefined : digestPin(reading.current.tool);
}

/** Runs the file in place; refuses if it changed after the scan. */
export function toInPlaceTool({ file, path, digest, metadata, commandFiles }: ToolFile): RunnableTool {
  const pinned = commandFiles === undefined ? {} : { commandFiles };
  return {
    tool: { file, metadata, digest, entry: path, ...pinned },
    fileDigest: digest,
    prepare: async () => undefined,
  };
}
