import * as promises from 'node:fs/promises';
import type { Filesystem, FilesystemReader, StagedResource } from '@holdfast/core';
import { hostProcesses, type Processes } from '@holdfast/session/lock';
import { expect } from 'vitest';
import { createProtection } from '../paths/protection.ts';
import { createStagedFilesystem } from '../staging/transaction.ts';
import { createHostBackend } from './backend.ts';
import type { HostOperations } from './folder.ts';
import { createFaults, type FaultOptions } from './test-faults.ts';
import { restoreTree, snapshotTree } from './test-folder.ts';

/** What one call does to files. */
export type Changes = (view: Filesystem) => Promise<unknown>;

export type Tree = Readonly<Record<string, string>>;

/** To others, this process has ended: no system has processes with such numbers. */
export const endedProcess: Processes = {
  ...hostProcesses,
  identify: () => ({ ...hostProcesses.identify(), pid: 2_000_000_000, startedAt: '' }),
};

export const mark = 'session#1';

export function openFolderOf(
  root: string,
  operations: HostOperations = { ...promises },
  processes: Processes = hostProcesses,
): StagedResource<Filesystem, FilesystemReader> {
  return createStagedFilesystem(createHostBackend(root, operations, 1000, processes), createProtection([]), 1000);
}

export interface Interrupted {
  /** What was failed, if anything was left to be failed. */
  readonly failed: string | undefined;
  /** The names of all steps. */
  readonly steps: readonly string[];
  /** Whether the call may have been recorded. */
  readonly prepared: boolean;
}

/** Commits `changes` in a process that is hit at its `at`-th step after the changes were staged. */
export async function interrupt(
  root: string,
  changes: Changes,
  { at, unmarked, ...options }: FaultOptions & { readonly at: number | undefined; readonly unmarked?: boolean },
): Promise<Interrupted> {
  const faults = createFaults(options);
  const call = openFolderOf(root, faults.operations, endedProcess).begin('c1');
  await changes(call.view);
  faults.start(at);
  let prepared = false;
  try {
    await call.prepare(unmarked === true ? undefined : mark);
    prepared = true;
    await call.commit();
  } catch (error) {
    if (faults.failed === undefined) throw error;
    if (options.kind === 'error') await Promise.resolve(call.discard()).catch(() => undefined);
  }
  return { failed: faults.failed, steps: faults.steps, prepared };
}

/** What another process does next. Answers with the marks that were open. */
export async function recoverAll(
  root: string,
  committed: boolean,
  operations?: HostOperations,
): Promise<readonly string[]> {
  const files = openFolderOf(root, operations);
  const marks = (await files.unsettled?.()) ?? [];
  for (const open of marks) await files.recover?.(open, committed);
  return marks;
}

/** What comes of `changes` when nothing happens to them. */
export interface Undisturbed {
  readonly before: Tree;
  readonly after: Tree;
  readonly changes: Changes;
  /** The names of the steps from `prepare` on. */
  readonly steps: readonly string[];
}

export async function runUndisturbed(
  root: string,
  before: Tree,
  changes: Changes,
  disk: Pick<FaultOptions, 'links'> = {},
): Promise<Undisturbed> {
  restoreTree(root, before);
  const { steps } = await interrupt(root, changes, { ...disk, at: undefined });
  return { before, after: snapshotTree(root), changes, steps };
}

export interface Sweep extends FaultOptions {
  readonly committed: boolean;
  /** Which steps. */
  readonly chosen: (step: string) => boolean;
  /** Every so many of them. Default 1: all. */
  readonly stride?: number;
  /** At which of the first `stride` it begins, modulo `stride`. Default 0. */
  readonly first?: number;
}

/** Hits a call at each of the steps `chosen`, and has another process recover. Answers with how many there were. */
export async function hitEach(
  root: string,
  { before, after, changes, steps }: Undisturbed,
  { committed, chosen, stride = 1, first = 0, ...fault }: Sweep,
): Promise<number> {
  let tree: Tree = after;
  let hits = 0;
  const candidates = [...steps.entries()].filter(([, step]) => chosen(step));
  for (const [index, [at, step]] of candidates.entries()) {
    if (index % stride !== first % stride) continue;
    if (tree !== before) restoreTree(root, before);
    const interrupted = await interrupt(root, changes, { ...fault, at });
    expect(interrupted.failed).toBe(step);
    const marks = await recoverAll(root, committed);
    tree = snapshotTree(root);
    expectSettled(tree, { before, after }, { ...interrupted, committed, marks });
    expect(await recoverAll(root, !committed)).toEqual([]);
    // Its times and numbers are not what they were; nothing depends on that.
    if (JSON.stringify(tree) === JSON.stringify(before)) tree = before;
    hits += 1;
  }
  return hits;
}

/** A crash at any other step leaves what a crash at the next one of these leaves. */
export function changesDisk(step: string): boolean {
  return !/^(?:access|lstat|open\.read|readdir|readlink|realpath|handle\.(?:close|readFile|stat))$/u.test(step);
}

/** After a recovery: exactly the one tree or the other, the right one of both where somebody could know which it is. */
export function expectSettled(
  tree: Tree,
  { before, after }: { readonly before: Tree; readonly after: Tree },
  { steps: _steps, ...seen }: Interrupted & { readonly committed: boolean; readonly marks: readonly string[] },
): void {
  const decided = seen.marks.length > 0;
  if (decided) expect({ ...seen, tree }).toEqual({ ...seen, tree: seen.committed ? after : before });
  else if (!seen.prepared) expect({ ...seen, tree }).toEqual({ ...seen, tree: before });
  else expect([before, after]).toContainEqual(tree);
}
