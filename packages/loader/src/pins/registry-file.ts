import { hash, randomUUID } from 'node:crypto';
import { mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeJson, isPlainObject } from '@holdfast/core';
import * as v from 'valibot';
import { readBounded, type Stamp } from '../files/read-bounded.ts';
import { findRealPath } from '../files/real-path.ts';
import { writeAtomically } from '../files/write-atomically.ts';
import { type Diagnostic, toDiagnostic } from '../text/diagnostic.ts';

/** What a folder whose tools are all as they are locked was like, so that it need not be scanned as long as nothing has changed. */
export interface RegisteredFolder {
  readonly strict: boolean;
  readonly subfolders: boolean;
  /** The time of the file system before the scan, in milliseconds. What was changed later may not be what was read. */
  readonly scanned: number;
  /** Of the folders in which tool files are looked for, by path relative to the root. */
  readonly folders: Readonly<Record<string, Stamp>>;
  /** Of every file of every closure, by path relative to the root. */
  readonly files: Readonly<Record<string, Stamp>>;
  /** What the scan warned of: the files say it as long as they are the same. */
  readonly warnings: readonly Diagnostic[];
}

const registryName = 'registry.json';
const maxRegistryBytes = 256 * 1024 * 1024;

/**
 * Reads `.holdfast/registry.json` in `root`: by the prefix of a tools folder, a `RegisteredFolder` where nobody has touched it. Empty
 * where there is none that was made for this lock. Derived: what is missing or damaged is made again.
 */
function readRegistry(root: string, lock: Uint8Array): Readonly<Record<string, unknown>> {
  const home = join(root, '.holdfast');
  const reading = readBounded(join(home, registryName), maxRegistryBytes);
  // Where a link leads, somebody else may write.
  if (reading.type !== 'read' || findRealPath(home) !== home) return {};
  try {
    const registry = decodeJson(new TextDecoder().decode(reading.bytes));
    const isOfLock = isPlainObject(registry) && registry['lock'] === hash('sha256', lock);
    return isOfLock && isPlainObject(registry['folders']) ? registry['folders'] : {};
  } catch {
    // Not JSON: damaged.
    return {};
  }
}

const stamps = v.custom<Readonly<Record<string, Stamp>>>(isPlainObject);
const folderSchema = v.object({
  strict: v.boolean(),
  subfolders: v.boolean(),
  scanned: v.number(),
  // Compared as they are with what is a stamp.
  folders: stamps,
  files: stamps,
  warnings: v.array(
    v.object({
      code: v.pipe(v.string(), v.regex(/^[a-z._]+$/)),
      file: v.string(),
      line: v.number(),
      column: v.number(),
      message: v.string(),
      hint: v.string(),
    }),
  ),
});

/** What the registry has of a folder; `undefined` where there is nothing that can be used. Its stamps are anybody's word. */
export function readRegisteredFolder(root: string, prefix: string, lock: Uint8Array): RegisteredFolder | undefined {
  const registry = readRegistry(root, lock);
  const read = v.safeParse(folderSchema, Object.hasOwn(registry, prefix) ? registry[prefix] : undefined);
  if (!read.success) return undefined;
  // Anybody's word, made safe to print.
  const warnings = read.output.warnings.map(({ code, file, line, column, message, hint }) => ({
    ...toDiagnostic({ severity: 'warning', code, message, hint }, { file }),
    line,
    column,
  }));
  return { ...read.output, warnings };
}

/** The time of the file system, in milliseconds; `undefined` where nothing can be written. */
export async function readFolderTime(root: string): Promise<number | undefined> {
  const home = join(root, '.holdfast');
  const path = join(home, `.registry-${randomUUID()}.tmp`);
  try {
    await mkdir(home, { recursive: true });
    // Nothing is written where a link leads.
    if (findRealPath(home) !== home) return undefined;
    await using file = await open(path, 'wx', 0o644);
    const { mtimeMs } = await file.stat();
    await unlink(path);
    return mtimeMs;
  } catch {
    // Then there is no registry, which only saves time.
    return undefined;
  }
}

/** Puts a folder into the registry, beside those that were verified against the same lock. */
export async function writeRegisteredFolder(
  root: string,
  { prefix, lock, folder }: { readonly prefix: string; readonly lock: Uint8Array; readonly folder: RegisteredFolder },
): Promise<void> {
  const folders = { ...readRegistry(root, lock), [prefix]: folder };
  const text = `${JSON.stringify({ lock: hash('sha256', lock), folders })}\n`;
  // It only saves time.
  await writeAtomically(join(root, '.holdfast', registryName), text).catch(() => undefined);
}
