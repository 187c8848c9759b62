import { join } from 'node:path';
import { openSqliteLog } from '@holdfast/session/sqlite';
import { expect, test } from 'vitest';
import { damageLines, type Finding, findHidden, makeFolder, rewriteTail, writeLog } from './log-damage.ts';
import { type SqliteLog, sessionId, sqliteLogOf, tryFlips, writeSqliteLog } from './log-damage-sqlite.ts';

test('a database holds the lines that a file would', () => {
  using folder = makeFolder();
  const { lines, reading } = writeLog(join(folder.path, 's.jsonl'), 20);
  using log = sqliteLogOf(reading.records);
  expect([log.head, log.lines]).toEqual([reading.head, lines]);
  expect(log.read()).toMatchObject({ records: reading.records });
});

/** Lines that a file would give without a word do not fit the session's row. */
function findingOf({ lines: written }: SqliteLog, lines: readonly string[], finding: Finding): Finding {
  if (finding !== 'only by its head') return finding;
  return { reason: lines.length === written.length ? 'chain' : 'sequence', seq: lines.length };
}

test('every row that is deleted, swapped, doubled, inserted or forged is found at its place', () => {
  using log = writeSqliteLog(20);
  const wrong: string[] = [];
  let count = 0;
  for (const { what, lines, finding } of damageLines(log.lines)) {
    log.replaceRows(lines);
    const hidden = findHidden(log.read(), findingOf(log, lines, finding), log.head);
    if (hidden !== undefined) wrong.push(`${what}: ${hidden}`);
    count += 1;
  }
  expect(wrong).toEqual([]);
  expect(count).toBeGreaterThan(600);
  log.replaceRows(log.lines);
  expect(log.read().head).toBe(log.head);
});

test('a cut or rewritten tail is found, and only by its head where the row of the session was edited as well', () => {
  using log = writeSqliteLog(20);
  const edit = (records: number, head: string): void =>
    log.change('UPDATE holdfast_sessions SET records = ?, head = ? WHERE key = 1', records, head);
  for (let from = 0; from < 20; from += 1) {
    for (const tail of [log.lines.slice(0, from), rewriteTail(log.lines, from)]) {
      log.replaceRows(tail);
      const found = log.read();
      expect(findHidden(found, findingOf(log, tail, 'only by its head'), log.head)).toBeUndefined();
      expect(() => openSqliteLog(log.path, { sessionId })).toThrow(
        expect.objectContaining({ code: found.problem?.code }),
      );
      edit(tail.length, found.head);
      expect(findHidden(log.read(), 'only by its head', log.head)).toBeUndefined();
      edit(20, log.head);
    }
  }
});

test('a row that is taken out, with the others left where they are, is found', () => {
  using log = writeSqliteLog(20);
  for (let at = 0; at < 20; at += 1) {
    log.change('DELETE FROM holdfast_records WHERE session = 1 AND seq = ?', at);
    expect(findHidden(log.read(), { reason: 'sequence', seq: at }, log.head)).toBeUndefined();
    log.replaceRows(log.lines);
  }
});

test.each([-1, 21, 1_000_000, 2n ** 53n, 2n ** 63n - 1n, -(2n ** 63n)])(
  'a row that is given the number %d is found',
  (to) => {
    using log = writeSqliteLog(20);
    for (let seq = 0; seq < 20; seq += 1) {
      log.change('UPDATE holdfast_records SET seq = ? WHERE session = 1 AND seq = ?', to, seq);
      // A number below all others comes before them.
      const finding = { reason: 'sequence', seq: to < 0 ? 0 : seq };
      expect(findHidden(log.read(), finding, log.head), `row ${seq}`).toBeUndefined();
      log.replaceRows(log.lines);
    }
  },
);

