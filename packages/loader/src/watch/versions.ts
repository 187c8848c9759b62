import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { describeCode } from '@holdfast/core/internal';
import { createClosureReader } from '../imports/closure.ts';
import type { RunnableTool } from '../load/tool-host.ts';
import { toInPlaceTool } from '../load/tools.ts';
import { digestPin, findChanges, hashJson } from '../pins/changes.ts';
import { type CurrentReading, type CurrentTool, type PinHooks, readCurrent, type ToolFile } from '../pins/folder.ts';
import { loadLocked } from '../pins/load-locked.ts';
import type { LockedTool } from '../pins/lock-file.ts';
import { type FolderScan, type ScannedFile, scanFolder } from '../scan/folder.ts';
import type { ScanFolderOptions } from '../scan/tool-files.ts';
import { toTwinKey } from '../scan/twins.ts';
import { compareDiagnostics, type Diagnostic, toDiagnostic } from '../text/diagnostic.ts';
import type { WatchCopies } from './copies.ts';

/** A version of a tool. */
export interface ToolVersion {
  readonly runnable: RunnableTool;
  /** Differs between versions of one file. */
  readonly version: string;
  /** Absolute paths of its files, as far as known. */
  readonly paths: readonly string[];
  /** Its pin; `undefined`: it runs in place, and cannot survive a change. */
  readonly pin: LockedTool | undefined;
  /** Called when it is no longer needed. */
  release(): void;
}

/** A valid tool of a folder. */
export interface FoundVersion {
  readonly version: ToolVersion;
  /** Why it cannot be kept. */
  readonly unkept?: string;
  /** A problem with its imports: an earlier version, if any, takes precedence. */
  readonly broken?: Diagnostic;
}

/** A snapshot of a folder. */
export interface VersionReading {
  /** In file order. */
  readonly found: readonly FoundVersion[];
  readonly files: readonly ScannedFile[];
  readonly diagnostics: readonly Diagnostic[];
  /** Absolute paths of all files that were read, or would have been. */
  readonly paths: ReadonlySet<string>;
  /** True if a version may stay active after its file is refused. */
  mayStay(former: ToolVersion): boolean;
}

export interface ReadVersionsOptions {
  readonly scan: ScanFolderOptions;
  readonly hooks: PinHooks;
}

/**
 * Reads a folder without a lock. Tools that can be pinned run from copies, the others in place.
 *
 * @param root - contains all path imports of tools. Absolute, without symlinks.
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
    languages: options.languages,
    onRead: async (path) => {
      paths.add(path);
      await hooks.onRead?.(path);
    },
  });
  const readings: [ToolFile, CurrentReading][] = [];
  for (const scanned of files) {
    if (scanned.type === 'tool') readings.push([scanned, await readCurrent(scanned, reader)]);
  }
  // Synchronous, so that every held copy is also returned.
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
 * Reads a folder by its lock. A version stays active only while it is locked.
 *
 * @throws HoldfastError `tools.folder.*`, `lock.*`.
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
    const broken = brokenCodes.has(describeCode(diagnostic)) ? { broken: diagnostic } : {};
    return { version: toInPlaceVersion(scanned), unkept: diagnostic.message, ...broken };
  }
  const { current } = reading;
  const unkept = findUncopiable(current, copies);
  if (unkept !== undefined) return { version: toInPlaceVersion(scanned), unkept };
  const { runnable, release } = copies.hold(current);
  const paths = current.closure.files.map(({ path }) => join(root, path));
  return { version: { runnable, version: digestPin(current.tool), paths, pin: current.tool, release } };
}

/** Import problems that may be temporary. Others are caused by the tool's own code. */
const brokenCodes: ReadonlySet<string> = new Set([
  'tool.import.invalid: missing',
  'tool.import.invalid: unreadable',
  'tool.file.invalid: syntax',
  'tool.file.invalid: encoding',
  'tool.file.invalid: too_complex',
  'tool.file.changed',
  'tool.process.not_started: python',
]);

function findUncopiable({ warnings }: CurrentTool, { problem }: WatchCopies): string | undefined {
  if (warnings.some(({ code, reason }) => code === 'tool.import.invalid' && reason === 'meta'))
    return 'It uses its own location, which differs in a copy.';
  return problem === '' ? undefined : `Cannot write copies to \`.holdfast\` (${problem}).`;
}

