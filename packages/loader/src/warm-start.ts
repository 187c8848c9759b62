import { lstat, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ToolMetadata } from './check-metadata.ts';
import { isIn } from './compare-lock.ts';
import type { CurrentTool, LockPlace, ToolFile } from './folder-pins.ts';
import { createPackageFinder } from './found-packages.ts';
import { hashJson } from './hash-json.ts';
import type { LockedTool, LockReading } from './lock-file.ts';
import { type Stamp, toStamp } from './read-bounded.ts';
import { type RegisteredFolder, type RegisteredTool, readRegisteredFolder } from './registry-file.ts';
import type { ScanFolderOptions } from './scan-folder.ts';
import { listToolFiles } from './tool-files.ts';

/** A tool as the registry and the lock together know it. */
export interface WarmTool {
  readonly scanned: ToolFile;
  readonly pin: LockedTool;
}

/**
 * The tools of a folder in file order, without reading a file of it: where the registry has it, and nothing there, in what it imports
 * or in the lock was touched since. `undefined`: it has to be scanned.
 */
export async function startWarm(
  place: LockPlace,
  { tools: locked, digest }: LockReading,
  { strict = false, subfolders = false }: ScanFolderOptions,
): Promise<readonly WarmTool[] | undefined> {
  const registered = await readRegisteredFolder(place.root, place.prefix);
  if (registered === undefined || registered.lock !== digest) return undefined;
  if (registered.strict !== strict || registered.subfolders !== subfolders) return undefined;
  const own = [...locked].filter(([, { entry }]) => isIn(entry, place.prefix, { subfolders }));
  const tools: WarmTool[] = [];
  for (const [name, pin] of own) {
    const tool = registered.tools.get(name);
    // A tool file that is a link: where it leads is not looked at here.
    if (tool === undefined || place.prefix + tool.file !== pin.entry) return undefined;
    if (hashJson([tool.parameters ?? null, tool.returns ?? null]) !== pin.schema) return undefined;
    const { entry, files } = pin;
    const metadata = toMetadata(name, tool, pin);
    const path = join(place.root, entry);
    tools.push({ scanned: { type: 'tool', file: tool.file, path, digest: files.get(entry) ?? '', metadata }, pin });
  }
  tools.sort((left, right) => (left.scanned.file < right.scanned.file ? -1 : 1));
  const { files, unreadable } = await listToolFiles(place.folder, { subfolders });
  const isListed = files.length === tools.length && files.every((file, index) => file === tools[index]?.scanned.file);
  if (!isListed || unreadable.length > 0) return undefined;
  const isSame = (await areFilesSame(tools, registered, place.root)) && (await arePackagesSame(tools, place.root));
  return isSame ? tools : undefined;
}

/** What a scan in which nothing was wrong leaves to the registry. */
export function toRegistered(
  tools: readonly CurrentTool[],
  { lock, options }: { readonly lock: string; readonly options: ScanFolderOptions },
): Omit<RegisteredFolder, 'scanned'> {
  const stamps = new Map<string, Stamp>();
  for (const { closure } of tools) for (const { path, stamp } of closure.files) stamps.set(path, stamp);
  return {
    lock,
    strict: options.strict === true,
    subfolders: options.subfolders === true,
    tools: new Map(
      tools.map(({ scanned: { file, metadata } }) => {
        return [metadata.name, { file, parameters: metadata.parameters, returns: metadata.returns }];
      }),
    ),
    stamps,
  };
}

// What the lock has is what the scan gave: the lock is the one that it was compared with then.
function toMetadata(name: string, { parameters, returns }: RegisteredTool, { metadata }: LockedTool): ToolMetadata {
  return { ...metadata, name, parameters, returns } as unknown as ToolMetadata;
}

async function areFilesSame(
  tools: readonly WarmTool[],
  { stamps, scanned }: RegisteredFolder,
  root: string,
): Promise<boolean> {
  const paths = [...new Set(tools.flatMap(({ pin }) => [...pin.files.keys()]))];
  // A link in place of a folder would leave its files as they were.
  const folders = [...new Set(paths.map((path) => dirname(join(root, path))))];
  if (!(await Promise.all(folders.map(isReal))).every(Boolean)) return false;
  const same = await Promise.all(
    paths.map(async (path) => {
      const stamp = stamps.get(path);
      if (stamp === undefined) return false;
      // A change within the same tick of the clock as the scan would leave no trace.
      if (BigInt(stamp.changed) >= BigInt(scanned)) return false;
      try {
        const now = toStamp(await lstat(join(root, path), { bigint: true }));
        return (
          now.size === stamp.size &&
          now.inode === stamp.inode &&
          now.modified === stamp.modified &&
          now.changed === stamp.changed
        );
      } catch {
        // Gone, or out of reach: the scan says which.
        return false;
      }
    }),
  );
  return same.every(Boolean);
}

async function isReal(folder: string): Promise<boolean> {
  try {
    return (await realpath(folder)) === folder;
  } catch {
    // Gone, or out of reach: the scan says which.
    return false;
  }
}

async function arePackagesSame(tools: readonly WarmTool[], root: string): Promise<boolean> {
  const finder = createPackageFinder(root);
  for (const { pin } of tools) {
    if (pin.packages.size === 0) continue;
    const folders = new Set([...pin.files.keys()].map((path) => dirname(join(root, path))));
    for (const [name, version] of pin.packages) {
      for (const folder of folders) {
        const found = await finder.find(name, folder);
        if (found.type !== 'found' || found.version !== version) return false;
      }
    }
  }
  return true;
}
