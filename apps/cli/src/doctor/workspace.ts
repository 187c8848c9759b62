import { constants } from 'node:fs';
import { access, statfs } from 'node:fs/promises';
import { resolve } from 'node:path';
import { describeThrown } from '@holdfast/core';
import { isFolder } from '../workspace/folder.ts';
import { findLogFolder, listSessionIds } from '../workspace/session-logs.ts';

export interface WorkspaceState {
  readonly path: string;
  /** Whether files, and the session log that every run needs, can be written. */
  readonly writable: boolean;
  readonly sessions: number;
  /** What is left on its disk for this user; `null` when that is not known. */
  readonly freeBytes: number | null;
  /** What keeps a run from working here. */
  readonly problem: string | null;
}

// A session log and the files of a run need some room beside what they replace.
const fewBytes = 50_000_000;

/** Looks at a workspace without writing to it. */
export async function examineWorkspace(name: string, directory: string): Promise<WorkspaceState> {
  const path = resolve(directory, name);
  const nothing = { path, writable: false, sessions: 0, freeBytes: null };
  if (!(await isFolder(path))) {
    return { ...nothing, problem: `The workspace \`${name}\` is no folder that can be opened.` };
  }
  try {
    const logFolder = findLogFolder(path);
    await access((await isFolder(logFolder)) ? logFolder : path, constants.W_OK);
    await access(path, constants.W_OK);
    const { bavail, bsize } = await statfs(path);
    const freeBytes = bavail * bsize;
    const problem = freeBytes < fewBytes ? `Only ${freeBytes} bytes are free on the disk of the workspace.` : null;
    return { path, writable: true, sessions: (await listSessionIds(path)).length, freeBytes, problem };
  } catch (thrown) {
    return { ...nothing, problem: `The workspace \`${name}\` cannot be used: ${describeThrown(thrown)}.` };
  }
}