function toInPlaceVersion(scanned: ToolFile): ToolVersion {
  const { path, digest, commandFiles = new Map<string, string>() } = scanned;
  return {
    runnable: toInPlaceTool(scanned),
    version: hashJson([digest, ...commandFiles]),
    paths: [path, ...commandFiles.keys()],
    pin: undefined,
    release: () => undefined,
  };
}

/** A missing file is not refused, unless its existence is unknown. */
function isRefused(file: string, { files, diagnostics }: FolderScan): boolean {
  if (files.some((one) => one.file === file)) return files.some((one) => one.file === file && one.type === 'refused');
  return diagnostics.some((one) => one.reason === 'folder.unreadable' && file.startsWith(`${one.file}/`));
}

/** The active versions after a folder was read. */
export interface MergedVersions {
  /** In file order. No two have names that are hard to distinguish. */
  readonly versions: readonly ToolVersion[];
  /** Versions that stay although their file no longer has a valid tool. */
  readonly kept: readonly ToolVersion[];
  /** In file order. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Replaces the active versions by those found. A version whose file is now refused, or whose imports are broken, stays
 * unless another file has a valid tool of its name. An unchanged version stays the same object.
 */
export function mergeVersions(former: readonly ToolVersion[], reading: VersionReading): MergedVersions {
  const before = new Map(former.map((one) => [fileOf(one), one]));
  const diagnostics = [...reading.diagnostics];
  const versions: ToolVersion[] = [];
  const kept: ToolVersion[] = [];
  const taken = new Set<string>();
  const put = ({ version, unkept }: FoundVersion): void => {
    const last = before.get(fileOf(version));
    versions.push(last?.version === version.version ? last : version);
    taken.add(keyOf(version));
    if (unkept !== undefined) diagnostics.push(describeUnkept(version, unkept));
  };

  const doubtful = new Map<string, FoundVersion>();
  for (const one of reading.found) {
    if (one.broken === undefined) put(one);
    else doubtful.set(fileOf(one.version), one);
  }
  for (const one of former) {
    const file = fileOf(one);
    const now = doubtful.get(file);
    const mayStay = now === undefined ? reading.mayStay(one) : one.pin !== undefined;
    if (!mayStay || taken.has(keyOf(one))) continue;
    versions.push(one);
    kept.push(one);
    taken.add(keyOf(one));
    doubtful.delete(file);
    if (now?.broken !== undefined) diagnostics.push(now.broken);
    diagnostics.push(describeKept(one));
  }
  // Used anyway, as on load, unless a valid tool has the name.
  for (const one of doubtful.values()) {
    if (!taken.has(keyOf(one.version))) put(one);
    else if (one.broken !== undefined) diagnostics.push(one.broken);
  }

  return {
    versions: versions.sort((left, right) => (fileOf(left) < fileOf(right) ? -1 : 1)),
    kept,
    diagnostics: diagnostics.sort(compareDiagnostics),
  };
}

function fileOf({ runnable }: ToolVersion): string {
  return runnable.tool.file;
}

function keyOf({ runnable }: ToolVersion): string {
  return toTwinKey(runnable.tool.metadata.name);
}

function describeKept({ runnable: { tool } }: ToolVersion): Diagnostic {
  const message = `\`${tool.metadata.name}\` keeps its last valid version.`;
  const hint = 'Fix the problem, or remove the file: the tool is then removed too.';
  return toDiagnostic(
    { severity: 'warning', code: 'tool.watch.failed', reason: 'kept', message, hint },
    { file: tool.file },
  );
}

function describeUnkept({ runnable: { tool } }: ToolVersion, reason: string): Diagnostic {
  const message = `\`${tool.metadata.name}\` runs in place, and its versions are not kept. ${reason}`;
  const hint = 'While its file is invalid, the tool is unavailable; changes of its imports are not watched.';
  return toDiagnostic(
    { severity: 'warning', code: 'tool.watch.failed', reason: 'unkept', message, hint },
    { file: tool.file },
  );
}
