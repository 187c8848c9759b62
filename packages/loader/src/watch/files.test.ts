import { mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WatchFolder } from '@holdfast/session/watch';
import { expect, test } from 'vitest';
import { callTool, createProject, type TestProject, toolFile } from '../test-project.ts';
import { watchFilesWith } from './files.ts';
import { type WatchedTools, watchTools } from './tools.ts';

const saying = (word: string): string => toolFile('say', { body: `return '${word}';` });
const importing = toolFile('say', { code: "import { word } from '../src/word.mjs';", body: 'return word;' });

interface Act {
  readonly name: string;
  readonly act: (project: TestProject) => Promise<void>;
  /** The tool's final result; `undefined`: it does not exist. */
  readonly says: string | undefined;
}

const inFolder: readonly Act[] = [
  { name: 'written', act: ({ write }) => write('plugins/say.mjs', saying('one')), says: 'one' },
  { name: 'written again', act: ({ write }) => write('plugins/say.mjs', saying('two')), says: 'two' },
  {
    name: 'replaced, as many editors do',
    async act({ root, write }) {
      await write('plugins/.say.mjs.tmp', saying('three'));
      await rename(join(root, 'plugins/.say.mjs.tmp'), join(root, 'plugins/say.mjs'));
    },
    says: 'three',
  },
  { name: 'written after that', act: ({ write }) => write('plugins/say.mjs', saying('four')), says: 'four' },
  {
    name: 'replaced by one of the same length and times',
    async act({ root, write }) {
      await write('plugins/.other', saying('five'));
      const time = new Date('2020-01-01');
      await utimes(join(root, 'plugins/say.mjs'), time, time);
      await utimes(join(root, 'plugins/.other'), time, time);
      await rename(join(root, 'plugins/.other'), join(root, 'plugins/say.mjs'));
    },
    says: 'five',
  },
  { name: 'removed', act: ({ remove }) => remove('plugins/say.mjs'), says: undefined },
  { name: 'moved in', act: moveIn, says: 'six' },
  { name: 'folder put in the place of the folder', act: swapFolder, says: 'seven' },
  { name: 'written in the new folder', act: ({ write }) => write('plugins/say.mjs', saying('eight')), says: 'eight' },
  {
    name: 'folder removed and made again',
    async act({ plugins, write }) {
      await rm(plugins, { recursive: true });
      await mkdir(plugins);
      await write('plugins/say.mjs', saying('nine'));
    },
    says: 'nine',
  },
  { name: 'written in that one', act: ({ write }) => write('plugins/say.mjs', saying('ten')), says: 'ten' },
  { name: 'imports from outside', act: writeImporting, says: 'word 1' },
  { name: 'import written', act: writeWord(2), says: 'word 2' },
  {
    name: 'import replaced',
    async act({ root, write }) {
      await write('src/aside', 'export const word = "word 3";');
      await rename(join(root, 'src/aside'), join(root, 'src/word.mjs'));
    },
    says: 'word 3',
  },
  { name: 'import written after that', act: writeWord(4), says: 'word 4' },
  {
    name: 'import removed and made again',
    async act(project) {
      await project.remove('src/word.mjs');
      await writeWord(5)(project);
    },
    says: 'word 5',
  },
  {
    name: 'folder of the import removed and made again',
    async act(project) {
      await project.remove('src');
      await writeWord(6)(project);
    },
    says: 'word 6',
  },
  { name: 'import written in that one', act: writeWord(7), says: 'word 7' },
];

async function moveIn({ root, write }: TestProject): Promise<void> {
  await write('aside.mjs', saying('six'));
  await rename(join(root, 'aside.mjs'), join(root, 'plugins/say.mjs'));
}

async function swapFolder({ root, plugins, write }: TestProject): Promise<void> {
  await write('next/say.mjs', saying('seven'));
  await rename(plugins, join(root, 'former'));
  await rename(join(root, 'next'), plugins);
}

async function writeImporting({ write }: TestProject): Promise<void> {
  await write('src/word.mjs', 'export const word = "word 1";');
  await write('plugins/say.mjs', importing);
}

function writeWord(number: number): Act['act'] {
  return ({ write }) => write('src/word.mjs', `export const word = "word ${number}";`);
}

/** Watches real files; `settled` resolves once the tool returns the expected result. */
async function startReal(
  project: TestProject,
  options: { readonly lock?: string; readonly subfolders?: true } = {},
): Promise<{
  readonly watched: WatchedTools;
  settled(says: string | undefined, codes?: readonly string[]): Promise<void>;
}> {
  let look = (): void => undefined;
  const watched = await watchTools(project.plugins, {
    isolation: 'in-process',
    onReload: () => look(),
    ...options,
  });
  const codesNow = (): readonly string[] =>
    watched.diagnostics.filter(({ reason }) => reason !== 'retained').map(({ code }) => code);
  return {
    watched,
    settled: (says, codes = []) =>
      new Promise((resolve) => {
        look = () => {
          void callTool(watched.tools[0]).then((said) => {
            if (said === says && [...codesNow()].sort().join() === codes.join()) resolve();
          });
        };
        look();
      }),
  };
}

test('every kind of file change is noticed', async () => {
  await using project = await createProject();
  const { watched, settled } = await startReal(project);
  for (const { name, act, says } of inFolder) {
    await act(project);
    await settled(says);
    expect(watched.tools.length, name).toBe(says === undefined ? 0 : 1);
  }
  await watched.close();
});

