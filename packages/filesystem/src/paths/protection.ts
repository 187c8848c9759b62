import { HoldfastError } from '@holdfast/core';
import { foldKey } from '@holdfast/core/internal';
import { parsePath, showPath } from './paths.ts';

/**
 * Paths that tools must not touch, at any depth and in any letter case: `.holdfast` (logs of other sessions; not readable, writable or
 * listed), `holdfast.config.*`, `holdfast.policy.*` and `holdfast.lock` (read only), `.git` (read only, because Git runs commands from its
 * configuration and hooks), and the host's own list (read only).
 */
export interface Protection {
  /** Folders and files whose real path a backend must also look up, in case they are links. */
  readonly keys: readonly string[];
  /** @throws HoldfastError `path.invalid`. */
  checkRead(key: string): void;
  /** `extra`: additional protected keys. @throws HoldfastError `path.invalid`. */
  checkWrite(key: string, extra?: readonly string[]): void;
  /** True if listings must not contain the name. */
  hides(name: string): boolean;
}

const fixedNames = ['holdfast.lock', 'holdfast.policy.json', 'holdfast.policy.yaml', 'holdfast.policy.yml'];
const configurationNames = ['ts', 'mts', 'js', 'mjs', 'json'].map((extension) => `holdfast.config.${extension}`);

/** `paths` are ordinary paths. @throws HoldfastError `path.invalid`. */
export function createProtection(paths: readonly string[]): Protection {
  const added = paths.map(parsePath);
  return {
    keys: ['.holdfast', ...fixedNames, ...configurationNames, ...added],
    checkRead(key) {
      if (foldKey(key).split('/').some(isPrivate))
        throw refuse(key, 'belongs to Holdfast and can be neither read nor changed');
    },
    checkWrite(key, extra = []) {
      const folded = foldKey(key);
      const names = folded.split('/');
      if (names.some(isGit)) throw refuseGit(key);
      if (names.some((name) => isPrivate(name) || isReadOnly(name)) || [...added, ...extra].some(covers(folded))) {
        throw refuse(key, 'is protected and cannot be changed by tools');
      }
    },
    hides: (name) => isPrivate(foldKey(name)),
  };
}

function covers(folded: string): (protectedKey: string) => boolean {
  return (protectedKey) => {
    const prefix = foldKey(protectedKey);
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

// `GIT~1` is the short name of `.git` on NTFS.
function isGit(foldedName: string): boolean {
  return foldedName === '.git' || /^git~\d+$/u.test(foldedName);
}

/** `folder`: the repository, unless the key itself belongs to Git. */
export function refuseGit(key: string, folder?: string): HoldfastError {
  const where = folder === undefined ? 'belongs to Git' : `is in \`${showPath(folder)}\`, which is a Git repository`;
  return refuse(key, `${where}: tools may read it but not change it, because Git runs commands from it`);
}

function refuse(key: string, reason: string): HoldfastError {
  return new HoldfastError('path.invalid', `\`${showPath(key)}\` ${reason}.`, {
    data: { reason: 'protected', path: key },
  });
}
