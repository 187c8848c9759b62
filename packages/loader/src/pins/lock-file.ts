import {
  describeThrown,
  findToolNameProblem,
  HoldfastError,
  isPlainObject,
  type Json,
  type JsonObject,
  parseJson,
} from '@holdfast/core';
import { readBounded } from '../files/read-bounded.ts';
import { type OnWrite, writeAtomically } from '../files/write-atomically.ts';
import { digestClosure } from '../imports/closure.ts';
import { versionPattern } from '../imports/packages.ts';
import { isPlainPath, makeVisible } from '../text/hidden-text.ts';
import type { Pin } from './copies.ts';
import {
  isHash,
  isPackageName,
  type LockedPlugins,
  readLockedPlugins,
  sortMembers,
  toLockedPluginsJson,
} from './locked-definitions.ts';

/** What a lock says of one tool. */
export interface LockedTool extends Pin {
  /** Version by name of what it imports by name; empty where the package names none. */
  readonly packages: ReadonlyMap<string, string>;
  /** The schemas of the arguments and of the result. */
  readonly parameters: JsonObject | undefined;
  readonly returns: JsonObject | undefined;
  /** Everything else that the file says of the tool. */
  readonly metadata: JsonObject;
}

/** By tool name. */
export type LockedTools = ReadonlyMap<string, LockedTool>;

/** All that a lock says. Whoever writes one has both parts at hand. */
export interface Lock {
  readonly tools: LockedTools;
  /** `undefined`: the lock says nothing of plugins and packs. */
  readonly plugins: LockedPlugins | undefined;
}

/** A lock as it was at one moment. */
export interface LockReading extends Lock {
  readonly bytes: Uint8Array;
}

/** Of the form of the file. */
const version = 1;
const maxLockBytes = 64 * 1024 * 1024;

/**
 * Reads a lock; `undefined` when there is none. Every path in it is relative, with `/`, and stays in the folder of the lock.
 *
 * @throws HoldfastError `tools.lock.unreadable`, `tools.lock.invalid`, `tools.lock.version`.
 */
export function readLock(path: string): LockReading | undefined {
  const bytes = readLockBytes(path);
  return bytes === undefined ? undefined : { ...parseLock(bytes, path), bytes };
}

/** What is in the file; `undefined` when there is none. @throws HoldfastError `tools.lock.unreadable`. */
export function readLockBytes(path: string): Uint8Array | undefined {
  const reading = readBounded(path, maxLockBytes);
  if (reading.type === 'missing') return undefined;
  if (reading.type === 'read') return reading.bytes;
  const message = `The lock \`${path}\` cannot be read: ${reading.why}.`;
  throw new HoldfastError('tools.lock.unreadable', message, { data: { path } });
}

/** @throws HoldfastError `tools.lock.unwritable`. */
export async function writeLock(path: string, lock: Lock, onWritten?: OnWrite): Promise<void> {
  try {
    await writeAtomically(path, formatLock(lock), onWritten);
  } catch (cause) {
    const message = `The lock \`${path}\` cannot be written: ${describeThrown(cause)}`;
    throw new HoldfastError('tools.lock.unwritable', message, { data: { path }, cause });
  }
}

/**
 * The text of a lock: the same for the same tools and plugins, in whatever order they come. What stands within schemas and metadata keeps
 * the order in which its author wrote it: a model reads it so.
 */
export function formatLock({ tools, plugins }: Lock): string {
  const locked = [...tools].map(
    ([name, { entry, digest, files, packages, parameters, returns, metadata }]): [string, Json] => [
      name,
      {
        digest,
        file: entry,
        files: sortMembers(files),
        metadata: sortMembers(Object.entries(metadata)),
        packages: sortMembers(packages),
        ...(parameters === undefined ? {} : { parameters }),
        ...(returns === undefined ? {} : { returns }),
      },
    ],
  );
  const lock = {
    ...(plugins === undefined ? {} : { plugins: toLockedPluginsJson(plugins) }),
    tools: sortMembers(locked),
    version,
  };
  return `${JSON.stringify(lock, undefined, 2)}\n`;
}

/**
 * Parses a lock with care, and checks everything in it.
 *
 * @throws HoldfastError `tools.lock.invalid`, `tools.lock.version`.
 */
export function parseLock(lock: Uint8Array | string, path: string): Lock {
  const text = typeof lock === 'string' ? lock : new TextDecoder('utf-8', { ignoreBOM: true }).decode(lock);
  const parsed = parseJson(text, { maxDepth: 80 });
  if (!parsed.ok) throw invalid(path, parsed.problem);
  const tools = toLockedTools(parsed.value, path);
  for (const [name, tool] of tools) {
    if (!hasOwnDigest(tool))
      throw invalid(path, `\`tools.${name}\` has a \`digest\` that is not the one of its \`files\``);
  }
  return { tools, plugins: toLockedPlugins(parsed.value, path) };
}

