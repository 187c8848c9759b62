import { isAscii } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { mkdir, open, realpath, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isPlainObject, type JsonObject, sortKeys } from '@holdfast/core';
import { readBounded, type Stamp } from '../files/read-bounded.ts';
import { type Diagnostic, toDiagnostic } from '../text/diagnostic.ts';

/**
 * The registry: what a lock says, as its own text, and in what state the folders and files were that were as it says. So reading it gives
 * both at once, and that the lock is still the same is seen by its bytes. Derived: what is missing or damaged is made again.
 */
export interface Registry {
  /** The lock's JSON. */
  readonly lock: unknown;
  /** By the prefix of a tools folder, a `RegisteredFolder` where nobody has touched it. */
  readonly folders: Readonly<Record<string, unknown>>;
}

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

const maxRegistryBytes = 256 * 1024 * 1024;
const registryName = 'registry.json';
// What stands around the text of the lock. A quote after `},` begins a key, wherever it stands, so that this one is no part of a
// text; and a whole document ends right after this end only if the key is one of the outermost object.
const beforeLock = Buffer.from('},"lock":');
const afterLock = Buffer.from(',"version":1}\n');

/** Reads `.holdfast/registry.json` in `root`; `undefined` where there is none, or one that was not made for this lock. */
export function readRegistry(root: string, lock: Uint8Array): Registry | undefined {
  const home = join(root, '.holdfast');
  const reading = readBounded(join(home, registryName), maxRegistryBytes);
  // Where a link leads, somebody else may write.
  if (reading.type !== 'read' || realpathSync.native(home) !== home) return undefined;
  const bytes = Buffer.from(reading.bytes.buffer, reading.bytes.byteOffset, reading.bytes.byteLength);
  const end = bytes.length - afterLock.length;
  const start = end - lock.length;
  if (start < beforeLock.length || !bytes.subarray(end).equals(afterLock)) return undefined;
  if (!bytes.subarray(start, end).equals(lock)) return undefined;
  if (!bytes.subarray(start - beforeLock.length, start).equals(beforeLock)) return undefined;
  try {
    const text = isAscii(bytes) ? bytes.toString('latin1') : bytes.toString('utf8');
    // See `decodeJson` of core: such keys are not read right.
    if (hasEscapedKey(text)) return undefined;
    const registry: unknown = JSON.parse(text);
    if (!isPlainObject(registry) || !isPlainObject(registry['folders'])) return undefined;
    return { lock: registry['lock'], folders: registry['folders'] };
  } catch {
    // Whatever it is, it is none.
    return undefined;
  }
}

/** What a registry has of a folder; `undefined` where it is not what `write` has written. Its stamps are anybody's word. */
export function readRegisteredFolder({ folders }: Registry, prefix: string): RegisteredFolder | undefined {
  const folder = Object.hasOwn(folders, prefix) ? folders[prefix] : undefined;
  if (!isPlainObject(folder)) return undefined;
  const { strict, subfolders, scanned, folders: stamped, files } = folder;
  const warnings = readWarnings(folder['warnings']);
  if (typeof strict !== 'boolean' || typeof subfolders !== 'boolean' || typeof scanned !== 'number') return undefined;
  if (!isPlainObject(stamped) || !isPlainObject(files) || warnings === undefined) return undefined;
  // Compared as they are with what is a stamp.
  return { strict, subfolders, scanned, folders: stamped, files, warnings } as RegisteredFolder;
}

function readWarnings(value: unknown): readonly Diagnostic[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const warnings = value.flatMap((one: unknown) => readWarning(one) ?? []);
  return warnings.length === value.length ? warnings : undefined;
}

/** Anybody's word, made safe to print. */
function readWarning(value: unknown): Diagnostic | undefined {
  if (!isPlainObject(value)) return undefined;
  const { code, file, line, column, message, hint } = value;
  if (typeof code !== 'string' || !/^[a-z._]+$/.test(code) || typeof file !== 'string') return undefined;
  if (typeof line !== 'number' || typeof column !== 'number') return undefined;
  if (typeof message !== 'string' || typeof hint !== 'string') return undefined;
  return { ...toDiagnostic({ severity: 'warning', code, message, hint }, { file }), line, column };
}

/** A registry that is being made. */
export interface RegistryDraft {
  /** See `RegisteredFolder`. */
  readonly scanned: number;
  /**
   * Puts the folder into the registry, as a whole or not at all. Of the folders in it, those stay that were verified against the same
   * lock. A registry that cannot be written is none.
   */
  write(prefix: string, folder: Omit<RegisteredFolder, 'scanned'>, lock: Uint8Array): Promise<void>;
  /** To be called at the end in any case. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Begins a registry before a scan; `undefined` where none can be written. */
export async function draftRegistry(root: string): Promise<RegistryDraft | undefined> {
  const home = join(root, '.holdfast');
  const path = join(home, `.registry-${randomUUID()}.tmp`);
  try {
    await mkdir(home, { recursive: true });
    // Nothing is written where a link leads.
    if ((await realpath(home)) !== home) return undefined;
    await using file = await open(path, 'wx', 0o644);
    const { mtimeMs } = await file.stat();
    return createDraft(root, path, mtimeMs);
  } catch {
    // It only saves time.
    return undefined;
  }
}

function createDraft(root: string, path: string, scanned: number): RegistryDraft {
  return {
    scanned,
    async write(prefix, folder, lock) {
      try {
        const others = readRegistry(root, lock)?.folders ?? {};
        // Read from JSON, and made of it.
        const folders = { ...others, [prefix]: { ...folder, scanned } } as unknown as JsonObject;
        const head = `{"folders":${JSON.stringify(sortKeys(folders))},"lock":`;
        await writeFile(path, Buffer.concat([Buffer.from(head), lock, afterLock]));
        await rename(path, join(root, '.holdfast', registryName));
      } catch {
        // It only saves time.
      }
    },
    async [Symbol.asyncDispose]() {
      // It is not there any more when all went well.
      await unlink(path).catch(() => undefined);
    },
  };
}

/** Whether a key of valid JSON is written with a backslash. Linear; fast where there are few backslashes. */
export function hasEscapedKey(text: string): boolean {
  for (let at = text.indexOf('\\'); at !== -1; at = text.indexOf('\\', at)) {
    // In valid JSON it stands in a string: the next quote that no backslash belongs to ends it.
    while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
    at += 1;
    while (/[ \t\r\n]/.test(text.charAt(at))) at += 1;
    if (text[at] === ':') return true;
  }
  return false;
}
