import { join } from 'node:path';
import { isHoldfastError } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { type ProcessIdentity, toProcessIdentity } from '@holdfast/session/lock';
import { nameOf, parsePath } from '../paths/paths.ts';
import { systemCode } from './errors.ts';
import { type HostOperations, readOnlyFlags } from './folder.ts';
import { type JournalHead, maxJournalBytes, type RecordedChange, type Stamp } from './journal.ts';
import { isAbsence } from './paths.ts';

/** A journal found in the root. `token` is from its name; everything else is untrusted. */
export interface LeftJournal {
  readonly name: string;
  readonly token: string;
  /** Milliseconds since 1970. */
  readonly modifiedMs: number;
  /**
   * `torn`: its first line is incomplete, so nothing was done yet. `begun`: its process ended during `prepare`. `prepared`: it may be
   * partly applied. `settled`: only leftovers have to be removed.
   */
  readonly stage: 'torn' | 'begun' | 'prepared' | 'settled';
  readonly mark: string | null;
  /** Undefined if `stage` is `torn`. */
  readonly owner: ProcessIdentity | undefined;
  readonly changes: readonly RecordedChange[];
  /** One per change if `stage` is `prepared`. */
  readonly stamps: readonly (Stamp | null)[];
}

const namePattern = /^\.holdfast-(\d{1,10}-[0-9a-f]{8}-\d{1,15})\.(journal|done)$/;

/** Reads the journals of a root. Ignores files that are not journals of this program. */
export async function readJournals(operations: HostOperations, root: string): Promise<readonly LeftJournal[]> {
  const journals: LeftJournal[] = [];
  for (const name of (await operations.readdir(root)).sort()) {
    const [, token, extension] = namePattern.exec(name) ?? [];
    if (token === undefined) continue;
    const file = await readSmallFile(operations, join(root, name));
    if (file === undefined) continue;
    const content = parseJournal(file.text);
    if (content === undefined) continue;
    const stage = extension === 'done' && content.stage !== 'torn' ? 'settled' : content.stage;
    journals.push({ name, token, modifiedMs: file.modifiedMs, ...content, stage });
  }
  return journals;
}

/** `undefined` if it is not a file, too large, owned by another user, or gone. */
async function readSmallFile(
  operations: HostOperations,
  path: string,
): Promise<{ readonly text: string; readonly modifiedMs: number } | undefined> {
  try {
    const handle = await operations.open(path, readOnlyFlags);
    try {
      const stats = await handle.stat();
      if (!stats.isFile() || stats.size > maxJournalBytes) return undefined;
      return { text: await handle.readFile('utf8'), modifiedMs: stats.mtimeMs };
    } finally {
      await handle.close();
    }
  } catch (error) {
    const skipped = isAbsence(error) || ['ELOOP', 'EACCES', 'EPERM', 'EISDIR', 'ENXIO'].includes(systemCode(error));
    if (skipped) return undefined;
    throw error;
  }
}

type Content = Pick<LeftJournal, 'stage' | 'mark' | 'owner' | 'changes' | 'stamps'>;

/** `undefined` for a foreign text. */
function parseJournal(text: string): Content | undefined {
  const [first, second, ...rest] = text.split('\n', 4);
  // The process was killed while writing; its output would be longer than this, and begins like this.
  if (second === undefined) {
    const torn = '{"holdfast":"journal",'.startsWith(text) || text.startsWith('{"holdfast":"journal",');
    return torn ? { stage: 'torn', mark: null, owner: undefined, changes: [], stamps: [] } : undefined;
  }
  const head = toHead(parse(first));
  if (head === undefined) return undefined;
  if (rest.length === 0) return { stage: 'begun', ...head, stamps: [] };
  if (rest.length > 1 || rest[0] !== '') return undefined;
  const stamps = toStamps(parse(second), head.changes);
  return stamps && { stage: 'prepared', ...head, stamps };
}

function parse(line: string | undefined): unknown {
  try {
    return JSON.parse(line ?? '');
  } catch {
    // Not written by this program.
    return undefined;
  }
}

function toHead(value: unknown): Pick<JournalHead, 'mark' | 'owner' | 'changes'> | undefined {
  if (!isPlainObject(value) || value['holdfast'] !== 'journal' || value['version'] !== 1) return undefined;
  const { mark, changes: texts } = value;
  const owner = toProcessIdentity(value['owner']);
  if ((mark !== null && typeof mark !== 'string') || owner === undefined || !Array.isArray(texts)) return undefined;
  const changes: RecordedChange[] = [];
  for (const text of texts) {
    const change = toChange(text);
    if (change === undefined) return undefined;
    changes.push(change);
  }
  return { mark, owner, changes };
}

function toChange(value: unknown): RecordedChange | undefined {
  if (!isPlainObject(value)) return undefined;
  const { type, key, name, folder, before, after, ino, mode } = value;
  if (!isKey(key) || key === '') return undefined;
  switch (type) {
    case 'write':
      return isNameOf(name, key) && isAbove(folder, key) && (before === null || isState(before)) && isContent(after)
        ? { type, key, name, folder, before, after }
        : undefined;
    case 'make-directory':
      return { type, key };
    case 'remove-file':
      return isNameOf(name, key) && isAbove(folder, key) && isState(before)
        ? { type, key, name, folder, before }
        : undefined;
    case 'remove-directory': {
      const isMode = typeof mode === 'number' && Number.isInteger(mode) && mode >= 0 && mode <= 0o7777;
      return isNameOf(name, key) && isDigits(ino) && isMode ? { type, key, name, ino, mode } : undefined;
    }
    default:
      return undefined;
  }
}

function toStamps(value: unknown, changes: readonly RecordedChange[]): readonly (Stamp | null)[] | undefined {
  if (!Array.isArray(value) || value.length !== changes.length) return undefined;
  const fits = changes.every(({ type }, index) => (type === 'write' ? isStamp(value[index]) : value[index] === null));
  return fits ? value : undefined;
}

/** A canonical key, as from a tool's path: below the root, without `..`. */
function isKey(value: unknown): value is string {
  if (typeof value !== 'string') return false;
  try {
    return parsePath(value) === value;
  } catch (error) {
    if (isHoldfastError(error)) return false;
    throw error;
  }
}

/** Any form of a name, without `/`. */
function isNameOf(name: unknown, key: string): name is string {
  return typeof name === 'string' && name.isWellFormed() && name.normalize('NFC') === nameOf(key);
}

function isAbove(folder: unknown, key: string): folder is string {
  return isKey(folder) && (folder === '' || key.startsWith(`${folder}/`));
}

function isContent(value: unknown): value is { readonly version: string; readonly size: number } {
  if (!isPlainObject(value)) return false;
  const { version, size } = value;
  return typeof version === 'string' && typeof size === 'number' && Number.isSafeInteger(size) && size >= 0;
}

function isStamp(value: unknown): value is Stamp {
  return isPlainObject(value) && isDigits(value['ino']) && isDigits(value['mtimeNs']);
}

function isState(value: unknown): value is Stamp & { readonly version: string; readonly size: number } {
  return isStamp(value) && isContent(value);
}

function isDigits(value: unknown): value is string {
  return typeof value === 'string' && /^-?\d{1,25}$/.test(value);
}
