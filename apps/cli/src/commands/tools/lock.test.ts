import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFolder, type TestFolder } from '../../testing/test-folder.ts';
import { type Ended, jsonRun, runHere, script, toTool } from '../../testing/test-program.ts';
import { findIssues, readSchema } from '../../testing/test-schemas.ts';

const files = {
  'plugins/shout.mjs': `import { up } from '../src/up.mjs';\n${toTool('shout', "return up('a');")}`,
  'plugins/plain.mjs': toTool('plain', 'return 1;'),
  'src/up.mjs': 'export const up = (text) => text.toUpperCase();\n',
};

const lock = (folder: TestFolder, ...argv: readonly string[]): Promise<Ended> =>
  runHere(['lock', ...argv], { directory: folder.path });

async function lockJson(folder: TestFolder, ...argv: readonly string[]) {
  const { exitCode, stdout } = await lock(folder, '--json', ...argv);
  const printed = JSON.parse(stdout);
  expect(findIssues(await readSchema('lock'), printed)).toEqual([]);
  return { exitCode, printed };
}

test('a folder is locked and then matches its lock', async () => {
  await using folder = await createFolder(files);
  expect(await lock(folder)).toEqual({
    exitCode: 0,
    stdout: `new      plain  plugins/plain.mjs
new      shout  plugins/shout.mjs
wrote holdfast.lock, 2 tools: 0 as before, 2 new
`,
    stderr: '',
  });
  const text = await readFile(join(folder.path, 'holdfast.lock'), 'utf8');
  expect(await lock(folder, '--check')).toEqual({
    exitCode: 0,
    stdout: 'holdfast.lock, 2 tools: 2 as locked\n',
    stderr: '',
  });
  expect(await lock(folder)).toMatchObject({ exitCode: 0 });
  expect(await readFile(join(folder.path, 'holdfast.lock'), 'utf8')).toBe(text);
});

test('--check lists differences, writes nothing and exits with 1', async () => {
  await using folder = await createFolder(files);
  await lock(folder);
  const text = await readFile(join(folder.path, 'holdfast.lock'), 'utf8');
  await folder.write('src/up.mjs', 'export const up = (text) => text;\n');
  await folder.write('plugins/later.mjs', toTool('later', 'return 1;'));
  await rm(join(folder.path, 'plugins/plain.mjs'));
  expect(await lock(folder, '--check')).toEqual({
    exitCode: 1,
    stdout: `new      later  plugins/later.mjs
gone     plain  plugins/plain.mjs
changed  shout  plugins/shout.mjs: src/up.mjs
holdfast.lock, 3 tools: 0 as locked, 1 new, 1 changed, 1 gone
`,
    stderr: '',
  });
  const { exitCode, printed } = await lockJson(folder, '--check');
  expect({ exitCode, printed }).toMatchObject({
    exitCode: 1,
    printed: { lock: 'holdfast.lock', found: true, written: false, ok: false },
  });
  expect(printed.tools[2]).toMatchObject({
    state: 'changed',
    changes: [{ part: 'file', name: 'src/up.mjs', patch: null }],
  });
  expect(await readFile(join(folder.path, 'holdfast.lock'), 'utf8')).toBe(text);
});

test('--accept shows differences with invisible characters escaped, and locks only that tool', async () => {
  await using folder = await createFolder(files);
  await lock(folder);
  await folder.write('src/up.mjs', 'export const up = (text) => text; // \u202ehid\u200bden\u001b[2J\r\n');
  await folder.write('plugins/plain.mjs', toTool('plain', 'return 2;'));
  const shown = `changed  shout  plugins/shout.mjs

--- src/up.mjs (locked)
+++ src/up.mjs (now)
@@ -1,1 +1,1 @@
-export const up = (text) => text.toUpperCase();
+export const up = (text) => text; // \\u{202e}hid\\u{200b}den\\x1b[2J\\r

`;
  expect(await lock(folder, '--check', '--accept', 'shout')).toEqual({
    exitCode: 1,
    stdout: `${shown}holdfast.lock, 1 named tool: 0 as locked, 1 changed\n`,
    stderr: '',
  });
  const { printed } = await lockJson(folder, '--check', '--accept', 'shout');
  expect(printed.tools[1].changes[0].patch).toContain('\\u{202e}hid\\u{200b}den\\x1b[2J\\r');
  expect(await lock(folder, '--accept', 'shout')).toEqual({
    exitCode: 0,
    stdout: `${shown}wrote holdfast.lock, 1 named tool: 0 as before, 1 changed\n`,
    stderr: '',
  });
  expect((await lock(folder, '--check')).stdout).toContain('2 tools: 1 as locked, 1 changed');
  expect(await lock(folder, '--accept', 'plain', '--accept', 'shout')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('same     shout'),
  });
  expect(await lock(folder, '--check')).toMatchObject({ exitCode: 0 });
});

