import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { checkpointsFolder } from '../checkpoints/checkpoint.ts';
import { hasCode } from '../terminal/system.ts';
import { type GuardHost, guardFolder } from '../user/guard-folder.ts';
import { findLogFolder } from '../workspace/session-logs.ts';

const keptMs = 30 * 86_400_000;

/** Removes the files of one guarded session. */
export async function forgetSession(id: string, host: GuardHost): Promise<void> {
  for (const { session, path } of await listFiles(host)) if (session === id) await rm(path, { force: true });
  await rm(checkpointsFolder(id, host), { recursive: true, force: true });
}

/** Removes the sessions in whose files nothing was written for 30 days. */
export async function forgetOldSessions(host: GuardHost, nowMs: number): Promise<void> {
  for (const [session, files] of Map.groupBy(await listFiles(host), (file) => file.session)) {
    const times = await Promise.all(files.map(({ path }) => readTime(path)));
    if (times.some((atMs) => atMs === undefined || atMs > nowMs - keptMs)) continue;
    for (const { path } of files) await rm(path, { force: true });
    await rm(checkpointsFolder(session, host), { recursive: true, force: true });
  }
}

/** `undefined`: another process has just removed it. */
async function readTime(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT')) return undefined;
    throw thrown;
  }
}

/** A log, and what lies beside it: earlier parts, a lock. */
async function listFiles(host: GuardHost): Promise<readonly { readonly session: string; readonly path: string }[]> {
  const folder = findLogFolder(guardFolder(host));
  const names = await readdir(folder).catch((thrown: unknown) => {
    if (hasCode(thrown, 'ENOENT')) return [];
    throw thrown;
  });
  return names.flatMap((name) => {
    const [, session] = /^([a-z0-9-]+)\.jsonl(?:\.|$)/.exec(name) ?? [];
    return session === undefined ? [] : [{ session, path: join(folder, name) }];
  });
}