test('a written lock is noticed', async () => {
  await using project = await createProject({ 'plugins/say.mjs': saying('one') });
  await project.accept();
  const { watched, settled } = await startReal(project, { lock: project.lock });
  for (const word of ['two', 'three']) {
    const before = await callTool(watched.tools[0]);
    await project.write('plugins/say.mjs', saying(word));
    await settled(String(before), ['lock.changed', 'tool.watch.failed']);
    await project.accept();
    await settled(word);
    expect(await callTool(watched.tools[0])).toBe(word);
  }
  await watched.close();
});

test('subfolders, including new ones', async () => {
  await using project = await createProject();
  const { watched, settled } = await startReal(project, { subfolders: true });
  await project.write('plugins/deep/er/say.mjs', saying('one'));
  await settled('one');
  await project.write('plugins/deep/er/say.mjs', saying('two'));
  await settled('two');
  await rename(join(project.plugins, 'deep'), join(project.plugins, '_deep'));
  await settled(undefined);
  expect(watched.tools).toEqual([]);
  await watched.close();
});

test('a folder behind a link, and a retargeted link', async () => {
  await using project = await createProject({ 'one/say.mjs': saying('one'), 'two/say.mjs': saying('two') });
  await rm(project.plugins, { recursive: true });
  await symlink('one', project.plugins);
  const { watched, settled } = await startReal(project);
  await settled('one');
  await project.write('one/say.mjs', saying('three'));
  await settled('three');
  await symlink('two', join(project.root, 'next'));
  await rename(join(project.root, 'next'), project.plugins);
  await settled('two');
  await project.write('two/say.mjs', saying('four'));
  await settled('four');
  expect(watched.files).toMatchObject([{ type: 'tool', file: 'say.mjs' }]);
  await watched.close();
});

test('a thousand files at once', async () => {
  await using project = await createProject();
  const { watched, settled } = await startReal(project);
  const names = Array.from({ length: 1000 }, (_, index) => `t${String(index).padStart(4, '0')}`);
  await Promise.all(
    names.map((name) => writeFile(join(project.plugins, `${name}.mjs`), toolFile(name, { body: `return '${name}';` }))),
  );
  await settled('t0000');
  while (watched.tools.length < names.length) await watched.reload();
  await Promise.all(names.slice(1).map((name) => rm(join(project.plugins, `${name}.mjs`))));
  await project.write('plugins/t0000.mjs', saying('last'));
  await settled('last');
  while (watched.tools.length > 1) await watched.reload();
  expect(watched.tools).toMatchObject([{ name: 'say' }]);
  await watched.close();
});

test('two watches of one folder both notice its replacement', async () => {
  await using project = await createProject({ 'plugins/say.mjs': saying('one') });
  const [first, second] = [await startReal(project), await startReal(project)];
  await swapFolder(project);
  await Promise.all([first.settled('seven'), second.settled('seven')]);
  await project.write('plugins/say.mjs', saying('eight'));
  await Promise.all([first.settled('eight'), second.settled('eight')]);
  expect(first.watched.tools).toMatchObject([{ name: 'say' }]);
  await first.watched.close();
  await project.write('plugins/say.mjs', saying('nine'));
  await second.settled('nine');
  await second.watched.close();
});

const names = [
  ['say.mjs', true],
  ['_word.mjs', true],
  ['count.sh', true],
  ['.say.mjs.swp', false],
  ['node_modules', false],
  // If the system does not name the file, it may be one of ours.
  [null, true],
] as const;

test('irrelevant names, and files that changed before they were followed', async () => {
  await using project = await createProject({ 'src/word.mjs': '' });
  const listeners = new Map<string, (event: string, name: string | null) => void>();
  let isFull = true;
  let changes = 0;
  const watchFolder: WatchFolder = (path, listener) => {
    if (isFull && path === project.plugins) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    listeners.set(path, listener);
    return { on: () => undefined, close: () => listeners.delete(path) };
  };
  const place = { directory: project.plugins, subfolders: false, files: [] };
  const watcher = await watchFilesWith(watchFolder, place, () => {
    changes += 1;
  });
  const countChanges = async (paths: readonly string[]): Promise<number> => {
    const before = changes;
    expect(await watcher.follow(paths)).toEqual([]);
    return changes - before;
  };
  expect([...listeners.keys()]).toEqual([project.root]);
  expect(await watcher.follow([])).toMatchObject([{ code: 'ENOSPC' }]);
  isFull = false;
  expect(await countChanges([])).toBe(1);
  const word = join(project.root, 'src/word.mjs');
  expect(await countChanges([word])).toBeGreaterThan(0);
  expect(await countChanges([word])).toBe(0);
  // In an already watched folder.
  expect(await countChanges([word, join(project.root, 'src/other.mjs')])).toBe(1);
  for (const [name, isOurs] of names) {
    const before = changes;
    listeners.get(project.plugins)?.('change', name);
    expect({ name, isOurs: changes > before }).toEqual({ name, isOurs });
  }
  expect(await countChanges([])).toBe(0);
  expect([...listeners.keys()].sort()).toEqual([project.root, project.plugins]);
  watcher.close();
  expect(listeners.size).toBe(0);
});

test('nothing keeps the process alive after closing', async () => {
  const count = (): number => process.getActiveResourcesInfo().filter((kind) => kind.startsWith('FSEvent')).length;
  await using project = await createProject({ 'plugins/say.mjs': saying('one') });
  const before = count();
  const { watched } = await startReal(project);
  expect(count()).toBeGreaterThan(before);
  await watched.close();
  while (count() > before) await new Promise((resolve) => setImmediate(resolve));
});
