import { sep } from 'node:path';
import { decodeJson } from '@holdfast/core/internal';
import type { ToolMetadata } from '../check/types.ts';
import { isAsStamped, readStamp, type Stamp } from '../files/read-bounded.ts';
import { findRealPath } from '../files/real-path.ts';
import { createPackageFinder } from '../imports/packages.ts';
import { kindOf } from '../language/find.ts';
import { listToolFiles, type ScanFolderOptions } from '../scan/tool-files.ts';
import type { Diagnostic } from '../text/diagnostic.ts';
import { type CompareLockOptions, isIn } from './compare.ts';
import { type CurrentTool, findLockPlace, type LockPlace, type ToolFile } from './folder.ts';
import { type LockedTool, type LockedTools, parseLock, readLockBytes, toLockedTools } from './lock-file.ts';
import { type RegisteredFolder, readRegisteredFolder } from './registry-file.ts';

/** A tool from its lock entry. */
export interface WarmTool {
  readonly scanned: ToolFile;
  readonly pin: LockedTool;
}

/** The tools of a folder that is unchanged since it matched the lock. */
export interface WarmStart {
  /** In file order. */
  readonly tools: readonly WarmTool[];
  readonly warnings: readonly Diagnostic[];
  /** The content of the lock. */
  readonly locked: LockedTools;
}

/**
 * Loads the tools of a folder without reading its files, if the registry contains it and neither the folder, its
 * imports nor the lock changed since. `undefined`: it must be scanned.
 *
 * @throws HoldfastError `lock.invalid`.
 */
export function startWarm(
  place: LockPlace,
  lock: Uint8Array,
  { strict = false, subfolders = false, languages }: ScanFolderOptions,
): WarmStart | undefined {
  const registered = readRegisteredFolder(place.root, place.prefix, lock);
  if (registered?.strict !== strict || registered.subfolders !== subfolders) return undefined;
  // The registry was written for these bytes, so they are a valid lock.
  const locked = toLockedTools(decodeJson(new TextDecoder().decode(lock)), place.lock);
  const toPath = createPaths(place.root);
  const tools: WarmTool[] = [];
  for (const [name, pin] of locked) {
    if (isIn(pin.entry, place.prefix, { subfolders })) tools.push(toWarmTool(name, pin, { place, toPath }));
  }
  // A scan reports the missing language.
  if (tools.some(({ scanned }) => kindOf(scanned.file, languages) === undefined)) return undefined;
  if (!areFoldersSame(registered, place, toPath) || !areFilesSame(tools, registered, toPath)) return undefined;
  if (!arePackagesSame(tools, place.root, toPath)) return undefined;
  return {
    tools: tools.sort((left, right) => (left.scanned.file < right.scanned.file ? -1 : 1)),
    warnings: registered.warnings,
    locked,
  };
}

/** A scan without errors, started at the time `scanned`. */
export interface GoodScan {
  readonly tools: Iterable<CurrentTool>;
  readonly warnings: readonly Diagnostic[];
  readonly scanned: number;
}

/** The registry's record of a scan; `undefined` if later changes could not be detected. */
export async function toRegistered(
  { tools, warnings, scanned: time }: GoodScan,
  place: LockPlace,
  { strict = false, subfolders = false }: ScanFolderOptions,
): Promise<RegisteredFolder | undefined> {
  const toPath = createPaths(place.root);
  const files = new Map<string, Stamp>();
  for (const { scanned, closure } of tools) {
    // A tool file that is a link: a warm start does not follow it.
    if (place.prefix + scanned.file !== closure.entry) return undefined;
    for (const { path, stamp } of closure.files) files.set(path, stamp);
  }
  const folders = new Map<string, Stamp>();
  const listed = subfolders ? (await listToolFiles(place.folder, { subfolders })).folders : [''];
  for (const folder of listed) {
    const path = `${place.prefix}${folder}`.replace(/\/$/, '');
    const stamp = readStamp(toPath(path));
    if (stamp === undefined) return undefined;
    folders.set(path, stamp);
  }
  const stamps = { folders: Object.fromEntries(folders), files: Object.fromEntries(files) };
  return { strict, subfolders, scanned: time, ...stamps, warnings };
}

type ToPath = (path: string) => string;

/** Absolute paths from plain ones, which need no normalization. */
function createPaths(root: string): ToPath {
  const start = root.endsWith(sep) ? root : root + sep;
  if (sep === '/') return (path) => start + path;
  return (path) => start + path.replaceAll('/', sep);
}

// The lock equals the scan, since they were compared.
function toWarmTool(
  name: string,
  pin: LockedTool,
  { place, toPath }: { readonly place: LockPlace; readonly toPath: ToPath },
): WarmTool {
  const { entry, files, parameters, returns } = pin;
  const metadata = { ...pin.metadata, name, parameters, returns } as unknown as ToolMetadata;
  const file = entry.slice(place.prefix.length);
  return { scanned: { type: 'tool', file, path: toPath(entry), digest: files.get(entry) ?? '', metadata }, pin };
}

// A folder's stamp changes when a name in it is added, removed or replaced.
function areFoldersSame({ folders, scanned }: RegisteredFolder, { prefix }: LockPlace, toPath: ToPath): boolean {
  if (!Object.hasOwn(folders, prefix.replace(/\/$/, ''))) return false;
  return Object.entries(folders).every(
    ([path, stamp]) => isAsStamped(toPath(path), stamp, scanned) && isReal(toPath(path)),
  );
}

function areFilesSame(tools: readonly WarmTool[], { files, scanned }: RegisteredFolder, toPath: ToPath): boolean {
  const seen = new Set<string>();
  const folders = new Set<string>();
  for (const { pin } of tools) {
    for (const path of pin.files.keys()) {
      if (seen.has(path)) continue;
      seen.add(path);
      folders.add(folderOf(path));
      if (!Object.hasOwn(files, path) || !isAsStamped(toPath(path), files[path], scanned)) return false;
    }
  }
  // Replacing a folder by a link would not change its files.
  return [...folders].every((folder) => isReal(toPath(folder)));
}

/** Relative to the root; empty for the root itself. */
function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

function isReal(folder: string): boolean {
  // A file system root ends with a separator.
  const path = folder.length > 1 && folder.endsWith(sep) ? folder.slice(0, -1) : folder;
  return findRealPath(path) === path;
}

function arePackagesSame(tools: readonly WarmTool[], root: string, toPath: ToPath): boolean {
  const finder = createPackageFinder(root);
  for (const { pin } of tools) {
    if (pin.packages.size === 0) continue;
    const folders = new Set([...pin.files.keys()].map((path) => folderOf(path)));
    for (const [name, version] of pin.packages) {
      for (const folder of folders) {
        const found = finder.find(name, folder === '' ? root : toPath(folder));
        if (found.type !== 'found' || found.version !== version) return false;
      }
    }
  }
  return true;
}

/**
 * True if the registry is current for a folder and its lock, so that loading with these options reads no tool file. Does not write.
 *
 * @throws HoldfastError `tools.folder.*`, `lock.invalid`.
 */
export async function isRegistryCurrent(directory: string, { lock, ...options }: CompareLockOptions): Promise<boolean> {
  const place = await findLockPlace(directory, lock);
  const bytes = readLockBytes(place.lock);
  if (bytes === undefined) return false;
  if (startWarm(place, bytes, options) !== undefined) return true;
  // Throws for a lock that loading would reject.
  parseLock(bytes, place.lock);
  return false;
}
