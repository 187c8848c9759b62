import { HoldfastError, type Json } from '@holdfast/core';
import { expect, test } from 'vitest';
import { every } from './combinators.ts';
import { callOf, folder, resultOf, runPolicy } from './fixtures.ts';
import { pathScope } from './path-scope.ts';

const files = folder(new Map([['src/a.ts', 'v1']]), ['src']);
const scope = { read: ['src', '/docs/', './README.md'], write: ['src/generated'] };

test.each<{ name: string; input: Json; type: string }>([
  { name: 'read_file', input: { path: 'src/a.ts' }, type: 'allow' },
  { name: 'read_file', input: { path: './src//b/../b/c.ts' }, type: 'deny' },
  { name: 'read_file', input: { path: '/src/./b//c.ts' }, type: 'allow' },
  { name: 'read_file', input: { path: 'docs/a.md' }, type: 'allow' },
  { name: 'read_file', input: { path: 'README.md' }, type: 'allow' },
  { name: 'read_file', input: { path: 'README.md.bak' }, type: 'deny' },
  { name: 'read_file', input: { path: 'srcs/a.ts' }, type: 'deny' },
  { name: 'read_file', input: { path: 'SRC/a.ts' }, type: 'deny' },
  { name: 'read_file', input: { path: '.env' }, type: 'deny' },
  { name: 'read_file', input: { path: '../src/a.ts' }, type: 'deny' },
  { name: 'read_file', input: { path: ['src/a.ts'] }, type: 'allow' },
  { name: 'read_file', input: { path: ['src/a.ts', '.env'] }, type: 'deny' },
  { name: 'read_file', input: { path: [['src/a.ts']] }, type: 'deny' },
  { name: 'read_file', input: { path: { toString: 'src' } }, type: 'deny' },
  { name: 'read_file', input: {}, type: 'deny' },
  { name: 'read_file', input: null, type: 'deny' },
  { name: 'read_file', input: 'src/a.ts', type: 'deny' },
  { name: 'list_files', input: { path: 'src' }, type: 'allow' },
  { name: 'list_files', input: { path: '.' }, type: 'deny' },
  { name: 'grep_files', input: { path: '' }, type: 'deny' },
  { name: 'grep_files', input: { path: 'src/b' }, type: 'allow' },
  { name: 'glob_files', input: { pattern: 'src/**/*.ts' }, type: 'allow' },
  { name: 'glob_files', input: { pattern: '*.ts' }, type: 'deny' },
  { name: 'glob_files', input: { pattern: 's*/a.ts' }, type: 'deny' },
  { name: 'glob_files', input: { pattern: '{src,.git}/*' }, type: 'deny' },
  { name: 'glob_files', input: { pattern: 'src/{a,../../.git}/*' }, type: 'deny' },
  { name: 'write_file', input: { path: 'src/generated/a.ts' }, type: 'allow' },
  { name: 'write_file', input: { path: 'src/a.ts' }, type: 'deny' },
  { name: 'delete_file', input: { path: 'src/a.ts' }, type: 'deny' },
  // Editing reveals content, so it counts as reading.
  { name: 'edit_file', input: { path: 'src/generated/a.ts' }, type: 'allow' },
  { name: 'edit_file', input: { path: 'docs/a.md' }, type: 'deny' },
  { name: 'send_mail', input: { path: '.env' }, type: 'allow' },
])('$name $input: $type', async ({ name, input, type }) => {
  expect(await runPolicy(pathScope(scope), files).check(callOf(name, input))).toMatchObject({ type });
});

test('a link counts as its target', async () => {
  const links = new Map([
    ['src/link', 'secrets/key'],
    ['here/a.ts', 'src/a.ts'],
  ]);
  const linked = { ...files, resolve: async (path: string) => links.get(path) ?? path };
  const run = runPolicy(pathScope(scope), linked);
  expect(await run.check(callOf('read_file', { path: 'src/link' }))).toEqual({
    type: 'deny',
    reason: '`secrets/key` must not be read: only `src`, `docs`, `README.md` may be.',
  });
  expect(await run.check(callOf('read_file', { path: 'here/a.ts' }))).toMatchObject({ type: 'allow' });
});

test('a call that was denied, then allowed by a second check, is held to the scope', async () => {
  let target = 'secrets/key';
  const run = runPolicy(pathScope(scope), { ...files, resolve: async () => target });
  const call = callOf('read_file', { path: 'src/link' });
  expect(await run.check(call)).toMatchObject({ type: 'deny' });
  target = 'src/a.ts';
  expect(await run.check(call)).toMatchObject({ type: 'allow' });
  expect(() => run.succeed(call, resultOf({ reads: [{ key: 'secrets/key', version: 'v1' }] }))).toThrow(
    expect.objectContaining({ code: 'policy.refused', reason: 'path_scope' }),
  );
});

