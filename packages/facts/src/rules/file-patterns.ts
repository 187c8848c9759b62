import { foldPath } from '@holdfast/core';
import picomatch from 'picomatch/posix.js';

const maxLength = 500;
// What a pattern may hold, so that no name can make the matching slow: it backtracks.
const maxStarsInName = 3;
const maxGlobstars = 1;
const maxBraces = 3;

/** Tells which files a list of patterns means: keys as the filesystem resolves them. */
export interface FilePatterns {
  /** The file itself, or a folder that it lies in. */
  covers(key: string): boolean;
  /** The file itself. */
  has(key: string): boolean;
}

/** Whether `filePatterns` can take it. */
export function isFilePattern(pattern: string): boolean {
  return compile(foldPath(pattern)) !== undefined;
}

/**
 * Patterns of `*`, `?`, `**`, `[a-z]` and `{a,b}`, in any letter case. One without `/` is for names in any folder, one with it
 * starts at the root. Those that `isFilePattern` refuses must not be among them.
 */
export function filePatterns(patterns: readonly string[]): FilePatterns {
  const compiled = patterns.flatMap((pattern) => compile(foldPath(pattern)) ?? []);
  const names = toExpression(compiled.filter(({ anywhere }) => anywhere));
  const paths = toExpression(compiled.filter(({ anywhere }) => !anywhere));
  const matches = (path: string): boolean => names.test(path.slice(path.lastIndexOf('/') + 1)) || paths.test(path);
  return {
    has: (key) => matches(foldKey(key)),
    covers(key) {
      const folded = foldKey(key);
      for (let end = folded.indexOf('/'); end >= 0; end = folded.indexOf('/', end + 1)) {
        if (matches(folded.slice(0, end))) return true;
      }
      return matches(folded);
    },
  };
}

const matching = { dot: true, nonegate: true, noextglob: true, strictBrackets: true };

interface Compiled {
  readonly source: string;
  /** It is for the last name of a path. */
  readonly anywhere: boolean;
}

function compile(pattern: string): Compiled | undefined {
  // What lies in a folder is covered with it.
  const literal = readPattern(pattern.replace(/(?<=[^/])\/\*\*\/*$/u, ''));
  if (literal === undefined) return undefined;
  try {
    return { source: picomatch.makeRe(literal, matching).source, anywhere: !literal.includes('/') };
  } catch {
    // A bracket that is not closed: the caller says so of the pattern.
    return undefined;
  }
}

/** As the matcher takes it; `undefined` for what is no pattern, or could take for ever. */
function readPattern(pattern: string): string | undefined {
  const names = pattern.split('/').filter((name) => name !== '' && name !== '.');
  if (names.length === 0 || names.includes('..') || pattern.length > maxLength) return undefined;
  if (/[\\\p{Cc}]/u.test(pattern) || !pattern.isWellFormed()) return undefined;
  if (count(pattern, /\*\*/gu) > maxGlobstars || count(pattern, /\{/gu) > maxBraces) return undefined;
  if (names.some((name) => count(name, /\*+/gu) > maxStarsInName)) return undefined;
  // Regular expression syntax would pass through the matcher; here it is text.
  return names.join('/').replaceAll(/[()+|^$!@]/gu, '\\$&');
}

function toExpression(compiled: readonly Compiled[]): RegExp {
  // What matches nothing, where there are none.
  return new RegExp(compiled.map(({ source }) => source).join('|') || '(?!)');
}

function count(text: string, what: RegExp): number {
  return (text.match(what) ?? []).length;
}

/** Also without the streams of NTFS (`name::$DATA`), and what stands around a name without being seen. */
function foldKey(key: string): string {
  return foldPath(key)
    .split('/')
    .map((name) => name.replace(/:.*$/su, '').trim())
    .join('/');
}
