import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Diagnostic } from './diagnostic.ts';
import { type CurrentReading, type CurrentTool, type PinHooks, readCurrent, type ToolFile } from './folder-pins.ts';
import { hashJson } from './hash-json.ts';
import { createClosureReader } from './import-closure.ts';
import { loadLocked } from './load-locked.ts';
import { toLyingTool } from './load-tools.ts';
import { digestPin, findChanges } from './lock-changes.ts';
import type { LockedTool } from './lock-file.ts';
import { type FolderScan, type ScanFolderOptions, type ScannedFile, scanFolder } from './scan-folder.ts';
import type { RunnableTool } from './tool-host.ts';
import type { WatchCopies } from './watch-copies.ts';

/** A tool as it was at one time. */
export interface ToolVersion {
  readonly runnable: RunnableTool;
  /** Differs between versions of one file. */
  readonly version: string;
  /** Absolute paths of the files that it is made of, as far as they are known. */
  readonly paths: readonly string[];
  /** What of it is pinned; `undefined`: it runs where it lies, and cannot outlive a change. */
  readonly pin: LockedTool | undefined;
  /** To be called when it is not needed any more. */
  release(): void;
}

/** A good tool of a folder. */
export interface FoundVersion {
  readonly version: ToolVersion;
  /** Why it cannot be kept. */
  readonly unkept?: string;
  /** What is wrong with what it imports: a version before, where there is one, is worth more. */
  readonly broken?: Diagnostic;
}

/** What a folder has at one time. */
export interface VersionReading {
  /** In file order. */
  readonly found: readonly FoundVersion[];
  readonly files: readonly ScannedFile[];
  readonly diagnostics: readonly Diagnostic[];
  /** Absolute paths of every file that was read, or would have been. */
  readonly paths: ReadonlySet<string>;
  /** Whether a version of a file that is refused may stay in use. */
  mayStay(former: ToolVersion): boolean;
}

export interface ReadVersionsOptions {
  readonly scan: ScanFolderOptions;
  readonly hooks: PinHooks;
}

/**
 * Reads a folder without a lock. What can be pinned runs from copies, the rest where it lies.
 *
 * @param root - what tools import by path lies in it. Absolute, without symlinks.
 * @throws HoldfastError `tools.folder.*`.
 */
export async function readVersions(
  { directory, root, copies }: { readonly directory: string; readonly root: string; readonly copies: WatchCopies },
  { scan: options, hooks }: ReadVersionsOptions,
): Promise<VersionReading> {
  const { files, diagnostics } = await scanFolder(directory, options);
  await hooks.onScanned?.();
  const paths = new Set<string>();
  await using reader = createClosureReader({
    root,
    folder: await realpath(directory),
    onRead: async (path) => {
      paths.add(path);
      await hooks.onRead?.(path);
    },
  });
  const readings: [ToolFile, CurrentReading][] = [];
  for (const scanned of files) {
    if (scanned.type === 'tool') readings.push([scanned, await readCurrent(scanned, reader)]);
  }
  // At once: whatever is held is also returned.
  const found = readings.map(([scanned, reading]) => toFound(scanned, reading, { root, copies }));
  return {
    found,
    files,
    diagnostics,
    paths,
    mayStay: ({ runnable: { tool }, pin }) => pin !== undefined && isRefused(tool.file, { files, diagnostics }),
  };
}

/**
 * Reads a folder by its lock. A version stays in use only as long as the lock has it.
 *
 * @throws HoldfastError `tools.folder.*`, `tools.lock.*`.
 */
export async function readLockedVersions(
  { directory, root, lock }: { readonly directory: string; readonly root: string; readonly lock: string },
  { scan, hooks }: ReadVersionsOptions,
): Promise<VersionReading> {
  const paths = new Set<string>();
  const onRead = async (path: string): Promise<void> => {
    paths.add(path);
    await hooks.onRead?.(path);
  };
  const { tools, files, diagnostics, locked } = await loadLocked(directory, { ...scan, lock }, { ...hooks, onRead });
  return {
    found: tools.map(({ pin, ...runnable }) => ({
      version: {
        runnable,
        version: digestPin(pin),
        paths: [...pin.files.keys()].map((path) => join(root, path)),
        pin,
        release: () => undefined,
      },
    })),
    files,
    diagnostics,
    paths,
    mayStay({ runnable: { tool }, pin }) {
      const now = locked.get(tool.metadata.name);
      if (pin === undefined || now === undefined || findChanges(now, pin).length > 0) return false;
      return isRefused(tool.file, { files, diagnostics });
    },
  };
}

function toFound(
  scanned: ToolFile,
  reading: CurrentReading,
  { root, copies }: { readonly root: string; readonly copies: WatchCopies },
): FoundVersion {
  if (reading.type === 'refused') {
    const { diagnostic } = reading;
    const broken = brokenCodes.has(diagnostic.code) ? { broken: diagnostic } : {};
    return { version: lyingThere(scanned), unkept: diagnostic.message, ...broken };
  }
  const { current } = reading;
  const unkept = findUncopiable(current, copies);
  if (unkept !== undefined) return { version: lyingThere(scanned), unkept };
  const { runnable, release } = copies.hold(current);
  const paths = current.closure.files.map(({ path }) => join(root, path));
  return { version: { runnable, version: digestPin(current.tool), paths, pin: current.tool, release } };
}

/** What of a tool's imports is worse now than it may have been. Everything else is how the tool is written. */
const brokenCodes: ReadonlySet<string> = new Set([
  'tool.import.missing',
  'tool.import.unreadable',
  'tool.file.syntax',
  'tool.file.encoding',
  'tool.file.too_complex',
  'tool.file.changed',
  'tool.python.unavailable',
]);

function findUncopiable({ warnings }: CurrentTool, { problem }: WatchCopies): string | undefined {
  if (warnings.some(({ code }) => code === 'tool.import.meta'))
    return 'It asks where it lies, and a copy lies elsewhere.';
  return problem === '' ? undefined : `Copies cannot be written to \`.holdfast\` (${problem}).`;
}

function lyingThere(scanned: ToolFile): ToolVersion {
  const { path, digest, commandFiles = new Map<string, string>() } = scanned;
  return {
    runnable: toLyingTool(scanned),
    version: hashJson([digest, ...commandFiles]),
    paths: [path, ...commandFiles.keys()],
    pin: undefined,
    release: () => undefined,
  };
}

/** A file that is not there is not refused, unless nobody can say whether it is there. */
function isRefused(file: string, { files, diagnostics }: FolderScan): boolean {
  if (files.some((one) => one.file === file)) return files.some((one) => one.file === file && one.type === 'refused');
  return diagnostics.some((one) => one.code === 'tool.folder.unreadable' && file.startsWith(`${one.file}/`));
}
