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

/** A run that waits for its push; answers its id. */
async function suspend(folder: TestFolder, ...argv: readonly string[]): Promise<string> {
  expect(await runScript(folder, '--suspend', ...argv)).toMatchObject({ exitCode: 3, stderr: '' });
  return (await findLog(folder.path, undefined)).id;
}

/** Another configuration, and how it is named: in this process each file is imported only once. */
async function configure(folder: TestFolder, config: object): Promise<readonly string[]> {
  await folder.write('later.config.mjs', toConfig(config));
  return ['--config', 'later.config.mjs'];
}

test('a run is gone on with by the plugins, guards and lists that it was begun with, from anywhere', async () => {
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

test('state of a plugin is there again when a run goes on', async () => {
  const script = toScript([['push', { branch: 'one' }]], [['push', { branch: 'two' }]]);
  await using folder = await createProject(whole, { 'script.json': script });
  const id = await suspend(folder);
  await type(folder, ['approve', id, 'call_1_0']);
  expect(await type(folder, ['resume', id, '--suspend'])).toMatchObject({ exitCode: 3, stderr: '' });
  // The session has state now whose reducers only the plugin has.
  expect(await type(folder, ['approve', id, 'call_2_0'])).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await type(folder, ['resume', id])).toMatchObject({ exitCode: 0, stderr: '' });
  expect((await type(folder, ['show', '--json'])).stdout).toContain('"pushed":["one","two"]');
});

interface Change {
  readonly title: string;
  /** Answers what names the configuration that there is then. */
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
    title: 'another pack beside',
    change: (folder) => configure(folder, { ...whole, packs: [...whole.packs, './more.mjs'] }),
  },
  {
    title: 'one more denied',
    change: (folder) => configure(folder, { ...whole, denyTools: ['status', 'delete_file'] }),
  },
  { title: 'some allowed only', change: (folder) => configure(folder, { ...whole, allowTools: ['push'] }) },
  {
    title: 'no configuration',
    change: async (folder) => {
      await rm(join(folder.path, 'holdfast.config.mjs'));
      return [];
    },
    says: 'config.missing',
  },
  {
    title: 'no plugin',
    change: (folder) => configure(folder, {}),
    says: 'the plugin `git` is not there; the pack `git-safety`',
  },
  {
    title: 'no pack',
    change: (folder) => configure(folder, { ...whole, packs: [] }),
    says: 'the pack `git-safety` is not there',
  },
  {
    title: 'another preset',
    change: (folder) => configure(folder, { ...whole, packs: ['git/git-safety'] }),
    says: 'has the preset `recommended` in place of `strict`',
  },
  {
    title: 'only tried out',
    change: (folder) =>
      configure(folder, { ...whole, packs: [{ pack: 'git/git-safety', preset: 'strict', observe: true }] }),
    says: 'has the observe `true` in place of `',
  },
  {
    title: 'other options of a pack',
    change: (folder) =>
      configure(folder, { ...whole, packs: [{ pack: 'git/git-safety', preset: 'strict', config: { reason: 'No.' } }] }),
    says: 'the pack `git-safety` has other options',
  },
  {
    title: 'other options of a plugin',
    change: (folder) => configure(folder, { ...whole, plugins: [{ plugin: './git.mjs', config: { token: 'x' } }] }),
    says: 'the plugin `git` has other options',
  },
  {
    title: 'a prefix',
    change: (folder) => configure(folder, { ...whole, plugins: [{ ...whole.plugins[0], prefix: 'git' }] }),
    says: 'has the prefix `git` in place of `none`',
  },
  {
    title: 'another version',
    change: other(git.replaceAll("'1.2.0'", "'1.3.0'"), { ...whole, plugins: second }),
    says: 'the plugin `git` has the version `1.3.0` in place of `1.2.0`',
  },
  {
    title: 'a plugin that fails now',
    change: other("throw new Error('no');", { ...whole, plugins: second, packs: [] }),
    says: 'the plugin `git` is not there',
  },
  {
    title: 'another file of the same version',
    change: other(`${git}// Changed.\n`, { ...whole, plugins: second }),
    says: 'the plugin `git` has another file',
  },
  {
    title: 'another winner',
    change: (folder) => configure(folder, { ...whole, winners: { push: 'hg' } }),
    says: '`winners` gives `push` to `hg` in place of `nobody`',
  },
  {
    title: 'one denied less',
    change: (folder) => configure(folder, { ...whole, denyTools: [] }),
    says: 'no longer denied: `delete_file`',
  },
];

test.each(changes)('resume where there is $title', async ({ change, says }) => {
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
  if (!says.includes('.missing')) expect(stderr).toContain('(run.config.changed)');
});

test('names that were the only ones are not joined by others', async () => {
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

test('state of a section of a plugin is there again, too', async () => {
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

test('--accept-config goes on with what there is now, and a guard that became stricter holds', async () => {
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
  expect((await type(folder, resume)).stderr).toContain('`2.0.0` in place of `1.0.0`');
  const { exitCode, stdout } = await type(folder, [...resume, '--accept-config']);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/denied {4}push .+ deny: guard-guard/);
});

test('--config names the file of a project that has moved it', async () => {
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
  { title: 'the host is laxer now', config: { isolation: 'in-process' }, policy: undefined, isHere: false },
  { title: 'it ran here', begun: ['--isolation', 'in-process'], config: {}, policy: undefined, isHere: true },
  {
    title: 'a workspace is stricter now',
    begun: ['--isolation', 'in-process'],
    policy: { isolation: 'sandbox' },
    isHere: false,
  },
  { title: 'a person says so now', now: ['--isolation', 'in-process'], policy: { isolation: 'worker' }, isHere: true },
])(
  'tools of a run that goes on run where they ran: $title',
  async ({ begun = [], now = [], config = {}, policy, isHere }) => {
    const tools = { 'plugins/where.mjs': where, 'script.json': toScript([['where']]) };
    await using folder = await createProject({ limits: { maxCalls: 9 } }, tools);
    const id = await suspend(folder, ...begun);
    const named = await configure(folder, { limits: { maxCalls: 9 }, ...config });
    if (policy !== undefined) await folder.write('holdfast.policy.json', JSON.stringify(policy));
    expect(await type(folder, ['resume', id, '--yes', ...named, ...now])).toMatchObject({ exitCode: 0, stderr: '' });
    const { stdout } = await type(folder, ['show', '--json']);
    expect(stdout.includes(`"pid":${process.pid}}`)).toBe(isHere);
  },
);

test('a run without a configuration goes on without one that came later', async () => {
  const tool = toTool('act', 'return 1;').replace('dangerous: false', 'dangerous: true');
  await using folder = await createFolder({ 'plugins/act.mjs': tool, 'script.json': toScript([['act']]) });
  const id = await suspend(folder);
  await folder.write('holdfast.config.mjs', "throw new Error('It was read.');");
  expect(await type(folder, ['resume', id, '--yes'])).toMatchObject({ exitCode: 0, stderr: '' });
});
