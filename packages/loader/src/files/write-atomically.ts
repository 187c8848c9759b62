import { randomUUID } from 'node:crypto';
import { open, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Called between the two steps of a write; a throw simulates a crash. */
export type OnWrite = () => void | Promise<void>;

/** Replaces the file at `path` atomically. A crash leaves at most a temporary file `.holdfast-….tmp`. */
export async function writeAtomically(path: string, text: string, onWritten?: OnWrite): Promise<void> {
  const aside = join(dirname(path), `.holdfast-${basename(path)}-${randomUUID()}.tmp`);
  const file = await open(aside, 'wx', 0o644);
  let isPut = false;
  try {
    try {
      await file.writeFile(text);
      // Otherwise, after a power failure, the new name could lead to an empty file.
      await file.datasync();
    } finally {
      await file.close();
    }
    await onWritten?.();
    await rename(aside, path);
    isPut = true;
  } finally {
    if (!isPut) await unlink(aside).catch(() => undefined);
  }
}
