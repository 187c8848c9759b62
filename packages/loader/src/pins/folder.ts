import { realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import type { OnWrite } from '../files/write-atomically.ts';
import { type Closure, type ClosureReader, createClosureReader } from '../imports/closure.ts';
import { type FolderScan, type ScannedFile, scanFolder } from '../scan/folder.ts';
import type { ScanFolderOptions } from '../scan/tool-files.ts';
import { compareDiagnostics, type Diagnostic, toDiagnostic } from '../text/diagnostic.ts';
import { toLockedTool } from './changes.ts';
import type { OnCopy } from './copies.ts';
import type { LockedTool } from './lock-file.ts';

export type ToolFile = Extract<ScannedFile, { readonly type: 'tool' }>;

/** Called at each step; a throw ends the work. For tests that change files in between. */
export interface PinHooks {
  /** After the folder scan, before imports are followed. */
  readonly onScanned?: () => void | Promise<void>;
  /** Before a file is read. */
  readonly onRead?: (path: string) => void | Promise<void>;
  readonly onCopy?: OnCopy;
  readonly onWritten?: OnWrite;
}

/** The paths of a lock and its tools folder. */
export interface LockPlace {
  /** Absolute path of the lock. */
  readonly lock: string;
  /** Its folder. Absolute, without symlinks. */
  readonly root: string;
  /** The tools folder. Absolute, without symlinks. */
  readonly folder: string;
  /** Path of the tools folder relative to `root`: empty or ending in `/`. */
  readonly prefix: string;
}

/** A verified tool file in its current state. */
export interface CurrentTool {
  readonly scanned: ToolFile;
  readonly closure: Closure;
  readonly tool: LockedTool;
  readonly warnings: readonly Diagnostic[];
}

export interface FolderPins {
  /** By tool name, in file order. */
  readonly tools: ReadonlyMap<string, CurrentTool>;
  /** Every tool file. Files that cannot be pinned count as refused. */
  readonly files: readonly ScannedFile[];
  /** In file order. */
  readonly diagnostics: readonly Diagnostic[];
}

/** @throws HoldfastError `tools.folder.unreadable`, `lock.invalid`. */
export async function findLockPlace(directory: string, lock: string): Promise<LockPlace> {
  const path = resolve(lock);
  const root = await findReal(dirname(path));
  const folder = await findReal(directory);
  const inside = relative(root, folder);
  if (inside === '..' || inside.startsWith(`..${sep}`) || resolve(inside) === inside) {
    const message = `The tools folder \`${directory}\` is not in the folder of the lock \`${lock}\`: move the lock there, or above.`;
    throw new HoldfastError('lock.invalid', message, { data: { reason: 'outside', directory, lock } });
  }
  const prefix = inside === '' ? '' : `${inside.split(sep).join('/')}/`;
  return { lock: join(root, basename(path)), root, folder, prefix };
}

/** Verifies a tools folder and follows the imports of its tools. */
export async function readFolderPins(
  { root, folder }: Pick<LockPlace, 'root' | 'folder'>,
  options: ScanFolderOptions,
  hooks: PinHooks = {},
): Promise<FolderPins> {
  const scan = await scanFolder(folder, options);
  await hooks.onScanned?.();
  await using reader = createClosureReader({ root, folder, languages: options.languages, onRead: hooks.onRead });
  const diagnostics = [...scan.diagnostics];
  const tools = new Map<string, CurrentTool>();
  const files: ScannedFile[] = [];
  for (const scanned of scan.files) {
    if (scanned.type === 'refused') {
      files.push(scanned);
      continue;
    }
    const reading = await readCurrent(scanned, reader);
    if (reading.type === 'refused') {
      files.push({ type: 'refused', file: scanned.file });
      diagnostics.push(reading.diagnostic);
    } else {
      files.push(scanned);
      tools.set(scanned.metadata.name, reading.current);
      diagnostics.push(...reading.current.warnings);
    }
  }
  return { tools, files, diagnostics: diagnostics.sort(compareDiagnostics) };
}

export type CurrentReading =
  | { readonly type: 'read'; readonly current: CurrentTool }
  | { readonly type: 'refused'; readonly diagnostic: Diagnostic };

/** Reads a tool file and its path imports. */
export async function readCurrent(scanned: ToolFile, reader: ClosureReader): Promise<CurrentReading> {
  const reading = await reader.read(scanned.path);
  if (reading.type === 'refused') return reading;
  const { closure, warnings } = reading;
  // The verified bytes must be those that would run.
  if (closure.files.find(({ path }) => path === closure.entry)?.digest !== scanned.digest) {
    const message = 'The file changed while it was read.';
    const finding = { code: 'tool.file.changed', message, hint: 'Load the tools again.' };
    return { type: 'refused', diagnostic: toDiagnostic(finding, { file: scanned.file }) };
  }
  return { type: 'read', current: { scanned, closure, tool: toLockedTool(scanned.metadata, closure), warnings } };
}

/** The folder without symlinks. @throws HoldfastError `tools.folder.unreadable`. */
async function findReal(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (cause) {
    const message = `The folder \`${path}\` does not exist: create it, or pass another one.`;
    throw new HoldfastError('tools.folder.unreadable', message, {
      data: { reason: 'missing', directory: path },
      cause,
    });
  }
}

// Allowed without a lock, unlike other import problems.
const broken = /^tool\.(?:import\.invalid: (?:missing|unreadable|package)$|file\.)/;

/**
 * Scans a folder and follows the imports of its valid files: a file with a missing, unreadable or invalid import is refused. A missing
 * package is a warning, because it may be installed later, and an error under `strict`. Nothing runs.
 *
 * @throws HoldfastError `tools.folder.unreadable`.
 */
export async function followImports(
  directory: string,
  { files, diagnostics }: FolderScan,
  { strict = false, languages }: Pick<ScanFolderOptions, 'strict' | 'languages'> = {},
): Promise<FolderScan> {
  const folder = await findReal(directory);
  await using reader = createClosureReader({ root: dirname(folder), folder, languages });
  const found: Diagnostic[] = [];
  const refused = new Set<string>();
  for (const scanned of files) {
    if (scanned.type === 'refused') continue;
    const reading = await reader.read(scanned.path);
    if (reading.type === 'read' || !broken.test(describeCode(reading.diagnostic))) continue;
    const severity = reading.diagnostic.reason === 'package' && !strict ? 'warning' : 'error';
    if (severity === 'error') refused.add(scanned.file);
    found.push({ ...reading.diagnostic, severity });
  }
  return {
    files: files.map((one) => (refused.has(one.file) ? { type: 'refused', file: one.file } : one)),
    diagnostics: [...diagnostics, ...found].sort(compareDiagnostics),
  };
}
