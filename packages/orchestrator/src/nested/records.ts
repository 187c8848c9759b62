import { isPlainObject } from '@holdfast/core';
import type { LogRecord } from '@holdfast/session';

/**
 * The records of a session of `context.child()`, at any depth, as they would be in a log of their own: for `readTrace`, say, of a
 * sub-run, by the `session` of its report. `records`: of the session above all, or of any in between.
 */
export function* childRecords(records: Iterable<LogRecord>, sessionId: string): Generator<LogRecord> {
  for (const record of records) {
    let inner: unknown = record;
    // Each session between them has wrapped what it was told.
    while (isPlainObject(inner) && inner['type'] === 'child-record') {
      const { entry, childSeq: seq } = inner;
      if (inner['sessionId'] === sessionId && isPlainObject(entry)) {
        // Made of a log entry, which has its type.
        yield { ...toOwn(entry, inner['callId']), seq, atMs: record.atMs } as LogRecord;
        break;
      }
      inner = entry;
    }
  }
}

/** The ids of the sessions that `records` have something of, but for the one above all, in the order in which they began. */
export function childSessions(records: Iterable<LogRecord>): readonly string[] {
  const ids = new Set<string>();
  for (const record of records) {
    let inner: unknown = record;
    while (isPlainObject(inner) && inner['type'] === 'child-record') {
      ids.add(String(inner['sessionId']));
      inner = inner['entry'];
    }
  }
  return [...ids];
}

type Fields = Readonly<Record<string, unknown>>;

/** The calls of the session itself are nested in the call around it, and in none of its own. */
function toOwn({ parentId, pending, ...entry }: Fields, around: unknown): Fields {
  return {
    ...entry,
    ...(parentId === undefined || parentId === around ? {} : { parentId }),
    ...(pending === undefined ? {} : { pending: isPlainObject(pending) ? toOwn(pending, around) : pending }),
  };
}
