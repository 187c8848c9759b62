import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { readPackages } from './packed-package.ts';
import { createProject, type Ended, type Project } from './stranger.ts';

const { version } = (await readPackages(inject('tarballs'))).find(({ manifest }) => manifest.name === 'holdfast')
  ?.manifest ?? { version: '' };
const toolFile = `export const METADATA = {
  name: 'greet',
  function: 'greet',
  description: 'Greet a person by name.',
  dangerous: false,
  parameters: { type: 'object', properties: { name: { type: 'string', description: 'Whom' } }, required: ['name'] },
};

export function greet({ name }) {
  return \`Hello, \${name}.\`;
}
`;
const script = { turns: [{ calls: [{ name: 'greet', arguments: { name: 'Ada' } }] }, { text: 'Ada was greeted.' }] };

let project: Project;

beforeAll(async () => {
  const registry = inject('registry');
  project = await createProject(registry, [`${registry}/holdfast/-/${version}.tgz`]);
  await project.write('tools/greet.mjs', toolFile);
  await project.write('script.json', JSON.stringify(script));
});

afterAll(() => project.remove());

function holdfast(...parameters: readonly string[]): Promise<Ended> {
  return project.run(join(project.folder, 'node_modules/.bin/holdfast'), parameters);
}

test('--version', async () => {
  expect(await holdfast('--version')).toEqual({ status: 0, output: `${version}\n` });
});

test('check', async () => {
  expect(await holdfast('check', 'tools')).toEqual({ status: 0, output: expect.stringContaining('1 valid tool') });
});

test('run with a script, and show', async () => {
  const words = ['run', 'Greet Ada', '--tools', 'tools', '--model', 'script:script.json'];
  expect(await holdfast(...words)).toEqual({
    status: 0,
    output: expect.stringMatching(/greet[\s\S]*Ada was greeted\./),
  });
  expect(await holdfast('show')).toEqual({ status: 0, output: expect.stringContaining('greet') });
});
