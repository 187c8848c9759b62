import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import type { ProcessIdentity } from '@holdfast/session/lock';
import { cleanupFailed } from '../staging/errors.ts';
import { systemCode } from './errors.ts';
import type { HostOperations } from './folder.ts';

/**
 * A journal records the plan of a commit, so that another process can finish it: the file `.holdfast-<token>.journal` in the root, of one
 * or two lines of JSON. The first is written before any temporary file; the second, a list of stamps, when everything is prepared. Once
 * everything is applied or undone, it is renamed to `.holdfast-<token>.done`; then only leftovers and the journal itself have to be
 * removed.
 */
export interface JournalHead {
  readonly holdfast: 'journal';
  readonly version: 1;
  /** As in `ResourceTransaction.prepare`; `null`: no one will ask for it, and the changes are undone. */
  readonly mark: string | null;
  readonly owner: ProcessIdentity;
  /** In the order of application. */
  readonly changes: readonly RecordedChange[];
}

/** `name`: the name on disk, which may differ from that in the key. */
export type RecordedChange =
  // `folder`: that of the temporary file.
  | {
      readonly type: 'write';
      readonly key: string;
      readonly name: string;
      readonly folder: string;
      readonly before: FileState | null;
      readonly after: FileContent;
    }
  | { readonly type: 'make-directory'; readonly key: string }
  // `folder`: that of the backup.
  | {
      readonly type: 'remove-file';
      readonly key: string;
      readonly name: string;
      readonly folder: string;
      readonly before: FileState;
    }
  | {
      readonly type: 'remove-directory';
      readonly key: string;
      readonly name: string;
      readonly ino: string;
      readonly mode: number;
    };

export interface FileContent {
  readonly version: string;
  /** Bytes. */
  readonly size: number;
}

/** Identifies one file among all with the same content. Numbers are strings because they may exceed the precision of a number. */
export interface Stamp {
  readonly ino: string;
  readonly mtimeNs: string;
}

export interface FileState extends FileContent, Stamp {}

/** More than a reasonable call needs: about 100,000 files. */
export const maxJournalBytes: number = 32 * 1024 * 1024;

export interface Journal {
  /** Everything is prepared. `stamps`: of the temporary files, `null` for a change without one. */
  complete(stamps: readonly (Stamp | null)[]): Promise<void>;
  /** Everything is applied or undone. */
  settle(): Promise<void>;
  /** Called before `remove`, at any stage. */
  close(): Promise<void>;
  remove(): Promise<void>;
}

/** The names of one change's temporary files: the new content and the backup. */
export interface TemporaryNames {
  readonly next: string;
  readonly former: string;
}

export function temporaryNames(token: string, index: number): TemporaryNames {
  return { next: `.holdfast-${token}-${index}-new.tmp`, former: `.holdfast-${token}-${index}-old.tmp` };
}

export function settledName(token: string): string {
  return `.holdfast-${token}.done`;
}

/** @throws HoldfastError `file.write_failed`. */
export async function openJournal(
  operations: HostOperations,
  { root, token, ...content }: Omit<JournalHead, 'holdfast' | 'version'> & { root: string; token: string },
): Promise<Journal> {
  let path = join(root, `.holdfast-${token}.journal`);
  const head: JournalHead = { holdfast: 'journal', version: 1, ...content };
  const text = `${JSON.stringify(head)}\n`;
  // The stamp of a change is shorter than its line.
  if (Buffer.byteLength(text) > maxJournalBytes / 2) {
    throw new HoldfastError('file.write_failed', 'Too many files changed in one call. Nothing was changed.');
  }
  // File names are private.
  const handle = await operations.open(path, 'wx', 0o600).catch((cause: unknown) => {
    throw journalFailed(cause);
  });
  let open: FileHandle | undefined = handle;
  const journal: Journal = {
    async complete(stamps) {
      try {
        await handle.writeFile(`${JSON.stringify(stamps)}\n`);
        await journal.close();
      } catch (cause) {
        throw journalFailed(cause);
      }
    },
    async settle() {
      const settled = join(root, settledName(token));
      await operations.rename(path, settled);
      path = settled;
    },
    async close() {
      const closing = open;
      open = undefined;
      await closing?.close();
    },
    remove: () => operations.unlink(path),
  };
  try {
    await handle.writeFile(text);
  } catch (cause) {
    try {
      await journal.close();
      await journal.remove();
    } catch (failure) {
      throw cleanupFailed([cause, failure]);
    }
    throw journalFailed(cause);
  }
  return journal;
}

function journalFailed(cause: unknown): HoldfastError {
  return new HoldfastError(
    'file.write_failed',
    `Nothing was changed: cannot write the journal of the changes to the workspace folder (${systemCode(cause)}). The folder must be writable.`,
    { data: { path: '', systemCode: systemCode(cause) }, cause },
  );
}