/** Whether the digest is that of the files. */
export function hasOwnDigest({ entry, files, digest }: Pin): boolean {
  return digest === digestClosure(entry, files);
}

/**
 * As `parseLock` for the tools, of a lock that it has taken before, parsed already: what each part looks like is checked, and no digest.
 *
 * @throws HoldfastError `tools.lock.invalid`, `tools.lock.version`.
 */
export function toLockedTools(value: unknown, path: string): LockedTools {
  if (!isPlainObject(value)) throw invalid(path, 'it is no object');
  if (value['version'] !== version) {
    const found = makeVisible(JSON.stringify(value['version'] ?? null)).slice(0, 100);
    const message = `The lock \`${path}\` has the version \`${found}\`, and this Holdfast reads version ${version}.`;
    const hint = 'Use the Holdfast that wrote it, or make it anew with `holdfast lock`.';
    throw new HoldfastError('tools.lock.version', message, { data: { path, hint } });
  }
  checkKeys(value, lockKeys, { path, at: '' });
  const { tools } = value;
  if (!isPlainObject(tools)) throw invalid(path, '`tools` is no object');
  const locked = new Map<string, LockedTool>();
  for (const name of Object.keys(tools)) locked.set(name, readTool(name, tools[name], path));
  return locked;
}

function toLockedPlugins(value: unknown, path: string): LockedPlugins | undefined {
  if (!isPlainObject(value) || value['plugins'] === undefined) return undefined;
  return readLockedPlugins(value['plugins'], (at, problem) => {
    throw invalid(path, `\`${at}\` ${problem}`);
  });
}

interface KnownKeys {
  readonly required: readonly string[];
  readonly optional: readonly string[];
}
const lockKeys: KnownKeys = { required: ['version', 'tools'], optional: ['plugins'] };
const toolKeys: KnownKeys = {
  required: ['file', 'digest', 'files', 'packages', 'metadata'],
  optional: ['parameters', 'returns'],
};

function readTool(name: string, tool: unknown, path: string): LockedTool {
  const at = `tools.${name}`;
  const fail = (problem: string): HoldfastError => invalid(path, `\`${at}\` ${problem}`);
  if (findToolNameProblem(name) !== undefined) throw fail('is no name of a tool');
  if (!isPlainObject(tool)) throw fail('is no object');
  checkKeys(tool, toolKeys, { path, at });
  const { file, digest, parameters, returns, metadata } = tool;
  const files = readTexts(tool['files'], isPlainPath, isHash);
  if (files === undefined) throw fail('has `files` that are not paths with their hashes');
  const packages = readTexts(tool['packages'], isPackageName, isVersion);
  if (packages === undefined) throw fail('has `packages` that are not names with their versions');
  if (typeof file !== 'string' || !files.has(file)) throw fail('has a `file` that is not one of its `files`');
  if (!isSchema(parameters) || !isSchema(returns)) throw fail('has a schema that is no object');
  if (typeof digest !== 'string' || !isHash(digest)) throw fail('has a `digest` that is no hash');
  if (!isPlainObject(metadata)) throw fail('has `metadata` that is no object');
  // Came from JSON.
  return { entry: file, digest, files, packages, parameters, returns, metadata: metadata as JsonObject };
}

function isVersion(text: string): boolean {
  return versionPattern.test(text);
}

function isSchema(value: unknown): value is JsonObject | undefined {
  return value === undefined || isPlainObject(value);
}

const nothing: ReadonlyMap<string, string> = new Map();

function readTexts(
  value: unknown,
  isKey: (key: string) => boolean,
  isText: (text: string) => boolean,
): ReadonlyMap<string, string> | undefined {
  if (!isPlainObject(value)) return undefined;
  const names = Object.keys(value);
  if (names.length === 0) return nothing;
  const texts = new Map<string, string>();
  for (const name of names) {
    const one = value[name];
    if (!isKey(name) || typeof one !== 'string' || !isText(one)) return undefined;
    texts.set(name, one);
  }
  return texts;
}

function checkKeys(
  value: Readonly<Record<string, unknown>>,
  { required, optional }: KnownKeys,
  { path, at }: { readonly path: string; readonly at: string },
): void {
  const where = at === '' ? '' : `\`${at}\` `;
  for (const key of Object.keys(value)) {
    if (!required.includes(key) && !optional.includes(key))
      throw invalid(path, `${where}has the unknown key \`${key}\``);
  }
  for (const key of required) if (!Object.hasOwn(value, key)) throw invalid(path, `${where}has no \`${key}\``);
}

function invalid(path: string, problem: string): HoldfastError {
  const message = `The lock \`${path}\` cannot be used: ${makeVisible(problem).slice(0, 300)}.`;
  const hint = 'Take it from your version control, or make it anew with `holdfast lock`.';
  return new HoldfastError('tools.lock.invalid', message, { data: { path, hint } });
}
