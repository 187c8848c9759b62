import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createProject, findNode, type Project, readCatalogVersion } from './stranger.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
// The packages needed to define a tool and run a loop.
const needed = ['core', 'executor', 'policy', 'prompt', 'session'].map((name) => `@holdfast/${name}`);

let project: Project;

beforeAll(async () => {
  project = await createProject(inject('registry'), [...needed, `valibot@${await readCatalogVersion('valibot')}`]);
});

afterAll(() => project.remove());

test('only what is needed is installed', () => {
  expect(project.installed).toEqual([
    '@cfworker/json-schema',
    '@holdfast/core',
    '@holdfast/executor',
    '@holdfast/policy',
    '@holdfast/prompt',
    '@holdfast/schema',
    '@holdfast/session',
    '@valibot/to-json-schema',
    'valibot',
  ]);
});

test.each(['22.18.0', process.versions.node])('example 01 runs on Node.js %s', async (version) => {
  await project.write('one-tool.ts', await readFile(join(root, 'examples/01-one-tool.ts'), 'utf8'));
  const node = version === process.versions.node ? process.execPath : await findNode(version);
  expect(await project.run(node, ['--version'])).toEqual({ status: 0, output: `v${version}\n` });
  expect(await project.run(node, ['one-tool.ts'])).toEqual({
    status: 0,
    output: expect.stringContaining('every call ended in exactly one outcome'),
  });
});
