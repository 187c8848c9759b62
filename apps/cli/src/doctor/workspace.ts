import { constants } from 'node:fs';
import { access, statfs } from 'node:fs/promises';
import { resolve } from 'node:path';
import { describeThrown } from '@holdfast/core';
import { describeFound, type FoundModel, findModels } from '../models/found.ts';
import type { OfferedProvider } from '../models/provider-keys.ts';
import type { Host } from '../terminal/host.ts';
import { toPrintable } from '../terminal/text.ts';
import { readModelAnswers } from '../user/config.ts';
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

/** What a run at a terminal could ask where it names no model. */
export interface ModelsState {
  readonly found: readonly (FoundModel & {
    /** Of the user, kept in the user's own folder; `null`: none yet. */
    readonly answer: boolean | null;
  })[];
  /** Why nobody knows the answers; empty when they are known. */
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
    const answer = one.answer === false ? '; you said no to it' : one === used ? '; runs at a terminal use it' : '';
    return toPrintable(`${describeFound(one)}${answer}`);
  });
  const rest =
    reason !== ''
      ? toPrintable(reason)
      : found.length === 0
        ? 'neither a key nor an Ollama on this machine was found: without --model, the offline stand-in answers'
        : found.some(({ answer }) => answer === null) && used === undefined
          ? 'a run at a terminal without --model asks whether to use one; elsewhere the offline stand-in answers'
          : undefined;
  return [...lines, ...(rest === undefined ? [] : [rest])].map((text, index) => [index === 0 ? 'models' : '', text]);
}
