import { randomUUID } from 'node:crypto';
import { open, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Told between the two steps of writing; what it throws ends the work there, as a crash would. */
export type OnWrite = () => void | Promise<void>;

/** Puts a whole file in the place of `path`, or leaves what is there. A crash leaves a file `.holdfast-….tmp` at most. */
export async function writeAtomically(path: string, text: string, onWritten?: OnWrite): Promise<void> {
  const aside = join(dirname(path), `.holdfast-${basename(path)}-${randomUUID()}.tmp`);
  const file = await open(aside, 'wx', 0o644);
  let isPut = false;
  try {
    try {
      await file.writeFile(text);
      // Otherwise a new name might lead to an empty file after the machine has lost its power.
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
