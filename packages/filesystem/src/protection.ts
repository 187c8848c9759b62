import { HoldfastError } from '@holdfast/core';
import { foldNames, parsePath, showPath } from './paths.ts';

/**
 * What no tool may touch, at any depth and in any letter case: `.holdfast` (logs of other sessions; neither read nor written, and
 * not listed), `holdfast.config.*`, `holdfast.policy.json` and `holdfast.lock` (read only), and what the host adds (read only).
 */
export interface Protection {
  /** Folders and files whose real place a backend has to look up too, in case they are links. */
  readonly keys: readonly string[];
  /** @throws HoldfastError `path.protected`. */
  checkRead(key: string): void;
  /** `extra` are further protected keys. @throws HoldfastError `path.protected`. */
  checkWrite(key: string, extra?: readonly string[]): void;
  /** Whether listings leave a name out. */
  hides(name: string): boolean;
}

const fixedNames = ['holdfast.lock', 'holdfast.policy.json'];
const configurationNames = ['ts', 'mts', 'js', 'mjs', 'json'].map((extension) => `holdfast.config.${extension}`);

/** `paths` are spelled like any other path. @throws HoldfastError `path.escape`, `path.invalid`. */
export function createProtection(paths: readonly string[]): Protection {
  const added = paths.map(parsePath);
  return {
    keys: ['.holdfast', ...fixedNames, ...configurationNames, ...added],
    checkRead(key) {
      if (fold(key).split('/').some(isPrivate))
        throw refuse(key, 'belongs to Holdfast and can be neither read nor changed');
    },
    checkWrite(key, extra = []) {
      const folded = fold(key);
      const names = folded.split('/');
      if (names.some((name) => isPrivate(name) || isReadOnly(name)) || [...added, ...extra].some(covers(folded))) {
        throw refuse(key, 'is protected and cannot be changed by tools');
      }
    },
    hides: (name) => isPrivate(fold(name)),
  };
}

function covers(folded: string): (protectedKey: string) => boolean {
  return (protectedKey) => {
    const prefix = fold(protectedKey);
    return folded === prefix || folded.startsWith(`${prefix}/`) || prefix === '';
  };
}

// Temporary files of a commit are named `.holdfast-…`.
function isPrivate(foldedName: string): boolean {
  return foldedName === '.holdfast' || foldedName.startsWith('.holdfast-');
}

function isReadOnly(foldedName: string): boolean {
  return fixedNames.includes(foldedName) || foldedName.startsWith('holdfast.config.');
}

/** Also without the streams of NTFS (`name::$DATA`). */
function fold(key: string): string {
  return foldNames(key.normalize('NFKC').replace(/:[^/]*/gu, ''));
}

function refuse(key: string, reason: string): HoldfastError {
  return new HoldfastError('path.protected', `\`${showPath(key)}\` ${reason}.`, { data: { path: key } });
}
