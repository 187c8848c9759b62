import { expect, test } from 'vitest';
import { filePatterns, isFilePattern } from './file-patterns.ts';

test.each([
  { pattern: '.env', key: '.env', covered: true },
  { pattern: '.env', key: 'deploy/.env', covered: true },
  { pattern: '.env', key: '.ENV', covered: true },
  { pattern: '.ENV', key: '.env', covered: true },
  { pattern: '.env', key: '.environment', covered: false },
  { pattern: '.env', key: 'x.env', covered: false },
  { pattern: '.env', key: '.env/inner', covered: true },
  { pattern: '.env', key: '\uff0e\uff25nv', covered: true },
  { pattern: '.env', key: '.e\u200bnv', covered: true },
  { pattern: '.env', key: '.env::$DATA', covered: true },
  { pattern: '.env', key: ' .env\u00a0', covered: true },
  { pattern: '/.env', key: 'deploy/.env', covered: true },
  { pattern: '*.pem', key: 'certs/server.PEM', covered: true },
  { pattern: '**/.aws/credentials', key: '.aws/credentials', covered: true },
  { pattern: '**/.aws/credentials', key: 'home/.aws/credentials', covered: true },
  { pattern: '**/.aws/credentials', key: 'aws/credentials', covered: false },
  { pattern: 'config/{a,b}.json', key: 'config/b.json', covered: true },
  { pattern: 'config/{a,b}.json', key: 'other/config/b.json', covered: false },
  { pattern: 'config/**', key: 'config/deep/b.json', covered: true },
  { pattern: '**/config/**/', key: 'a/config/b.json', covered: true },
  { pattern: '**', key: 'a', covered: true },
  { pattern: 'config/*', key: 'config/deep/b.json', covered: true },
  { pattern: 'a+(b)|c$', key: 'a+(b)|c$', covered: true },
  { pattern: 'a+(b)|c$', key: 'c', covered: false },
  { pattern: '!.env', key: 'a.ts', covered: false },
])('`$pattern` and `$key`: $covered', ({ pattern, key, covered }) => {
  expect(isFilePattern(pattern)).toBe(true);
  expect(filePatterns([pattern]).covers(key)).toBe(covered);
  expect(filePatterns(['never', pattern, 'no/ne']).covers(key)).toBe(covered);
});

test('`has` only looks at the file itself, and no patterns match nothing', () => {
  expect(filePatterns(['*.example']).has('x.example/.env')).toBe(false);
  expect(filePatterns(['*.example']).has('x/.env.example')).toBe(true);
  expect(filePatterns([]).covers('a')).toBe(false);
});

test.each([
  '',
  '/',
  './.',
  '..',
  'a/../b',
  'a\\b',
  'a\nb',
  '[a',
  '{a',
  '\ud800',
  'x'.repeat(501),
  'a*b*c*d*e',
  '**/a/**/b',
  '{a,b}{a,b}{a,b}{a,b}',
])('%j is not a pattern', (pattern) => {
  expect(isFilePattern(pattern)).toBe(false);
});

test('a pattern matches in bounded time', () => {
  const slow = filePatterns(['*a*a*b', '**/*a*a*b/c', '**/{a*,b*}*/{a*,*b}/c']);
  // The longest name and paths that the filesystem supports.
  const deep = `${'aax/'.repeat(1_000)}d`;
  for (const key of ['a'.repeat(255), deep, `${'a'.repeat(250)}/`.repeat(16)]) expect(slow.covers(key)).toBe(false);
});
