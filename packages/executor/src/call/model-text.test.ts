import { defineTool } from '@holdfast/core';
import { forModel } from '@holdfast/core/internal';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { testSession } from '../fixtures.ts';
import { executeToolCall } from '../index.ts';

test.each([
  ['open:/home/bob/secret', 'open:<path>'],
  ['C:/Users/bob/x and d:\\', '<path> and <path>'],
  [String.raw`copy \\server\share\bob to \\?\C:\bob`, 'copy <path> to <path>'],
  ['//server/share/bob', '<path>'],
  ['/data/a.csv, /nix/store/abc-x; /run/secrets/db: denied', '<path>, <path>; <path>: denied'],
  ['(/Volumes/bob) [/Applications/X.app] </mnt/x/y>', '(<path>) [<path>] <<path>>'],
  ['~/.ssh/id_rsa, ~bob/x', '<path>, <path>'],
  ["'/root' in /home. /tmp!", "'<path>' in <path>. <path>!"],
  ["ENOENT: open '/home/bob smith/a secret.txt'", "ENOENT: open '<path>'"],
  ["open '/home/bob's own/secret.txt', then \"/data/my own/x\"", 'open \'<path>\', then "<path>"'],
  ['open `C:\\Users\\bob smith\\x y.txt`', 'open `<path>`'],
  [String.raw`C:\Program Files\my tool\x.exe failed`, '<path> failed'],
  [String.raw`open /home/bob\ smith/secret.txt`, 'open <path>'],
  // Where the name ends cannot be known.
  ['open /home/bob smith/secret.txt', 'open <path> smith/secret.txt'],
  ['/home/bob/app/[id]/(auth)/page.tsx:3:4', '<path>'],
  ['file:///etc/passwd FILE:///etc/passwd file:/etc/x', '<path> <path> <path>'],
  ['webpack:///home/bob/x vscode://file/home/bob/x', 'webpack:<path> vscode:<path>'],
  ['http://localhost/x?file=/home/bob/x', 'http://localhost/x?file=<path>'],
  ['gcc -I/home/bob/include --root=/home/bob', 'gcc -I<path> --root=<path>'],
  [String.raw`{"out":"a\n/home/bob/x","path":"/home/bob smith/x","php":"\/home\/bob\/x"}`, /^(?!.*(bob|smith|home))/],
  ['\u001b[31m/home/bob/x\u001b[0m', '[31m<path>[0m'],
  ['/ho\u200bme/bob C:\u200b\\Users\\bob', '<path> <path>'],
  ['<file>/home/bob/x</file>', '<file><path></file>'],
  [
    '/v1/orders.csv, /api/src/index.ts, /v1/../etc, GET /home/bob, GET /app/a.js',
    '<path>, <path>, <path>, GET <path>, GET <path>',
  ],
])('no host path: %s', (message, expected) => {
  expect(forModel(message)).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected));
});

test.each([
  'src/a.ts, ./a/b, ../a/b, a/b/c and/or d',
  '`/` is a folder, `/notes.txt` is none, /data.csv, /home-made and /run.sh are missing.',
  'https://example.com/a/b, http://localhost:3000/home/x#/route/a s3://bucket/key/x example.com/a/b',
  'src/[id]/page.tsx, {root}/a/b, @/components/x/y, **/a/*.ts, #/$defs/a/b',
  '</div>, <home/>, // a comment/x, I/O, 1/2/3, text/html, 12:30, x:y',
  'expected /^[a-z]+$/u or /^a\\/b$/, got `\\d+`',
  'It happened\nat 12:30:45\nat the office (home): 3',
  'There is no /v1/orders/17?all=1, /api/orders or "/v2/users"; try GET /orders/17 or `POST /orders/{id}/refund`.',
  'Tabs\tand line breaks\nstay, and so do 日本語 and 😀.',
  '',
])('stays as it is: %s', (message) => {
  expect(forModel(message)).toBe(message);
});

