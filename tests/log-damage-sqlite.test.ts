import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isHoldfastError } from '@holdfast/core';
import { openSqliteLog, readSqliteLog } from '@holdfast/session/sqlite';
import { expect, test } from 'vitest';
import { damageLines, findHidden, makeFolder, rewriteTail, writeLog } from './log-damage.ts';
import { type SqliteLog, sessionId, sqliteLogOf, writeSqliteLog } from './log-damage-sqlite.ts';

test('a database holds the lines that a file would', () => {
  using folder = makeFolder();
  const { lines, reading } = writeLog(join(folder.path, 's.jsonl'), 20);
  using log = sqliteLogOf(reading.records);
  expect([log.head, log.lines]).toEqual([reading.head, lines]);
  expect(log.read()).toMatchObject({ records: reading.records });
});

test('every row that is deleted, swapped, doubled, inserted or forged is found at its place', () => {
  using log = writeSqliteLog(20);
  const wrong: string[] = [];
  let count = 0;
  for (const { what, lines, finding } of damageLines(log.lines)) {
    log.replaceRows(lines);
    const hidden = findHidden(log.read(), finding, log.head);
    if (hidden !== undefined) wrong.push(`${what}: ${hidden}`);
    count += 1;
  }
  expect(wrong).toEqual([]);
  expect(count).toBeGreaterThan(600);
  log.replaceRows(log.lines);
  expect(log.read().head).toBe(log.head);
});

test('a tail that was cut or written anew shows by its head, and only by it', () => {
  using log = writeSqliteLog(20);
  for (let from = 0; from < 20; from += 1) {
    for (const tail of [log.lines.slice(0, from), rewriteTail(log.lines, from)]) {
      log.replaceRows(tail);
      expect(findHidden(log.read(), 'only by its head', log.head)).toBeUndefined();
    }
  }
});

test('a row that is taken out, with the others left where they are, is found', () => {
  using log = writeSqliteLog(20);
  for (let at = 0; at < 20; at += 1) {
    log.change('DELETE FROM holdfast_records WHERE session = 1 AND seq = ?', at);
    const finding = at === 19 ? 'only by its head' : { code: 'log.sequence', seq: at };
    expect(findHidden(log.read(), finding, log.head)).toBeUndefined();
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
      const finding = { code: 'log.sequence', seq: to < 0 ? 0 : seq };
      expect(findHidden(log.read(), finding, log.head), `row ${seq}`).toBeUndefined();
      log.replaceRows(log.lines);
    }
  },
);

// Each on every row but the last one, of which only the head tells whether it is what was written.
test.each<{ readonly what: string; readonly change: (log: SqliteLog, seq: number) => void; readonly finds: RegExp }>([
  ...[2, 99].map((to) => ({
    what: `session ${to}`,
    change: (log: SqliteLog, seq: number) => {
      log.change('DELETE FROM holdfast_records WHERE session = 2');
      log.change('UPDATE holdfast_records SET session = ? WHERE session = 1 AND seq = ?', to, seq);
    },
    finds: /log\.sequence/,
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
    { what: 'bytes that are no UTF-8', text: "CAST(replace(text, 'type', x'74ff7065') AS TEXT)" },
    { what: 'another time', text: `json_set(text, '$.atMs', 7000)` },
    { what: 'another type', text: `json_set(text, '$.type', 'x')` },
    { what: 'a field more', text: `json_set(text, '$.x', 1)` },
    { what: 'another number in its text', text: `json_set(text, '$.seq', 7000)` },
    { what: 'no number in its text', text: `json_remove(text, '$.seq')` },
    { what: 'another link', text: `json_set(text, '$.prev', 'x')` },
    { what: 'no link', text: `json_remove(text, '$.prev')` },
    { what: 'the text of another row', text: '(SELECT text FROM holdfast_records WHERE session = 2 AND seq = 19)' },
  ].map(({ what, text }) => ({
    what,
    change: (log: SqliteLog, seq: number) =>
      log.change(`UPDATE holdfast_records SET text = ${text} WHERE session = 1 AND seq = ?`, seq),
    finds: /log\.(?:chain|sequence|record\.invalid)/,
  })),
])('a row with $what is found', ({ change, finds }) => {
  using log = writeSqliteLog(20);
  for (let seq = 0; seq < 19; seq += 1) {
    change(log, seq);
    const { problem, records } = log.read();
    expect(problem?.code, `row ${seq}`).toMatch(finds);
    expect([seq, seq + 1], `row ${seq}`).toContain(problem?.seq);
    expect(records).toHaveLength(problem?.seq ?? -1);
    expect(() => openSqliteLog(log.path, { sessionId })).toThrow(expect.objectContaining({ code: problem?.code }));
    log.change('DELETE FROM holdfast_records WHERE session = 99');
    log.replaceRows(log.lines);
  }
});

test('what is edited of the session itself is another session, or nothing', () => {
  using log = writeSqliteLog(5);
  log.change("UPDATE holdfast_sessions SET writer = 'nobody' WHERE key = 1");
  expect(log.read().head).toBe(log.head);
  log.change("UPDATE holdfast_sessions SET id = 'renamed' WHERE key = 1");
  expect(() => log.read()).toThrow(expect.objectContaining({ code: 'log.missing' }));
  log.change("UPDATE holdfast_sessions SET id = ?, key = 99 WHERE id = 'renamed'", sessionId);
  expect(log.read()).toMatchObject({ records: [] });
  log.change('DROP TABLE holdfast_records');
  expect(() => log.read()).toThrow(expect.objectContaining({ code: 'log.unreadable' }));
});

test('a bit that is turned over in the file of a database changes no record that is read without a word', () => {
  using log = writeSqliteLog(12);
  const { records } = log.read();
  const path = `${log.path}.copy`;
  log.change('VACUUM INTO ?', path);
  const bytes = readFileSync(path);
  const seen: Record<string, number> = {};
  // A small part of all, not always the same bit of a byte.
  for (let bit = 0; bit < bytes.length * 8; bit += 101) {
    const flipped = Buffer.from(bytes);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    writeFileSync(path, flipped);
    const what = look(path);
    seen[what] = (seen[what] ?? 0) + 1;
    for (const beside of ['-wal', '-shm', '-journal']) rmSync(path + beside, { force: true });
  }
  expect(Object.keys(seen)).toEqual(expect.arrayContaining(['log.chain', 'log.unreadable', 'no difference']));

  function look(damaged: string): string {
    try {
      const reading = readSqliteLog(damaged, { sessionId });
      if (reading.problem !== undefined) return reading.problem.code;
      if (reading.head !== log.head) return 'only by its head';
      expect(reading.records).toEqual(records);
      return 'no difference';
    } catch (error) {
      if (isHoldfastError(error)) return error.code;
      throw error;
    }
  }
});
