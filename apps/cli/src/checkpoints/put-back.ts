import { createHash } from 'node:crypto';
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describeThrown } from '@holdfast/core/internal';
import { hasCode } from '../terminal/system.ts';
import type { Checkpoint, KeptFile } from './checkpoint.ts';
import { keepLimits } from './keep.ts';
import { isSameState, readState } from './state.ts';

/** A file in the plan of `undo`. */
export type FilePlan =
  | { readonly type: 'put-back'; readonly file: KeptFile; readonly from: Uint8Array; readonly to: Uint8Array }
  /** It is as it was before. */
  | { readonly type: 'same'; readonly file: KeptFile }
  | { readonly type: 'refused'; readonly file: KeptFile; readonly why: string };

const nothing = new Uint8Array();

/** Compares the files of a checkpoint with those on the disk. Changes nothing. */
export function planUndo({ files }: Checkpoint, folder: string): readonly FilePlan[] {
  return files.map((file): FilePlan => {
    try {
      return planFile(file, folder);
    } catch (thrown) {
      return { type: 'refused', file, why: describeThrown(thrown) };
    }
  });
}

function planFile(file: KeptFile, folder: string): FilePlan {
  const refuse = (why: string): FilePlan => ({ type: 'refused', file, why });
  const { path, before, copy, after } = file;
  if (!isPlain(dirname(path))) return refuse('a folder above it is a link now, or no folder');
  const { state, bytes = nothing } = readState(path, keepLimits.maxFileBytes);
  if (isSameState(state, before)) return { type: 'same', file };
  if (after === undefined) return refuse('the end of the call was never reported, so nobody knows what it left');
  if (!isSameState(state, after)) return refuse('it was changed since the call');
  if (before.type !== 'file') return { type: 'put-back', file, from: bytes, to: nothing };
  const kept = copy === undefined || basename(copy) !== copy ? undefined : readFileSync(join(folder, copy));
  if (kept === undefined || createHash('sha256').update(kept).digest('hex') !== before.digest)
    return refuse('its copy is damaged');
  return { type: 'put-back', file, from: bytes, to: kept };
}

/** True if no part of a path is a link; its end may be missing. */
function isPlain(folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    const found = lstatSync(at, { throwIfNoEntry: false });
    if (found === undefined && dirname(at) !== at) continue;
    return found?.isDirectory() === true && realpathSync(at) === at;
  }
}

/** Puts a file back, whole or not at all. @throws what the system answers. */
export function putBack({ file: { path, before }, to }: Extract<FilePlan, { type: 'put-back' }>): void {
  if (before.type === 'missing') {
    unlinkSync(path);
    return;
  }
  mkdirSync(dirname(path), { recursive: true });
  const part = join(dirname(path), `.${basename(path).slice(0, 100)}.holdfast-${process.pid}`);
  try {
    if (before.type === 'link') symlinkSync(before.target, part);
    else if (before.type === 'file') writeWhole(part, to, before.mode);
    renameSync(part, path);
  } catch (thrown) {
    if (!hasCode(thrown, 'EEXIST')) rmSync(part, { force: true });
    throw thrown;
  }
}

function writeWhole(path: string, bytes: Uint8Array, mode: number): void {
  const handle = openSync(path, 'wx', mode);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(handle, bytes, at);
    // The user's mask does not apply.
    fchmodSync(handle, mode);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
