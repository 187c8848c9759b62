import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { type ParsedFile, parseFile } from './parsed-file.ts';

/** The fields of a `package.json` that the checks read. */
export interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly description?: string;
  readonly license?: string;
  readonly type?: string;
  readonly sideEffects?: boolean;
  readonly engines?: Readonly<Record<string, string>>;
  readonly files?: readonly string[];
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** One member of the workspace. The root is not a member. */
export interface Member {
  /** Relative to the root, `packages/core`. */
  readonly folder: string;
  readonly manifest: Manifest;
  /** Its .ts, .js and .mjs files. */
  readonly sources: readonly ParsedFile[];
}

/** The input of the checks: texts by path, relative to the root and with `/`. */
export interface Repository {
  readonly files: ReadonlyMap<string, string>;
  readonly root: Manifest;
  readonly members: readonly Member[];
  readonly sources: readonly ParsedFile[];
}

const topLevel = new Set([
  'packages',
  'apps',
  'examples',
  'bench',
  'tests',
  'tooling',
  'training',
  '.ci',
  '.changeset',
]);
const skipped = new Set(['node_modules', 'dist', 'fixtures', 'sample-project']);
const textTypes = new Set(['', '.ts', '.js', '.mjs', '.json', '.md', '.yaml', '.sh', '.svg']);
const sourceTypes = new Set(['.ts', '.js', '.mjs']);

/** Reads every handwritten text file; skips generated, installed and third-party files. */
export async function readRepository(root: string): Promise<Repository> {
  const files = new Map<string, string>();
  const read = async (folder: string): Promise<void> => {
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        const wanted =
          folder === '' ? topLevel.has(entry.name) : !entry.name.startsWith('.') && !skipped.has(entry.name);
        if (wanted) await read(path);
      } else if (
        entry.isFile() &&
        entry.name !== '.git' &&
        textTypes.has(extname(entry.name)) &&
        entry.name !== 'pnpm-lock.yaml'
      ) {
        files.set(path, await readFile(join(root, path), 'utf8'));
      } else if (entry.isFile() && extname(entry.name) === '.png') {
        // For the links to it.
        files.set(path, '');
      }
    }
  };
  await read('');
  return toRepository(files);
}

/** Creates a repository from files in memory, for the checks' own tests. */
export function toRepository(files: ReadonlyMap<string, string>): Repository {
  const sources = [...files]
    .filter(([path]) => sourceTypes.has(extname(path)))
    .map(([path, text]) => parseFile(path, text));
  const folders = [...files.keys()]
    .filter((path) => path.endsWith('/package.json'))
    .map((path) => path.slice(0, -'/package.json'.length));
  // `tests/packed` is a member inside another one: a source belongs to the innermost.
  const ownerOf = (path: string): string | undefined =>
    folders.filter((folder) => path.startsWith(`${folder}/`)).toSorted((a, b) => b.length - a.length)[0];
  const members = folders.map((folder) => ({
    folder,
    manifest: readManifest(files, `${folder}/package.json`),
    sources: sources.filter(({ path }) => ownerOf(path) === folder),
  }));
  return { files, root: readManifest(files, 'package.json'), members, sources };
}

function readManifest(files: ReadonlyMap<string, string>, path: string): Manifest {
  // Our own files: pnpm has already read them, and a wrong shape fails the check that uses it.
  return JSON.parse(files.get(path) ?? '{"name":"root"}') as Manifest;
}

/** True if `path` is a test or a test helper: `x.test.ts`, `fixtures.ts`, `test-x.ts`. */
export function isTest(path: string): boolean {
  return /(?:\.test|\/fixtures?|\/test-[\w-]+)\.ts$/.test(path);
}
