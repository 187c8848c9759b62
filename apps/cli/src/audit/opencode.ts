import type { JsonObject } from '@holdfast/core';
import { isPlainObject, parseJson } from '@holdfast/core/internal';
import { opencode } from '@holdfast/guard/agents';
import { hasCode } from '../terminal/system.ts';
import { objectOf, type Step, type TranscriptFormat, textOf, toCall, transcriptLimits } from './transcript.ts';

/** opencode, as seen by running 1.18: a database of all sessions, in which each call is a part of a message. */
export const opencodeFormat: TranscriptFormat = {
  agent: opencode,
  title: 'opencode',
  folder: '.local/share/opencode',
  holds: (path) => /^opencode(?:-[\w.-]+)?\.db$/.test(path),
  rows: readParts,
  read(line) {
    const { session, parent, directory, part } = line;
    const { type, callID: id, tool, state } = objectOf(part);
    if (type !== 'tool') return [];
    const { status, input, metadata, error } = objectOf(state);
    const call = toCall(id, tool, input);
    if (call === undefined) return [];
    const subAgentId = parent === null ? undefined : textOf(session);
    const steps: Step[] = [
      { type: 'place', sessionId: textOf(parent) ?? textOf(session), cwd: textOf(directory) },
      { ...call, ...(subAgentId === undefined ? {} : { subAgentId }) },
    ];
    if (status === 'error') {
      const refused = typeof error === 'string' && error.startsWith('The user rejected permission');
      steps.push({ type: 'result', id: call.id, ...(refused ? { ok: 'not-run', asked: true } : { ok: false }) });
    } else if (status === 'completed') {
      const { exit } = objectOf(metadata);
      const ok = tool !== 'bash' || (typeof exit === 'number' ? exit === 0 : 'unknown');
      steps.push({ type: 'result', id: call.id, ok });
    }
    return steps;
  },
};

/** The parts of the sessions that changed since, in order. `parent`: the session that a sub-agent works for in the end. */
async function* readParts(path: string, sinceMs: number): AsyncGenerator<JsonObject | undefined> {
  // Loaded for a database alone: other runtimes may lack it.
  const { DatabaseSync } = await import('node:sqlite');
  let database: InstanceType<typeof DatabaseSync> | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true });
    const parents = new Map<unknown, unknown>();
    for (const { id, parent } of database.prepare('SELECT id, parent_id AS parent FROM session').iterate())
      parents.set(id, parent);
    const parts = database.prepare(
      `SELECT session.id AS session, directory, part.time_created AS atMs, data FROM part JOIN session ON session.id = session_id
       WHERE session.time_updated >= ? ORDER BY part.time_created, part.id`,
    );
    for (const { session, directory, atMs, data } of parts.iterate(sinceMs)) {
      const parsed = typeof data === 'string' ? parseJson(data, transcriptLimits) : undefined;
      if (parsed?.ok !== true || !isPlainObject(parsed.value)) {
        yield undefined;
        continue;
      }
      const timestamp = typeof atMs === 'number' ? new Date(atMs).toISOString() : null;
      const parent = findTop(session, parents);
      yield {
        session: String(session),
        parent: parent === session ? null : String(parent),
        directory: String(directory),
        timestamp,
        part: parsed.value as JsonObject,
      };
    }
  } catch (thrown) {
    if (!hasCode(thrown, 'ERR_SQLITE_ERROR')) throw thrown;
    yield undefined;
  } finally {
    database?.close();
  }
}

const maxDepth = 32;

function findTop(session: unknown, parents: ReadonlyMap<unknown, unknown>): unknown {
  let top = session;
  for (let depth = 0; depth < maxDepth; depth += 1) {
    const parent = parents.get(top) ?? undefined;
    if (parent === undefined) break;
    top = parent;
  }
  return top;
}
