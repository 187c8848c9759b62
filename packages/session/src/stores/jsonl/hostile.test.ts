import { chmodSync, closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, inject, test } from 'vitest';
import { nodeFiles } from '../../disk/files.ts';
import { createJsonlLog, type OpenJsonlOptions, openJsonlLog, readLog } from '../../jsonl.ts';
import { LineReader, maxLineBytes } from './lines.ts';
import { goOnWithLog } from './open.ts';

const root = mkdtempSync(join(tmpdir(), 'holdfast-hostile-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const newPath = (): string => join(mkdtempSync(join(root, 'f-')), 's.jsonl');

function writeLog(): string {
  const path = newPath();
  const store = createJsonlLog(path);
  store.append({ type: 'note' }, 0, 1);
  store.close();
  return path;
}

const refuse: OpenJsonlOptions = { exposed: 'refuse' };

test.runIf(process.platform !== 'win32')('F15: a world-writable log is reported or rejected', () => {
  const path = writeLog();
  chmodSync(path, 0o660);
  expect(openJsonlLogBriefly(path)).toBeUndefined();
  expect(openJsonlLogBriefly(path, refuse)).toBeUndefined();
  chmodSync(path, 0o602);
  expect(openJsonlLogBriefly(path)).toBe('every user can write to it');
  expect(() => openJsonlLog(path, refuse)).toThrow(
    expect.objectContaining({
      code: 'log.unreadable',
      reason: 'exposed',
      message: expect.stringContaining('every user can write to it'),
    }),
  );
  chmodSync(path, 0o600);
  // The lock was released.
  expect(openJsonlLogBriefly(path, refuse)).toBeUndefined();
});

test.runIf(process.platform !== 'win32')('F15: a log of another user is reported or rejected', () => {
  const path = writeLog();
  const files = {
    ...nodeFiles,
    status: (descriptor: number) => {
      const { dev, ino, size, mode } = nodeFiles.status(descriptor);
      return { dev, ino, size, mode, uid: 54_321 };
    },
  };
  const { exposed, store } = goOnWithLog(path, files);
  store.close();
  expect(exposed).toBe('it belongs to the user 54321');
  expect(() => goOnWithLog(path, files, refuse)).toThrow(
    expect.objectContaining({ code: 'log.unreadable', reason: 'exposed' }),
  );
});

function openJsonlLogBriefly(path: string, options: OpenJsonlOptions = {}): string | undefined {
  const { exposed, store } = openJsonlLog(path, options);
  store.close();
  return exposed;
}

test('F11: a gigabyte without a newline needs no more memory than the longest line', () => {
  const path = newPath();
  const before = process.memoryUsage().arrayBuffers;
  const descriptor = openSync(path, 'w', 0o600);
  ftruncateSync(descriptor, 1024 ** 3);
  closeSync(descriptor);
  const { records, problem, torn } = readLog(path);
  expect([records, torn]).toEqual([[], undefined]);
  expect(problem).toMatchObject({
    code: 'log.damaged',
    reason: 'record',
    seq: 0,
    offset: 0,
    message: `Record 0 is longer than ${maxLineBytes} bytes.`,
  });
  expect(() => openJsonlLog(path)).toThrow(expect.objectContaining({ code: 'log.damaged', reason: 'record' }));
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4 * maxLineBytes);
});

test('F11: a record of many megabytes is stored; one above the limit is rejected without a trace', () => {
  const path = newPath();
  const store = createJsonlLog(path);
  const text = 'x'.repeat(inject('long') > 0 ? 100_000_000 : 5_000_000);
  store.append({ type: 'note', text }, 0, 1);
  expect(() => store.append({ type: 'note', text: 'x'.repeat(maxLineBytes) }, 1, 1)).toThrow(
    expect.objectContaining({
      code: 'log.write_failed',
      reason: 'record.too_long',
      message: expect.stringContaining('Record 1 has'),
    }),
  );
  store.append({ type: 'last' }, 1, 1);
  store.close();
  const { records, problem } = readLog(path);
  expect(problem).toBeUndefined();
  expect(records.map(({ type }) => type)).toEqual(['note', 'last']);
  expect(records[0]?.['text'] === text).toBe(true);
});

test('lines of any length are complete, wherever read chunks end', () => {
  const path = newPath();
  const lengths = [0, 1, 5, 1_048_570, 3, 1_048_576, 1_048_577, 0, 2_500_000, 7];
  const lines = lengths.map((length, index) => String(index).repeat(length));
  for (const rest of ['', 'torn']) {
    writeFileSync(path, lines.map((line) => `${line}\n`).join('') + rest);
    const descriptor = openSync(path, 'r');
    // Short reads, as from slow disks and networks.
    for (const most of [Number.POSITIVE_INFINITY, 700_001]) {
      const files = {
        ...nodeFiles,
        read: (from: number, bytes: Uint8Array, position: number) =>
          nodeFiles.read(from, bytes.subarray(0, most), position),
      };
      const reader = new LineReader(files, descriptor);
      let offset = 0;
      for (const line of lines) {
        expect(reader.offset).toBe(offset);
        const read = reader.next();
        expect(read.toString() === line).toBe(true);
        offset += line.length + 1;
      }
      expect([reader.next(), reader.next(), reader.offset]).toEqual(['end', 'end', offset]);
      expect(reader.rest.toString()).toBe(rest);
    }
    closeSync(descriptor);
  }
});

test.each([
  { length: 100, expected: 'x'.repeat(100) },
  { length: 101, expected: 'too-long' },
])('a line of $length bytes with a limit of 100', ({ length, expected }) => {
  const path = newPath();
  for (const end of ['\n', '']) {
    writeFileSync(path, `a\n${'x'.repeat(length)}${end}`);
    const descriptor = openSync(path, 'r');
    const reader = new LineReader(nodeFiles, descriptor, 0, 100);
    expect(String(reader.next())).toBe('a');
    const whole = end === '\n' || expected === 'too-long';
    expect(String(reader.next())).toBe(whole ? expected : 'end');
    expect(reader.offset).toBe(whole && expected !== 'too-long' ? 2 + length + 1 : 2);
    closeSync(descriptor);
  }
});
