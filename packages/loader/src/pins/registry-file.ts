import { hash, randomUUID } from 'node:crypto';
import { mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeJson, isPlainObject } from '@holdfast/core/internal';
import * as v from 'valibot';
import { readBounded, type Stamp } from '../files/read-bounded.ts';
import { findRealPath } from '../files/real-path.ts';
import { writeAtomically } from '../files/write-atomically.ts';
import { type Diagnostic, toDiagnostic } from '../text/diagnostic.ts';

/** The state of a folder whose tools all match the lock, so that it need not be scanned until something changes. */
export interface RegisteredFolder {
  readonly strict: boolean;
  readonly subfolders: boolean;
  /** File system time before the scan, in milliseconds. Later changes may have been missed by the scan. */
  readonly scanned: number;
  /** The scanned folders, by path relative to the root. */
  readonly folders: Readonly<Record<string, Stamp>>;
  /** The files of all closures, by path relative to the root. */
  readonly files: Readonly<Record<string, Stamp>>;
  /** Warnings of the scan, valid as long as the files are unchanged. */
  readonly warnings: readonly Diagnostic[];
}

const registryName = 'registry.json';
const maxRegistryBytes = 256 * 1024 * 1024;

/**
 * Reads `.holdfast/registry.json` in `root`: for each prefix of a tools folder a `RegisteredFolder`, unless tampered
 * with. Empty without a file for this lock. A cache: missing or damaged data is recreated.
 */
function readRegistry(root: string, lock: Uint8Array): Readonly<Record<string, unknown>> {
  const home = join(root, '.holdfast');
  const reading = readBounded(join(home, registryName), maxRegistryBytes);
  // Behind a link, others may write.
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
  // Verified by comparison with current stamps.
  folders: stamps,
  files: stamps,
  warnings: v.array(
    v.object({
      code: v.pipe(v.string(), v.regex(/^[a-z._]+$/)),
      reason: v.optional(v.pipe(v.string(), v.regex(/^[a-z._]+$/))),
      file: v.string(),
      line: v.number(),
      column: v.number(),
      message: v.string(),
      hint: v.string(),
    }),
  ),
});

/** The registered state of a folder; `undefined` if there is none or it is unusable. Its stamps are untrusted. */
export function readRegisteredFolder(root: string, prefix: string, lock: Uint8Array): RegisteredFolder | undefined {
  const registry = readRegistry(root, lock);
  const read = v.safeParse(folderSchema, Object.hasOwn(registry, prefix) ? registry[prefix] : undefined);
  if (!read.success) return undefined;
  // Untrusted, so made safe to print.
  const warnings = read.output.warnings.map(({ code, reason, file, line, column, message, hint }) => ({
    ...toDiagnostic(
      { severity: 'warning', code, ...(reason === undefined ? {} : { reason }), message, hint },
      { file },
    ),
    line,
    column,
  }));
  return { ...read.output, warnings };
}

/** File system time in milliseconds; `undefined` if nothing can be written. */
export async function readFolderTime(root: string): Promise<number | undefined> {
  const home = join(root, '.holdfast');
  const path = join(home, `.registry-${randomUUID()}.tmp`);
  try {
    await mkdir(home, { recursive: true });
    // Does not write through a link.
    if (findRealPath(home) !== home) return undefined;
    await using file = await open(path, 'wx', 0o644);
    const { mtimeMs } = await file.stat();
    await unlink(path);
    return mtimeMs;
  } catch {
    // Continues without the registry, which only saves time.
    return undefined;
  }
}

/** Adds a folder to the registry, beside those verified against the same lock. */
export async function writeRegisteredFolder(
  root: string,
  { prefix, lock, folder }: { readonly prefix: string; readonly lock: Uint8Array; readonly folder: RegisteredFolder },
): Promise<void> {
  const folders = { ...readRegistry(root, lock), [prefix]: folder };
  const text = `${JSON.stringify({ lock: hash('sha256', lock), folders })}\n`;
  // It only saves time.
  await writeAtomically(join(root, '.holdfast', registryName), text).catch(() => undefined);
}
