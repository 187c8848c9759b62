import { HoldfastError } from '@holdfast/core';
import { unicodePattern } from '@holdfast/core/internal';

const maxPathLength = 4096;
const maxNameBytes = 255;

// Control characters, line separators and marks that reverse the text direction.
const forbiddenCharacters = unicodePattern(String.raw`[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]`, 'u');
const encoder = new TextEncoder();

/**
 * The canonical key of a path: relative to the root, `/` between names, in Unicode NFC, `''` for the root. A leading `/` means the root.
 * Works on the text only; symbolic links are resolved by the backend. `%2e` is three characters.
 *
 * @throws HoldfastError `path.invalid` for `..` above the root, drive letters, UNC, `~` and `file:`; `path.invalid` for forbidden
 * characters, names and lengths.
 */
export function parsePath(path: string): string {
  if (typeof path !== 'string') {
    throw new HoldfastError('path.invalid', `A path must be a string, got ${path === null ? 'null' : typeof path}.`);
  }
  if (path.length > maxPathLength) {
    throw invalid(path, `has ${path.length} characters; the limit is ${maxPathLength}`);
  }
  if (!path.isWellFormed()) throw invalid(path, 'is not well-formed Unicode');
  if (forbiddenCharacters().test(path)) throw invalid(path, 'contains control characters');
  if (path.startsWith('\\\\')) throw leaves(path, 'is a network path');
  if (/^file:/iu.test(path)) throw leaves(path, 'is a URL');

  const names: string[] = [];
  for (const name of path.normalize('NFC').split('/')) {
    if (name === '' || name === '.') continue;
    if (name === '..') {
      if (names.pop() === undefined) throw leaves(path, 'leaves the workspace');
      continue;
    }
    const problem = findNameProblem(name, names.length === 0);
    if (problem !== undefined) throw problem.leaves === true ? leaves(path, problem.what) : invalid(path, problem.what);
    names.push(name);
  }
  return names.join('/');
}

/** True if a listed name can be written as a path; other names are left out of listings. */
export function isAddressable(folder: string, name: string): boolean {
  return (
    name !== '' &&
    name.isWellFormed() &&
    // Node.js returns this character for names that are not UTF-8, which cannot be opened by their text.
    !name.includes('\ufffd') &&
    !forbiddenCharacters().test(name) &&
    findNameProblem(name, folder === '') === undefined
  );
}

/** A path for messages: on one line and of bounded length. */
export function showPath(path: string): string {
  const shown = JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path).slice(1, -1);
  return shown === '' ? '/' : shown;
}

export function joinKey(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

/** The key of the parent folder; `undefined` for the root. */
export function parentOf(key: string): string | undefined {
  if (key === '') return undefined;
  const end = key.lastIndexOf('/');
  return end < 0 ? '' : key.slice(0, end);
}

export function nameOf(key: string): string {
  return key.slice(key.lastIndexOf('/') + 1);
}

/** Other spellings of a name that find it only on a disk that folds names. */
export function otherSpellings(name: string): readonly string[] {
  // ASCII letters first: some disks fold only those.
  const swapped = /[a-z]/iu.test(name) ? name.replace(/[a-z]/giu, swapCase) : name.replace(letters(), swapCase);
  return [swapped, name.replace(ignored(), '')].filter((other) => other !== name && other !== '');
}

const letters = unicodePattern(String.raw`\p{L}`, 'gu');
const ignored = unicodePattern(String.raw`\p{Default_Ignorable_Code_Point}`, 'gu');

function swapCase(letter: string): string {
  const upper = letter.toUpperCase();
  // Skip letters that become several: few disks fold them.
  return upper !== letter && upper.length === letter.length ? upper : letter.toLowerCase();
}

/** `leaves`: it leads out of the workspace. */
function findNameProblem(name: string, first: boolean): { readonly leaves?: true; readonly what: string } | undefined {
  if (/^[a-z]:/iu.test(name)) return { leaves: true, what: 'names a drive' };
  if (first && /^~[\w.+-]*$/u.test(name)) return { leaves: true, what: 'points to a home folder' };
  if (name.includes('\\')) return { what: 'contains a backslash; separate names with `/`' };
  // Windows drops these when it opens a file, so two keys would name one file.
  if (/[. ]$/u.test(name)) return { what: 'has a name that ends with a dot or a space' };
  if (encoder.encode(name).length > maxNameBytes) {
    return { what: `has a name longer than ${maxNameBytes} bytes` };
  }
  return undefined;
}

function leaves(path: string, reason: string): HoldfastError {
  return new HoldfastError('path.invalid', describe(path, reason), {
    data: { reason: 'escape', path: path.toWellFormed() },
  });
}

function invalid(path: string, reason: string): HoldfastError {
  return new HoldfastError('path.invalid', describe(path, reason), {
    data: { path: path.slice(0, maxPathLength).toWellFormed() },
  });
}

function describe(path: string, reason: string): string {
  return `\`${showPath(path)}\` ${reason}. Use a path relative to the workspace, such as \`src/main.ts\`.`;
}
