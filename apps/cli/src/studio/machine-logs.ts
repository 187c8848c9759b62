import { isHoldfastError } from '@holdfast/core';
import type { Host } from '../terminal/host.ts';
import { guardFolder, resolveLinks } from '../user/guard-folder.ts';
import { type FoundSession, readWorkspaces } from '../workspace/known.ts';
import { listLogs } from '../workspace/session-logs.ts';

/** Logs that were found, and folders that cannot be read. */
export interface MachineLogs {
  readonly logs: readonly FoundSession[];
  readonly problems: readonly string[];
}

/** The logs of guarded agents, of the known workspaces and of the current folder. */
export async function listMachineLogs(host: Pick<Host, 'environment' | 'directory'>): Promise<MachineLogs> {
  const folders = [guardFolder(host), host.directory, ...(await readWorkspaces(host))];
  const found = await Promise.all([...new Set(folders.map(resolveLinks))].map(listFolder));
  return { logs: found.flatMap(({ logs }) => logs), problems: found.flatMap(({ problems }) => problems) };
}

async function listFolder(workspace: string): Promise<MachineLogs> {
  try {
    return { logs: (await listLogs(workspace)).map((log) => ({ ...log, workspace })), problems: [] };
  } catch (thrown) {
    if (!isHoldfastError(thrown)) throw thrown;
    return { logs: [], problems: [thrown.message] };
  }
}
