import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTool, type JsonObject, type Policy } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { fileTools, memoryFilesystem } from '@holdfast/filesystem';
import { hostFilesystem } from '@holdfast/filesystem/node';
import { filesystemGuard } from '@holdfast/pack-filesystem';
import { every, type PackOptions, packPolicies, requireApproval, some } from '@holdfast/policy';
import { createSession } from '@holdfast/session';
import fc from 'fast-check';
import * as v from 'valibot';
import { afterAll, expect, test } from 'vitest';
import { copyFile, files } from './packs/filesystem-cases.ts';

const root = mkdtempSync(join(tmpdir(), 'holdfast-guard-'));
const outside = mkdtempSync(join(tmpdir(), 'holdfast-outside-'));
afterAll(() => [root, outside].forEach((path) => void rmSync(path, { recursive: true, force: true })));
for (const [path, text] of Object.entries(files)) {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), text);
}
symlinkSync('.env', join(root, 'notes.txt'));
symlinkSync('.env', join(root, 'link.example'));
symlinkSync('.git', join(root, 'history'));
symlinkSync(outside, join(root, 'elsewhere'));

/** Looks into every file without having read any, and says less than `grep_files` does. */
const lookInto = defineTool({
  name: 'look_into',
  description: 'Count the files that hold a word.',
  inputSchema: v.object({ folder: v.optional(v.string(), ''), word: v.string() }),
  effects: 'none',
  async execute({ folder, word }, { filesystem }) {
    let count = 0;
    if (filesystem === undefined) return count;
    for await (const { path } of filesystem.walk(folder)) {
      const text = new TextDecoder().decode(await filesystem.read(path, { peek: true }));
      if (text.includes(word)) count += 1;
    }
    return count;
  },
});

interface Place {
  readonly filesystem?: unknown;
  readonly options?: PackOptions;
  readonly policies?: readonly Policy[];
  readonly approving?: boolean;
}

async function call(name: string, input: object, place: Place = {}) {
  const { filesystem = hostFilesystem(root), options, policies = packPolicies(filesystemGuard, options) } = place;
  const outcome = await executeToolCall(
    { name, arguments: input },
    {
      tools: [...fileTools(), copyFile, lookInto],
      session: createSession(),
      policies,
      resources: filesystem === null ? {} : { filesystem },
      ...(place.approving === true ? { approve: () => ({ type: 'approve' }) } : { unattended: true }),
    },
  );
  if (outcome.kind === 'suspended') throw new Error('nobody asks');
  return outcome;
}

test.each([
  { name: 'read_file', input: { path: 'notes.txt' }, kind: 'denied' },
  { name: 'read_file', input: { path: 'link.example' }, kind: 'denied' },
  { name: 'write_file', input: { path: 'notes.txt', content: 'new' }, kind: 'denied' },
  { name: 'delete_file', input: { path: '.env' }, kind: 'denied' },
  { name: 'write_file', input: { path: 'history/hooks/post-commit', content: 'new' }, kind: 'denied' },
  { name: 'edit_file', input: { path: '.env', oldText: 'tulip', newText: 'rose' }, kind: 'denied' },
  { name: 'read_file', input: { path: 'src/../.env' }, kind: 'denied' },
  { name: 'read_file', input: { path: '../.env' }, kind: 'denied' },
  { name: 'copy_file', input: { from: '.env', to: 'src/b.ts' }, kind: 'failed', code: 'policy.secret_files' },
  { name: 'copy_file', input: { from: 'src/a.ts', to: 'new.pem' }, kind: 'failed', code: 'policy.secret_files' },
  { name: 'copy_file', input: { from: 'src/a.ts', to: '.git/x' }, kind: 'failed', code: 'path.protected' },
  { name: 'copy_file', input: { from: 'src/a.ts', to: 'kept/x' }, kind: 'failed', code: 'policy.read_only_files' },
  { name: 'copy_file', input: { from: 'src/a.ts', to: 'src/b.ts' }, kind: 'ok' },
])(
  'through links and by unknown tools: $name $input is $kind, and tells no secret',
  async ({ kind, code, ...asked }) => {
    const outcome = await call(asked.name, asked.input, { options: { config: { readOnly: ['kept'] } } });
    expect(outcome).toMatchObject({ kind, ...(code === undefined ? {} : { code }) });
    expect(outcome.text).not.toContain('tulip');
    expect(readFileSync(join(root, '.env'), 'utf8')).toBe(files['.env']);
  },
);

