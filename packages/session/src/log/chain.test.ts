import { expect, test } from 'vitest';
import { beginning, type ChainPlace, linkOf, parseRecord } from './chain.ts';

const head = 'a'.repeat(64);
const place: ChainPlace = { seq: 7, head };
const start = `{"seq":7,"prev":"${head}"`;

test.each<[string, string, object]>([
  ['as we write it', `${start},"atMs":1,"type":"note","text":"x"}`, { seq: 7, atMs: 1, type: 'note', text: 'x' }],
  ['with spaces', `{ "seq": 7, "prev": "${head}", "atMs": 1, "type": "note" }`, { seq: 7, atMs: 1, type: 'note' }],
  ['in another order', `{"type":"note","atMs":1,"prev":"${head}","seq":7}`, { type: 'note', atMs: 1, seq: 7 }],
  [
    'with keys that are numbers',
    `{"1":2,${start.slice(1)},"atMs":1,"type":"note"}`,
    { 1: 2, seq: 7, atMs: 1, type: 'note' },
  ],
  ['with a number twice', `${start},"atMs":1,"type":"note","seq":7}`, { seq: 7, atMs: 1, type: 'note' }],
])('a record %s', (_what, text, record) => {
  const parsed = parseRecord(text, place);
  expect(parsed).toEqual({ record, place });
  if ('record' in parsed) expect(Object.keys(parsed.record)).toEqual(Object.keys(record));
});

test('`__proto__` is an ordinary field', () => {
  const parsed = parseRecord(`${start},"atMs":1,"type":"note","__proto__":{"type":"other"}}`, place);
  if (!('record' in parsed)) throw new Error(parsed.message);
  expect(Object.getOwnPropertyNames(parsed.record)).toContain('__proto__');
  expect(Object.getPrototypeOf(parsed.record)).toBe(Object.prototype);
});

test.each<[string, string, string]>([
  ['another number', `{"seq":8,"prev":"${head}","atMs":1,"type":"note"}`, 'sequence'],
  ['another number, said a second time', `${start},"atMs":1,"type":"note","seq":8}`, 'sequence'],
  ['a text number', `{"seq":"7","prev":"${head}","atMs":1,"type":"note"}`, 'sequence'],
  ['another link', `{"seq":7,"prev":"${beginning.head}","atMs":1,"type":"note"}`, 'chain'],
  ['another link, said a second time', `${start},"prev":"x","atMs":1,"type":"note"}`, 'chain'],
  ['no type', `${start},"atMs":1}`, 'record'],
  ['no time', `${start},"type":"note"}`, 'record'],
  ['a text time', `${start},"atMs":"1","type":"note"}`, 'record'],
  ['nothing after its link', `${start},`, 'record'],
  ['something after its end', `${start},"atMs":1,"type":"note"}}`, 'record'],
  ['brackets', `[${start},"atMs":1,"type":"note"}]`, 'record'],
  ['a byte order mark', `\ufeff${start},"atMs":1,"type":"note"}`, 'record'],
])('a record with %s is rejected', (_what, text, reason) => {
  expect(parseRecord(text, place)).toMatchObject({ code: 'log.damaged', reason });
});

test.each<[string, string, ChainPlace | string]>([
  ['a first record', `{"seq":0,"prev":"${beginning.head}","atMs":1,"type":"note"}`, beginning],
  ['a snapshot anywhere', `${start},"atMs":1,"type":"snapshot"}`, place],
  ['a later record', `${start},"atMs":1,"type":"note"}`, 'sequence'],
  ['a snapshot numbered 0', `{"seq":0,"prev":"${head}","atMs":1,"type":"snapshot"}`, 'chain'],
  ['a snapshot without a link', '{"seq":7,"prev":"x","atMs":1,"type":"snapshot"}', 'sequence'],
  ['a snapshot with half a number', `{"seq":7.5,"prev":"${head}","atMs":1,"type":"snapshot"}`, 'sequence'],
])('at the start of a file: %s', (_what, text, expected) => {
  expect(parseRecord(text, undefined)).toMatchObject(
    typeof expected === 'string' ? { code: 'log.damaged', reason: expected } : { place: expected },
  );
});

test('the link of a line is the SHA-256 of its bytes', () => {
  expect(linkOf('größe')).toBe(linkOf(Buffer.from('größe')));
  expect(linkOf('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
});
