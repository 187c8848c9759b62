import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from './documents.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-readme-')));
const readme = await readFile(join(root, 'README.md'), 'utf8');
const section = readme.slice(readme.indexOf('## Add a tool of your own'), readme.indexOf('## In a program'));

/** The commands of the section, word for word. */
const commands = [...section.matchAll(/^ {4}(npm .+)$/gm)].map(([, command = '']) => command);

beforeAll(async () => {
  const [, path = '', source = ''] = /`(my-tools\/[\w.]+)`:\n\n```js\n([\s\S]+?)```/.exec(section) ?? [];
  await mkdir(join(folder, dirname(path)), { recursive: true });
  await writeFile(join(folder, path), source);
});

afterAll(() => rm(folder, { recursive: true }));

test('the section has a check, a try and a run', () => {
  expect(commands).toEqual([
    expect.stringContaining('holdfast -- check'),
    expect.stringContaining('holdfast -- try'),
    expect.stringContaining('npm start --'),
  ]);
});

test('D14: nothing sends a newcomer to the packaged model, which fails the first request of the README', () => {
  expect(readme).toContain('npm start -- "List every TODO comment');
  expect(readme).not.toContain('--model local');
});

test('the tool file of the README is sound', async () => {
  const { status, output } = await runCommand(commands[0] ?? '', folder);
  expect({ status, output }).toEqual({
    status: 0,
    output: expect.stringContaining('1 valid tool, 0 errors, 0 warnings'),
  });
});

test('it answers when it is tried alone', async () => {
  const { status, output } = await runCommand(commands[1] ?? '', folder);
  expect({ status, output }).toEqual({ status: 0, output: expect.stringContaining('MMXXVI') });
});

test('the request of the README uses it', async () => {
  // In a folder of its own, where the README's command makes a copy of the sample project.
  const { status, output } = await runCommand(commands[2] ?? '', folder, ['--workspace', folder]);
  expect({ status, output }).toEqual({ status: 0, output: expect.stringMatching(/roman_numeral[\s\S]*MMXXVI/) });
});
