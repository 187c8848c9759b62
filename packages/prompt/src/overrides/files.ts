import { constants, copyFile, link, mkdir, open, realpath, rename, unlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import { maxDocumentBytes } from './document.ts';
import { checkOverrideRef, type OverrideRef, type OverrideStore, type OverrideWriteOptions } from './store.ts';

/** Operations that change names on disk, replaceable in tests. */
export interface NamingOperations {
  readonly rename: typeof rename;
  readonly link: typeof link;
}

/**
 * Keeps documents of overrides as files `<folder>/<ns>/<key>/<tag>.json` of at most 8 MiB. Writes are atomic: readers
 * see the old or the new document, even after a crash, which may leave a `.tmp` file. Links are followed only within the folder; a
 * document must not be a link. `folder` is relative to the current directory; default `.holdfast/overrides`.
 *
 * Its methods throw HoldfastError `prompt.invalid`.
 */
export function fileOverrides(folder: string = '.holdfast/overrides'): OverrideStore {
  return createFileOverrides(folder, { rename, link });
}

/** `fileOverrides` with other naming operations. */
export function createFileOverrides(folder: string, naming: NamingOperations): OverrideStore {
  const root = resolve(folder);

  function toPath(ref: OverrideRef): string {
    checkOverrideRef(ref);
    return join(root, ...ref.ns.split('/'), ref.key, `${ref.tag}.json`);
  }

  return Object.freeze({
    async read(ref: OverrideRef) {
      const path = toPath(ref);
      try {
        await checkInside(root, dirname(path));
        return await readText(path);
      } catch (cause) {
        if (hasCode(cause, 'ENOENT')) return undefined;
        throw failed('override.unreadable', path, cause);
      }
    },
    async write(ref: OverrideRef, document: string, { ifAbsent = false }: OverrideWriteOptions = {}) {
      const path = toPath(ref);
      try {
        await makeFolders(root, [...ref.ns.split('/'), ref.key]);
        const temporary = join(dirname(path), `.${ref.tag}.json.${crypto.randomUUID()}.tmp`);
        const kept = await writeAside(temporary, document, () =>
          ifAbsent ? putIfAbsent(temporary, path, naming) : put(temporary, path, naming),
        );
        if (kept) await syncFolder(dirname(path));
        return kept;
      } catch (cause) {
        throw failed('override.unwritable', path, cause);
      }
    },
    async delete(ref: OverrideRef) {
      const path = toPath(ref);
      try {
        await checkInside(root, dirname(path));
        await unlink(path);
      } catch (cause) {
        if (!hasCode(cause, 'ENOENT')) throw failed('override.unwritable', path, cause);
      }
    },
  });
}

async function readText(path: string): Promise<string> {
  // Without blocking: opening a pipe would wait for a writer.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const status = await file.stat();
    if (!status.isFile()) throw new Error('it is not a file');
    if (status.size > maxDocumentBytes) {
      throw new Error(`it has ${status.size} bytes; ${maxDocumentBytes} is the limit`);
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(await file.readFile());
  } finally {
    await file.close();
  }
}

/** @throws an error of code `ENOENT` if the folder does not exist. */
async function checkInside(root: string, folder: string): Promise<void> {
  const [realRoot, real] = await Promise.all([realpath(root), realpath(folder)]);
  const way = relative(realRoot, real);
  if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) {
    throw new Error(`a link in the path leads out of \`${root}\``);
  }
}

/** Creates folders one by one, so none is created behind a link that leads out. */
async function makeFolders(root: string, segments: readonly string[]): Promise<void> {
  await makeFolder(root);
  let folder = root;
  for (const segment of segments) {
    folder = join(folder, segment);
    await makeFolder(folder);
    await checkInside(root, folder);
  }
}

/** With those above it. Node.js's own way never ends where the system lets nobody make one, as in `/proc`. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (thrown) {
    if (hasCode(thrown, 'EEXIST')) return;
    if (!hasCode(thrown, 'ENOENT') || dirname(path) === path) throw thrown;
    await makeFolder(dirname(path));
    await mkdir(path).catch((again: unknown) => {
      // Another process created it.
      if (!hasCode(again, 'EEXIST')) throw again;
    });
  }
}

/** Writes a temporary file and removes it unless `use` has moved it. */
async function writeAside(path: string, text: string, use: () => Promise<boolean>): Promise<boolean> {
  const file = await open(path, 'wx');
  try {
    try {
      await file.writeFile(text);
      // Otherwise the new name could point to an empty file after a power loss.
      await file.datasync();
    } finally {
      await file.close();
    }
    return await use();
  } finally {
    // It was moved on success; a leftover file is harmless.
    await unlink(path).catch(() => undefined);
  }
}

async function put(temporary: string, path: string, { rename }: NamingOperations): Promise<boolean> {
  await rename(temporary, path);
  return true;
}

async function putIfAbsent(temporary: string, path: string, { link }: NamingOperations): Promise<boolean> {
  try {
    await link(temporary, path).catch((thrown: unknown) => {
      if (hasCode(thrown, 'EEXIST')) throw thrown;
      // For file systems without hard links.
      return copyFile(temporary, path, constants.COPYFILE_EXCL);
    });
    return true;
  } catch (thrown) {
    if (hasCode(thrown, 'EEXIST')) return false;
    throw thrown;
  }
}

/** Windows cannot open folders, and persists names itself. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, constants.O_RDONLY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** Reasons of `prompt.invalid`. */
type FileReason = 'override.unreadable' | 'override.unwritable';

function failed(reason: FileReason, path: string, cause: unknown): HoldfastError {
  const verb = reason === 'override.unreadable' ? 'read' : 'written';
  return new HoldfastError(
    'prompt.invalid',
    `The overrides in \`${path}\` cannot be ${verb}: ${describeThrown(cause)}.`,
    {
      data: { reason, path },
      cause,
    },
  );
}