test('E15: a new file whose folder leads out of the workspace is denied', async () => {
  const write = { path: 'elsewhere/new.txt', content: 'new' };
  const outcome = await call('write_file', write);
  expect(outcome).toMatchObject({ kind: 'denied', message: expect.stringContaining('elsewhere/new.txt') });
  expect(outcome.text).not.toContain(outside);
  const named = { config: { write: ['docs'], writers: { copy_file: 'to' } } };
  expect(await call('copy_file', { from: 'src/a.ts', to: 'elsewhere/x' }, { options: named })).toMatchObject({
    kind: 'denied',
  });
});

test('a search is decided by the places of files alone: what they hold is not told, whatever is searched for', async () => {
  for (const pattern of ['tulip', 'TOKEN=t', 'TOKEN=x', 'nothing']) {
    const denied = await call('grep_files', { pattern });
    expect(denied).toMatchObject({ kind: 'denied', message: expect.stringContaining('must not be searched') });
    expect(denied.text).not.toContain('tulip');
    const ok = await call('grep_files', { pattern, path: 'src' });
    expect(ok).toMatchObject({ kind: 'ok', value: { matches: [] } });
  }
  expect(await call('grep_files', { pattern: 'flower', glob: '*.ts' })).toMatchObject({ kind: 'ok' });
  expect(await call('grep_files', { pattern: 'flower', path: 'none' })).toMatchObject({ kind: 'failed' });
});

const part = fc.constantFrom('a', 'src', '.env', 'key.pem', '.env.example', 'server.key', 'b.ts', '[x].pem');
const file = fc.array(part, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));
const globPart = fc.constantFrom('*', '**', '.*', '*.pem', '{a,.env}', '[x].pem', '.env*', 'src', 'b.ts', '?', '[a');
const glob = fc.array(globPart, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));

function isSecret(key: string): boolean {
  const names = key.split('/');
  // Only a file is an example.
  return names.at(-1) !== '.env.example' && names.some((name) => /^\.env(\.example)?$|\.(pem|key)$/u.test(name));
}

test('whatever the glob and the folder of a search are: a secret is never searched', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(file, { maxLength: 6 }),
      fc.option(glob),
      fc.constantFrom('.', 'a', 'src'),
      async (paths, wanted, path) => {
        const free = paths.filter((one) => !paths.some((other) => other !== one && other.startsWith(`${one}/`)));
        const contents = Object.fromEntries(free.map((key) => [key, isSecret(key) ? 'tulip' : 'open']));
        const input = { pattern: 'tu.ip|open', path, ...(wanted === null ? {} : { glob: wanted }) };
        const outcome = await call('grep_files', input, { filesystem: memoryFilesystem(contents) });
        expect(outcome.text).not.toContain('tulip');
        if (outcome.kind === 'failed') expect(outcome.code).not.toBe('policy.secret_files');
        // What is refused holds a secret that an unguarded search would have shown.
        const unguarded = await call('grep_files', input, { filesystem: memoryFilesystem(contents), policies: [] });
        if (outcome.kind === 'denied')
          expect(unguarded.kind === 'failed' || unguarded.text.includes('tulip')).toBe(true);
        else expect(outcome).toMatchObject({ kind: unguarded.kind, value: unguarded.value });
      },
    ),
    { numRuns: 100 },
  );
});

test('a search by a tool of the host is seen once it is named', async () => {
  const filesystem = memoryFilesystem(files);
  expect(await call('look_into', { word: 'tulip' }, { filesystem })).toMatchObject({ kind: 'ok' });
  const options = { config: { searchers: { look_into: { path: 'folder' } } } };
  expect(await call('look_into', { word: 'tulip' }, { filesystem, options })).toMatchObject({ kind: 'denied' });
  expect(await call('look_into', { word: 'x', folder: 'src' }, { filesystem, options })).toMatchObject({ kind: 'ok' });
  expect(await call('grep_files', { pattern: 'tulip' }, { filesystem, options })).toMatchObject({ kind: 'denied' });
});