test('metadata is shown before and after; a missing old text is reported', async () => {
  await using folder = await createFolder(files);
  await lock(folder);
  await folder.write(
    'plugins/plain.mjs',
    toTool('plain', 'return 1;').replace('false', 'true').replace('Acts.', 'Acts\u00a0now.'),
  );
  await rm(join(folder.path, '.holdfast'), { recursive: true });
  const { stdout } = await lock(folder, '--check', '--accept', 'plain');
  expect(stdout).toContain('--- plugins/plain.mjs (locked; text not available)\n');
  expect(stdout).toContain('\n+export const METADATA = {\n');
  expect(stdout).toContain('\n  dangerous: false -> true\n');
  expect(stdout).toContain('\n  description: "Acts." -> "Acts\u00a0now."\n');
});

test('a new tool is shown in full, and a deleted one leaves the lock', async () => {
  await using folder = await createFolder(files);
  await lock(folder);
  await folder.write('plugins/later.mjs', toTool('later', 'return 3;'));
  await rm(join(folder.path, 'plugins/plain.mjs'));
  const { stdout } = await lock(folder, '--accept', 'later', '--accept', 'plain');
  expect(stdout).toContain('--- plugins/later.mjs (does not exist)\n');
  expect(stdout).toContain('+export async function act(_, context) { return 3; }\n');
  expect(stdout).toMatch(
    /gone {5}plain {2}plugins\/plain\.mjs\n\nwrote holdfast\.lock, 2 named tools: 0 as before, 1 new, 1 gone\n$/,
  );
  expect((await lock(folder, '--check')).stdout).toBe('holdfast.lock, 2 tools: 2 as locked\n');
});

test('invalid files are reported with exit code 1, unless other tools were chosen', async () => {
  await using folder = await createFolder({ ...files, 'plugins/bad.mjs': 'export const METADATA = make();' });
  expect(await lock(folder)).toMatchObject({
    exitCode: 1,
    stdout: expect.stringContaining('2 new'),
    stderr: expect.stringMatching(/^\.\/plugins\/bad\.mjs:1:25 error tool\.metadata\.invalid: not_literal/),
  });
  expect(await lock(folder, '--check')).toMatchObject({ exitCode: 1 });
  expect(await lock(folder, '--accept', 'plain')).toMatchObject({ exitCode: 0, stderr: '' });
  await folder.write('plugins/plain.mjs', 'export const METADATA = make();');
  expect(await lock(folder, '--accept', 'plain')).toMatchObject({
    exitCode: 1,
    stdout: expect.stringContaining('1 refused'),
    stderr: expect.stringContaining('plain.mjs:1:25'),
  });
});

test.each([
  { argv: ['--accept', 'gone'], code: 'usage.invalid: tool_unknown', says: 'Known tools: plain, shout.' },
  { argv: ['--tools', 'gone'], code: 'usage.invalid: folder_missing', says: '`gone`' },
])('$argv is an error', async ({ argv, code, says }) => {
  await using folder = await createFolder(files);
  const { exitCode, stderr } = await lock(folder, ...argv);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`(${code})`) });
  expect(stderr).toContain(says);
});

test('without a lock everything differs', async () => {
  await using folder = await createFolder(files);
  const { exitCode, stdout } = await lock(folder, '--check');
  expect({ exitCode, stdout }).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('new      plain') });
  expect(stdout).toContain('there is no holdfast.lock, 2 tools: 0 as locked, 2 new\n');
  expect((await lockJson(folder, '--check')).printed).toMatchObject({ found: false, ok: false });
  await using empty = await createFolder({ 'plugins/notes.txt': '' });
  expect(await lock(empty, '--check')).toMatchObject({ exitCode: 1 });
});

test('a missing folder, and a damaged lock', async () => {
  await using empty = await createFolder();
  expect(await lock(empty)).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('(usage.invalid: folder_missing)'),
  });
  await using folder = await createFolder({ ...files, 'holdfast.lock': '{"version":1' });
  for (const argv of [['lock'], ['list'], ['run', 'Do it.']])
    expect(await runHere(argv, { directory: folder.path })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('(lock.invalid)'),
    });
});

