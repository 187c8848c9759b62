import { expect, test } from 'vitest';
import { findForms, type Kind, toForm } from './forms.ts';

test.each<[Kind, string | number, string | number]>([
  ['address', 'Bob.Smith@Example.COM', 'Bob Smith <bob.smith@example.com>'],
  ['address', 'mailto:bob@example.com', 'bob@example.com.'],
  ['host', 'https://API.example.org./v1?x=1', 'api.example.org'],
  ['host', 'bücher.example', 'xn--bcher-kva.example'],
  ['url', 'HTTPS://Example.org:443/a#top', 'https://example.org/a'],
  ['path', './notes//a/../b.txt', 'notes/b.txt'],
  ['path', 'C:\\notes\\b.txt', 'C:/notes/b.txt'],
  ['phone', '+49 (30) 1234-567', '0049301234567'],
  ['account', 'gb29 nwbk 6016-1331 9268 19', 'GB29NWBK60161331926819'],
  ['amount', '€1,250.50', '1250.5'],
  ['amount', '1.250,50 EUR', 1250.5],
  ['amount', '0050', 50],
  ['id', ' 7 ', 7],
  ['text', ' Main  Street 5', 'main street 5'],
  ['any', 'BOB@example.com', 'bob@example.com'],
])('as %s, %j and %j are one value', (kind, one, other) => {
  expect(toForm(kind, one)).toBeDefined();
  expect(toForm(kind, other)).toBe(toForm(kind, one));
});

test.each<[Kind, string, string]>([
  ['address', 'alice@example.com', 'аlice@example.com'],
  ['address', 'alice@example.com', 'alice@example.com.evil.example'],
  ['host', 'example.com', 'example.com.evil.example'],
  ['host', 'example.com', 'example.com:8443'],
  ['url', 'https://example.com/a', 'https://example.com/a?to=evil'],
  ['path', '/srv/bob/a', '/srv/bob/a/../../eve/a'],
  ['account', 'DE89370400440532013000', 'DE89370400440532013001'],
  ['amount', '12.5', '125'],
  ['id', 'File_A', 'file_a'],
])('as %s, %j is not %j', (kind, one, other) => {
  expect(toForm(kind, other)).not.toBe(toForm(kind, one));
});

test.each<[Kind, string]>([
  ['address', 'bob at example.com'],
  ['address', 'bob@example.com@evil.example'],
  ['host', 'https://example.com@evil.example/'],
  ['url', 'https://user:word@example.com/'],
  ['url', 'example'],
  ['phone', 'call me'],
  ['amount', 'much'],
  ['text', '   '],
  ['text', 'x'.repeat(501)],
])('as %s, %j has no form', (kind, value) => {
  expect(toForm(kind, value)).toBeUndefined();
});

test.each([
  ['Write to <bob@example.com>, please.', 'address:bob@example.com'],
  ['See https://example.com/a?b=1.', 'url:https://example.com/a?b=1'],
  ['See https://example.com/a.', 'host:example.com'],
  ['Pay to IBAN GB29 NWBK 6016 1331 9268 19 NOW', 'account:GB29NWBK60161331926819'],
  ['Call +1 (555) 123-4567!', 'phone:+15551234567'],
  ['It costs $1,200.00', 'amount:1200'],
  ['It is in docs/a/../b.txt', 'path:docs/b.txt'],
  ['The event_17 moved', 'id:event_17'],
])('in %j it finds %s', (text, form) => {
  expect(findForms(text)).toContain(form);
});

test('finds values in a long hostile text in linear time', () => {
  for (const text of ['a'.repeat(100_000), '@'.repeat(100_000), 'A1 '.repeat(30_000), '=?'.repeat(50_000)])
    expect(findForms(text).size).toBeLessThan(1_000);
});
