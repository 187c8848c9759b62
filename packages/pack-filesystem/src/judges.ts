import { type PlaceView, runsByItself } from '@holdfast/core';
import { findWithin } from '@holdfast/facts';
import { filePatterns, judgeUnclear, keyOf, quote, secretFinder } from '@holdfast/facts/rules';
import type { FileFinding, GuardedFilesOptions, UsedPlace } from './guarded-files.ts';
import type { FilesystemGuardOptions } from './options.ts';

const undone = { read: 'read', written: 'written', deleted: 'deleted' } as const;

/** Guards secret files, and unclear calls. */
export function secretFiles(options: FilesystemGuardOptions): GuardedFilesOptions {
  const { unclear = 'deny', project = 'allow' } = options;
  const isSecret = secretFinder(options);
  const refuse: GuardedFilesOptions['refuse'] = (key, use) =>
    isSecret(key)
      ? `${quote(key)} holds secrets and must not be ${undone[use]}. If it does not, the host can list it in \`notSecret\`.`
      : undefined;
  // A host's pattern may match any name.
  const mayEnd = options.secrets === undefined && options.read === undefined ? { mayEnd: isNoSource } : {};
  return {
    name: 'secret-files',
    reason: 'secret_files',
    refuse,
    judge({ use, place, key }, view) {
      const reason = refuse(key, use);
      if (reason !== undefined) return { answer: 'deny', reason, file: { key, use } };
      if (place.recursive === undefined || use === 'written') return undefined;
      return judgeFolder({ use, place, key }, { view, isSecret, unclear });
    },
    judgeCall: (facts, tool) => judgeUnclear(facts, tool, { about: 'files', unclear, project, ...mayEnd }),
  };
}

interface Searching {
  readonly view: PlaceView;
  readonly isSecret: (key: string) => boolean;
  readonly unclear: 'ask' | 'deny';
}

/** Judges a folder that contains a secret, which the command probably did not intend. */
function judgeFolder({ use, place, key }: UsedPlace, { view, isSecret, unclear }: Searching): FileFinding | undefined {
  const found = findWithin(place, view, { matches: (path) => isSecret(keyOf(path, view.workspace)) });
  const folder = key === '' ? 'the workspace' : quote(key);
  if (found.type !== 'found') {
    const reason = `A secret might be ${undone[use]} with ${folder}.`;
    return found.type === 'none' ? undefined : { answer: unclear, reason };
  }
  const secret = keyOf(found.path, view.workspace);
  return {
    answer: unclear,
    reason: `${quote(secret)} holds secrets and would be ${undone[use]} with ${folder}: exclude it, list it in \`.gitignore\`, or use a folder without it.`,
    file: { key: secret, use },
  };
}

/** Guards read-only files, and files that run by themselves. */
export function keptFiles(options: FilesystemGuardOptions): GuardedFilesOptions {
  const { readOnly = [], selfRunning = 'ask', unclear = 'deny' } = options;
  const kept = filePatterns(['.git', ...readOnly]);
  const refuse: GuardedFilesOptions['refuse'] = (key, use) =>
    use !== 'read' && kept.covers(key) ? `${quote(key)} must not be ${undone[use]}: it is read-only.` : undefined;
  return {
    name: 'read-only-files',
    reason: 'read_only_files',
    refuse(key, use) {
      const why = use === 'read' || selfRunning !== 'deny' ? undefined : runsByItself(key);
      return refuse(key, use) ?? (why === undefined ? undefined : describeSelfRunning(key, why));
    },
    judge({ use, place, key }, view) {
      if (use === 'read') return undefined;
      const reason = refuse(key, use);
      const file = { key, use };
      if (reason !== undefined) return { answer: 'deny', reason, file };
      const why = selfRunning === 'allow' ? undefined : runsByItself(key);
      if (why !== undefined && selfRunning !== 'allow')
        return { answer: selfRunning, reason: describeSelfRunning(key, why), grantable: false, file };
      if (use !== 'deleted' || !isWholeFolder({ use, place, key }, view)) return undefined;
      const folder = place.path === view.workspace ? 'The workspace' : quote(key);
      return { answer: unclear, reason: `${folder} would be deleted with everything in it.`, file };
    },
  };
}

function describeSelfRunning(key: string, why: string): string {
  return `${quote(key)} runs by itself: ${why}.`;
}

// Folders that a build or an installation regenerates.
const made =
  /(?:^|\/)(?:node_modules|dist|build|out|target|coverage|\.?cache|\.next|\.turbo|__pycache__|\.?venv|te?mp)(?:\/|$)/;

/** True for a folder with all its content, unless it is regenerated or searched by name. */
function isWholeFolder({ place: { path, inside, recursive }, key }: UsedPlace, view: PlaceView): boolean {
  if (path === view.workspace) return true;
  if (recursive === undefined || recursive.only !== undefined || (inside && made.test(key))) return false;
  return view.disk === undefined || view.disk.look(path).type === 'folder';
}

// System folders with programs, and temporary folders.
const systemFolder = /^\/(?:usr|opt|lib|lib64|bin|sbin|nix)\//;
const passingFolder = /^\/(?:private\/)?(?:var\/folders|tmp)\//;

/** Guards files outside of the workspace. */
export function outsideFiles({ outside = 'ask' }: FilesystemGuardOptions): GuardedFilesOptions {
  return {
    name: 'outside-files',
    reason: 'path_scope',
    refuse: () => undefined,
    judge({ use, place: { path, inside }, key }) {
      if (inside || outside === 'allow' || passingFolder.test(path)) return undefined;
      if (use === 'read' && systemFolder.test(path)) return undefined;
      return {
        answer: outside,
        reason: `${quote(path)} is outside of the workspace and would be ${undone[use]}.`,
        file: { key, use },
      };
    },
  };
}

/** Guards files outside of the folders in the options. */
export function scopedFiles({ read, write }: Pick<FilesystemGuardOptions, 'read' | 'write'>): GuardedFilesOptions {
  const refuse: GuardedFilesOptions['refuse'] = (key, use) => {
    const scope = use === 'read' ? read : write;
    if (scope === undefined || scope.some((folder) => isIn(key, folder))) return undefined;
    const list = scope.map((folder) => `\`${folder}\``).join(', ');
    return `${quote(key)} must not be ${undone[use]}; allowed: ${list}.`;
  };
  return {
    name: 'path-scope',
    reason: 'path_scope',
    refuse,
    judge({ use, key }) {
      const reason = refuse(key, use);
      return reason === undefined ? undefined : { answer: 'deny', reason, file: { key, use } };
    },
  };
}

function isIn(key: string, folder: string): boolean {
  const plain = folder
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .join('/');
  return plain === '' || key === plain || key.startsWith(`${plain}/`);
}

/** Names that end like a source or a document are not secrets. */
function isNoSource(ends: string): boolean {
  return !/\.(?:md|ts|tsx|js|mjs|cjs|jsx|py|rs|go|c|h|cc|cpp|hpp|css|html|txt|log|java|rb|sh|snap|lock|svg|png)$/.test(
    ends,
  );
}
