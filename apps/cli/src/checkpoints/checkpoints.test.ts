import { chmod, lstat, mkdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { allow, type CallFacts, definePolicy, deny } from '@holdfast/core';
import { createGuard, decisions, type GuardedCall } from '@holdfast/guard';
import { createSession, memoryStore, type Session } from '@holdfast/session';
import { describe, expect, test } from 'vitest';
import { createFolder, type TestFolder } from '../testing/test-folder.ts';
import { type Checkpoint, checkpointFolder, checkpointsFolder, readCheckpoint } from './checkpoint.ts';
import { type KeepLimits, withCheckpoints } from './keep.ts';
import { type FilePlan, planUndo, putBack } from './put-back.ts';

interface World extends AsyncDisposable {
  readonly session: Session;
  readonly folder: TestFolder;
  readonly work: string;
  readonly host: { readonly environment: Readonly<Record<string, string>>; readonly directory: string };
  /** Decides a call, runs `change` where it is allowed, and reports it. */
  run(facts: Partial<CallFacts>, change?: () => Promise<unknown>): Promise<string>;
  read(callId: string): Checkpoint | undefined;
  plan(callId: string): readonly FilePlan[];
  at(path: string): string;
}

const noFacts: CallFacts = { runs: [], reads: [], writes: [], deletes: [], hosts: [], untrusted: false, unclear: [] };

async function createWorld(files: Readonly<Record<string, string>>, limits?: KeepLimits): Promise<World> {
  const inWork = Object.entries(files).map(([path, text]) => [`work/${path}`, text]);
  const folder = await createFolder({ 'work/.git/HEAD': '', ...Object.fromEntries(inWork) });
  const work = join(folder.path, 'work');
  const host = { environment: { HOLDFAST_HOME: join(folder.path, 'own') }, directory: folder.path };
  const session = createSession({ store: memoryStore(), slices: [decisions] });
  const forbids = definePolicy({ name: 'no', check: ({ tool }) => (tool.name === 'denied' ? deny('No.') : allow) });
  let now = 0;
  const clock = { now: () => (now += 1), after: () => () => undefined };
  let facts = noFacts;
  const guard = withCheckpoints(createGuard({ session, policies: [forbids] }), {
    ...{ session, sessionId: 's', host, clock, workspace: work, describe: () => facts },
    ...(limits === undefined ? {} : { limits }),
  });
  let count = 0;
  const folderOf = (callId: string): string => checkpointFolder('s', callId, host);
  const world: World = {
    ...{ session, folder, work, host },
    async run(given, change) {
      facts = { ...noFacts, ...given };
      count += 1;
      const call: GuardedCall = { id: `call-${count}`, name: 'edit', input: { count } };
      expect(await guard.before(call)).toEqual({ type: 'allow' });
      if (change === undefined) return `call-${count}`;
      await change();
      await guard.after(call, { ok: true });
      return `call-${count}`;
    },
    read: (callId) => readCheckpoint(folderOf(callId)),
    plan(callId) {
      const kept = readCheckpoint(folderOf(callId));
      return kept === undefined ? [] : planUndo(kept, folderOf(callId));
    },
    at: (path) => join(work, path),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
  return world;
}

const place = (path: string, recursive = false) => ({
  path,
  inside: true,
  ...(recursive ? { recursive: { skips: [] } } : {}),
});

function undo(world: World, callId: string): readonly string[] {
  const plans = world.plan(callId);
  for (const plan of plans) if (plan.type === 'put-back') putBack(plan);
  return plans.map((plan) => (plan.type === 'refused' ? `refused: ${plan.why}` : plan.type));
}

describe('a call is undone', () => {
  test('that wrote, made and deleted files: content, mode and absence are as before', async () => {
    await using world = await createWorld({ 'a.txt': 'one\n', 'run.sh': 'x', 'sub/c.txt': 'c' });
    await chmod(world.at('run.sh'), 0o755);
    const places = ['a.txt', 'new.txt', 'run.sh', 'sub/c.txt'].map((path) => place(world.at(path)));
    const call = await world.run({ writes: places.slice(0, 2), deletes: places.slice(2) }, async () => {
      await writeFile(world.at('a.txt'), 'two\n');
      await writeFile(world.at('new.txt'), 'new');
      await rm(world.at('run.sh'));
      await rm(world.at('sub'), { recursive: true });
    });
    expect(undo(world, call)).toEqual(['put-back', 'put-back', 'put-back', 'put-back']);
    expect(await readFile(world.at('a.txt'), 'utf8')).toBe('one\n');
    expect(await readFile(world.at('sub/c.txt'), 'utf8')).toBe('c');
    expect((await lstat(world.at('run.sh'))).mode & 0o777).toBe(0o755);
    await expect(lstat(world.at('new.txt'))).rejects.toMatchObject({ code: 'ENOENT' });
    // A second time there is nothing to do.
    expect(undo(world, call)).toEqual(['same', 'same', 'same', 'same']);
  });

  test('that deleted a folder: its files and links, but nothing that a link leads to', async () => {
    await using world = await createWorld({ 'sub/a.txt': 'a', 'sub/deep/b.txt': 'b', 'other/x.txt': 'x' });
    await symlink('../other', world.at('sub/link'));
    const call = await world.run({ deletes: [place(world.at('sub'), true)] }, () =>
      rm(world.at('sub'), { recursive: true }),
    );
    const { files = [] } = world.read(call) ?? {};
    expect(files.map(({ path }) => path.slice(world.work.length + 1))).toEqual([
      'sub/a.txt',
      'sub/deep/b.txt',
      'sub/link',
    ]);
    expect(undo(world, call)).toEqual(['put-back', 'put-back', 'put-back']);
    expect(await readFile(world.at('sub/deep/b.txt'), 'utf8')).toBe('b');
    expect(await readlink(world.at('sub/link'))).toBe('../other');
  });

  test('that renamed a file', async () => {
    await using world = await createWorld({ 'a.txt': 'a' });
    const facts = { deletes: [place(world.at('a.txt'))], writes: [place(world.at('b.txt'))] };
    const call = await world.run(facts, () => rename(world.at('a.txt'), world.at('b.txt')));
    expect(undo(world, call)).toEqual(['put-back', 'put-back']);
    expect(await readFile(world.at('a.txt'), 'utf8')).toBe('a');
    await expect(lstat(world.at('b.txt'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('a file is refused, and left alone', () => {
  test.each<[string, (world: World) => Promise<unknown>, RegExp]>([
    ['was changed since', ({ at }) => writeFile(at('sub/a.txt'), 'three'), /changed since/],
    ['was deleted since', ({ at }) => rm(at('sub/a.txt')), /changed since/],
    ['has another mode since', ({ at }) => chmod(at('sub/a.txt'), 0o777), /changed since/],
    [
      'is a link now',
      async ({ at }) => {
        await rename(at('sub/a.txt'), at('other.txt'));
        await symlink('../other.txt', at('sub/a.txt'));
      },
      /changed since/,
    ],
    [
      'has a folder that is a link now',
      async ({ at }) => {
        await rename(at('sub'), at('other'));
        await symlink('other', at('sub'));
      },
      /a folder above it is a link now/,
    ],
    [
      'is a folder now',
      async ({ at }) => {
        await rm(at('sub/a.txt'));
        await mkdir(at('sub/a.txt'));
      },
      /changed since/,
    ],
    [
      'has a damaged copy',
      ({ host }) => writeFile(join(checkpointFolder('s', 'call-1', host), '0'), 'other'),
      /its copy is damaged/,
    ],
    ['has lost its copy', ({ host }) => rm(join(checkpointFolder('s', 'call-1', host), '0')), /no such file/],
  ])('that %s', async (_, change, why) => {
    await using world = await createWorld({ 'sub/a.txt': 'one' });
    const call = await world.run({ writes: [place(world.at('sub/a.txt'))] }, () =>
      writeFile(world.at('sub/a.txt'), 'two'),
    );
    await change(world);
    const [told] = undo(world, call);
    expect(told).toMatch(/^refused: /);
    expect(told).toMatch(why);
  });

  test('whose call never ended', async () => {
    await using world = await createWorld({ 'a.txt': 'one' });
    const call = await world.run({ writes: [place(world.at('a.txt'))] });
    await writeFile(world.at('a.txt'), 'two');
    expect(undo(world, call)).toEqual([expect.stringContaining('the end of the call was never reported')]);
    expect(await readFile(world.at('a.txt'), 'utf8')).toBe('two');
  });

  test('where putting back fails, the file is as it was, whole', async () => {
    await using world = await createWorld({ 'a.txt': 'one' });
    const call = await world.run({ writes: [place(world.at('a.txt'))] }, () => writeFile(world.at('a.txt'), 'two'));
    const [plan] = world.plan(call);
    // Another file stands where the new content is written first.
    await writeFile(world.at(`.a.txt.holdfast-${process.pid}`), 'in the way');
    expect(plan?.type).toBe('put-back');
    expect(() => plan?.type === 'put-back' && putBack(plan)).toThrow(/EEXIST/);
    expect(await readFile(world.at('a.txt'), 'utf8')).toBe('two');
    expect(await readFile(world.at(`.a.txt.holdfast-${process.pid}`), 'utf8')).toBe('in the way');
  });
});

describe('what is not kept is said', () => {
  const small: KeepLimits = { maxFiles: 2, maxFileBytes: 10, maxBytes: 15 };
  test.each<[string, Readonly<Record<string, string>>, RegExp]>([
    ['a large file', { 'a.txt': 'x'.repeat(11) }, /a\.txt: larger than 10 bytes/],
    ['many files', { 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c' }, /more than 2 files/],
    ['many bytes', { 'a.txt': 'x'.repeat(9), 'b.txt': 'x'.repeat(9) }, /more than 15 bytes/],
  ])('%s', async (_, files, why) => {
    await using world = await createWorld(files, small);
    const writes = Object.keys(files).map((path) => place(world.at(path)));
    const call = await world.run({ writes });
    expect(world.read(call)?.left).toEqual([expect.stringMatching(why)]);
    const { files: kept = [] } = world.read(call) ?? {};
    expect(kept.length).toBeLessThan(writes.length);
  });

  test('files outside of the worktree, of Git, and what cannot be told', async () => {
    await using world = await createWorld({ 'a.txt': 'a' });
    const paths = [join(world.folder.path, 'out.txt'), `${world.work}-2/x`, world.at('.git/HEAD'), world.work];
    const unclear = [{ kind: 'code' as const, reason: 'a program text' }];
    const call = await world.run({ writes: paths.map((path) => place(path)), unclear });
    expect(world.read(call)).toMatchObject({ files: [] });
    expect(world.read(call)?.left).toEqual([
      '../out.txt: outside of the worktree',
      '../work-2/x: outside of the worktree',
      '.git: of Git itself',
      'files that cannot be told: a program text',
    ]);
  });

  test('a checkpoint that cannot be written: the call runs, and the log has the reason', async () => {
    await using world = await createWorld({ 'a.txt': 'a' });
    await mkdir(join(world.folder.path, 'own/guard'), { recursive: true });
    await writeFile(join(world.folder.path, 'own/guard/checkpoints'), 'no folder');
    const call = await world.run({ writes: [place(world.at('a.txt'))] }, () => writeFile(world.at('a.txt'), 'b'));
    expect(world.plan(call)).toEqual([]);
    expect([...world.session.records()].find(({ type }) => type === 'guard-kept')).toMatchObject({
      callId: call,
      files: 0,
      left: [expect.stringMatching(/ENOTDIR|EEXIST/)],
    });
  });

  test('nothing, for a call that only reads', async () => {
    await using world = await createWorld({ 'a.txt': 'a' });
    expect(world.read(await world.run({ reads: [place(world.at('a.txt'))] }))).toBeUndefined();
    expect([...world.session.records()].some(({ type }) => type === 'guard-kept')).toBe(false);
  });
});

test('a call that is told twice keeps what was before its first time; a denied one keeps nothing', async () => {
  await using world = await createWorld({ 'a.txt': 'one' });
  const { session, host, work } = world;
  const forbids = definePolicy({
    name: 'no',
    check: ({ input }) => ((input as { no?: boolean }).no ? deny('No.') : allow),
  });
  const facts = { ...noFacts, writes: [place(world.at('a.txt'))] };
  const clock = { now: () => 0, after: () => () => undefined };
  const guard = withCheckpoints(createGuard({ session, policies: [forbids] }), {
    ...{ session, sessionId: 't', host, clock, workspace: work, describe: () => facts },
  });
  const call = { id: 'c', name: 'edit', input: {} };
  await guard.before(call);
  await writeFile(world.at('a.txt'), 'two');
  await guard.before(call);
  await guard.after(call, { ok: true });
  const folder = checkpointFolder('t', 'c', host);
  const [plan] = planUndo(readCheckpoint(folder) ?? expect.unreachable(), folder);
  expect(plan).toMatchObject({ type: 'put-back', to: Buffer.from('one') });
  expect(await guard.before({ id: 'd', name: 'edit', input: { no: true } })).toMatchObject({ type: 'deny' });
  expect(readCheckpoint(checkpointFolder('t', 'd', host))).toBeUndefined();
});

test.each(['', '{', '[]', '{"callId":"c"}', '{"callId":"c","workspace":"/","atMs":0,"files":[{"path":7}],"left":[]}'])(
  'a list of files that cannot be read is none: %j',
  async (text) => {
    await using folder = await createFolder({ 'files.json': text });
    expect(readCheckpoint(folder.path)).toBeUndefined();
  },
);

test('a session keeps the files of its newest 100 calls', async () => {
  await using world = await createWorld({ 'a.txt': 'a' });
  for (let count = 0; count < 102; count += 1) await world.run({ writes: [place(world.at('a.txt'))] });
  expect(['call-2', 'call-3', 'call-102'].map((id) => world.read(id) !== undefined)).toEqual([false, true, true]);
  expect(checkpointsFolder('s', world.host)).toContain('checkpoints');
});
