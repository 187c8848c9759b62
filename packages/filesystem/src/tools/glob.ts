import { HoldfastError } from '@holdfast/core';
import picomatch from 'picomatch/posix.js';
import { parsePath, showPath } from '../paths/paths.ts';

/** A compiled glob pattern. */
export interface Glob {
  /** The deepest folder that contains all possible matches; `''` for the root. */
  readonly base: string;
  /** The pattern as a folder key, in case a folder was meant. */
  readonly folder: string;
  /** `key`: as returned by `Filesystem.resolve`. */
  matches(key: string): boolean;
}

const maxLength = 500;
// Limits that keep matching fast for any name, because the matcher backtracks.
const maxStarsInName = 3;
const maxGlobstars = 3;
const maxBraces = 3;

/**
 * Compiles a pattern of `*`, `?`, `**`, `[a-z]` and `{a,b}`; anything else is literal. A pattern without `/` matches names in any folder;
 * one with a leading `/` starts at the root. Names with a leading dot match too.
 *
 * @throws HoldfastError `pattern.invalid`, `path.invalid`.
 */
export function compileGlob(pattern: string): Glob {
  const problem = findProblem(pattern);
  if (problem !== undefined) {
    throw new HoldfastError('pattern.invalid', `The pattern \`${showPath(pattern)}\` ${problem}.`, {
      data: { reason: 'glob', pattern },
    });
  }
  const key = parsePath(pattern);
  const anywhere = !pattern.includes('/');
  const names = key.split('/');
  const fixed = names.slice(0, -1).findIndex((name) => /[*?[{]/u.test(name));
  const base = anywhere ? '' : names.slice(0, fixed < 0 ? -1 : fixed).join('/');
  // The matcher would interpret regular expression syntax, which is literal here.
  const literal = key.replaceAll(/[()+|^$!@]/gu, '\\$&');
  const options = { dot: true, nonegate: true, noextglob: true, strictBrackets: true };
  try {
    const matches = picomatch(anywhere ? `**/${literal}` : literal, options);
    return { base, folder: key, matches: (candidate) => matches(candidate) };
  } catch (cause) {
    throw new HoldfastError(
      'pattern.invalid',
      `The pattern \`${showPath(pattern)}\` has an unclosed bracket. Use \`?\` for any one character.`,
      {
        data: { reason: 'glob', pattern },
        cause,
      },
    );
  }
}

function findProblem(pattern: string): string | undefined {
  if (pattern.length > maxLength) return `is longer than ${maxLength} characters`;
  if (pattern.includes('\\')) return 'contains a backslash; separate names with `/`';
  if ((pattern.match(/\*\*/gu) ?? []).length > maxGlobstars) return `has more than ${maxGlobstars} \`**\``;
  if ((pattern.match(/\{/gu) ?? []).length > maxBraces) return `has more than ${maxBraces} \`{…}\``;
  const stars = pattern.split('/').map((name) => (name.match(/\*+/gu) ?? []).length);
  if (stars.some((amount) => amount > maxStarsInName)) return `has more than ${maxStarsInName} \`*\` in one name`;
  return undefined;
}