test('no stack: the lines of one are cut', () => {
  const { stack = '' } = new TypeError('broke');
  expect(forModel(`Failed: ${stack}\nTry again.`)).toBe('Failed: TypeError: broke\nTry again.');
  const foreign = [
    'Broke.',
    '    at async Promise.all (index 0)',
    '    at new Promise (<anonymous>)',
    '    at node:internal/timers:1:2\r',
    '\tat com.example.Main.run(Main.java:12)',
    'run@file:///x/y.js:1:2',
    'Traceback:',
    '  File "/x/y.py", line 3, in run',
    '    secret()',
    'ValueError: no',
  ].join('\n');
  expect(forModel(foreign)).toBe('Broke.\nTraceback:\nValueError: no');
});

test('no stack reaches a model through what a tool throws', async () => {
  const tool = defineTool({
    name: 'fail',
    description: 'Fails.',
    execute: () => {
      const { stack } = new Error('inner');
      throw new Error(`outer: ${stack}`);
    },
  });
  const { session } = testSession();
  const outcome = await executeToolCall({ id: 'a', name: 'fail', arguments: '' }, { tools: [tool], session });
  expect(outcome).toMatchObject({ code: 'tool.threw', text: expect.stringContaining('outer: Error: inner') });
  expect(JSON.stringify(outcome)).not.toMatch(/\bat |model-text|:\d+:\d+/);
});

test('nothing invisible: controls, directions, zero widths, fillers, selectors, tags, separators', () => {
  expect(forModel('a\u0000\u001b\r\u202e\u200b\ufeff\u2060\u00ad\u3164\u034f\ufe0f\u{e0041}\u{e0101}\u2028b')).toBe(
    'ab',
  );
});

test.each([997, 998, 999, 1_000])('the cut splits no character: %i letters, then faces', (count) => {
  const cut = forModel(`${'a'.repeat(count)}😀😀`);
  expect(cut.isWellFormed()).toBe(true);
  expect(cut).toMatch(/^a+(😀)?…$/u);
  expect(cut.length).toBeGreaterThanOrEqual(999);
  expect(cut.length).toBeLessThanOrEqual(1_000);
});

test('exactly 1,000 characters are not cut, and what is lone becomes well-formed', () => {
  expect(forModel('b'.repeat(1_000))).toBe('b'.repeat(1_000));
  expect(forModel('a\ud83d b\ude00')).toBe('a\ufffd b\ufffd');
});

test('whatever the text: at most 1,000 characters, well-formed, and without the path that is in it', () => {
  const part = fc.oneof(
    fc.constantFrom('/home/bob/x', '/', '\\', "'", '"', '`', ' ', ':', 'C:\\', '~', '\n', ' at f (x:1:2)', '<path>'),
    fc.string({ unit: 'binary', maxLength: 5 }),
    fc.string({ maxLength: 400 }),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 20 }), (pieces) => {
      const once = forModel(pieces.join(''));
      expect(once.length).toBeLessThanOrEqual(1_000);
      expect(once.isWellFormed()).toBe(true);
      expect(once).not.toMatch(/(?:^|\s)\/home\/bob/);
    }),
  );
});

test.each([
  '/a',
  "'/a/b'c",
  '\\\\a',
  'C:\\a ',
  'at (',
  ' at /:1',
  '~',
  'x@y:1',
  '"/',
  '/home',
  '://',
  '/a ',
  '\n at .:1:1',
  '`/a/ ',
  '\\n/a',
  '\u200b',
  '-I/',
  'File "',
  'a',
  '/~/',
  ' ',
  ':',
  '/a/[',
  '/a/(',
  '.',
  '\n ',
  '\ud83d',
  '\u001b[1',
])('a million characters of %j take no long time', (piece) => {
  const hostile = piece.repeat(Math.ceil(1_000_000 / piece.length));
  for (const message of [hostile, `${hostile}!`, `/a/b${hostile}`, `'/a/b${hostile}`, `at x${hostile}`]) {
    expect(forModel(message).length).toBeLessThanOrEqual(1_000);
  }
});
