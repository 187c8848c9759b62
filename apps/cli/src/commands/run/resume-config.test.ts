import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFolder, type TestFolder, toUserFolder } from '../../testing/test-folder.ts';
import {
  createProject,
  git,
  runScript,
  toConfig,
  toPack,
  toPlugin,
  toScript,
  type,
} from '../../testing/test-plugins.ts';
import { type Ended, toTool } from '../../testing/test-program.ts';
import { checkLines } from '../../testing/test-schemas.ts';
import { findLog } from '../../workspace/session-logs.ts';

const whole = {
  plugins: [{ plugin: './git.mjs', config: { token: 'secret-token' } }],
  packs: [{ pack: 'git/git-safety', preset: 'strict' }],
  denyTools: ['delete_file'],
};
const files = {
  'script.json': toScript([['status']], [['push', { branch: 'dev' }]], [['delete_file', { path: 'script.json' }]]),
};

/** Suspends a run at its push; returns its id. */
async function suspend(folder: TestFolder, ...argv: readonly string[]): Promise<string> {
  expect(await runScript(folder, '--suspend', ...argv)).toMatchObject({ exitCode: 3, stderr: '' });
  return (await findLog(folder.path, undefined)).id;
}

/** A different configuration in a new file, because this process imports each file only once. */
async function configure(folder: TestFolder, config: object): Promise<readonly string[]> {
  await folder.write('later.config.mjs', toConfig(config));
  return ['--config', 'later.config.mjs'];
}

test('a run is resumed from anywhere with its plugins, guards and lists', async () => {
  await using folder = await createProject(whole, files);
  const id = await suspend(folder);
  expect(await type(folder, ['approve', id, 'call_2_0'])).toMatchObject({ exitCode: 0, stderr: '' });
  await using elsewhere = await createFolder({ 'holdfast.config.mjs': "throw new Error('another one');" });
  // The same user.
  const environment = { NO_COLOR: '1', HOLDFAST_HOME: toUserFolder(folder.path) };
  const resume = ['resume', id, '--workspace', folder.path];
  const { exitCode, stdout, stderr } = await type(elsewhere, resume, { environment });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toContain(' · plugins: git 1.2.0 · guards: git-safety (strict) · ');
  expect(stdout).toMatch(
    /ok {8}push .+ asked: approved by person[\s\S]+denied {4}delete_file .+ deny: config-host-deny-tools/,
  );
  expect((await type(folder, ['show'])).stdout).toMatch(
    /^Session .+\nconfig {3}holdfast\.config\.mjs\nplugins {2}git 1\.2\.0\nguards {3}git-safety 1\.2\.0 \(strict\)\ndenied {3}delete_file\n/,
  );
  const { stdout: log } = await type(folder, ['show', '--json']);
  expect(await checkLines('show', log)).toContain('run-options');
  expect(log).toContain('"pushed":["dev"]');
  expect(log).not.toContain('secret-token');
});

test('plugin state is restored on resume', async () => {
  const script = toScript([['push', { branch: 'one' }]], [['push', { branch: 'two' }]]);
  await using folder = await createProject(whole, { 'script.json': script });
  const id = await suspend(folder);
  await type(folder, ['approve', id, 'call_1_0']);
  expect(await type(folder, ['resume', id, '--suspend'])).toMatchObject({ exitCode: 3, stderr: '' });
  // The session now has state that only the plugin's reducers can rebuild.
  expect(await type(folder, ['approve', id, 'call_2_0'])).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await type(folder, ['resume', id])).toMatchObject({ exitCode: 0, stderr: '' });
  expect((await type(folder, ['show', '--json'])).stdout).toContain('"pushed":["one","two"]');
});

interface Change {
  readonly title: string;
  /** Returns the options for the new configuration. */
  readonly change: (folder: TestFolder) => Promise<readonly string[]>;
  readonly says?: string;
}