test.each<{ readonly what: string; readonly change: (log: SqliteLog, seq: number) => void; readonly finds: RegExp }>([
  ...[2, 99].map((to) => ({
    what: `session ${to}`,
    change: (log: SqliteLog, seq: number) => {
      log.change('DELETE FROM holdfast_records WHERE session = 2');
      log.change('UPDATE holdfast_records SET session = ? WHERE session = 1 AND seq = ?', to, seq);
    },
    finds: /sequence/,
  })),
  ...[
    { what: 'no text', text: "''" },
    { what: 'null', text: "'null'" },
    { what: 'a blank more', text: "text || ' '" },
    { what: 'a newline more', text: 'text || char(10)' },
    { what: 'a NUL more', text: 'text || char(0)' },
    { what: 'more after a NUL', text: "text || char(0) || '{}'" },
    { what: 'a byte order mark', text: 'char(65279) || text' },
    { what: 'a byte too few', text: 'substr(text, 1, length(text) - 1)' },
    { what: 'bytes that are not UTF-8', text: "CAST(replace(text, 'type', x'74ff7065') AS TEXT)" },
    { what: 'another time', text: `json_set(text, '$.atMs', 7000)` },
    { what: 'another type', text: `json_set(text, '$.type', 'x')` },
    { what: 'a field more', text: `json_set(text, '$.x', 1)` },
    { what: 'another number in its text', text: `json_set(text, '$.seq', 7000)` },
    { what: 'no number in its text', text: `json_remove(text, '$.seq')` },
    { what: 'another link', text: `json_set(text, '$.prev', 'x')` },
    { what: 'no link', text: `json_remove(text, '$.prev')` },
    {
      what: 'the text of another row',
      text: '(SELECT text FROM holdfast_records AS other WHERE session = 2 AND other.seq = 19 - holdfast_records.seq)',
    },
  ].map(({ what, text }) => ({
    what,
    change: (log: SqliteLog, seq: number) =>
      log.change(`UPDATE holdfast_records SET text = ${text} WHERE session = 1 AND seq = ?`, seq),
    finds: /chain|sequence|record/,
  })),
])('a row with $what is found', ({ change, finds }) => {
  using log = writeSqliteLog(20);
  for (let seq = 0; seq < 20; seq += 1) {
    change(log, seq);
    const { problem, records } = log.read();
    expect(problem?.reason, `row ${seq}`).toMatch(finds);
    expect([seq, seq + 1], `row ${seq}`).toContain(problem?.seq);
    expect(records).toHaveLength(problem?.seq ?? -1);
    expect(() => openSqliteLog(log.path, { sessionId })).toThrow(expect.objectContaining({ code: problem?.code }));
    log.change('DELETE FROM holdfast_records WHERE session = 99');
    log.replaceRows(log.lines);
  }
});

test('an edit of the row of the session gives another writer, another session, or a problem', () => {
  using log = writeSqliteLog(5);
  log.change("UPDATE holdfast_sessions SET writer = 'nobody' WHERE key = 1");
  expect(log.read().head).toBe(log.head);
  log.change("UPDATE holdfast_sessions SET id = 'renamed' WHERE key = 1");
  expect(() => log.read()).toThrow(expect.objectContaining({ code: 'log.missing' }));
  log.change("UPDATE holdfast_sessions SET id = ?, key = 99 WHERE id = 'renamed'", sessionId);
  expect(log.read()).toMatchObject({ records: [], problem: { code: 'log.damaged', reason: 'sequence', seq: 0 } });
  log.change('DROP TABLE holdfast_records');
  expect(() => log.read()).toThrow(expect.objectContaining({ code: 'log.unreadable' }));
});

test('one flipped bit in a database file never gives another log without an error or a problem', () => {
  // Every bit of what a page says of itself, and a few of all others.
  const pageBytes = 4096;
  function* sample(bytes: number): Generator<number> {
    for (let bit = 0; bit < bytes * 8; bit += 1) {
      const place = (bit >> 3) % pageBytes;
      const header = bit >> 3 < pageBytes ? place >= 100 && place < 108 : place < 12;
      if (header || bit % 601 === 0) yield bit;
    }
  }
  const { flips, seen, silent } = tryFlips(sample, 5);
  expect(silent).toEqual([]);
  expect(flips).toBeGreaterThan(500);
  expect(Object.keys(seen)).toEqual(expect.arrayContaining(['chain', 'log.unreadable', 'the same log']));
});
