import { expect, test } from 'vitest';
import { parseManifest } from './manifest.ts';

function parse(modules: unknown, others: object = {}): ReturnType<typeof parseManifest> {
  return parseManifest(JSON.stringify({ version: '1.0', modules, ...others }));
}

const digest = '0123456789abcdef'.repeat(4);

test('entries are in file order', () => {
  const parsing = parse({
    'qa.simple': { path: 'qa_simple.json', hash: null, tags: ['qa', 'qa', 'b'] },
    cot: { path: 'deep/er/cot.json', hash: digest.toUpperCase() },
    constructor: { path: 'c.json', hash: `sha256:${digest}`, tags: null },
  });
  expect(parsing).toEqual({
    type: 'manifest',
    entries: new Map([
      ['qa.simple', { path: 'qa_simple.json', hash: null, tags: ['qa', 'b'] }],
      ['cot', { path: 'deep/er/cot.json', hash: `sha256:${digest}`, tags: [] }],
      ['constructor', { path: 'c.json', hash: `sha256:${digest}`, tags: [] }],
    ]),
    problems: [],
  });
});

test.each([
  { text: '', message: /not JSON/, place: '' },
  { text: '[]', message: /object/, place: '' },
  { text: '{}', message: /version/, place: '' },
  { text: '{"version": "1.0", "modules": []}', message: /object/, place: 'modules' },
  { text: '{"version": 1, "modules": {}}', message: /string/, place: 'version' },
  { text: '{"version": "2.0", "modules": {}}', message: /Unknown version `2\.0`/, place: 'version' },
  { text: '{"version": "1.0", "modules": {"a": {"path": "a"}, "a": {"path": "b"}}}', message: /twice/, place: '' },
])('not a manifest: $text', ({ text, message, place }) => {
  expect(parseManifest(text)).toMatchObject({
    type: 'invalid',
    problems: expect.arrayContaining([
      {
        severity: 'error',
        code: 'modules.invalid',
        reason: 'manifest',
        place,
        message: expect.stringMatching(message),
      },
    ]),
  });
});

test.each([
  { entry: 'a.json', place: 'modules.x' },
  { entry: null, place: 'modules.x' },
  { entry: {}, place: 'modules.x' },
  { entry: { path: 3 }, place: 'modules.x.path' },
  { entry: { path: 'a.json', has: null }, place: 'modules.x.has' },
  { entry: { path: 'a.json', hash: 'abc' }, place: 'modules.x.hash' },
  { entry: { path: 'a.json', hash: `md5:${digest}` }, place: 'modules.x.hash' },
  { entry: { path: 'a.json', hash: `sha256:${digest}0` }, place: 'modules.x.hash' },
  { entry: { path: 'a.json', hash: 7 }, place: 'modules.x.hash' },
  { entry: { path: 'a.json', tags: 'qa' }, place: 'modules.x.tags' },
  { entry: { path: 'a.json', tags: [''] }, place: 'modules.x.tags[0]' },
])('an invalid entry affects only itself: $entry', ({ entry, place }) => {
  const parsing = parse({ x: entry, y: { path: 'y.json' } });
  expect(parsing).toMatchObject({
    type: 'manifest',
    entries: new Map([['y', { path: 'y.json', hash: null, tags: [] }]]),
    problems: expect.arrayContaining([
      expect.objectContaining({ severity: 'error', code: 'modules.invalid', reason: 'manifest', moduleId: 'x', place }),
    ]),
  });
});

test.each([
  '../x.json',
  'a/../../x.json',
  'a/../b.json',
  '/etc/passwd',
  '//server/share/x.json',
  '\\\\server\\share\\x.json',
  'a\\..\\b.json',
  'C:\\x.json',
  'C:/x.json',
  'c:x.json',
  'file:///etc/passwd',
  'FILE:x.json',
  'https://example.org/x.json',
  'x.json:stream',
  './x.json',
  'a/./x.json',
  'a//x.json',
  'a/',
  'a ',
  'a./x.json',
  'a /x.json',
  '.',
  '..',
  '',
  'x\0.json',
  'x\n.json',
  'x\u202e.json',
  'x\u200b.json',
  '\ud800.json',
  'x'.repeat(2000),
])('rejects the path %j', (path) => {
  const parsing = parse({ x: { path } });
  expect(parsing).toMatchObject({
    entries: new Map(),
    problems: [{ code: 'modules.invalid', reason: 'path', moduleId: 'x' }],
  });
  expect(JSON.stringify(parsing.problems).length).toBeLessThan(1000);
});

test.each(['x.json', 'a/b.json', 'a/b/c.txt', '...x', '..x/y', 'größe.json', 'a b.json', '~/x', '%2e%2e/x', '-x'])(
  'accepts the path %s',
  (path) => {
    expect(parse({ x: { path } })).toMatchObject({ entries: new Map([['x', { path, hash: null, tags: [] }]]) });
  },
);

test.each(['', 'a b', '../a', 'a/b', '-a', '.a', 'ä', 'a\0', 'a'.repeat(129)])('an invalid id: %j', (id) => {
  expect(parse({ [id]: { path: 'a.json' } })).toMatchObject({
    entries: new Map(),
    problems: [{ code: 'modules.invalid', reason: 'manifest', message: expect.stringContaining('A module id') }],
  });
});

test('of ids that differ only by case, the first counts', () => {
  expect(
    parse({ 'Qa.one': { path: 'a.json' }, 'qa.One': { path: 'b.json' }, 'qa.two': { path: 'c.json' } }),
  ).toMatchObject({
    entries: new Map([
      ['Qa.one', { path: 'a.json' }],
      ['qa.two', { path: 'c.json' }],
    ]),
    problems: [
      { code: 'modules.invalid', reason: 'id_twin', moduleId: 'qa.One', message: expect.stringContaining('`Qa.one`') },
    ],
  });
});

test('unknown keys next to `modules` are warnings', () => {
  expect(parse({ x: { path: 'x.json' } }, { $schema: 'https://example.org' })).toMatchObject({
    type: 'manifest',
    entries: new Map([['x', { path: 'x.json' }]]),
    problems: [{ severity: 'warning', code: 'modules.invalid', reason: 'manifest', place: '$schema' }],
  });
});

test('a manifest without modules lists none', () => {
  expect(parseManifest('{"version":"1.0"}')).toEqual({ type: 'manifest', entries: new Map(), problems: [] });
});

test.each(['1', '1.0', '1.2', '1.2.3'])('version %s', (version) => {
  expect(parseManifest(JSON.stringify({ version, modules: {} }))).toMatchObject({ type: 'manifest', problems: [] });
});

test.each([
  ['1', true],
  ['1.0', true],
  ['1.12.3', true],
  ['10', false],
  ['1.x', false],
  ['1.0.0.0', false],
  ['2.0', false],
])('version %s is known: %s', (version, isKnown) => {
  expect(parse({}, { version }).type).toBe(isKnown ? 'manifest' : 'invalid');
});

test('a very long version or key is cut in the message', () => {
  const long = 'x'.repeat(10_000);
  const problems = [...parse({}, { version: long }).problems, ...parse({}, { [long]: 1 }).problems];
  expect(problems).toHaveLength(2);
  for (const { message, place } of problems) expect(message.length + place.length).toBeLessThan(500);
});
