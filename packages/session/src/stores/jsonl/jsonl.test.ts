import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isHoldfastError } from '@holdfast/core';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { nodeFiles } from '../../disk/files.ts';
import { createSession } from '../../index.ts';
import { createJsonlLog, readLog } from '../../jsonl.ts';
import { beginJsonlLog } from './store.ts';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-log-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newPath = (): string => {
  files += 1;
  return join(folder, 'deep', `${files}.jsonl`);
};

function writeLog(count: number): string {
  const path = newPath();
  const session = createSession({ id: 's', store: createJsonlLog(path) });
  for (let index = 1; index < count; index += 1)
    session.record({ type: 'note', text: `größe ${index}`, list: [index] });
  void session.close();
  return path;
}

test('records read back, one line each, linked to the previous one', () => {
  const path = writeLog(4);
  const { records, torn, problem, head } = readLog(path);
  expect({ torn, problem }).toEqual({ torn: undefined, problem: undefined });
  expect(records.map(({ seq, type }) => [seq, type])).toEqual([
    [0, 'session-start'],
    [1, 'note'],
    [2, 'note'],
    [3, 'note'],
  ]);
  expect(records[3]).toMatchObject({ text: 'größe 3', list: [3] });
  expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(5);
  expect(head).toMatch(/^[0-9a-f]{64}$/);
});

test('cut at any byte, a log returns its complete records and reports the torn tail', () => {
  const bytes = readFileSync(writeLog(4));
  const path = newPath().replace('deep', '');
  for (let size = 0; size <= bytes.length; size += 1) {
    const part = bytes.subarray(0, size);
    writeFileSync(path, part);
    const { records, torn, problem } = readLog(path);
    const whole = part.filter((byte) => byte === 10).length;
    const end = part.lastIndexOf(10) + 1;
    expect(problem).toBeUndefined();
    expect(records).toHaveLength(whole);
    expect(torn).toEqual(end === size ? undefined : { offset: end, bytes: size - end });
  }
});

test.each([
  ['a line removed', (lines: string[]) => lines.toSpliced(1, 1), 'sequence', 1],
  ['a line doubled', (lines: string[]) => lines.toSpliced(1, 0, lines[1] ?? ''), 'sequence', 2],
  ['two lines swapped', ([a = '', b = '', c = '', ...rest]: string[]) => [a, c, b, ...rest], 'sequence', 1],
  ['a line edited', (lines: string[]) => lines.with(1, (lines[1] ?? '').replace('größe 1', 'größe 9')), 'chain', 2],
  [
    'a link edited',
    (lines: string[]) => lines.with(1, (lines[1] ?? '').replace(/"prev":"../, '"prev":"zz')),
    'chain',
    1,
  ],
  ['a line that is not JSON', (lines: string[]) => lines.with(2, '{"seq":2,'), 'record', 2],
  ['a line that is not a record', (lines: string[]) => lines.with(2, '[]'), 'record', 2],
  ['an empty line', (lines: string[]) => lines.toSpliced(2, 0, ''), 'record', 2],
  ['CRLF line ends', (lines: string[]) => lines.map((line) => `${line}\r`), 'chain', 1],
] as const)('%s is found', (_what, change, reason, seq) => {
  const lines = readFileSync(writeLog(4), 'utf8').trimEnd().split('\n');
  const path = newPath().replace('deep', '');
  writeFileSync(path, `${change(lines).join('\n')}\n`);
  const { records, problem } = readLog(path);
  // CRLF changes the bytes of each link, so the second line is the first that shows it.
  expect(problem).toMatchObject({ code: 'log.damaged', reason, seq });
  expect(records).toHaveLength(seq);
});

test('property: any changed byte before the last line is detected', () => {
  const bytes = readFileSync(writeLog(3));
  const lastLine = bytes.lastIndexOf(10, bytes.length - 2) + 1;
  const path = newPath().replace('deep', '');
  fc.assert(
    fc.property(fc.nat(lastLine - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
      const edited = Buffer.from(bytes);
      edited[at] = (edited[at] ?? 0) ^ change;
      writeFileSync(path, edited);
      expect(readLog(path).problem ?? readLog(path).torn).toBeDefined();
    }),
  );
});

test('bytes that are not UTF-8 are not a record', () => {
  const path = newPath().replace('deep', '');
  writeFileSync(path, Buffer.from([0x22, 0xff, 0x22, 10]));
  expect(readLog(path).problem).toMatchObject({ code: 'log.damaged', reason: 'record', seq: 0, offset: 0 });
});

test('an empty log has no records', () => {
  const path = newPath().replace('deep', '');
  writeFileSync(path, '');
  expect(readLog(path)).toMatchObject({ records: [] });
});

test('log.exists, log.write_failed: open, log.missing, log.unreadable', () => {
  const path = writeLog(1);
  expect(() => createJsonlLog(path)).toThrow(expect.objectContaining({ code: 'log.exists' }));
  expect(() => createJsonlLog(join(path, 'below.jsonl'))).toThrow(
    expect.objectContaining({ code: 'log.write_failed', reason: 'open' }),
  );
  expect(() => readLog(join(folder, 'none.jsonl'))).toThrow(expect.objectContaining({ code: 'log.missing' }));
  expect(() => readLog(folder)).toThrow(expect.objectContaining({ code: 'log.unreadable' }));
});

test.each([
  { truncates: true, codes: ['log.write_failed', 'written'] },
  { truncates: false, codes: ['log.write_failed', 'log.broken'] },
])('log.write_failed leaves no part of the record, or the store rejects further ones: %o', ({ truncates, codes }) => {
  // The lock is a write, too.
  let capacity = Number.POSITIVE_INFINITY;
  const path = newPath();
  const store = beginJsonlLog(path, {
    ...nodeFiles,
    write(descriptor, bytes, start) {
      // Short writes, then a full disk.
      const part = bytes.subarray(start, start + 10);
      if (part.length > capacity) throw new Error('ENOSPC');
      capacity -= part.length;
      return nodeFiles.write(descriptor, part, 0);
    },
    truncate(descriptor, size) {
      if (!truncates) throw new Error('EIO');
      nodeFiles.truncate(descriptor, size);
    },
  });
  capacity = 60;
  const attempt = (): string => {
    try {
      store.append({ type: 'note' }, 0, 1);
      return 'written';
    } catch (error) {
      return isHoldfastError(error) ? error.code : String(error);
    }
  };
  const first = attempt();
  expect(readFileSync(path)).toHaveLength(truncates ? 0 : 60);
  capacity = 1_000;
  expect([first, attempt()]).toEqual(codes);
  store.close();
  if (truncates) expect(readLog(path).records).toEqual([{ seq: 0, atMs: 1, type: 'note' }]);
});