test('reads and writes are separate; an omitted list allows all, an empty list nothing', async () => {
  const call = async (options: Parameters<typeof pathScope>[0], name: string) =>
    (await runPolicy(pathScope(options), files).check(callOf(name, { path: 'a' }))).type;
  expect(await call({ write: ['b'] }, 'read_file')).toBe('allow');
  expect(await call({ write: ['b'] }, 'write_file')).toBe('deny');
  expect(await call({ read: ['b'] }, 'write_file')).toBe('allow');
  expect(await call({ read: ['b'] }, 'edit_file')).toBe('deny');
  expect(await call({ read: [''], write: [] }, 'read_file')).toBe('allow');
  expect(await call({ read: [''], write: [] }, 'write_file')).toBe('deny');
  expect(await runPolicy(pathScope({ write: [] }), files).check(callOf('write_file', { path: '.' }))).toEqual({
    type: 'deny',
    reason: '`/` must not be written: nothing may be.',
  });
});

test('a scope in another Unicode form matches the folder', async () => {
  const run = runPolicy(pathScope({ read: ['cafe\u0301'] }), files);
  expect(await run.check(callOf('read_file', { path: 'caf\u00e9/a' }))).toMatchObject({ type: 'allow' });
});

test('custom tools are named with their arguments, and only they are mentioned', async () => {
  const policy = pathScope({ ...scope, readers: { fetch: 'from' }, writers: { save: 'to' }, id: 'own' });
  expect(policy).toMatchObject({ id: 'own', mentions: ['fetch', 'save'], state: undefined });
  expect(pathScope(scope).mentions).toEqual([]);
  const run = runPolicy(policy, files);
  expect(await run.check(callOf('fetch', { from: '.env' }))).toMatchObject({ type: 'deny' });
  expect(await run.check(callOf('save', { to: 'src/a.ts' }))).toMatchObject({ type: 'deny' });
  expect(await run.check(callOf('save', { path: 'src/generated/a' }))).toEqual({
    type: 'deny',
    reason: '`to` of `save` must be a path, or a list of paths.',
  });
  expect(await run.check(callOf('read_file', { path: '.env' }))).toMatchObject({ type: 'allow' });
});

test('without a filesystem calls are denied', async () => {
  const run = runPolicy(pathScope(scope));
  expect(await run.check(callOf('read_file', { path: 'src/a.ts' }))).toMatchObject({ type: 'deny' });
  expect(await run.check(callOf('send_mail'))).toMatchObject({ type: 'allow' });
});

test('a filesystem failure is thrown, which denies the call; a path error is the reason', async () => {
  const failing = (error: Error) => runPolicy(pathScope(scope), { ...files, resolve: () => Promise.reject(error) });
  const call = callOf('read_file', { path: 'src/a.ts' });
  await expect(failing(new Error('disk')).check(call)).rejects.toThrow('disk');
  expect(
    await failing(new HoldfastError('path.invalid', 'Not that.', { data: { reason: 'protected' } })).check(call),
  ).toEqual({
    type: 'deny',
    reason: 'Not that.',
  });
});

test.each([
  { touched: { reads: [{ key: 'src/a.ts', version: 'v1' }] }, path: undefined },
  {
    touched: {
      reads: [
        { key: 'src/a.ts', version: 'v1' },
        { key: '.env', version: 'v1' },
      ],
    },
    path: '.env',
    use: 'read',
  },
  { touched: { reads: [{ key: '.env', version: null }] }, path: '.env', use: 'read' },
  { touched: { writes: [{ key: 'src/generated/a', before: null, after: 'v1' }] }, path: undefined },
  { touched: { writes: [{ key: 'src/a.ts', before: 'v1', after: 'v2' }] }, path: 'src/a.ts', use: 'written' },
  { touched: { writes: [{ key: 'src', before: null, after: 'directory' }] }, path: 'src', use: 'written' },
])('policy.refused: path_scope: any tool that touches $touched', async ({ touched, path, use }) => {
  for (const policy of [pathScope(scope), every(pathScope(scope))]) {
    const succeed = (): void => runPolicy(policy, files).succeed(callOf('sync'), resultOf(touched));
    if (path === undefined) expect(succeed).not.toThrow();
    else
      expect(succeed).toThrow(
        expect.objectContaining({
          code: 'policy.refused',
          reason: 'path_scope',
          data: { reason: 'path_scope', tool: 'sync', path, use },
        }),
      );
  }
  expect(() =>
    runPolicy(pathScope(scope)).succeed(callOf('sync'), { value: 1, message: '', touched: new Map() }),
  ).not.toThrow();
});

// The casts stand for an untyped host.
test.each([
  {},
  { read: 'src' as unknown as string[] },
  { read: [7] as unknown as string[] },
  { read: ['../src'] },
  { read: ['src/../..'] },
  { write: ['src/*'] },
  { write: ['src\\a'] },
  { write: ['src\n'] },
  { read: ['src'], readers: { fetch: '' } },
  { read: ['src'], readers: 'fetch' as unknown as Record<string, string> },
  { read: ['src'], readers: [] as unknown as Record<string, string> },
  { read: ['src'], writers: { save: 7 as unknown as string } },
])('%j is options.invalid', (options) => {
  expect(() => pathScope(options)).toThrow(expect.objectContaining({ code: 'options.invalid' }));
});

test.each([
  { readers: { Fetch: 'from' }, code: 'tool.invalid', reason: 'name.invalid' },
  { readers: { constructor: 'from' } as Record<string, string>, code: 'tool.invalid', reason: 'name.reserved' },
])('$readers is $code', ({ readers, code, reason }) => {
  expect(() => pathScope({ read: ['src'], readers })).toThrow(expect.objectContaining({ code, reason }));
});