test('locked tools run, others are reported and left out; without the lock they run again', async () => {
  await using folder = await createFolder({ ...files, 'script.json': script('shout', 'plain') });
  await lock(folder);
  await folder.write('src/up.mjs', "export const up = () => 'evil';\n");
  const run = (): Promise<Ended> => runHere(jsonRun, { directory: folder.path });
  const locked = await run();
  expect(locked.stderr).toContain('error lock.changed  `shout` differs from the lock: `src/up.mjs`');
  expect(locked.stdout).toContain('"kind":"unknown-tool"');
  expect(locked.stdout).not.toContain('evil');
  expect((await runHere(['list'], { directory: folder.path })).stdout).not.toContain('shout');
  await rm(join(folder.path, 'holdfast.lock'));
  expect((await run()).stdout).toContain('evil');
});

test('a removed lock is reported as long as its registry exists', async () => {
  await using folder = await createFolder({ ...files, 'script.json': script('shout') });
  await lock(folder);
  await runHere(jsonRun, { directory: folder.path });
  await rm(join(folder.path, 'holdfast.lock'));
  const gone = '`holdfast.lock` is missing: it existed when tools of this folder were last loaded';
  for (const argv of [jsonRun, ['list']])
    expect((await runHere(argv, { directory: folder.path })).stderr).toContain(`warning: ${gone}`);
  expect(await runHere(['doctor'], { directory: folder.path })).toMatchObject({
    exitCode: 1,
    stdout: expect.stringContaining(`problem: ${gone}`),
  });
  await rm(join(folder.path, '.holdfast/registry.json'));
  expect((await runHere(jsonRun, { directory: folder.path })).stderr).toBe('');
});

test('an empty folder is not locked, and emptying it does not change the lock', async () => {
  await using folder = await createFolder(files);
  await lock(folder);
  const before = await readFile(join(folder.path, 'holdfast.lock'), 'utf8');
  for (const name of ['shout', 'plain']) await rm(join(folder.path, `plugins/${name}.mjs`));
  const emptied = await lock(folder);
  expect(emptied).toMatchObject({ exitCode: 2, stdout: '' });
  expect(emptied.stderr).toMatch(
    /No tools to lock in `\.\/plugins`.*\(usage\.invalid: tools_missing\).*`--accept plain`, `--accept shout`/s,
  );
  expect(await readFile(join(folder.path, 'holdfast.lock'), 'utf8')).toBe(before);
  expect(await lock(folder, '--check')).toMatchObject({ exitCode: 1 });
  expect(await lock(folder, '--accept', 'plain', '--accept', 'shout')).toMatchObject({ exitCode: 0 });
  await using empty = await createFolder({ 'plugins/notes.txt': '' });
  expect(await lock(empty)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('`holdfast new tool NAME`') });
});

test('the hint for a changed tool has the command for its folder', async () => {
  const own = { 'my tools/shout.mjs': toTool('shout', 'return 1;') };
  await using folder = await createFolder(own);
  await lock(folder, '--tools', 'my tools', '--subfolders');
  await folder.write('my tools/shout.mjs', toTool('shout', 'return 2;'));
  const { stderr } = await runHere(['list', '--tools', 'my tools', '--subfolders'], { directory: folder.path });
  const [, command = ''] = /`holdfast (lock .+?)`/.exec(stderr) ?? [];
  expect(command).toBe("lock --tools 'my tools' --subfolders --check --accept shout");
});

test('a run reports that its tools are locked', async () => {
  await using folder = await createFolder(files);
  await lock(folder);
  const { stdout } = await runHere(['run', 'Do it.'], { directory: folder.path });
  expect(stdout).toContain('2 tools from ./plugins, locked');
});

test('a dangling link as lock does not disable locking', async () => {
  await using folder = await createFolder(files);
  await folder.link('holdfast.lock', 'gone.lock');
  expect(await runHere(['list'], { directory: folder.path })).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('(lock.invalid: unreadable)'),
  });
});

test('check ignores the lock', async () => {
  await using folder = await createFolder(files);
  await lock(folder);
  await folder.write('plugins/later.mjs', toTool('later', 'return 1;'));
  expect(await runHere(['check', 'plugins'], { directory: folder.path })).toMatchObject({ exitCode: 0 });
});
