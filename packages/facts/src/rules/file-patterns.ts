import { foldPath } from '@holdfast/core/internal';
import picomatch from 'picomatch/posix.js';

const maxLength = 500;
// Limits of a pattern, so that no name can make matching slow: the matcher backtracks.
const maxStarsInName = 3;
const maxGlobstars = 1;
const maxBraces = 3;

/** Matches files against a list of patterns, by the keys that the filesystem resolves. */
export interface FilePatterns {
  /** Matches the file itself, or a folder that contains it. */
  covers(key: string): boolean;
  /** Matches only the file itself. */
  has(key: string): boolean;
}

/** True if `filePatterns` accepts it. */
export function isFilePattern(pattern: string): boolean {
  return compile(foldPath(pattern)) !== undefined;
}

/**
 * Patterns of `*`, `?`, `**`, `[a-z]` and `{a,b}`, case-insensitive. One without `/` matches names in any folder, one with it
 * starts at the root. Every pattern must pass `isFilePattern`.
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
  /** Matches the last name of a path. */
  readonly anywhere: boolean;
}

function compile(pattern: string): Compiled | undefined {
  // A folder covers its contents.
  const literal = readPattern(pattern.replace(/(?<=[^/])\/\*\*\/*$/u, ''));
  if (literal === undefined) return undefined;
  try {
    return { source: picomatch.makeRe(literal, matching).source, anywhere: !literal.includes('/') };
  } catch {
    // An unclosed bracket: the caller reports the pattern.
    return undefined;
  }
}

/** The pattern in the matcher's syntax; `undefined` if it is invalid or could take too long. */
function readPattern(pattern: string): string | undefined {
  const names = pattern.split('/').filter((name) => name !== '' && name !== '.');
  if (names.length === 0 || names.includes('..') || pattern.length > maxLength) return undefined;
  if (/[\\\p{Cc}]/u.test(pattern) || !pattern.isWellFormed()) return undefined;
  if (count(pattern, /\*\*/gu) > maxGlobstars || count(pattern, /\{/gu) > maxBraces) return undefined;
  if (names.some((name) => count(name, /\*+/gu) > maxStarsInName)) return undefined;
  // The matcher would pass regular expression syntax through; here it is text.
  return names.join('/').replaceAll(/[()+|^$!@]/gu, '\\$&');
}

function toExpression(compiled: readonly Compiled[]): RegExp {
  // Without patterns, match nothing.
  return new RegExp(compiled.map(({ source }) => source).join('|') || '(?!)');
}

function count(text: string, what: RegExp): number {
  return (text.match(what) ?? []).length;
}

/** Also without NTFS streams (`name::$DATA`) and invisible characters around a name. */
function foldKey(key: string): string {
  // Most paths: nothing to take away.
  if (/^[!-9;-~]*$/.test(key)) return key.toLowerCase();
  return foldPath(key)
    .split('/')
    .map((name) => name.replace(/:.*$/su, '').trim())
    .join('/');
}
