import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isPlainObject, parseJson } from '@holdfast/core/internal';
import * as v from 'valibot';
import { hasCode } from '../terminal/system.ts';
import { type GuardHost, guardFolder } from '../user/guard-folder.ts';
import type { FileState } from './state.ts';

/** A file that a call may change, as it was before. */
export interface KeptFile {
  /** Absolute; its folder has no links. */
  readonly path: string;
  readonly before: FileState;
  /** Name of the copy of a file. */
  readonly copy?: string;
  /** As the call left it; absent: its end was not reported. */
  readonly after?: FileState;
}

/** The files of one call. */
export interface Checkpoint {
  readonly callId: string;
  readonly workspace: string;
  readonly atMs: number;
  readonly files: readonly KeptFile[];
  /** Why not all that the call may change was kept. */
  readonly left: readonly string[];
}

const text = v.string();
const state: v.GenericSchema<FileState> = v.variant('type', [
  v.object({ type: v.literal('missing') }),
  v.object({ type: v.literal('file'), digest: text, mode: v.number() }),
  v.object({ type: v.literal('link'), target: text }),
  v.object({ type: v.literal('other'), why: text }),
]);
const checkpoint: v.GenericSchema<Checkpoint> = v.object({
  callId: text,
  workspace: text,
  atMs: v.number(),
  files: v.array(v.object({ path: text, before: state, copy: v.exactOptional(text), after: v.exactOptional(state) })),
  left: v.array(text),
}) as v.GenericSchema<Checkpoint>;

/** Of a session: what is older is removed. */
const maxCheckpoints = 100;

export function checkpointsFolder(session: string, host: GuardHost): string {
  return join(guardFolder(host), 'checkpoints', session);
}

export function checkpointFolder(session: string, callId: string, host: GuardHost): string {
  return join(checkpointsFolder(session, host), createHash('sha256').update(callId).digest('hex').slice(0, 32));
}

/** Whole or not at all. */
export function writeCheckpoint(folder: string, kept: Checkpoint, copies: ReadonlyMap<string, Uint8Array>): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const [name, bytes] of copies) writeFileSync(join(folder, name), bytes, { mode: 0o600 });
  const part = join(folder, `part-${process.pid}`);
  writeFileSync(part, `${JSON.stringify(kept)}\n`, { mode: 0o600 });
  renameSync(part, join(folder, 'files.json'));
}

/** `undefined` where none was kept, or none that can be read. */
export function readCheckpoint(folder: string): Checkpoint | undefined {
  let content: string;
  try {
    content = readFileSync(join(folder, 'files.json'), 'utf8');
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT') || hasCode(thrown, 'ENOTDIR')) return undefined;
    throw thrown;
  }
  const parsed = parseJson(content);
  const read = v.safeParse(checkpoint, parsed.ok && isPlainObject(parsed.value) ? parsed.value : null);
  return read.success ? read.output : undefined;
}

/** Removes the oldest of a session that has too many. */
export function removeOldCheckpoints(session: string, host: GuardHost): void {
  const folder = checkpointsFolder(session, host);
  const names = readdirSync(folder);
  if (names.length <= maxCheckpoints) return;
  const times = names.map((name) => ({ name, atMs: readCheckpoint(join(folder, name))?.atMs ?? 0 }));
  for (const { name } of times
    .toSorted((left, right) => left.atMs - right.atMs)
    .slice(0, names.length - maxCheckpoints))
    rmSync(join(folder, name), { recursive: true, force: true });
}
