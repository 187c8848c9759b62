import { randomUUID } from 'node:crypto';
import { mkdir, open, realpath, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isPlainObject, type Json, type JsonObject, parseJson, sortKeys } from '@holdfast/core';
import { readBounded, type Stamp } from './read-bounded.ts';

/**
 * What a folder whose tools are all as they are locked was like, so that it need not be scanned again as long as nothing in it has
 * changed. Derived: what is missing or damaged is made again.
 */
export interface RegisteredFolder {
  /** SHA-256 in hexadecimal of the lock. */
  readonly lock: string;
  readonly strict: boolean;
  readonly subfolders: boolean;
  /** The time of the file system before the scan, in nanoseconds. What was changed later may not be what was read. */
  readonly scanned: string;
  /** By tool name. */
  readonly tools: ReadonlyMap<string, RegisteredTool>;
  /** Of every file of every closure, by path relative to the root. */
  readonly stamps: ReadonlyMap<string, Stamp>;
}

/** What the lock does not say of a tool. */
export interface RegisteredTool {
  /** Relative to the tools folder. */
  readonly file: string;
  readonly parameters: JsonObject | undefined;
  readonly returns: JsonObject | undefined;
}

const version = 1;
const maxRegistryBytes = 256 * 1024 * 1024;
const registryName = 'registry.json';

/** Reads what `.holdfast/registry.json` in `root` has of a folder; `undefined` where it has nothing that can be used. */
export async function readRegisteredFolder(root: string, prefix: string): Promise<RegisteredFolder | undefined> {
  const folder = (await readFolders(root))[prefix];
  if (!isPlainObject(folder)) return undefined;
  const { lock, strict, subfolders, scanned } = folder;
  const [tools, stamps] = [readMap(folder['tools'], readTool), readMap(folder['stamps'], readStamp)];
  if (typeof lock !== 'string' || typeof strict !== 'boolean' || typeof subfolders !== 'boolean') return undefined;
  if (!isNumber(scanned) || tools === undefined || stamps === undefined) return undefined;
  return { lock, strict, subfolders, scanned, tools, stamps };
}

/** A registry that is being made. */
export interface RegistryDraft {
  /** See `RegisteredFolder.scanned`. */
  readonly scanned: string;
  /** Puts the folder into the registry, as a whole or not at all. A registry that cannot be written is none. */
  write(prefix: string, folder: Omit<RegisteredFolder, 'scanned'>): Promise<void>;
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
    const { mtimeNs } = await file.stat({ bigint: true });
    return createDraft(root, path, String(mtimeNs));
  } catch {
    // It only saves time.
    return undefined;
  }
}

function createDraft(root: string, path: string, scanned: string): RegistryDraft {
  return {
    scanned,
    async write(prefix, { lock, strict, subfolders, tools, stamps }) {
      try {
        const folder = {
          lock,
          strict,
          subfolders,
          scanned,
          tools: writeMap(tools, writeTool),
          stamps: writeMap(stamps, writeStamp),
        };
        const folders = new Map([...Object.entries(await readFolders(root)), [prefix, folder]]);
        const text = JSON.stringify(sortKeys({ version, folders: Object.fromEntries(folders) }));
        await writeFile(path, `${text}\n`);
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

/** Folders by prefix, of a registry that is sound as far as that. */
async function readFolders(root: string): Promise<JsonObject> {
  const home = join(root, '.holdfast');
  const reading = await readBounded(join(home, registryName), maxRegistryBytes);
  // Where a link leads, somebody else may write.
  if (reading.type !== 'read' || (await realpath(home)) !== home) return {};
  const parsed = parseJson(new TextDecoder().decode(reading.bytes), { maxDepth: 100 });
  if (!parsed.ok || !isPlainObject(parsed.value) || parsed.value['version'] !== version) return {};
  const folders = parsed.value['folders'];
  // Came from `parseJson`.
  return isPlainObject(folders) ? (folders as JsonObject) : {};
}

function readMap<Value>(
  value: unknown,
  read: (value: unknown) => Value | undefined,
): ReadonlyMap<string, Value> | undefined {
  if (!isPlainObject(value)) return undefined;
  const map = new Map<string, Value>();
  for (const [key, inner] of Object.entries(value)) {
    const one = read(inner);
    if (one === undefined) return undefined;
    map.set(key, one);
  }
  return map;
}

function writeMap<Value>(map: ReadonlyMap<string, Value>, write: (value: Value) => Json): JsonObject {
  return Object.fromEntries([...map].map(([key, value]) => [key, write(value)]));
}

function readTool(value: unknown): RegisteredTool | undefined {
  if (!isPlainObject(value) || typeof value['file'] !== 'string') return undefined;
  const [parameters, returns] = [value['parameters'], value['returns']];
  if (!isSchema(parameters) || !isSchema(returns)) return undefined;
  return { file: value['file'], parameters, returns };
}

function writeTool({ file, parameters, returns }: RegisteredTool): Json {
  return {
    file,
    ...(parameters === undefined ? {} : { parameters }),
    ...(returns === undefined ? {} : { returns }),
  };
}

function isSchema(value: unknown): value is JsonObject | undefined {
  return value === undefined || isPlainObject(value);
}

function readStamp(value: unknown): Stamp | undefined {
  if (!Array.isArray(value) || value.length !== 4) return undefined;
  const [size, inode, modified, changed]: readonly unknown[] = value;
  if (!isNumber(size) || !isNumber(inode) || !isNumber(modified) || !isNumber(changed)) return undefined;
  return { size, inode, modified, changed };
}

function writeStamp({ size, inode, modified, changed }: Stamp): Json {
  return [size, inode, modified, changed];
}

function isNumber(value: unknown): value is string {
  return typeof value === 'string' && /^\d{1,20}$/.test(value);
}
