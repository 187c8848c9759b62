import type { Json } from '@holdfast/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { callOf, folder, type PolicyRun, resultOf, runPolicy } from './fixtures.ts';
import { readBeforeWrite } from './read-before-write.ts';

const write = (path: Json, name = 'write_file') => callOf(name, { path });
const readOf = (key: string, version: string | null) => resultOf({ reads: [{ key, version }] });
const writeOf = (key: string, before: string | null, after: string | null) =>
  resultOf({ writes: [{ key, before, after }] });
const unseen = { type: 'deny', reason: '`a.txt` exists and has not been read: read it first, then retry.' };
const stale = { type: 'deny', reason: '`a.txt` has changed since it was last read: read it again, then retry.' };

function start(files: Record<string, string> = { 'a.txt': 'v1' }): { run: PolicyRun; files: Map<string, string> } {
  const content = new Map(Object.entries(files));
  return { run: runPolicy(readBeforeWrite(), folder(content, ['src'])), files: content };
}

test.each([
  { title: 'E20: a new file', path: 'new.txt', type: 'allow' },
  { title: 'a file unread', path: 'a.txt', type: 'deny' },
  { title: 'E26, E13: through another spelling', path: './a.txt', type: 'deny' },
  { title: 'E28: through a leading slash', path: '/a.txt', type: 'deny' },
  { title: 'a folder', path: 'src', type: 'allow' },
  { title: 'a path outside of the workspace', path: '../a.txt', type: 'deny' },
  { title: 'no path', path: null, type: 'deny' },
])('$title: $type', async ({ path, type }) => {
  for (const name of ['write_file', 'edit_file', 'delete_file']) {
    expect(await start().run.check(write(path, name))).toMatchObject({ type });
  }
  expect(await start().run.check(write(path, 'read_file'))).toMatchObject({ type: 'allow' });
});

test('E22, E24: a file that was read may be written, in any spelling, repeatedly', async () => {
  const { run, files } = start();
  expect(await run.check(write('a.txt'))).toEqual(unseen);
  run.succeed(callOf('read_file'), readOf('a.txt', 'v1'));
  for (const path of ['a.txt', '/a.txt', './a.txt'])
    expect(await run.check(write(path))).toMatchObject({ type: 'allow' });
  run.succeed(write('a.txt'), writeOf('a.txt', 'v1', 'v2'));
  files.set('a.txt', 'v2');
  expect(await run.check(write('a.txt', 'edit_file'))).toMatchObject({ type: 'allow' });
});

test('E30: a file that the session wrote counts as read', async () => {
  const { run, files } = start();
  run.succeed(write('new.txt'), writeOf('new.txt', null, 'mine'));
  files.set('new.txt', 'mine');
  expect(await run.check(write('new.txt'))).toMatchObject({ type: 'allow' });
});

test('a file that changed since it was read must be read again', async () => {
  const { run, files } = start();
  run.succeed(callOf('read_file'), readOf('a.txt', 'v1'));
  files.set('a.txt', 'v2');
  expect(await run.check(write('a.txt'))).toEqual(stale);
  run.succeed(callOf('read_file'), readOf('a.txt', 'v2'));
  expect(await run.check(write('a.txt'))).toMatchObject({ type: 'allow' });
});

test('a removed file is forgotten', async () => {
  const { run, files } = start();
  run.succeed(callOf('read_file'), readOf('a.txt', 'v1'));
  run.succeed(write('a.txt', 'delete_file'), writeOf('a.txt', 'v1', null));
  files.delete('a.txt');
  expect(await run.check(write('a.txt'))).toMatchObject({ type: 'allow' });
  // It was created again elsewhere, with the old content.
  files.set('a.txt', 'v1');
  expect(await run.check(write('a.txt'))).toEqual(unseen);
  run.succeed(callOf('read_file'), readOf('a.txt', 'v1'));
  run.succeed(callOf('read_file'), readOf('a.txt', null));
  expect(await run.check(write('a.txt'))).toEqual(unseen);
});

test('folders need not be read', async () => {
  const { run, files } = start();
  run.succeed(callOf('make_folder'), writeOf('new', null, 'directory'));
  run.succeed(write('src', 'delete_file'), writeOf('src', 'directory', null));
  expect(run.save()).toBe('[]');
  run.succeed(callOf('read_file'), readOf('a.txt', 'v1'));
  run.succeed(callOf('replace_by_folder'), writeOf('a.txt', 'v1', 'directory'));
  expect(run.save()).toBe('[]');
  files.set('a.txt', 'v1');
  expect(await run.check(write('a.txt'))).toEqual(unseen);
});

test('E36: the state can be stored and restored', async () => {
  const { run } = start();
  run.succeed(callOf('read_file'), readOf('a.txt', 'v1'));
  const reopened = start().run;
  expect(await reopened.check(write('a.txt'))).toEqual(unseen);
  reopened.load(run.save());
  expect(await reopened.check(write('a.txt'))).toMatchObject({ type: 'allow' });
});

test('no filesystem, no write', async () => {
  const run = runPolicy(readBeforeWrite());
  expect(await run.check(write('new.txt'))).toMatchObject({
    type: 'deny',
    reason: '`write_file` cannot write: no filesystem is bound.',
  });
  expect(await run.check(callOf('echo'))).toMatchObject({ type: 'allow' });
});

test('a filesystem failure is thrown', async () => {
  const broken = { ...folder(new Map()), stat: () => Promise.reject(new Error('disk on fire')) };
  await expect(runPolicy(readBeforeWrite(), broken).check(write('a.txt'))).rejects.toThrow('disk on fire');
});

