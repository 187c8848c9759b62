import { HoldfastError } from '@holdfast/core';
import type { ScanFolderOptions } from '../scan/tool-files.ts';
import type { Diagnostic } from '../text/diagnostic.ts';
import { findChanges, type LockChange } from './changes.ts';
import { createPinnedCopies, keepCopiesMs, toShownText } from './copies.ts';
import { type CurrentTool, findLockPlace, type PinHooks, readFolderPins } from './folder.ts';
import { type LockedTool, type LockedTools, readLock, writeLock } from './lock-file.ts';

/** The state of a tool relative to the lock. `refused`: locked, but its file is no longer valid. */
export type LockState = 'same' | 'new' | 'changed' | 'gone' | 'refused';

export interface ComparedTool {
  readonly name: string;
  /** Relative to the folder of the lock. */
  readonly file: string;
  readonly state: LockState;
  /** The differences: everything for a new tool, nothing for one that is gone. */
  readonly changes: readonly LockChange[];
}

/** A snapshot of a tools folder and its lock. */
export interface LockComparison {
  /** Absolute path of the lock. */
  readonly lock: string;
  /** True if the lock exists. */
  readonly found: boolean;
  /** In name order. */
  readonly tools: readonly ComparedTool[];
  /** As from `loadTools`, including files that cannot be pinned. */
  readonly diagnostics: readonly Diagnostic[];
  /**
   * Text of one of a tool's files as locked and now; `undefined` if absent or not kept. For a binary file, a line with
   * its size and SHA-256.
   */
  texts(
    name: string,
    path: string,
  ): Promise<{ readonly before: string | undefined; readonly after: string | undefined }>;
  /**
   * Locks the compared state: keeps the bytes read then, and writes the lock. Default: every tool of the folder. Tools that are gone
   * leave the lock; refused ones keep their entry. Copies outside the lock are removed after 30 days without use.
   *
   * @throws HoldfastError `lock.invalid`, `tool.file.import_failed`, and for the lock the errors of
   * `compareLock`.
   */
  accept(names?: readonly string[]): Promise<void>;
}

export interface CompareLockOptions extends ScanFolderOptions {
  /** Path of the lock. Its folder contains the tools folder and all files that tools import by path. */
  readonly lock: string;
}

/**
 * Compares the tools of a folder with a lock, without running any file.
 *
 * @throws HoldfastError `tools.folder.*`, `lock.invalid`.
 */
export function compareLock(directory: string, options: CompareLockOptions): Promise<LockComparison> {
  return compareLockWith(directory, options, {});
}

/** Like `compareLock`, with hooks for tests that change files while comparing. */
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
        const message = `\`${name}\` is neither a valid tool of the folder nor in the lock.`;
        throw new HoldfastError('lock.invalid', message, { data: { reason: 'unknown_tool', name } });
      });
      // Another process may have accepted other tools meanwhile.
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
      await writeLock(place.lock, { tools: next, plugins: latest?.plugins, servers: latest?.servers }, hooks.onWritten);
      await copies.removeOld(new Set([...next.values()].map(({ digest }) => digest)), Date.now() - keepCopiesMs);
    },
  };
}

/** True if a locked file belongs to the folder, including subfolders only if they are scanned. */
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
