import { HoldfastError } from '@holdfast/core';
import type { ScanFolderOptions } from '../scan/tool-files.ts';
import type { Diagnostic } from '../text/diagnostic.ts';
import { findChanges, type LockChange } from './changes.ts';
import { createPinnedCopies, keepCopiesMs, toShownText } from './copies.ts';
import { type CurrentTool, findLockPlace, type PinHooks, readFolderPins } from './folder.ts';
import { type LockedTool, type LockedTools, readLock, writeLock } from './lock-file.ts';

/** How a tool compares with what is locked. `refused`: it is locked, and its file no longer passes. */
export type LockState = 'same' | 'new' | 'changed' | 'gone' | 'refused';

export interface ComparedTool {
  readonly name: string;
  /** Relative to the folder of the lock. */
  readonly file: string;
  readonly state: LockState;
  /** What differs; of a new tool everything, of one that is gone nothing. */
  readonly changes: readonly LockChange[];
}

/** A tools folder beside its lock, read at one moment. */
export interface LockComparison {
  /** Absolute path of the lock. */
  readonly lock: string;
  /** Whether there is one. */
  readonly found: boolean;
  /** In name order. */
  readonly tools: readonly ComparedTool[];
  /** Of the files, as from `loadTools`; files that cannot be pinned are among them. */
  readonly diagnostics: readonly Diagnostic[];
  /**
   * Text of one of a tool's files as it is locked and as it is now; `undefined` where it is not there, or not kept. Of a file that is no
   * text, a line with its size and its SHA-256.
   */
  texts(
    name: string,
    path: string,
  ): Promise<{ readonly before: string | undefined; readonly after: string | undefined }>;
  /**
   * Locks what was compared: the bytes that were read then are kept, and the lock is written. Default: every tool of the folder.
   * Those that are gone leave the lock; refused ones stay as they are locked. Copies that are locked no more go when nobody has used them for 30 days.
   *
   * @throws HoldfastError `tools.lock.unknown_tool`, `tools.lock.unwritable`, `tool.copy.unwritable`, and as `compareLock` for the lock.
   */
  accept(names?: readonly string[]): Promise<void>;
}

export interface CompareLockOptions extends ScanFolderOptions {
  /** Path of the lock. Its folder holds the tools folder, and everything that tools import by path. */
  readonly lock: string;
}

/**
 * Compares the tools of a folder with a lock. Nothing of any file runs.
 *
 * @throws HoldfastError `tools.folder.*`, `tools.lock.outside`, `tools.lock.unreadable`, `tools.lock.invalid`, `tools.lock.version`.
 */
export function compareLock(directory: string, options: CompareLockOptions): Promise<LockComparison> {
  return compareLockWith(directory, options, {});
}

/** As `compareLock`, for tests that change files in between. */
export async function compareLockWith(
  directory: string,
  { lock, ...options }: CompareLockOptions,
  hooks: PinHooks,
): Promise<LockComparison> {
  const place = await findLockPlace(directory, lock);
  const copies = createPinnedCopies(place.root, hooks);
  const found = readLock(place.lock);
  const locked: LockedTools = found?.tools ?? new Map<string, LockedTool>();
  const { tools: current, files, diagnostics } = await readFolderPins(place, options, hooks);
  const refused = new Set(files.flatMap(({ type, file }) => (type === 'refused' ? [place.prefix + file] : [])));
  const missing = [...locked].filter(([name, tool]) => !current.has(name) && isIn(tool.entry, place.prefix, options));
  const tools = [
    ...[...current].map(([name, { tool }]) => compareTool(name, tool, locked.get(name))),
    ...missing.map(([name, { entry }]): ComparedTool => {
      return { name, file: entry, state: refused.has(entry) ? 'refused' : 'gone', changes: [] };
    }),
  ].sort((left, right) => (left.name < right.name ? -1 : 1));

  return {
    lock: place.lock,
    found: found !== undefined,
    tools,
    diagnostics,
    async texts(name, path) {
      const tool = locked.get(name);
      return {
        before: tool === undefined ? undefined : await copies.readText(tool, path),
        after: textOf(current.get(name), path),
      };
    },
    async accept(names = tools.map((tool) => tool.name)) {
      const chosen = names.map((name) => {
        const tool = tools.find((one) => one.name === name);
        if (tool !== undefined) return tool;
        const message = `\`${name}\` is neither a good tool of the folder nor locked.`;
        throw new HoldfastError('tools.lock.unknown_tool', message, { data: { name } });
      });
      // Somebody else may have accepted other tools in the meantime.
      const latest = readLock(place.lock);
      const next = new Map(latest?.tools ?? []);
      for (const { name, state } of chosen) {
        const now = current.get(name);
        if (now !== undefined) {
          const isNew = await copies.keep(now.closure);
          if (!isNew && !(await copies.isWhole(now.tool))) await copies.replace(now.closure);
          next.set(name, now.tool);
        } else if (state === 'gone') next.delete(name);
      }
      await writeLock(place.lock, { tools: next, plugins: latest?.plugins }, hooks.onWritten);
      await copies.removeOld(new Set([...next.values()].map(({ digest }) => digest)), Date.now() - keepCopiesMs);
    },
  };
}

/** Whether a locked file belongs to the folder: deeper ones only where deeper folders are read. */
export function isIn(entry: string, prefix: string, options: ScanFolderOptions): boolean {
  if (!entry.startsWith(prefix)) return false;
  return options.subfolders === true || !entry.slice(prefix.length).includes('/');
}

function compareTool(name: string, tool: LockedTool, locked: LockedTool | undefined): ComparedTool {
  const changes = findChanges(locked, tool);
  const state = locked === undefined ? 'new' : changes.length === 0 ? 'same' : 'changed';
  return { name, file: tool.entry, state, changes };
}

function textOf(tool: CurrentTool | undefined, path: string): string | undefined {
  const bytes = tool?.closure.files.find((file) => file.path === path)?.bytes;
  return bytes === undefined ? undefined : toShownText(bytes);
}