test.each([
  { title: 'unseen', result: writeOf('a.txt', 'v1', 'v2'), fails: true },
  { title: 'seen in another version', seen: 'v0', result: writeOf('a.txt', 'v1', 'v2'), fails: true },
  { title: 'removed unseen', result: writeOf('a.txt', 'v1', null), fails: true },
  { title: 'seen', seen: 'v1', result: writeOf('a.txt', 'v1', 'v2'), fails: false },
  { title: 'new', result: writeOf('a.txt', null, 'v1'), fails: false },
  {
    title: 'read in the same call',
    result: resultOf({
      reads: [{ key: 'a.txt', version: 'v1' }],
      writes: [{ key: 'a.txt', before: 'v1', after: 'v2' }],
    }),
    fails: false,
  },
  {
    title: 'only its new content read in the same call',
    result: resultOf({
      reads: [{ key: 'a.txt', version: 'v2' }],
      writes: [{ key: 'a.txt', before: 'v1', after: 'v2' }],
    }),
    fails: true,
  },
])('a file that any tool overwrites, $title: fails $fails', ({ seen, result, fails }) => {
  const { run } = start();
  if (seen !== undefined) run.succeed(callOf('read_file'), readOf('a.txt', seen));
  const before = run.save();
  const succeed = () => run.succeed(callOf('format_all'), result);
  if (!fails) expect(succeed).not.toThrow();
  else {
    expect(succeed).toThrow(
      expect.objectContaining({
        code: 'policy.refused',
        reason: 'read_before_write',
        data: { reason: 'read_before_write', tool: 'format_all', path: 'a.txt' },
      }),
    );
    expect(run.save()).toBe(before);
  }
});

test('E32: other writers with other arguments', async () => {
  const policy = readBeforeWrite({ writers: { save_file: 'target' }, id: 'saves' });
  expect(policy).toMatchObject({ id: 'saves', mentions: ['save_file'] });
  const run = runPolicy(policy, folder(new Map([['a.txt', 'v1']])));
  expect(await run.check(write('a.txt'))).toMatchObject({ type: 'allow' });
  expect(await run.check(callOf('save_file', { target: 'a.txt' }))).toEqual(unseen);
  expect(await run.check(callOf('save_file', { path: 'new.txt' }))).toMatchObject({ type: 'deny' });
  run.succeed(callOf('fetch_file'), readOf('a.txt', 'v1'));
  expect(await run.check(callOf('save_file', { target: 'a.txt' }))).toMatchObject({ type: 'allow' });
});

test.each<{ writers: Record<string, string>; reason?: string; code: string }>([
  { writers: { save_file: '' }, code: 'options.invalid' },
  { writers: { save_file: 1 as unknown as string }, code: 'options.invalid' },
  { writers: { 'save file': 'path' }, code: 'tool.invalid', reason: 'name.invalid' },
  { writers: { constructor: 'path' }, code: 'tool.invalid', reason: 'name.reserved' },
])('writers $writers is $code', ({ writers, code, reason }) => {
  expect(() => readBeforeWrite({ writers })).toThrow(expect.objectContaining({ code, reason }));
});

test('a write is allowed exactly if the current version was last seen, or there is no file', async () => {
  const step = fc.record({
    path: fc.constantFrom('a', 'b'),
    act: fc.constantFrom('read', 'write', 'delete', 'outside-write', 'outside-delete'),
    content: fc.constantFrom('1', '2', '3'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step), async (steps) => {
      const { run, files } = start({});
      const seen = new Map<string, string>();
      for (const { path, act, content } of steps) {
        const present = files.get(path);
        if (act === 'outside-write') files.set(path, content);
        else if (act === 'outside-delete') files.delete(path);
        else if (act === 'read') {
          run.succeed(callOf('read_file'), readOf(path, present ?? null));
          if (present === undefined) seen.delete(path);
          else seen.set(path, present);
        } else {
          const allowed = present === undefined || present === seen.get(path);
          expect(await run.check(write(path))).toMatchObject({ type: allowed ? 'allow' : 'deny' });
          const after = act === 'write' ? content : null;
          const succeed = () => run.succeed(write(path), writeOf(path, present ?? null, after));
          if (!allowed)
            expect(succeed).toThrow(expect.objectContaining({ code: 'policy.refused', reason: 'read_before_write' }));
          else {
            succeed();
            if (after === null) {
              files.delete(path);
              seen.delete(path);
            } else {
              files.set(path, after);
              seen.set(path, after);
            }
          }
        }
      }
    }),
  );
});

test('a write let through despite a denial succeeds and is known; later writes are checked again', async () => {
  const { run, files } = start({ 'a.txt': 'v1', 'b.txt': 'v1' });
  const approved = write('./a.txt');
  expect(await run.check(approved)).toEqual(unseen);
  expect(() => run.succeed(approved, writeOf('b.txt', 'v1', 'v2'))).toThrow(
    expect.objectContaining({
      code: 'policy.refused',
      reason: 'read_before_write',
      data: { reason: 'read_before_write', tool: 'write_file', path: 'b.txt' },
    }),
  );
  run.succeed(approved, writeOf('a.txt', 'v1', 'v2'));
  files.set('a.txt', 'v2');
  expect(await run.check(write('a.txt'))).toMatchObject({ type: 'allow' });

  const later = write('b.txt');
  expect(await run.check(later)).toMatchObject({ type: 'deny' });
  run.succeed(write('b.txt', 'read_file'), readOf('b.txt', 'v1'));
  expect(await run.check(later)).toMatchObject({ type: 'allow' });
  expect(() => run.succeed(later, writeOf('b.txt', 'v9', 'v10'))).toThrow(
    expect.objectContaining({ code: 'policy.refused', reason: 'read_before_write' }),
  );
});
