import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTool, type Policy, type Tool, toolOk } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { fileTools, memoryFilesystem } from '@holdfast/filesystem';
import { hostFilesystem } from '@holdfast/filesystem/node';
import { observe, pathScope, readBeforeWrite, requireApproval, some } from '@holdfast/policy';
import { createSession } from '@holdfast/session';
import * as v from 'valibot';
import { afterAll, expect, test } from 'vitest';

const root = mkdtempSync(join(tmpdir(), 'holdfast-scope-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
mkdirSync(join(root, 'src', 'generated'), { recursive: true });
mkdirSync(join(root, 'secrets'));
writeFileSync(join(root, 'src', 'a.ts'), 'const a = 1;\n');
writeFileSync(join(root, 'secrets', 'key'), 'secret\n');
symlinkSync(join('..', 'secrets', 'key'), join(root, 'src', 'link'));
symlinkSync(join('..', 'secrets'), join(root, 'src', 'folder'));
symlinkSync(join('src', 'a.ts'), join(root, 'alias.ts'));

const contents = { 'src/a.ts': 'const a = 1;\n', 'secrets/key': 'secret\n' };
const scope = pathScope({ read: ['src'], write: ['src/generated'] });

/** Copies by itself, with names that no policy knows. */
const copyTool: Tool = defineTool({
  name: 'copy',
  description: 'Copy a file.',
  inputSchema: v.object({ from: v.string(), to: v.string() }),
  effects: 'state',
  async execute({ from, to }, { filesystem }) {
    await filesystem?.write(to, (await filesystem.readText(from)).toUpperCase());
    return toolOk(await filesystem?.readText(to));
  },
});

async function call(name: string, input: object, filesystem: unknown, policy: Policy<undefined> = scope) {
  const options = {
    tools: [...fileTools(), copyTool],
    session: createSession(),
    policies: [policy],
    resources: { filesystem },
  };
  const outcome = await executeToolCall({ name, arguments: input }, options);
  if (outcome.kind === 'suspended') throw new Error('nobody asks');
  return outcome;
}

test.each([
  { name: 'read_file', input: { path: 'src/a.ts' }, kind: 'ok' },
  { name: 'read_file', input: { path: '/src/./generated/../a.ts' }, kind: 'ok' },
  { name: 'read_file', input: { path: 'secrets/key' }, kind: 'denied' },
  { name: 'read_file', input: { path: 'src/../secrets/key' }, kind: 'denied' },
  { name: 'read_file', input: { path: 'src/../../secrets/key' }, kind: 'denied' },
  { name: 'read_file', input: { path: 'SECRETS/key' }, kind: 'denied' },
  { name: 'list_files', input: {}, kind: 'denied' },
  { name: 'list_files', input: { path: 'src' }, kind: 'ok' },
  { name: 'grep_files', input: { pattern: 'secret' }, kind: 'denied' },
  { name: 'grep_files', input: { pattern: 'secret', path: 'src' }, kind: 'ok' },
  { name: 'glob_files', input: { pattern: '**/key' }, kind: 'denied' },
  { name: 'glob_files', input: { pattern: 'key' }, kind: 'denied' },
  { name: 'glob_files', input: { pattern: 'src/{a,../../secrets}/*' }, kind: 'denied' },
  { name: 'write_file', input: { path: 'src/generated/b.ts', content: 'b' }, kind: 'ok' },
  { name: 'write_file', input: { path: 'src/b.ts', content: 'b' }, kind: 'denied' },
  { name: 'write_file', input: { path: 'src/generated/../b.ts', content: 'b' }, kind: 'denied' },
  { name: 'edit_file', input: { path: 'src/a.ts', oldText: '1', newText: '2' }, kind: 'denied' },
  { name: 'delete_file', input: { path: 'src/a.ts' }, kind: 'denied' },
  { name: 'copy', input: { from: 'src/a.ts', to: 'src/generated/c.ts' }, kind: 'ok' },
  { name: 'copy', input: { from: 'secrets/key', to: 'src/generated/c.ts' }, kind: 'failed' },
  { name: 'copy', input: { from: 'src/a.ts', to: 'c.ts' }, kind: 'failed' },
])('$name $input is $kind, in memory and in a folder, and tells no secret', async ({ name, input, kind }) => {
  for (const filesystem of [memoryFilesystem(contents), hostFilesystem(root)]) {
    const outcome = await call(name, input, filesystem);
    expect(outcome).toMatchObject({ kind });
    expect(outcome.text).not.toMatch(/secret\n/i);
    if (kind === 'failed') expect(outcome.reason).toBe('path_scope');
  }
  expect(readFileSync(join(root, 'src', 'a.ts'), 'utf8')).toBe('const a = 1;\n');
});

test.each([
  { name: 'read_file', input: { path: 'src/link' }, kind: 'denied' },
  { name: 'read_file', input: { path: 'src/folder/key' }, kind: 'denied' },
  { name: 'list_files', input: { path: 'src/folder' }, kind: 'denied' },
  { name: 'grep_files', input: { pattern: 'secret', path: 'src' }, kind: 'ok' },
  { name: 'glob_files', input: { pattern: 'src/**/key' }, kind: 'ok' },
  { name: 'read_file', input: { path: 'alias.ts' }, kind: 'ok' },
  { name: 'copy', input: { from: 'src/link', to: 'src/generated/d.ts' }, kind: 'failed' },
  { name: 'copy', input: { from: 'src/a.ts', to: 'src/folder/d.ts' }, kind: 'failed' },
])('links lead out of no scope: $name $input is $kind', async ({ name, input, kind }) => {
  const outcome = await call(name, input, hostFilesystem(root));
  expect(outcome).toMatchObject({ kind });
  expect(outcome.text).not.toMatch(/secret\n|secrets\/key:/i);
});

test('a scope that is tried out lets everything through, and is noted', async () => {
  const filesystem = memoryFilesystem(contents);
  expect(await call('read_file', { path: 'secrets/key' }, filesystem, observe(scope))).toMatchObject({ kind: 'ok' });
  expect(await call('copy', { from: 'secrets/key', to: 'c.ts' }, filesystem, observe(scope))).toMatchObject({
    kind: 'ok',
  });
});

test('what the scope refuses and a person approves goes on, and nothing beside it', async () => {
  const approved = async (name: string, input: object, policy: Policy) => {
    const filesystem = memoryFilesystem({ ...contents, '.env': 'key\n' });
    const options = {
      tools: [...fileTools(), copyTool],
      session: createSession(),
      policies: [some(policy, requireApproval({ tools: ['read_file', 'write_file', 'copy'] }))],
      resources: { filesystem },
    };
    const call = { id: 'c', name, arguments: input };
    expect(await executeToolCall(call, options)).toMatchObject({ kind: 'suspended' });
    return executeToolCall({ ...call, id: 'd' }, { ...options, approve: () => ({ type: 'approve' }) });
  };
  const copying = pathScope({ read: ['src'], write: ['src'], readers: { copy: 'from' }, writers: {} });
  expect(await approved('read_file', { path: './secrets/key' }, scope)).toMatchObject({ kind: 'ok' });
  expect(await approved('write_file', { path: '.env', content: 'new' }, scope)).toMatchObject({ kind: 'ok' });
  expect(await approved('copy', { from: 'secrets/key', to: 'src/c.ts' }, copying)).toMatchObject({ kind: 'ok' });
  // It may be read, and has not been asked about as something to write.
  expect(await approved('copy', { from: 'secrets/key', to: 'secrets/key' }, copying)).toMatchObject({
    kind: 'failed',
    code: 'policy.refused',
    reason: 'path_scope',
  });
  expect(await approved('write_file', { path: 'src/a.ts', content: 'new' }, readBeforeWrite())).toMatchObject({
    kind: 'ok',
  });
});
