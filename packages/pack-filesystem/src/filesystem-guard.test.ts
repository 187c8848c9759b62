import { defineTool, type Json, type JsonObject, type Pack, type PolicyContext } from '@holdfast/core';
import { createFacts, fileFacts, memoryDisk, shellFacts } from '@holdfast/facts';
import { packPolicies } from '@holdfast/policy';
import { expect, test } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { filesystemGuard } from './filesystem-guard.ts';

const disk = memoryDisk({
  '/w/.env': 'TOKEN=tulip',
  '/w/.env.example': 'TOKEN=',
  '/w/.gitignore': '.env\n',
  '/w/src/a.ts': '',
  '/w/src/deep/b.ts': '',
  '/w/open/prod.key': 'tulip',
  '/w/link.md': { link: '.env' },
  '/w/dist/a.js': '',
  '/etc/passwd': '',
});
const view = { folder: '/w', workspace: '/w', disk };
const { describe } = createFacts({ describers: [shellFacts(), fileFacts()], view });
const context = { state: undefined, place: view } as unknown as PolicyContext; // The part that these policies use.

type Options = { readonly config?: JsonObject; readonly preset?: string; readonly effects?: 'none' | 'external' };

/** The answers of the policies, without those that allow. */
function check(name: string, input: Json, { config = {}, preset = 'recommended', effects = 'external' }: Options = {}) {
  const call = { id: 'c', tool: defineTool({ name, description: 'A tool of the tests.', effects }), input };
  const facts = describe(call, view);
  return packPolicies(filesystemGuard, { preset, config }).flatMap((policy) => {
    const decision = policy.check({ ...call, facts }, context);
    if (decision instanceof Promise || decision.type === 'allow') return [];
    return [`${policy.id.replace('filesystem-guard-', '')} ${decision.type}`];
  });
}

const run = (command: string, options?: Options) => check('bash', { command }, options);
const read = (path: string, options?: Options) => check('read_file', { path }, options);
const write = (path: string, options?: Options) => check('write_file', { path }, options);

test("has the package's version, and printable presets", () => {
  expect(filesystemGuard.version).toBe(manifest.version);
  expect(JSON.parse(JSON.stringify((filesystemGuard as Pack).presets))).toMatchObject({
    recommended: { config: { unclear: 'ask' } },
    strict: { config: { unclear: 'deny' } },
    observe: { observe: true },
  });
});

test.each<{ title: string; found: readonly string[]; recommended: readonly string[] }>([
  { title: 'a source', found: read('src/a.ts'), recommended: [] },
  { title: 'a secret', found: read('.env'), recommended: ['secret-files deny'] },
  { title: 'a secret behind a link', found: read('link.md'), recommended: ['secret-files deny'] },
  { title: 'an example', found: read('.env.example'), recommended: [] },
  { title: 'the same in a command', found: run('base64 < src/../link.md'), recommended: ['secret-files deny'] },
  { title: 'a secret that is written', found: write('new.pem'), recommended: ['secret-files deny'] },
  { title: 'a secret that is deleted', found: run('rm .env'), recommended: ['secret-files deny'] },
  { title: 'a search that skips it', found: run('rg TODO src'), recommended: [] },
  { title: 'a search that includes it', found: run('grep -r TODO .'), recommended: ['secret-files ask'] },
  { title: 'a search of visible files', found: run('rg TODO'), recommended: ['secret-files ask'] },
  { title: 'the same with a tool', found: check('grep_files', { path: 'open' }), recommended: ['secret-files ask'] },
  { title: 'an unknown word', found: run('cat $x'), recommended: ['secret-files ask'] },
  { title: 'an unknown source', found: run('cat "src/$x.ts"'), recommended: [] },
  { title: 'words that end like a source', found: run('cat src/$x.ts'), recommended: ['secret-files ask'] },
  { title: 'an unknown program', found: run('frobnicate'), recommended: ['secret-files ask'] },
  { title: 'code of the workspace', found: run('npm test'), recommended: [] },
  { title: 'the folder of Git', found: write('.git/hooks/a'), recommended: ['read-only-files deny'] },
  { title: 'what runs by itself', found: write('package.json'), recommended: ['read-only-files ask'] },
  { title: 'a folder that is regenerated', found: run('rm -rf dist'), recommended: [] },
  { title: 'a folder of sources', found: run('rm -rf src'), recommended: ['read-only-files ask'] },
  { title: 'the workspace', found: run('rm -rf .'), recommended: ['secret-files ask', 'read-only-files ask'] },
  { title: 'outside', found: read('/etc/passwd'), recommended: ['outside-files ask'] },
  { title: 'a folder of programs', found: read('/usr/include/stdio.h'), recommended: [] },
  { title: 'a temporary folder', found: write('/tmp/a'), recommended: [] },
  { title: 'outside, written', found: write('/usr/lib/a'), recommended: ['outside-files ask'] },
])('$title: $recommended', ({ found, recommended }) => {
  expect(found).toEqual(recommended);
});

