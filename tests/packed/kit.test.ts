import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createProject, type Project } from './stranger.ts';

let project: Project;

beforeAll(async () => {
  project = await createProject(inject('registry'), ['@holdfast/kit']);
});

afterAll(() => project.remove());

test('the kit brings ring 1 and what that needs: no loader, no command line, nothing native', async () => {
  const ours = ['core', 'executor', 'filesystem', 'kit', 'planning', 'policy', 'prompt', 'schema', 'session'];
  expect(project.installed).toEqual([
    '@cfworker/json-schema',
    ...ours.map((name) => `@holdfast/${name}`),
    '@valibot/to-json-schema',
    'picomatch',
    'valibot',
  ]);
  expect(await project.run('find', ['node_modules', '-name', '*.node', '-o', '-name', 'binding.gyp'])).toEqual({
    status: 0,
    output: '',
  });
});

test('its root and its stores are imported', async () => {
  await project.write(
    'imports.js',
    `import { memoryStore, openSession, runAgent } from '@holdfast/kit';
import { jsonlStore } from '@holdfast/kit/jsonl';
import { sqliteStore } from '@holdfast/kit/sqlite';
for (const store of [memoryStore(), jsonlStore('s.jsonl'), sqliteStore('s.db')]) {
  const session = await openSession(store, { id: 'monday' });
  console.log(session.id, typeof runAgent);
  await session.close();
}
`,
  );
  const { status, output } = await project.run(process.execPath, [
    '--disable-warning=ExperimentalWarning',
    'imports.js',
  ]);
  expect([status, output]).toEqual([0, 'monday function\n'.repeat(3)]);
});
