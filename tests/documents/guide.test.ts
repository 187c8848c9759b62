import { spawn } from 'node:child_process';
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
  runPrograms,
  writeFences,
  writeShown,
} from './documents.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const guide = join(root, 'apps', 'docs', 'guide');
// Inside the examples, where programs can import the packages.
const scratch = join(root, 'examples', '.cache', 'guide');
// The folder for pages without programs, followed step by step: files appear only at their place on the page.
const followed = join(root, 'examples', '.cache', 'guide-followed');

const hasPython = (await runProgram('python3', ['--version'])) === 0;

const names = (await readdir(guide)).filter((name) => name.endsWith('.md'));
const pages = await Promise.all(
  names.map(async (name) => {
    const text = await readFile(join(guide, name), 'utf8');
    const hasPrograms = [...readFences(text).keys()].some((path) => path.startsWith('program-'));
    const folder = join(scratch, name.replace('.md', ''));
    return { name, text, folder, place: hasPrograms ? folder : join(followed, name.replace('.md', '')) };
  }),
);

beforeAll(async () => {
  for (const path of [scratch, followed]) await rm(path, { recursive: true, force: true });
  await Promise.all(
    pages.map(async ({ folder, place, text }) => {
      for (const path of [folder, place]) await mkdir(path, { recursive: true });
      await writeFences(readFences(text), folder);
      for (const step of readSteps(text)) if (step.type === 'file') await writeShown(step, folder);
    }),
  );
});

afterAll(async () => {
  for (const path of [scratch, followed]) await rm(path, { recursive: true, force: true });
});

test('every TypeScript fence of the guide compiles under the settings of the repository', async () => {
  const settings = {
    extends: join(root, 'tsconfig.base.json'),
    // Readers' files are not published: `export default defineConfig({ … })` needs no explicit type.
    compilerOptions: { noEmit: true, isolatedDeclarations: false },
    include: ['*/**/*.ts'],
  };
  await writeFile(join(scratch, 'tsconfig.json'), JSON.stringify(settings));
  expect(await runNode([findCompiler(), '-p', scratch], { cwd: scratch })).toEqual({ status: 0, output: '' });
});

// In one process, because most of a program's time is its start.
test('the programs of the pages run, and print the promised output', async () => {
  const programs = pages
    .filter(({ folder, place }) => folder === place)
    .map(async ({ folder, text }) => {
      const fences = readFences(text);
      const paths = await writeFences(fences, folder);
      return paths.map((path) => ({ folder, path, promises: readPromises(fences.get(path) ?? '') }));
    });
  expect(await runPrograms((await Promise.all(programs)).flat())).toEqual([]);
});

// Their commands run with packages from a registry: tests/packed/guide.test.ts.
const installing = new Set(['five-minutes.md', 'your-own-pack.md']);
const commands = pages
  .filter(({ name }) => !installing.has(name))
  .flatMap(({ name, place, text }) => readCommands(text).map((step) => ({ name, place, ...step })));

test.each(commands)('$name: $command', async ({ place, files, command, status: wanted, shown }) => {
  for (const file of files) await writeShown(file, place);
  // Otherwise `npm start` copies the sample project into the reader's own folder.
  const more = command.startsWith('npm start') ? ['--workspace', place] : [];
  const { status, output } = await runCommand(command, place, more);
  expect({ status, output, unkept: findUnkept(shown, output) }).toMatchObject({ status: wanted, unkept: [] });
});

test('the promises of the pages are checked', () => {
  expect(pages.flatMap(({ text }) => [...readFences(text).values()].flatMap(readPromises)).length).toBeGreaterThan(20);
  expect(commands.length).toBeGreaterThan(5);
});

type Step<Type extends PageStep['type']> = Extract<PageStep, { readonly type: Type }>;

/**
 * The commands of a page in order, each with the files between it and the previous one. Without Python, commands
 * from the first Python file on are omitted.
 */
function readCommands(text: string): readonly (Step<'command'> & { readonly files: readonly Step<'file'>[] })[] {
  let files: Step<'file'>[] = [];
  const steps = readSteps(text);
  const first = hasPython ? -1 : steps.findIndex((step) => step.type === 'file' && step.path.endsWith('.py'));
  return steps.slice(0, first < 0 ? undefined : first).flatMap((step) => {
    if (step.type === 'file') {
      files.push(step);
      return [];
    }
    const command = { ...step, files };
    files = [];
    return [command];
  });
}

/** The exit code; `undefined`: it cannot be started. */
function runProgram(program: string, parameters: readonly string[]): Promise<number | undefined> {
  return new Promise((resolve) => {
    const child = spawn(program, parameters, { stdio: 'ignore' });
    child.on('error', () => resolve(undefined));
    child.on('close', (status) => resolve(status ?? undefined));
  });
}

function findCompiler(): string {
  return join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
}