test('`strict` never asks', () => {
  const preset = { preset: 'strict' };
  expect(run('grep -r TODO .', preset)).toEqual(['secret-files deny']);
  expect(run('cat $x', preset)).toEqual(['secret-files deny']);
  expect(run('npm test', preset)).toEqual(['secret-files deny']);
  expect(run('rm -rf src', preset)).toEqual(['read-only-files deny']);
  expect(write('package.json', preset)).toEqual(['read-only-files deny']);
  expect(read('/etc/passwd', preset)).toEqual(['outside-files deny']);
  expect(read('src/a.ts', preset)).toEqual([]);
});

test('a tool without external effects is judged by the files it touched', () => {
  expect(check('weigh', { path: '.env' })).toEqual(['secret-files ask']);
  expect(check('weigh', { path: '.env' }, { effects: 'none' })).toEqual([]);
});

test('the host defines secrets, read-only files and scope', () => {
  expect(read('src/a.ts', { config: { secrets: ['src'] } })).toEqual(['secret-files deny']);
  expect(run('cat docs/$x.ts', { config: { secrets: ['*.ts'] } })).toEqual(['secret-files ask']);
  expect(read('.env', { config: { notSecret: ['.env'] } })).toEqual([]);
  expect(write('src/a.ts', { config: { readOnly: ['src/**'] } })).toEqual(['read-only-files deny']);
  const config = { read: ['src', './docs/'], write: ['docs'] };
  expect(read('src/deep/b.ts', { config })).toEqual([]);
  expect(run('cat dist/a.js', { config })).toEqual(['path-scope deny']);
  expect(write('docs/a.md', { config })).toEqual([]);
  expect(run('rm src/a.ts', { config })).toEqual(['path-scope deny']);
  expect(read('README.md', { config: { read: [''] } })).toEqual([]);
});

test('without facts every call is denied with an explanation', () => {
  const call = { id: 'c', tool: defineTool({ name: 'read_file', description: 'Reads.', effects: 'none' }), input: {} };
  for (const policy of packPolicies(filesystemGuard))
    expect(policy.check(call, context)).toMatchObject({ type: 'deny', reason: expect.stringContaining('createFacts') });
});

test.each<{ config: JsonObject; says: string }>([
  { config: { secrets: ['a/../b'] }, says: 'secrets[0]' },
  { config: { notSecret: [''] }, says: 'notSecret[0]' },
  { config: { readOnly: ['[a'] }, says: 'must be a pattern' },
  { config: { secrets: '.env' }, says: 'secrets' },
  { config: { read: ['../x'] }, says: 'relative to the root' },
  { config: { write: ['*.ts'] }, says: 'relative to the root' },
  { config: { readers: { cat: 'file' } }, says: 'fileFacts' },
  { config: { writers: { put: 'file' } }, says: 'fileFacts' },
  { config: { searchers: { ack: { path: 'in' } } }, says: 'fileFacts' },
  { config: { outside: 'never' }, says: 'outside' },
  { config: { secret: ['.env'] }, says: 'Unknown key' },
])('rejects $config', ({ config, says }) => {
  expect(() => packPolicies(filesystemGuard, { config })).toThrow(
    expect.objectContaining({ code: 'pack.invalid', reason: 'config', message: expect.stringContaining(says) }),
  );
});
