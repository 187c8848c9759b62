import { createHash } from 'node:crypto';
import {
  describeThrown,
  findToolNameProblem,
  HoldfastError,
  isPlainObject,
  type Json,
  type JsonObject,
  parseJson,
  sortKeys,
} from '@holdfast/core';
import { versionPattern } from './found-packages.ts';
import { makeVisible } from './hidden-text.ts';
import { digestClosure } from './import-closure.ts';
import type { Pin } from './pinned-copies.ts';
import { isPlainPath } from './plain-path.ts';
import { readBounded } from './read-bounded.ts';
import { type OnWrite, writeAtomically } from './write-atomically.ts';

/** What a lock says of one tool. */
export interface LockedTool extends Pin {
  /** Version by name of what it imports by name; empty where the package names none. */
  readonly packages: ReadonlyMap<string, string>;
  /** SHA-256 in hexadecimal of `parameters` and `returns`. */
  readonly schema: string;
  /** Everything else that the file says of the tool. */
  readonly metadata: JsonObject;
}

/** By tool name. */
export type LockedTools = ReadonlyMap<string, LockedTool>;

/** A lock as it was at one moment. */
export interface LockReading {
  readonly tools: LockedTools;
  /** SHA-256 of its bytes in hexadecimal. */
  readonly digest: string;
}

/** Of the form of the file. */
const version = 1;
const maxLockBytes = 64 * 1024 * 1024;

/**
 * Reads a lock; `undefined` when there is none. Every path in it is relative, with `/`, and stays in the folder of the lock.
 *
 * @throws HoldfastError `tools.lock.unreadable`, `tools.lock.invalid`, `tools.lock.version`.
 */
export async function readLock(path: string): Promise<LockReading | undefined> {
  const reading = await readBounded(path, maxLockBytes);
  if (reading.type === 'missing') return undefined;
  if (reading.type === 'refused') {
    throw new HoldfastError('tools.lock.unreadable', `The lock \`${path}\` cannot be read: ${reading.why}.`, {
      data: { path },
    });
  }
  const { bytes } = reading;
  const tools = parseLock(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes), path);
  return { tools, digest: createHash('sha256').update(bytes).digest('hex') };
}

/** @throws HoldfastError `tools.lock.unwritable`. */
export async function writeLock(path: string, tools: LockedTools, onWritten?: OnWrite): Promise<void> {
  try {
    await writeAtomically(path, formatLock(tools), onWritten);
  } catch (cause) {
    throw new HoldfastError(
      'tools.lock.unwritable',
      `The lock \`${path}\` cannot be written: ${describeThrown(cause)}`,
      {
        data: { path },
        cause,
      },
    );
  }
}

/** The text of a lock: the same for the same tools, in whatever order they come. */
export function formatLock(tools: LockedTools): string {
  const locked = [...tools].map(([name, { entry, digest, files, packages, schema, metadata }]): [string, Json] => [
    name,
    { file: entry, digest, files: Object.fromEntries(files), packages: Object.fromEntries(packages), schema, metadata },
  ]);
  return `${JSON.stringify(sortKeys({ version, tools: Object.fromEntries(locked) }), undefined, 2)}\n`;
}

/** @throws HoldfastError `tools.lock.invalid`, `tools.lock.version`. */
export function parseLock(text: string, path: string): LockedTools {
  const parsed = parseJson(text, { maxDepth: 80 });
  if (!parsed.ok) throw invalid(path, parsed.problem);
  const { value } = parsed;
  if (!isPlainObject(value)) throw invalid(path, 'it is no object');
  if (value['version'] !== version) {
    throw new HoldfastError(
      'tools.lock.version',
      `The lock \`${path}\` has the version \`${makeVisible(JSON.stringify(value['version'] ?? null)).slice(0, 100)}\`, and this Holdfast reads version ${version}.`,
      { data: { path, hint: 'Use the Holdfast that wrote it, or make it anew with `holdfast lock`.' } },
    );
  }
  checkKeys(value, ['version', 'tools'], { path, at: '' });
  const tools = value['tools'];
  if (!isPlainObject(tools)) throw invalid(path, '`tools` is no object');
  return new Map(Object.entries(tools).map(([name, tool]) => [name, readTool(name, tool, path)]));
}

const toolKeys = ['file', 'digest', 'files', 'packages', 'schema', 'metadata'];
const hashPattern = /^[\da-f]{64}$/;
const packagePattern = /^(?:@[\w.~-]+\/)?(?![._])[\w.~-]+$/;

function readTool(name: string, tool: unknown, path: string): LockedTool {
  const at = `tools.${name}`;
  const fail = (problem: string): HoldfastError => invalid(path, `\`${at}\` ${problem}`);
  if (findToolNameProblem(name) !== undefined) throw fail('is no name of a tool');
  if (!isPlainObject(tool)) throw fail('is no object');
  checkKeys(tool, toolKeys, { path, at });
  const { file, digest, schema, metadata } = tool;
  const files = readTexts(tool['files'], isPlainPath, hashPattern);
  if (files === undefined) throw fail('has `files` that are not paths with their hashes');
  const packages = readTexts(tool['packages'], (name) => packagePattern.test(name), versionPattern);
  if (packages === undefined) throw fail('has `packages` that are not names with their versions');
  if (typeof file !== 'string' || !files.has(file)) throw fail('has a `file` that is not one of its `files`');
  if (typeof schema !== 'string' || !hashPattern.test(schema)) throw fail('has a `schema` that is no hash');
  if (digest !== digestClosure(file, files)) throw fail('has a `digest` that is not the one of its `files`');
  if (!isPlainObject(metadata)) throw fail('has `metadata` that is no object');
  // Came from `parseJson`.
  return { entry: file, digest: String(digest), files, packages, schema, metadata: metadata as JsonObject };
}

function readTexts(
  value: unknown,
  isKey: (key: string) => boolean,
  text: RegExp,
): ReadonlyMap<string, string> | undefined {
  if (!isPlainObject(value)) return undefined;
  const texts = new Map<string, string>();
  for (const [name, one] of Object.entries(value)) {
    if (!isKey(name) || typeof one !== 'string' || !text.test(one)) return undefined;
    texts.set(name, one);
  }
  return texts;
}

function checkKeys(
  value: Readonly<Record<string, unknown>>,
  known: readonly string[],
  { path, at }: { readonly path: string; readonly at: string },
): void {
  const where = at === '' ? '' : `\`${at}\` `;
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) throw invalid(path, `${where}has the unknown key \`${key}\``);
  }
  for (const key of known) if (!Object.hasOwn(value, key)) throw invalid(path, `${where}has no \`${key}\``);
}

function invalid(path: string, problem: string): HoldfastError {
  return new HoldfastError(
    'tools.lock.invalid',
    `The lock \`${path}\` cannot be used: ${makeVisible(problem).slice(0, 300)}.`,
    {
      data: { path, hint: 'Take it from your version control, or make it anew with `holdfast lock`.' },
    },
  );
}
