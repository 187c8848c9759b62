import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTool, type Policy } from '@holdfast/core';
import { executeToolCall, recoverSession } from '@holdfast/executor';
import { createFacts, fileFacts, memoryDisk } from '@holdfast/facts';
import { fileTools, memoryFilesystem } from '@holdfast/filesystem';
import { hostFilesystem } from '@holdfast/filesystem/node';
import { filesystemGuard, withoutSecrets } from '@holdfast/pack-filesystem';
import { packPolicies } from '@holdfast/policy';
import { createSession } from '@holdfast/session';
import fc from 'fast-check';
import * as v from 'valibot';
import { afterAll, expect, test } from 'vitest';
import { copyFile, files } from './packs/filesystem-cases.ts';

const root = mkdtempSync(join(tmpdir(), 'holdfast-hidden-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
for (const [path, text] of Object.entries(files)) {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), text);
}
symlinkSync('.env', join(root, 'notes.txt'));

/** Calls another tool: what is nested sees the same files. */
const nested = defineTool({
  name: 'nested',
  description: 'Copy a file by another tool.',
  inputSchema: v.object({ from: v.string(), to: v.string() }),
  effects: 'state',
  async execute(input, context) {
    const { kind, code } = await context.call('copy_file', input);
    return { kind, code: code ?? null };
  },
});

function createWorld(filesystem: unknown, policies: readonly Policy[] = packPolicies(filesystemGuard)) {
  const tools = [...fileTools(), copyFile, nested];
  // The host shows facts the same files as it shows tools.
  const shown = Object.keys(files).filter((path) => !/^(?:\.env|\.ssh.*|.*\.PEM|\.git\/config)$/.test(path));
  const disk = memoryDisk(Object.fromEntries(shown.map((path) => [`/w/${path}`, ''])));
  const facts = createFacts({ describers: [fileFacts()], view: { folder: '/w', workspace: '/w', disk } });
  const options = { tools, session: createSession(), policies, resources: { filesystem }, facts };
  return async (name: string, input: object) => {
    const outcome = await executeToolCall({ name, arguments: input }, options);
    if (outcome.kind === 'suspended') throw new Error('nobody asks');
    return outcome;
  };
}

test('a search over the whole workspace passes over what is secret', async () => {
  for (const filesystem of [memoryFilesystem(files), hostFilesystem(root)]) {
    const call = createWorld(withoutSecrets(filesystem));
    expect(await call('grep_files', { pattern: 'flower' })).toMatchObject({
      kind: 'ok',
      value: { matches: [{ path: 'src/a.ts' }] },
    });
    for (const pattern of ['tulip', 'TOKEN=t', 'TOKEN=x']) {
      expect(await call('grep_files', { pattern })).toMatchObject({
        kind: 'ok',
        value: { matches: [], filesSearched: 4 },
      });
    }
    const { value } = await call('glob_files', { pattern: '**' });
    expect(value).toEqual({
      paths: ['.env.example', '.github/workflows/ci.yml', 'certs/server.pub', 'src/a.ts'],
      more: 0,
    });
    const listed = await call('list_files', {});
    expect(JSON.stringify(listed.value)).not.toMatch(/"\.env"|\.ssh|notes\.txt/);
  }
});

test.each([
  { name: 'read_file', input: { path: '.env' }, code: 'path.invalid', reason: 'protected' },
  { name: 'read_file', input: { path: 'notes.txt' }, code: 'path.invalid', reason: 'protected' },
  { name: 'write_file', input: { path: 'x/.env.local', content: 'new' }, code: 'path.invalid', reason: 'protected' },
  { name: 'delete_file', input: { path: '.env' }, code: 'path.invalid', reason: 'protected' },
  { name: 'grep_files', input: { pattern: 'tulip', path: '.ssh' }, code: 'path.invalid', reason: 'protected' },
  { name: 'list_files', input: { path: '.ssh' }, code: 'path.invalid', reason: 'protected' },
  { name: 'copy_file', input: { from: 'src/a.ts', to: 'new.pem' }, code: 'path.invalid', reason: 'protected' },
  { name: 'copy_file', input: { from: 'src/a.ts', to: 'src/b.ts' } },
  { name: 'read_file', input: { path: '.env.example' } },
])('without a policy, too: $name $input ends with $code', async ({ name, input, code, reason }) => {
  const call = createWorld(withoutSecrets(hostFilesystem(root)), []);
  expect(await call(name, input)).toMatchObject({ kind: code === undefined ? 'ok' : 'failed', code, reason });
  expect(readFileSync(join(root, '.env'), 'utf8')).toBe(files['.env']);
});

test('nested calls meet the same files, and what they write is there', async () => {
  const call = createWorld(withoutSecrets(memoryFilesystem(files)), []);
  expect(await call('nested', { from: '.env', to: 'a' })).toMatchObject({ value: { code: 'path.invalid' } });
  expect(await call('nested', { from: 'src/a.ts', to: 'a' })).toMatchObject({ value: { kind: 'ok' } });
  expect(await call('read_file', { path: 'a' })).toMatchObject({ kind: 'ok', value: { text: files['src/a.ts'] } });
});

test('the host says what is secret and what is not', async () => {
  const call = createWorld(withoutSecrets(memoryFilesystem(files), { secrets: ['src'], notSecret: ['.env'] }), []);
  expect(await call('read_file', { path: '.env' })).toMatchObject({ kind: 'ok' });
  expect(await call('read_file', { path: 'src/a.ts' })).toMatchObject({
    kind: 'failed',
    code: 'path.invalid',
    reason: 'protected',
  });
  const misspelt: object = { secret: ['.env'] };
  for (const options of [{ secrets: ['a/../b'] }, { notSecret: [''] }, { secrets: '.env' as never }, misspelt]) {
    expect(() => withoutSecrets(memoryFilesystem({}), options)).toThrow(
      expect.objectContaining({ code: 'options.invalid' }),
    );
  }
});

test('what was left under way is settled by the filesystem that it hides', async () => {
  const filesystem = hostFilesystem(root);
  const hidden = withoutSecrets(filesystem);
  expect(await hidden.unsettled?.()).toEqual([]);
  expect(hidden.recover).toBeDefined();
  const tools = [...fileTools(), copyFile];
  await recoverSession({ session: createSession(), tools, resources: { filesystem: hidden } });
  expect(withoutSecrets(memoryFilesystem({})).unsettled).toBe(memoryFilesystem({}).unsettled);
});

const name = fc.constantFrom('.env', '.ENV', 'a.ts', 'key.pem', '.env.example', 'src', '..', '.', 'x');

test('no path leads to a secret, and every other path to the same file as before', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(name, { minLength: 1, maxLength: 4 }), async (names) => {
      const path = names.join('/');
      const contents = {
        '.env': 'tulip',
        'src/key.pem': 'tulip',
        'src/a.ts': 'open',
        '.env.example': 'open',
        'x/.env': 'tulip',
      };
      const plain = memoryFilesystem(contents);
      const hidden = withoutSecrets(plain).readOnly;
      const found = await hidden.readText(path).catch(({ reason }: { readonly reason?: string }) => reason);
      const before = await plain.readOnly.readText(path).catch(({ reason }: { readonly reason?: string }) => reason);
      if (before === 'tulip') expect(found).toBe('protected');
      else expect([before, 'protected']).toContain(found);
      if (before === 'open') expect(found).toBe('open');
    }),
  );
});
