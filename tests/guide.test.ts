import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  findUnkept,
  type PageStep,
  readFences,
  readPromises,
  readSteps,
  runCommand,
  runNode,
  writeFences,
  writeShown,
} from './documents.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const guide = join(root, 'apps', 'docs', 'guide');
// Among the examples, where a reader's own programs find the packages.
const scratch = join(root, 'examples', '.cache', 'guide');

const names = (await readdir(guide)).filter((name) => name.endsWith('.md'));
const pages = await Promise.all(
  names.map(async (name) => ({
    name,
    folder: join(scratch, name.replace('.md', '')),
    text: await readFile(join(guide, name), 'utf8'),
  })),
);

beforeAll(async () => {
  await rm(scratch, { recursive: true, force: true });
  await Promise.all(
    pages.map(async ({ folder, text }) => {
      await mkdir(folder, { recursive: true });
      await writeFences(readFences(text), folder);
      for (const step of readSteps(text)) if (step.type === 'file') await writeShown(step, folder);
    }),
  );
});

afterAll(() => rm(scratch, { recursive: true, force: true }));

test('every TypeScript fence of the guide compiles under the settings of the repository', async () => {
  const settings = {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions: { noEmit: true },
    include: ['*/**/*.ts'],
  };
  await writeFile(join(scratch, 'tsconfig.json'), JSON.stringify(settings));
  expect(await runNode([findCompiler(), '-p', scratch], { cwd: scratch })).toEqual({ status: 0, output: '' });
});

test.each(pages)('the programs of $name run, and print what they say', async ({ folder, text }) => {
  const fences = readFences(text);
  for (const path of await writeFences(fences, folder)) {
    const { status, output } = await runNode(['--conditions=holdfast-source', path], { cwd: folder });
    const unkept = findUnkept(readPromises(fences.get(path) ?? ''), output);
    expect({ path, status, output, unkept }).toMatchObject({ status: 0, unkept: [] });
  }
});

const commands = pages.flatMap(({ name, folder, text }) =>
  readCommands(text).map((step) => ({ name, folder, ...step })),
);

test.each(commands)('$name: $command', async ({ folder, files, command, status: wanted, shown }) => {
  // As the page has it at this place, which may be another version than above.
  for (const file of files) await writeShown(file, folder);
  // `npm start` makes a copy of the sample project otherwise, in the reader's own folder.
  const more = command.startsWith('npm start') ? ['--workspace', folder] : [];
  const { status, output } = await runCommand(command, folder, more);
  expect({ status, output, unkept: findUnkept(shown, output) }).toMatchObject({ status: wanted, unkept: [] });
});

test('what the pages promise is looked at', () => {
  expect(pages.flatMap(({ text }) => [...readFences(text).values()].flatMap(readPromises)).length).toBeGreaterThan(20);
  expect(commands.length).toBeGreaterThan(5);
});

type Step<Type extends PageStep['type']> = Extract<PageStep, { readonly type: Type }>;

/** The commands of a page in their order, each with the files that stand between it and the one before. */
function readCommands(text: string): readonly (Step<'command'> & { readonly files: readonly Step<'file'>[] })[] {
  let files: Step<'file'>[] = [];
  return readSteps(text).flatMap((step) => {
    if (step.type === 'file') {
      files.push(step);
      return [];
    }
    const command = { ...step, files };
    files = [];
    return [command];
  });
}

function findCompiler(): string {
  return join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
}
