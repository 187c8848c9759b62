import { createHash } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { hasCode } from '../terminal/system.ts';
import { type GuardHost, guardFolder } from '../user/guard-folder.ts';
import { readText, writeText } from './files.ts';

export interface HookProgram {
  /** The command of an agent: Node.js and the hook's file, by absolute paths. */
  readonly words: readonly string[];
  /** The texts of the files that the command needs, by path. */
  readonly files: ReadonlyMap<string, string>;
}

/**
 * The hook of this program. A built one is run from a copy in a folder of the user's, so that an update or removal of the package
 * changes nothing; sources run where they are, and need an import condition.
 */
export async function findHook(host: GuardHost): Promise<HookProgram> {
  if (!import.meta.url.endsWith('.ts'))
    return readBundle(fileURLToPath(new URL('./guard-hook', import.meta.url)), host);
  const file = fileURLToPath(new URL('../guard-hook-main.ts', import.meta.url));
  return { words: [process.execPath, '--conditions=holdfast-source', file], files: new Map() };
}

/** The copy of a bundle, in a folder named by version and content. */
export async function readBundle(bundle: string, host: GuardHost): Promise<HookProgram> {
  const names = (await readdir(bundle)).filter((name) => name.endsWith('.cjs')).toSorted();
  const texts = await Promise.all(names.map((name) => readFile(join(bundle, name), 'utf8')));
  const digest = createHash('sha256')
    .update(JSON.stringify([names, texts]))
    .digest('hex')
    .slice(0, 12);
  const folder = join(guardFolder(host), 'bin', `${manifest.version}-${digest}`);
  return {
    words: [process.execPath, join(folder, 'guard-hook-main.cjs')],
    files: new Map(names.map((name, index) => [join(folder, name), texts[index] ?? ''])),
  };
}

/**
 * Removes the copies of other versions, except those that one of `settings` still names: the guard of another agent or project that was
 * not installed again.
 */
export async function removeOldCopies(
  { words }: HookProgram,
  settings: readonly string[],
  host: GuardHost,
): Promise<void> {
  const folder = join(guardFolder(host), 'bin');
  const names = await readdir(folder).catch((thrown: unknown) => {
    if (hasCode(thrown, 'ENOENT')) return [];
    throw thrown;
  });
  const inUse = [...words, ...settings];
  for (const name of names) {
    const copy = join(folder, name);
    // Paths stand in settings as JSON.
    const spellings = [copy, JSON.stringify(copy).slice(1, -1)];
    if (!inUse.some((text) => spellings.some((path) => text.includes(path))))
      await rm(copy, { recursive: true, force: true });
  }
}

/** Writes the files that are missing or were changed. */
export async function copyHook({ files }: HookProgram): Promise<void> {
  for (const [path, text] of files) if ((await readText(path)) !== text) await writeText(path, text);
}
