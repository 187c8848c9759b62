import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createProject, type Project, readCatalogVersion } from './stranger.ts';

// Outside of the workspace, with nothing but what plan-program.ts names: a request is compiled, run, and read back.

let project: Project;

beforeAll(async () => {
  project = await createProject(inject('registry'), [
    '@holdfast/adapter-offline',
    '@holdfast/core',
    '@holdfast/orchestrator',
    '@holdfast/session',
    `@types/node@${await readCatalogVersion('@types/node')}`,
  ]);
  await project.write('program.ts', await readFile(new URL('plan-program.ts', import.meta.url), 'utf8'));
});

afterAll(() => project.remove());

test('a request becomes a plan that runs, waits for a person, and is read from its log', async () => {
  const { status, output } = await project.run(process.execPath, ['program.ts']);
  expect({ status, output: status === 0 ? (JSON.parse(output) as unknown) : output }).toEqual({
    status: 0,
    output: {
      nodes: [
        ['read_text', { path: 'tulips.txt' }],
        ['read_text', { path: 'roses.txt' }],
        ['count_words', { text: { $from: 0, path: 'text' } }],
        ['count_words', { text: { $from: 1, path: 'text' } }],
      ],
      status: 'succeeded',
      values: [{ text: 'Tulips flower in May' }, { text: 'Roses flower all summer long' }, { words: 4 }, { words: 5 }],
      alike: true,
      events: ['plan-start', 'plan-end'],
      told: [true, true, true, true],
      asked: 'suspended',
      resumed: ['ok', 'ok'],
      written: 'It says: Tulips flower in May',
      declined: 'plan.declined',
      invalid: ['plan.tool.unknown'],
    },
  });
});

test('the types of all that are those that it says', async () => {
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
  const compilerOptions = {
    target: 'es2024',
    lib: ['es2024'],
    module: 'nodenext',
    types: ['node'],
    noEmit: true,
    strict: true,
    skipLibCheck: false,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
  };
  await project.write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['program.ts'] }));
  expect(await project.run(process.execPath, [compiler, '--project', '.'])).toEqual({ status: 0, output: '' });
});

test('what comes with them is what plans run on', () => {
  const names = ['adapter-offline', 'core', 'executor', 'orchestrator', 'schema', 'session'];
  const ours = project.installed.filter((name) => name.startsWith('@holdfast/'));
  expect(ours).toEqual(names.map((name) => `@holdfast/${name}`));
});
