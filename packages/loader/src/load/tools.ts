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
   * Path of a lock, whose folder holds the tools folder. Then only tools that are as it says are loaded, and what runs is a copy of
   * the bytes that it pins. Default: none; a file runs where it lies, if it has not changed since it was loaded.
   */
  readonly lock?: string;
  /**
   * The weakest isolation that tools run in; a tool's file may ask for more, and cannot ask for less. Default `subprocess`. `in-process`
   * is for a folder whose code you trust as your own.
   */
  readonly isolation?: Isolation;
  readonly processes?: ToolProcessOptions;
  /**
   * What each tool sees of the environment, of what its file declares. Default: nothing, so that a tool that needs a variable fails with
   * `tool.environment.missing`. Has no effect on what a tool in this process sees: all of `process.env`.
   */
  readonly environment?: GrantEnvironment;
}

export interface LoadedTools {
  /** In file order. */
  readonly tools: readonly Tool[];
  readonly diagnostics: readonly Diagnostic[];
  /** Every tool file of the folder, also the refused ones. */
  readonly files: readonly ScannedFile[];
  /** Ends the processes in which tools run, and the calls in them. Without it they end with this process. */
  close(): Promise<void>;
}

/**
 * Makes tools of the verified files of a folder. A file is imported when its tool is first called: into a process of its own, unless
 * `isolation` says otherwise. What is refused stands in the diagnostics.
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
  { lock, isolation = defaultIsolation, processes = {}, environment, ...options }: LoadToolsOptions,
  hooks: PinHooks,
): Promise<LoadedTools> {
  const { tools, diagnostics, files } =
    lock === undefined
      ? await loadUnlocked(directory, options)
      : await loadLocked(directory, { ...options, lock }, hooks);
  const host = createToolHost({ isolation, processes, environment, languages: options.languages });
  // One after the other: somebody may be asked at a terminal.
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
    return [{ ...toLyingTool(scanned), findDigest: () => digestLying(scanned, directory, options) }];
  });
  return { tools, diagnostics, files };
}

/** Of a file that runs where it lies, with what it imports; `undefined` where that cannot be followed. */
async function digestLying(
  scanned: ToolFile,
  directory: string,
  { languages }: ScanFolderOptions,
): Promise<string | undefined> {
  const folder = await realpath(directory);
  await using reader = createClosureReader({ root: dirname(folder), folder, languages });
  const reading = await readCurrent(scanned, reader);
  return reading.type === 'refused' ? undefined : digestPin(reading.current.tool);
}

/** A tool whose file runs where it lies, if it is still the one that was scanned. */
export function toLyingTool({ file, path, digest, metadata, commandFiles }: ToolFile): RunnableTool {
  const pinned = commandFiles === undefined ? {} : { commandFiles };
  return {
    tool: { file, metadata, digest, entry: path, ...pinned },
    fileDigest: digest,
    prepare: async () => undefined,
  };
}
