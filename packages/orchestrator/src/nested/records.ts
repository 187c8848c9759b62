import { isPlainObject } from '@holdfast/core/internal';
import type { LogRecord } from '@holdfast/session';

/**
 * The records of a `context.child()` session at any depth, as if in a log of their own; pass them to `readTrace` to read a sub-run, whose
 * report has the id as `session`. `records`: of the root session or any session in between.
 */
export function* childRecords(records: Iterable<LogRecord>, sessionId: string): Generator<LogRecord> {
  for (const record of records) {
    let inner: unknown = record;
    // Each session in between wraps the record once.
    while (isPlainObject(inner) && inner['type'] === 'child-record') {
      const { entry, childSeq: seq } = inner;
      if (inner['sessionId'] === sessionId && isPlainObject(entry)) {
        // Built from a log entry of this type.
        yield { ...toOwn(entry, inner['callId']), seq, atMs: record.atMs } as LogRecord;
        break;
      }
      inner = entry;
    }
  }
}

/** The ids of all child sessions in `records`, in the order in which they started. */
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

/** Removes the enclosing call as parent, so that the session's own calls are at the top level. */
function toOwn({ parentId, pending, ...entry }: Fields, around: unknown): Fields {
  return {
    ...entry,
    ...(parentId === undefined || parentId === around ? {} : { parentId }),
    ...(pending === undefined ? {} : { pending: isPlainObject(pending) ? toOwn(pending, around) : pending }),
  };
}
