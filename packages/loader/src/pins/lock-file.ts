import { HoldfastError, type Json, type JsonObject } from '@holdfast/core';
import { describeThrown, findToolNameProblem, isPlainObject, parseJson } from '@holdfast/core/internal';
import { readBounded } from '../files/read-bounded.ts';
import { type OnWrite, writeAtomically } from '../files/write-atomically.ts';
import { digestClosure } from '../imports/digest.ts';
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

/** The lock entry of a tool. */
export interface LockedTool extends Pin {
  /** Version by name of its imported packages; empty if the package has none. */
  readonly packages: ReadonlyMap<string, string>;
  /** The input and output schemas. */
  readonly parameters: JsonObject | undefined;
  readonly returns: JsonObject | undefined;
  /** All other metadata of the tool. */
  readonly metadata: JsonObject;
}

/** By tool name. */
export type LockedTools = ReadonlyMap<string, LockedTool>;

/** The content of a lock. Written as a whole. */
export interface Lock {
  readonly tools: LockedTools;
  /** `undefined`: the lock does not cover plugins and packs. */
  readonly plugins: LockedPlugins | undefined;
  /** MCP servers by our names for them; this package does not read what is in them. */
  readonly servers?: LockedServers | undefined;
}

export type LockedServers = ReadonlyMap<string, JsonObject>;

/** A lock as read at one time. */
export interface LockReading extends Lock {
  readonly bytes: Uint8Array;
}

/** Of the file format. */
const version = 1;
const maxLockBytes = 64 * 1024 * 1024;

/**
 * Reads a lock; `undefined` if it does not exist. All its paths are relative, with `/`, and stay in its folder.
 *
 * @throws HoldfastError `lock.invalid`.
 */
export function readLock(path: string): LockReading | undefined {
  const bytes = readLockBytes(path);
  return bytes === undefined ? undefined : { ...parseLock(bytes, path), bytes };
}

/** The content of the file; `undefined` if it does not exist. @throws HoldfastError `lock.invalid`. */
export function readLockBytes(path: string): Uint8Array | undefined {
  const reading = readBounded(path, maxLockBytes);
  if (reading.type === 'missing') return undefined;
  if (reading.type === 'read') return reading.bytes;
  const message = `Cannot read the lock \`${path}\`: ${reading.why}.`;
  throw new HoldfastError('lock.invalid', message, { data: { reason: 'unreadable', path } });
}

/** Never writes a lock that `readLock` would refuse. @throws HoldfastError `lock.invalid`. */
export async function writeLock(path: string, lock: Lock, onWritten?: OnWrite): Promise<void> {
  try {
    const text = formatLock(lock);
    parseLock(text, path);
    await writeAtomically(path, text, onWritten);
  } catch (cause) {
    const message = `Cannot write the lock \`${path}\`: ${describeThrown(cause)}`;
    throw new HoldfastError('lock.invalid', message, { data: { reason: 'unwritable', path }, cause });
  }
}

/**
 * Formats a lock: the same text for the same tools, plugins and servers in any order. Schemas and metadata keep their author's
 * key order, because models see it.
 */
export function formatLock({ tools, plugins, servers = new Map() }: Lock): string {
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
    ...(servers.size === 0 ? {} : { mcp: sortMembers(servers) }),
    ...(plugins === undefined ? {} : { plugins: toLockedPluginsJson(plugins) }),
    tools: sortMembers(locked),
    version,
  };
  return `${JSON.stringify(lock, undefined, 2)}\n`;
}

/**
 * Parses and fully verifies a lock.
 *
 * @throws HoldfastError `lock.invalid`.
 */
export function parseLock(lock: Uint8Array | string, path: string): Lock {
  const text = typeof lock === 'string' ? lock : new TextDecoder('utf-8', { ignoreBOM: true }).decode(lock);
  const parsed = parseJson(text, { maxDepth: 80 });
  if (!parsed.ok) throw invalid(path, parsed.problem);
  const tools = toLockedTools(parsed.value, path);
  for (const [name, tool] of tools) {
    if (!hasOwnDigest(tool))
      throw invalid(path, `\`tools.${name}\` has a \`digest\` that does not match its \`files\``);
  }
  return { tools, plugins: toLockedPlugins(parsed.value, path), servers: toLockedServers(parsed.value, path) };
}