test('a search behind a prefix is a search', async () => {
  const tools = fileTools().map((tool) => ({ ...tool, name: `dev_${tool.name}` }));
  const search = async (input: object) =>
    executeToolCall(
      { name: 'dev_grep_files', arguments: { pattern: 'tulip', ...input } },
      {
        tools,
        session: createSession(),
        policies: packPolicies(filesystemGuard),
        resources: { filesystem: memoryFilesystem(files) },
      },
    );
  expect(await search({})).toMatchObject({ kind: 'denied', message: expect.stringContaining('must not be searched') });
  expect(await search({ path: 'src' })).toMatchObject({ kind: 'ok', value: { matches: [] } });
});

test('a file that appears while it is searched for fails the search', async () => {
  const grep = defineTool({
    name: 'grep_files',
    description: 'Finds what was not there before.',
    inputSchema: v.object({ path: v.string() }),
    effects: 'none',
    execute: () => ({ matches: [{ path: '.env', line: 1, text: 'tulip' }] }),
  });
  const options = {
    session: createSession(),
    resources: { filesystem: memoryFilesystem({ a: '' }) },
    unattended: true,
  };
  const policies = packPolicies(filesystemGuard);
  const outcome = await executeToolCall(
    { name: 'grep_files', arguments: { path: '' } },
    { ...options, tools: [grep], policies },
  );
  expect(outcome).toMatchObject({ kind: 'failed', code: 'policy.secret_files' });
});

test('what is refused and a person approves goes on, and nothing beside it', async () => {
  const place = () => ({
    filesystem: memoryFilesystem(files),
    policies: [
      some(
        every(...packPolicies(filesystemGuard, { config: { readOnly: ['kept'] } })),
        requireApproval({ tools: fileTools().map(({ name }) => name) }),
      ),
    ],
    approving: true,
  });
  expect(await call('read_file', { path: '.env' }, place())).toMatchObject({ kind: 'ok' });
  expect(await call('grep_files', { pattern: 'tulip' }, place())).toMatchObject({ kind: 'ok' });
  expect(await call('write_file', { path: 'kept/x', content: '' }, place())).toMatchObject({ kind: 'ok' });
});

test('a yes to reading a secret is none to writing it', async () => {
  const place = () => ({
    filesystem: memoryFilesystem(files),
    policies: [
      some(
        every(...packPolicies(filesystemGuard, { config: { readers: { copy_file: 'from' } } })),
        requireApproval({ tools: ['copy_file'] }),
      ),
    ],
    approving: true,
  });
  expect(await call('copy_file', { from: '.env', to: 'src/b.ts' }, place())).toMatchObject({ kind: 'ok' });
  expect(await call('copy_file', { from: '.env', to: '.env' }, place())).toMatchObject({
    kind: 'failed',
    code: 'policy.secret_files',
  });
});

test('without a filesystem nothing is known of a path', async () => {
  const outcome = await call('read_file', { path: 'src/a.ts' }, { filesystem: null });
  expect(outcome).toMatchObject({ kind: 'denied', message: expect.stringContaining('no filesystem is bound') });
});

test('a tool that is named and not there is told where the policies meet the tools; a default is not', async () => {
  const meet = (config: JsonObject) =>
    executeToolCall(
      { name: 'look_into', arguments: { word: 'x' } },
      {
        tools: [lookInto],
        session: createSession(),
        policies: packPolicies(filesystemGuard, { config: { read: [''], ...config } }),
        resources: { filesystem: memoryFilesystem({}) },
      },
    );
  expect(await meet({})).toMatchObject({ kind: 'ok' });
  for (const config of [
    { readers: { cat: 'file' } },
    { writers: { put: 'file' } },
    { searchers: { ack: { path: 'in' } } },
  ]) {
    await expect(meet(config)).rejects.toMatchObject({ code: 'policy.tool.unknown' });
  }
});

test('a reason is short, however long the path is', async () => {
  const long = `${'deep/'.repeat(700)}.env`;
  const outcome = await call('read_file', { path: long }, { filesystem: memoryFilesystem({ [long]: 'x' }) });
  expect(outcome.kind).toBe('denied');
  expect(outcome.text.length).toBeLessThan(1_024);
});
