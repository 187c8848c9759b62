import type { Json } from '@holdfast/core';
import { createJsonlLog } from '@holdfast/session/jsonl';
import { prepareLogPath } from '../workspace/session-logs.ts';

/** Writes a log with a start record and `entries`, valid or not. Returns its path. */
export async function writeLog(
  workspace: string,
  id: string,
  entries: readonly object[],
  slices: readonly object[] = [],
): Promise<string> {
  const path = await prepareLogPath(workspace, id);
  const store = createJsonlLog(path);
  for (const [seq, entry] of [{ type: 'session-start', sessionId: id, slices }, ...entries].entries()) {
    // Test events are JSON except for undefined members, which JSON omits.
    store.append(entry as { type: string; [field: string]: Json }, seq, Date.UTC(2026, 4, 17) + seq);
  }
  store.close();
  return path;
}