/** True if the digest matches the files. */
export function hasOwnDigest({ entry, files, digest }: Pin): boolean {
  return digest === digestClosure(entry, files);
}

/**
 * Like `parseLock`, for the tools of a parsed lock that `parseLock` has accepted before: checks the shape, but no digests.
 *
 * @throws HoldfastError `lock.invalid`.
 */
export function toLockedTools(value: unknown, path: string): LockedTools {
  if (!isPlainObject(value)) throw invalid(path, 'it is not an object');
  if (value['version'] !== version) {
    const found = makeVisible(JSON.stringify(value['version'] ?? null)).slice(0, 100);
    const message = `The lock \`${path}\` has version \`${found}\`; this Holdfast supports version ${version}.`;
    const hint = 'Use the Holdfast version that wrote it, or recreate it with `holdfast lock`.';
    throw new HoldfastError('lock.invalid', message, { data: { reason: 'version', path, hint } });
  }
  checkKeys(value, lockKeys, { path, at: '' });
  const { tools } = value;
  if (!isPlainObject(tools)) throw invalid(path, '`tools` is not an object');
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

const serverPattern = /^[a-z0-9_-]{1,24}$/;

function toLockedServers(value: unknown, path: string): LockedServers | undefined {
  if (!isPlainObject(value) || value['mcp'] === undefined) return undefined;
  const servers = new Map<string, JsonObject>();
  const { mcp } = value;
  if (!isPlainObject(mcp)) throw invalid(path, '`mcp` is not an object');
  for (const name of Object.keys(mcp)) {
    const server = mcp[name];
    if (!serverPattern.test(name)) throw invalid(path, `\`mcp.${name}\` is not a valid name of a server`);
    if (!isPlainObject(server)) throw invalid(path, `\`mcp.${name}\` is not an object`);
    // Parsed from JSON.
    servers.set(name, server as JsonObject);
  }
  return servers;
}

interface KnownKeys {
  readonly required: readonly string[];
  readonly optional: readonly string[];
}
const lockKeys: KnownKeys = { required: ['version', 'tools'], optional: ['plugins', 'mcp'] };
const toolKeys: KnownKeys = {
  required: ['file', 'digest', 'files', 'packages', 'metadata'],
  optional: ['parameters', 'returns'],
};

function readTool(name: string, tool: unknown, path: string): LockedTool {
  const at = `tools.${name}`;
  const fail = (problem: string): HoldfastError => invalid(path, `\`${at}\` ${problem}`);
  if (findToolNameProblem(name) !== undefined) throw fail('is not a valid tool name');
  if (!isPlainObject(tool)) throw fail('is not an object');
  checkKeys(tool, toolKeys, { path, at });
  const { file, digest, parameters, returns, metadata } = tool;
  const files = readTexts(tool['files'], isPlainPath, isHash);
  if (files === undefined) throw fail('has invalid `files`: expected paths with hashes');
  const packages = readTexts(tool['packages'], isPackageName, isVersion);
  if (packages === undefined) throw fail('has invalid `packages`: expected names with versions');
  if (typeof file !== 'string' || !files.has(file)) throw fail('has a `file` that is not one of its `files`');
  if (!isSchema(parameters) || !isSchema(returns)) throw fail('has a schema that is not an object');
  if (typeof digest !== 'string' || !isHash(digest)) throw fail('has a `digest` that is not a hash');
  if (!isPlainObject(metadata)) throw fail('has `metadata` that is not an object');
  // Parsed from JSON.
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
  for (const key of required) if (!Object.hasOwn(value, key)) throw invalid(path, `${where}lacks \`${key}\``);
}

function invalid(path: string, problem: string): HoldfastError {
  const message = `Cannot use the lock \`${path}\`: ${makeVisible(problem).slice(0, 300)}.`;
  const hint = 'Restore it from version control, or recreate it with `holdfast lock`.';
  return new HoldfastError('lock.invalid', message, { data: { path, hint } });
}
