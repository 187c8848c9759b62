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
  ['another number', `{"seq":8,"prev":"${head}","atMs":1,"type":"note"}`, 'log.sequence'],
  ['another number, said a second time', `${start},"atMs":1,"type":"note","seq":8}`, 'log.sequence'],
  ['a text number', `{"seq":"7","prev":"${head}","atMs":1,"type":"note"}`, 'log.sequence'],
  ['another link', `{"seq":7,"prev":"${beginning.head}","atMs":1,"type":"note"}`, 'log.chain'],
  ['another link, said a second time', `${start},"prev":"x","atMs":1,"type":"note"}`, 'log.chain'],
  ['no type', `${start},"atMs":1}`, 'log.record.invalid'],
  ['no time', `${start},"type":"note"}`, 'log.record.invalid'],
  ['a text time', `${start},"atMs":"1","type":"note"}`, 'log.record.invalid'],
  ['nothing after its link', `${start},`, 'log.record.invalid'],
  ['something after its end', `${start},"atMs":1,"type":"note"}}`, 'log.record.invalid'],
  ['brackets', `[${start},"atMs":1,"type":"note"}]`, 'log.record.invalid'],
  ['a byte order mark', `\ufeff${start},"atMs":1,"type":"note"}`, 'log.record.invalid'],
])('a record with %s is rejected', (_what, text, code) => {
  expect(parseRecord(text, place)).toMatchObject({ code });
});

test.each<[string, string, ChainPlace | string]>([
  ['a first record', `{"seq":0,"prev":"${beginning.head}","atMs":1,"type":"note"}`, beginning],
  ['a snapshot anywhere', `${start},"atMs":1,"type":"snapshot"}`, place],
  ['a later record', `${start},"atMs":1,"type":"note"}`, 'log.sequence'],
  ['a snapshot numbered 0', `{"seq":0,"prev":"${head}","atMs":1,"type":"snapshot"}`, 'log.chain'],
  ['a snapshot without a link', '{"seq":7,"prev":"x","atMs":1,"type":"snapshot"}', 'log.sequence'],
  ['a snapshot with half a number', `{"seq":7.5,"prev":"${head}","atMs":1,"type":"snapshot"}`, 'log.sequence'],
])('at the start of a file: %s', (_what, text, expected) => {
  expect(parseRecord(text, undefined)).toMatchObject(
    typeof expected === 'string' ? { code: expected } : { place: expected },
  );
});

test('the link of a line is the SHA-256 of its bytes', () => {
  expect(linkOf('größe')).toBe(linkOf(Buffer.from('größe')));
  expect(linkOf('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
});
