import { chmod, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandFile } from './test-commands.ts';
import { createProject, type TestProject, testContext, watchTools } from './test-project.ts';
import { python, pythonFile } from './test-python.ts';

interface TestWatch extends AsyncDisposable {
  readonly project: TestProject;
  readonly watched: Awaited<ReturnType<typeof watchTools>>;
  /** Writes files, removes those with `null`, and reloads. */
  edit(files: Readonly<Record<string, string | null>>): Promise<void>;
  answers(): Promise<Readonly<Record<string, unknown>>>;
  /** Codes with their files, and severities of warnings. */
  codes(): readonly string[];
}

async function startWatch(files: Readonly<Record<string, string>>): Promise<TestWatch> {
  const project = await createProject(files);
  const watched = await watchTools(project.plugins);
  return {
    project,
    watched,
    async edit(changes) {
      for (const [path, content] of Object.entries(changes)) {
        if (content === null) {
          await project.remove(path);
          continue;
        }
        // Atomically: the folder is really watched, and a briefly empty file could be a valid version.
        await project.write('.aside', content);
        await rename(join(project.root, '.aside'), join(project.root, path));
      }
      await watched.reload();
    },
    async answers() {
      const answers: [string, unknown][] = [];
      for (const tool of watched.tools) answers.push([tool.name, await tool.execute?.({}, testContext())]);
      return Object.fromEntries(answers);
    },
    codes: () =>
      watched.diagnostics.map(
        ({ severity, code, file }) => `${file} ${code}${severity === 'error' ? '' : ' (warning)'}`,
      ),
    async [Symbol.asyncDispose]() {
      await watched.close();
      await project[Symbol.asyncDispose]();
    },
  };
}

const script = (answer: number): string => `#!/bin/sh\necho ${answer}\n`;

test('a command: its script is part of the tool, and a broken change keeps the last version', async () => {
  const named = { 'plugins/count.tool.json': commandFile(['sh', './count.sh']) };
  await using watch = await startWatch({ ...named, 'plugins/count.sh': script(1) });
  expect({ answers: await watch.answers(), codes: watch.codes() }).toEqual({ answers: { count: 1 }, codes: [] });
  await watch.edit({ 'plugins/count.sh': script(2) });
  expect(await watch.answers()).toEqual({ count: 2 });
  await watch.edit({ 'plugins/count.sh': null });
  expect(watch.codes()).toContain('count.tool.json tool.watch.failed (warning)');
  expect(await watch.answers()).toEqual({ count: 2 });
  // Separately: the folder is watched, and may be read in between.
  await watch.edit({ 'plugins/count.tool.json': '{' });
  await watch.edit({ 'plugins/count.sh': script(3) });
  expect(await watch.answers()).toEqual({ count: 2 });
  await watch.edit(named);
  expect({ answers: await watch.answers(), codes: watch.codes() }).toEqual({ answers: { count: 3 }, codes: [] });
  await watch.edit({ 'plugins/count.tool.json': null });
  expect(watch.watched.tools).toEqual([]);
});

test('an executable command stays executable in its copy', async () => {
  await using watch = await startWatch({ 'plugins/count.sh': script(1) });
  await chmod(join(watch.project.plugins, 'count.sh'), 0o755);
  await watch.edit({ 'plugins/count.tool.json': commandFile(['./count.sh']) });
  expect({ answers: await watch.answers(), codes: watch.codes() }).toEqual({ answers: { count: 1 }, codes: [] });
  await chmod(join(watch.project.plugins, 'count.sh'), 0o644);
  await watch.watched.reload();
  expect(watch.codes()).toContain('count.tool.json tool.watch.failed (warning)');
  expect(await watch.answers()).toEqual({ count: 1 });
});

test.skipIf(!python.available)(
  'Python: its imports are part of the tool, and a broken change keeps the last version',
  async () => {
    const importing = pythonFile('say', { code: 'import word\n', def: 'def work(text=None):\n    return word.word' });
    await using watch = await startWatch({ 'plugins/say.py': importing, 'plugins/word.py': 'word = 1\n' });
    expect({ answers: await watch.answers(), codes: watch.codes() }).toEqual({ answers: { say: 1 }, codes: [] });
    const [first] = watch.watched.tools;
    await watch.edit({ 'plugins/word.py': 'word = 2\n' });
    expect(await watch.answers()).toEqual({ say: 2 });
    await watch.edit({ 'plugins/word.py': 'word =\n' });
    expect(await watch.answers()).toEqual({ say: 2 });
    expect(watch.codes()).toContain('say.py tool.watch.failed (warning)');
    // Separately: the folder is watched, and may be read in between.
    await watch.edit({ 'plugins/say.py': 'METADATA = {' });
    await watch.edit({ 'plugins/word.py': 'word = 3\n' });
    expect(await watch.answers()).toEqual({ say: 2 });
    await watch.edit({ 'plugins/say.py': importing });
    expect({ answers: await watch.answers(), codes: watch.codes() }).toEqual({ answers: { say: 3 }, codes: [] });
    expect(watch.watched.tools[0]).not.toBe(first);
    await watch.edit({ 'plugins/say.py': null });
    expect(watch.watched.tools).toEqual([]);
  },
);
