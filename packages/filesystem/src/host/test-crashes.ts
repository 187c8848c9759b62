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

/** The file changes of one call. */
export type Changes = (view: Filesystem) => Promise<unknown>;

export type Tree = Readonly<Record<string, string>>;

/** Appears as an ended process to others: no system has such process numbers. */
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
  /** The failed step, if any. */
  readonly failed: string | undefined;
  /** The names of all steps. */
  readonly steps: readonly string[];
  /** True if the call may have been recorded. */
  readonly prepared: boolean;
}

/** Commits `changes` in a process that is hit at its `at`-th step after staging. */
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

/** Runs the recovery of another process. Returns the marks that were open. */
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

/** The result of `changes` without interruption. */
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
  /** Selects the steps. */
  readonly chosen: (step: string) => boolean;
  /** Use every n-th of them. Default 1: all. */
  readonly stride?: number;
  /** The first one to use, modulo `stride`. Default 0. */
  readonly first?: number;
}

/** Hits a call at each of the steps `chosen`, and lets another process recover. Returns the number of hits. */
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
    // Times and numbers differ, but nothing depends on them.
    if (JSON.stringify(tree) === JSON.stringify(before)) tree = before;
    hits += 1;
  }
  return hits;
}

/** A crash at any other step leaves the same state as a crash at the next of these. */
export function changesDisk(step: string): boolean {
  return !/^(?:access|lstat|open\.read|readdir|readlink|realpath|handle\.(?:close|readFile|stat))$/u.test(step);
}

/** Expects exactly one of the two trees after a recovery, and the right one if it was known. */
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
