import { constants } from 'node:fs';
import { access, statfs } from 'node:fs/promises';
import { resolve } from 'node:path';
import { describeThrown } from '@holdfast/core/internal';
import { describeFound, type FoundModel, findModels } from '../models/found.ts';
import type { OfferedProvider } from '../models/provider-keys.ts';
import type { Host } from '../terminal/host.ts';
import { toPrintable } from '../terminal/text.ts';
import { readModelAnswers } from '../user/config.ts';
import { isFolder } from '../workspace/folder.ts';
import { findLogFolder, listSessionIds } from '../workspace/session-logs.ts';

export interface WorkspaceState {
  readonly path: string;
  /** True if files and the session log can be written. */
  readonly writable: boolean;
  readonly sessions: number;
  /** Free disk space for this user; `null` if unknown. */
  readonly freeBytes: number | null;
  /** Why a run cannot work here. */
  readonly problem: string | null;
}

// Room for a session log and new files, besides the files they replace.
const fewBytes = 50_000_000;

/** Examines a workspace without writing to it. */
export async function examineWorkspace(name: string, directory: string): Promise<WorkspaceState> {
  const path = resolve(directory, name);
  const nothing = { path, writable: false, sessions: 0, freeBytes: null };
  if (!(await isFolder(path))) {
    return { ...nothing, problem: `The workspace \`${name}\` is not a folder, or cannot be opened.` };
  }
  try {
    const logFolder = findLogFolder(path);
    await access((await isFolder(logFolder)) ? logFolder : path, constants.W_OK);
    await access(path, constants.W_OK);
    const { bavail, bsize } = await statfs(path);
    const freeBytes = bavail * bsize;
    const problem = freeBytes < fewBytes ? `Only ${freeBytes} bytes are free on the workspace disk.` : null;
    return { path, writable: true, sessions: (await listSessionIds(path)).length, freeBytes, problem };
  } catch (thrown) {
    return { ...nothing, problem: `The workspace \`${name}\` cannot be used: ${describeThrown(thrown)}.` };
  }
}

/** The models that an interactive run without `--model` could use. */
export interface ModelsState {
  readonly found: readonly (FoundModel & {
    /** The user's saved answer; `null`: none yet. */
    readonly answer: boolean | null;
  })[];
  /** Why the answers are unknown; empty if known. */
  readonly reason: string;
}

export async function examineModels(host: Host): Promise<ModelsState> {
  const found = await findModels(host);
  const toState = (answers: ReadonlyMap<OfferedProvider, boolean>): ModelsState['found'] =>
    found.map((one) => ({ ...one, answer: answers.get(one.provider) ?? null }));
  try {
    return { found: toState(await readModelAnswers(host)), reason: '' };
  } catch (thrown) {
    return { found: toState(new Map()), reason: describeThrown(thrown) };
  }
}

export function describeModels({ found, reason }: ModelsState): readonly (readonly [label: string, text: string])[] {
  const used = found.find(({ answer, version }) => answer === true && version !== null);
  const lines = found.map((one) => {
    const answer = one.answer === false ? '; you declined it' : one === used ? '; runs at a terminal use it' : '';
    return toPrintable(`${describeFound(one)}${answer}`);
  });
  const rest =
    reason !== ''
      ? toPrintable(reason)
      : found.length === 0
        ? 'no provider key and no local Ollama found: without --model, the offline model is used'
        : found.some(({ answer }) => answer === null) && used === undefined
          ? 'without --model, a run at a terminal offers them; elsewhere the offline model is used'
          : undefined;
  return [...lines, ...(rest === undefined ? [] : [rest])].map((text, index) => [index === 0 ? 'models' : '', text]);
}
