import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createProject, type Project, readCatalogVersion } from './stranger.ts';

const packages = ['@holdfast/adapter-offline', '@holdfast/kit'];
const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');

let project: Project;

beforeAll(async () => {
  const others = await Promise.all(['tsx', 'zod'].map(async (name) => `${name}@${await readCatalogVersion(name)}`));
  project = await createProject(inject('registry'), [...packages, ...others]);
  const [, program = ''] = /## In a program\n\n```ts\n([\s\S]+?)```/.exec(readme) ?? [];
  await project.write('agent.ts', program);
});

afterAll(() => project.remove());

test.each([
  { how: 'Node.js alone', command: process.execPath, parameters: ['agent.ts'] },
  { how: 'tsx', command: 'npx', parameters: ['--no-install', 'tsx', 'agent.ts'] },
])('the first program of the README runs by $how', async ({ command, parameters }) => {
  expect(await project.run(command, parameters)).toEqual({
    status: 0,
    output: 'country: Peru\ncapital: Lima\n',
  });
});

test('what Node.js does not run, tsx does', async () => {
  await project.write('beyond.ts', 'enum Capital { peru = "Lima" }\nconsole.log(Capital.peru);\n');
  expect(await project.run(process.execPath, ['beyond.ts'])).toMatchObject({
    output: expect.stringContaining('ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX'),
  });
  expect(await project.run('npx', ['--no-install', 'tsx', 'beyond.ts'])).toEqual({ status: 0, output: 'Lima\n' });
});
