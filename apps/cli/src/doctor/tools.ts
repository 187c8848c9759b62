import { relative } from 'node:path';
import { describeThrown } from '@holdfast/core/internal';
import { compareLock } from '@holdfast/loader';
import { isRegistryCurrent, type LockState } from '@holdfast/loader/internal';
import { formatCount } from '@holdfast/orchestrator/text';
import { toPrintable } from '../terminal/text.ts';
import { lockName } from '../workspace/folder.ts';
import { languages } from '../workspace/languages.ts';
import { describeGoneLock, findLock, findToolsFolder, openFolderTools } from '../workspace/toolset.ts';

/** A tools folder as seen by a run. */
export interface FolderState {
  readonly folder: string;
  readonly found: boolean;
  readonly good: number;
  readonly errors: number;
  readonly warnings: number;
  /** `null` without a lock. */
  readonly lock: FolderLock | null;
}

interface FolderLock {
  /** Relative to the current folder if inside it. */
  readonly path: string;
  /** Number of tools by their state; `null` if the lock is unusable. */
  readonly tools: Readonly<Record<LockState, number>> | null;
  /** Valid tools that cannot be locked because it is unclear what they run. */
  readonly unlockable: number;
  /** True if a run reads no tool files, because none changed since the last one. */
  readonly registered: boolean;
}

/** Examines a tools folder, its lock and its registry without writing to it. */
export async function examineTools(
  name: string | undefined,
  { subfolders, directory }: { readonly subfolders: boolean; readonly directory: string },
): Promise<{ readonly state: FolderState; readonly problems: readonly string[] }> {
  const none = { folder: name ?? './plugins', found: false, good: 0, errors: 0, warnings: 0, lock: null };
  let state: FolderState = none;
  try {
    const folder = await findToolsFolder(name, directory);
    state = { ...none, folder: folder.name };
    if (folder.path === undefined) return { state, problems: [] };
    // Opening with the lock would write copies of the tools.
    const { folderTools, diagnostics, files } = await openFolderTools(folder, { subfolders, lock: 'ignore' });
    const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
    state = { ...state, found: true, good: folderTools.length, errors, warnings: diagnostics.length - errors };
    const lock = await findLock(folder.path);
    if (lock === undefined) return { state, problems: [(await describeGoneLock(folder.path)) ?? []].flat() };
    const below = relative(directory, lock);
    const path = below.startsWith('..') ? lock : below;
    state = { ...state, lock: { path, tools: null, unlockable: 0, registered: false } };
    const { tools } = await compareLock(folder.path, { lock, subfolders, languages });
    const registered = await isRegistryCurrent(folder.path, { lock, subfolders, languages });
    const counts = { same: 0, new: 0, changed: 0, gone: 0, refused: 0 };
    for (const tool of tools) counts[tool.state] += 1;
    const current = counts.same + counts.new + counts.changed;
    const unlockable = files.filter(({ type }) => type === 'tool').length - current;
    return { state: { ...state, lock: { path, tools: counts, unlockable, registered } }, problems: [] };
  } catch (thrown) {
    return { state, problems: [describeThrown(thrown)] };
  }
}

/** Describes the result of `examineTools`, in labeled lines. */
export function describeFolder(state: FolderState): readonly (readonly [label: string, text: string])[] {
  const { found, good, errors, warnings, lock } = state;
  const folder = toPrintable(state.folder);
  if (!found) return [['tools', `no folder ${folder}; only the built-in file tools are available`]];
  const counts = [formatCount(good, 'valid tool'), formatCount(errors, 'error'), formatCount(warnings, 'warning')];
  const tools = [
    'tools',
    `${folder}: ${counts.join(', ')}${errors > 0 ? '; run `holdfast check` for details' : ''}`,
  ] as const;
  if (lock === null) {
    const text = `no ${lockName} beside ${folder}: changes to tools go unnoticed; create one with \`holdfast lock\``;
    return [tools, ['lock', text]];
  }
  return [
    tools,
    ['lock', `${toPrintable(lock.path)}: ${describeLock(lock)}`],
    [
      'registry',
      lock.registered
        ? 'current: a run reads no tool files'
        : 'not current: a run reads every tool file, and rebuilds it if all of them match the lock',
    ],
  ];
}

function describeLock({ tools, unlockable }: FolderLock): string {
  if (tools === null) return 'unusable';
  const { same, ...others } = tools;
  const differing = Object.entries(others).flatMap(([state, count]) => (count === 0 ? [] : [`${count} ${state}`]));
  if (unlockable > 0) differing.push(`${unlockable} that cannot be locked`);
  const more = differing.length === 0 ? '' : '; run `holdfast lock --check` for details';
  return `${formatCount(same, 'tool')} as locked${differing.map((text) => `, ${text}`).join('')}${more}`;
}
