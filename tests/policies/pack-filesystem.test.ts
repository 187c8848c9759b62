import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Policy } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { createFacts, fileFacts, memoryDisk } from '@holdfast/facts';
import { nodeDisk } from '@holdfast/facts/node';
import { fileTools, memoryFilesystem } from '@holdfast/filesystem';
import { hostFilesystem } from '@holdfast/filesystem/node';
import { filesystemGuard } from '@holdfast/pack-filesystem';
import { every, type PackOptions, packPolicies, requireApproval, some } from '@holdfast/policy';
import { createSession } from '@holdfast/session';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { copyFile, files } from './packs/filesystem-cases.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-guard-')));
// The guard knows it as a folder for temporary files, wherever `TMPDIR` is.
const outside = mkdtempSync('/tmp/holdfast-outside-');
afterAll(() => [root, outside].forEach((path) => void rmSync(path, { recursive: true, force: true })));
for (const [path, text] of Object.entries(files)) {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), text);
}
symlinkSync('.env', join(root, 'notes.txt'));
symlinkSync('.env', join(root, 'link.example'));
symlinkSync('.git', join(root, 'history'));
symlinkSync(outside, join(root, 'elsewhere'));

const describers = [fileFacts()];

/** The host's files: those of the disk, or others in memory. */
function factsOf(contents?: Readonly<Record<string, string>>, own = describers) {
  const workspace = contents === undefined ? root : '/w';
  const inMemory = (all: Readonly<Record<string, string>>): Parameters<typeof memoryDisk>[0] =>
    Object.fromEntries(Object.entries(all).map(([path, text]) => [`/w/${path}`, text]));
  const disk = contents === undefined ? nodeDisk(root) : memoryDisk(inMemory(contents));
  return createFacts({ describers: own, view: { folder: workspace, workspace, disk } });
}

interface Place {
  /** Default: those of the disk. */
  readonly contents?: Readonly<Record<string, string>>;
  readonly own?: typeof describers;
  readonly options?: PackOptions;
  readonly policies?: readonly Policy[];
  readonly approving?: boolean;
}

async function call(name: string, input: object, place: Place = {}) {
  const { contents, own, options, policies = packPolicies(filesystemGuard, options) } = place;
  const filesystem = contents === undefined ? hostFilesystem(root) : memoryFilesystem(contents);
  const outcome = await executeToolCall(
    { name, arguments: input },
    {
      tools: [...fileTools(), copyFile],
      session: createSession(),
      policies,
      resources: { filesystem },
      facts: factsOf(contents, own),
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
  {
    name: 'copy_file',
    input: { from: '.env', to: 'src/b.ts' },
    kind: 'failed',
    code: 'policy.refused',
    reason: 'secret_files',
  },
  {
    name: 'copy_file',
    input: { from: 'src/a.ts', to: 'new.pem' },
    kind: 'failed',
    code: 'policy.refused',
    reason: 'secret_files',
  },
  {
    name: 'copy_file',
    input: { from: 'src/a.ts', to: '.git/x' },
    kind: 'failed',
    code: 'path.invalid',
    reason: 'protected',
  },
  {
    name: 'copy_file',
    input: { from: 'src/a.ts', to: 'kept/x' },
    kind: 'failed',
    code: 'policy.refused',
    reason: 'read_only_files',
  },
  { name: 'copy_file', input: { from: 'src/a.ts', to: 'src/b.ts' }, kind: 'ok' },
])(
  'through links and by unknown tools: $name $input is $kind, and tells no secret',
  async ({ kind, code, reason, ...asked }) => {
    const outcome = await call(asked.name, asked.input, { options: { config: { readOnly: ['kept'] } } });
    expect(outcome).toMatchObject({ kind, ...(code === undefined ? {} : { code, reason }) });
    expect(outcome.text).not.toContain('tulip');
    expect(readFileSync(join(root, '.env'), 'utf8')).toBe(files['.env']);
  },
);

test('E15: a new file whose folder leads out of the workspace is refused', async () => {
  const write = { path: 'elsewhere/new.txt', content: 'new' };
  const outcome = await call('write_file', write);
  // In a folder for temporary files, where the guard lets calls write: the filesystem itself refuses.
  expect(outcome).toMatchObject({ kind: 'failed', message: expect.stringContaining('elsewhere/new.txt') });
  expect(outcome.text).not.toContain(outside);
});

test('a search is decided by the places of files alone: what they hold is not told, whatever is searched for', async () => {
  for (const pattern of ['tulip', 'TOKEN=t', 'TOKEN=x', 'nothing']) {
    const denied = await call('grep_files', { pattern });
    expect(denied).toMatchObject({
      kind: 'denied',
      message: expect.stringContaining('holds secrets and would be read'),
    });
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
        const outcome = await call('grep_files', input, { contents });
        expect(outcome.text).not.toContain('tulip');
        if (outcome.kind === 'failed') expect(outcome.reason).not.toBe('secret_files');
        if (outcome.kind === 'denied') return;
        const unguarded = await call('grep_files', input, { contents, policies: [] });
        expect(outcome).toMatchObject({ kind: unguarded.kind, value: unguarded.value });
      },
    ),
    { numRuns: 100 },
  );
});

test('what is refused and a person approves goes on, and nothing beside it', async () => {
  const place = () => ({
    contents: files,
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
    contents: files,
    own: [fileFacts({ tools: { copy_file: { reads: ['from'] } } })],
    policies: [some(every(...packPolicies(filesystemGuard)), requireApproval({ tools: ['copy_file'] }))],
    approving: true,
  });
  expect(await call('copy_file', { from: '.env', to: 'src/b.ts' }, place())).toMatchObject({ kind: 'ok' });
  expect(await call('copy_file', { from: '.env', to: '.env' }, place())).toMatchObject({
    kind: 'failed',
    code: 'policy.refused',
    reason: 'secret_files',
  });
});

test('a reason is short, however long the path is', async () => {
  const long = `${'deep/'.repeat(700)}.env`;
  const outcome = await call('read_file', { path: long }, { contents: { [long]: 'x' } });
  expect(outcome.kind).toBe('denied');
  expect(outcome.text.length).toBeLessThan(1_024);
});