const other = (source: string, config: object) => async (folder: TestFolder) => {
  await folder.write('git2.mjs', source);
  return await configure(folder, config);
};
const second = [{ ...whole.plugins[0], plugin: './git2.mjs' }];
const changes: readonly Change[] = [
  { title: 'nothing', change: async () => [] },
  {
    title: 'an additional pack',
    change: (folder) => configure(folder, { ...whole, packs: [...whole.packs, './more.mjs'] }),
  },
  {
    title: 'one more denied',
    change: (folder) => configure(folder, { ...whole, denyTools: ['status', 'delete_file'] }),
  },
  { title: 'an allow list', change: (folder) => configure(folder, { ...whole, allowTools: ['push'] }) },
  {
    title: 'no configuration',
    change: async (folder) => {
      await rm(join(folder.path, 'holdfast.config.mjs'));
      return [];
    },
    says: 'config.invalid: missing',
  },
  {
    title: 'no plugin',
    change: (folder) => configure(folder, {}),
    says: 'the plugin `git` is missing; the pack `git-safety`',
  },
  {
    title: 'no pack',
    change: (folder) => configure(folder, { ...whole, packs: [] }),
    says: 'the pack `git-safety` is missing',
  },
  {
    title: 'a different preset',
    change: (folder) => configure(folder, { ...whole, packs: ['git/git-safety'] }),
    says: 'has the preset `recommended` instead of `strict`',
  },
  {
    title: 'observe only',
    change: (folder) =>
      configure(folder, { ...whole, packs: [{ pack: 'git/git-safety', preset: 'strict', observe: true }] }),
    says: 'has the observe `true` instead of `',
  },
  {
    title: 'different options of a pack',
    change: (folder) =>
      configure(folder, { ...whole, packs: [{ pack: 'git/git-safety', preset: 'strict', config: { reason: 'No.' } }] }),
    says: 'the pack `git-safety` has different options',
  },
  {
    title: 'different options of a plugin',
    change: (folder) => configure(folder, { ...whole, plugins: [{ plugin: './git.mjs', config: { token: 'x' } }] }),
    says: 'the plugin `git` has different options',
  },
  {
    title: 'a prefix',
    change: (folder) => configure(folder, { ...whole, plugins: [{ ...whole.plugins[0], prefix: 'git' }] }),
    says: 'has the prefix `git` instead of `none`',
  },
  {
    title: 'a different version',
    change: other(git.replaceAll("'1.2.0'", "'1.3.0'"), { ...whole, plugins: second }),
    says: 'the plugin `git` has the version `1.3.0` instead of `1.2.0`',
  },
  {
    title: 'a plugin that fails now',
    change: other("throw new Error('no');", { ...whole, plugins: second, packs: [] }),
    says: 'the plugin `git` is missing',
  },
  {
    title: 'a different file of the same version',
    change: other(`${git}// Changed.\n`, { ...whole, plugins: second }),
    says: 'the plugin `git` has a different file',
  },
  {
    title: 'a different winner',
    change: (folder) => configure(folder, { ...whole, winners: { push: 'hg' } }),
    says: '`winners` assigns `push` to `hg` instead of `none`',
  },
  {
    title: 'one tool fewer denied',
    change: (folder) => configure(folder, { ...whole, denyTools: [] }),
    says: 'no longer denied: `delete_file`',
  },
];

test.each(changes)('resume with $title', async ({ change, says }) => {
  await using folder = await createProject(whole, { ...files, 'more.mjs': toPack('more', '() => core.allow') });
  const id = await suspend(folder);
  const named = await change(folder);
  const { exitCode, stdout, stderr } = await type(folder, ['resume', id, '--yes', ...named]);
  if (says === undefined) {
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toMatch(/ok {8}push|denied {4}push/);
    return;
  }
  expect(exitCode).toBe(2);
  expect(stdout).not.toContain('push');
  expect(stderr).toContain(says);
  if (!says.includes(': missing')) expect(stderr).toContain('(run.config.changed)');
});

test('an allow list must not grow', async () => {
  const narrow = { allowTools: ['status', 'push'], plugins: ['./git.mjs'], packs: ['git/git-safety'] };
  const resume = async (config: object): Promise<Ended> => {
    await using folder = await createProject(narrow, files);
    const id = await suspend(folder);
    return await type(folder, ['resume', id, ...(await configure(folder, config))]);
  };
  expect((await resume({ ...narrow, allowTools: ['push', 'status', 'blame'] })).stderr).toContain(
    'newly allowed: `blame`',
  );
  expect((await resume({ ...narrow, allowTools: undefined })).stderr).toContain('newly allowed: every tool');
  expect(await resume({ ...narrow, allowTools: ['push'] })).toMatchObject({
    exitCode: 3,
    stderr: expect.stringMatching(/^$/),
  });
});

