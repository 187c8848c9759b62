import { relative } from 'node:path';
import { describeThrown } from '@holdfast/core';
import { compareLock, isRegistryCurrent, type LockState } from '@holdfast/loader';
import { formatCount } from '@holdfast/orchestrator/text';
import { toPrintable } from '../terminal/text.ts';
import { languages } from '../workspace/languages.ts';
import { describeGoneLock, findLock, findToolsFolder, lockName, openFolderTools } from '../workspace/toolset.ts';

/** A tools folder as a run would find it. */
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
  /** Relative to where the program was called, where it lies below that. */
  readonly path: string;
  /** How many tools are as the lock says, and how many are not; `null` when the lock cannot be used. */
  readonly tools: Readonly<Record<LockState, number>> | null;
  /** Good tools that cannot be locked, because nobody could say what they would run. */
  readonly unlockable: number;
  /** Whether a run reads no tool file, because none was touched since the last one. */
  readonly registered: boolean;
}

/** Looks at a tools folder without writing to it, and at what beside it says how it is used. */
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
    // With the lock, copies of the tools would be made.
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

/** What `examineTools` found, in lines with their labels. */
export function describeFolder(state: FolderState): readonly (readonly [label: string, text: string])[] {
  const { found, good, errors, warnings, lock } = state;
  const folder = toPrintable(state.folder);
  if (!found) return [['tools', `no folder ${folder}; the file tools are there without it`]];
  const counts = [formatCount(good, 'good tool'), formatCount(errors, 'error'), formatCount(warnings, 'warning')];
  const tools = [
    'tools',
    `${folder}: ${counts.join(', ')}${errors > 0 ? '; `holdfast check` says more' : ''}`,
  ] as const;
  if (lock === null) {
    const text = `no ${lockName} beside ${folder}: tools run as they are, whatever was changed; \`holdfast lock\` makes one`;
    return [tools, ['lock', text]];
  }
  return [
    tools,
    ['lock', `${toPrintable(lock.path)}: ${describeLock(lock)}`],
    [
      'registry',
      lock.registered
        ? 'current: a run reads no tool file'
        : 'not current: a run reads every tool file, and makes it anew where all of them are as locked',
    ],
  ];
}

function describeLock({ tools, unlockable }: FolderLock): string {
  if (tools === null) return 'cannot be used';
  const { same, ...others } = tools;
  const differing = Object.entries(others).flatMap(([state, count]) => (count === 0 ? [] : [`${count} ${state}`]));
  if (unlockable > 0) differing.push(`${unlockable} that cannot be locked`);
  const more = differing.length === 0 ? '' : '; `holdfast lock --check` says more';
  return `${formatCount(same, 'tool')} as locked${differing.map((text) => `, ${text}`).join('')}${more}`;
}