test('state of a plugin section is restored, too', async () => {
  const notes = `import { markdownSection } from '${import.meta.resolve('@holdfast/prompt')}';
${toPlugin(`(() => {
  const notes = core.defineSlice({ id: 'notes', kind: 'list', reducers: { noted: (_, text) => core.append(text) } });
  const note = core.defineTool({
    name: 'note', description: 'Notes a word.', effects: 'state', dangerous: true,
    execute(_, { session }) { session.dispatch({ type: 'noted', payload: 'word' }); return [...session.read(notes)].length; },
  });
  const inner = markdownSection({ title: 'Inner', template: 'Notes.', tools: [note], slices: [notes] });
  const sections = [markdownSection({ title: 'Notes', template: 'About notes.', children: [inner] })];
  return { name: 'notes', version: '1.0.0', description: 'Notes.', holdfast: '*', sections };
})()`)}`;
  const script = toScript([['note']], [['note']]);
  await using folder = await createProject({ plugins: ['./notes.mjs'] }, { 'notes.mjs': notes, 'script.json': script });
  const id = await suspend(folder);
  await type(folder, ['approve', id, 'call_1_0']);
  expect(await type(folder, ['resume', id, '--suspend'])).toMatchObject({ exitCode: 3, stderr: '' });
  expect(await type(folder, ['resume', id, '--yes'])).toMatchObject({ exitCode: 0, stderr: '' });
  expect((await type(folder, ['show', '--json'])).stdout).toMatch(/"value":1[\s\S]+"value":2/);
});

test('--accept-config resumes with the current configuration, including a stricter guard', async () => {
  await using folder = await createProject(
    { plugins: ['./git.mjs'], packs: ['./guard.mjs'] },
    {
      ...files,
      'guard.mjs': toPack('guard', "({ tool }) => (tool.name === 'push' ? core.ask('?') : core.allow)"),
    },
  );
  const id = await suspend(folder);
  await type(folder, ['approve', id, 'call_2_0']);
  const denies = "({ tool }) => (tool.name === 'push' ? core.deny('Not now.') : core.allow)";
  await folder.write('guard2.mjs', toPack('guard', denies, { version: '2.0.0' }));
  const resume = ['resume', id, ...(await configure(folder, { plugins: ['./git.mjs'], packs: ['./guard2.mjs'] }))];
  expect((await type(folder, resume)).stderr).toContain('`2.0.0` instead of `1.0.0`');
  const { exitCode, stdout } = await type(folder, [...resume, '--accept-config']);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/denied {4}push .+ deny: guard-guard/);
});

test('--config names a configuration that was moved', async () => {
  await using folder = await createProject(whole, files);
  const id = await suspend(folder);
  await folder.write('moved.config.mjs', await readFile(join(folder.path, 'holdfast.config.mjs')));
  await rm(join(folder.path, 'holdfast.config.mjs'));
  expect(await type(folder, ['resume', id, '--config', 'moved.config.mjs'])).toMatchObject({ exitCode: 3, stderr: '' });
  expect(await type(folder, ['resume', id, '--no-config'])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('(run.config.changed)'),
  });
});

const where = toTool('where', 'return { pid: process.pid };').replace('dangerous: false', 'dangerous: true');

test.each([
  { title: 'the host is looser now', config: { isolation: 'in-process' }, policy: undefined, isHere: false },
  { title: 'it ran here', begun: ['--isolation', 'in-process'], config: {}, policy: undefined, isHere: true },
  {
    title: 'the workspace is stricter now',
    begun: ['--isolation', 'in-process'],
    policy: { isolation: 'sandbox' },
    isHere: false,
  },
  {
    title: 'an option is given now',
    now: ['--isolation', 'in-process'],
    policy: { isolation: 'worker' },
    isHere: true,
  },
])('a resumed run keeps its isolation: $title', async ({ begun = [], now = [], config = {}, policy, isHere }) => {
  const tools = { 'plugins/where.mjs': where, 'script.json': toScript([['where']]) };
  await using folder = await createProject({ limits: { maxCalls: 9 } }, tools);
  const id = await suspend(folder, ...begun);
  const named = await configure(folder, { limits: { maxCalls: 9 }, ...config });
  if (policy !== undefined) await folder.write('holdfast.policy.json', JSON.stringify(policy));
  expect(await type(folder, ['resume', id, '--yes', ...named, ...now])).toMatchObject({ exitCode: 0, stderr: '' });
  const { stdout } = await type(folder, ['show', '--json']);
  expect(stdout.includes(`"pid":${process.pid}}`)).toBe(isHere);
});

test('a run without a configuration ignores one that was added later', async () => {
  const tool = toTool('act', 'return 1;').replace('dangerous: false', 'dangerous: true');
  await using folder = await createFolder({ 'plugins/act.mjs': tool, 'script.json': toScript([['act']]) });
  const id = await suspend(folder);
  await folder.write('holdfast.config.mjs', "throw new Error('It was read.');");
  expect(await type(folder, ['resume', id, '--yes'])).toMatchObject({ exitCode: 0, stderr: '' });
});
