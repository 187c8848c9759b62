import { relative } from 'node:path';
import * as loader from '@holdfast/loader';
import { readCodeFiles } from '@holdfast/loader/internal';
import { expect, test } from 'vitest';
import { python as language } from './language.ts';
import { commandFile, createCommandProject } from './test-commands.ts';
import { createProject, loadTools, toolFile } from './test-project.ts';
import { python, pythonFile } from './test-python.ts';

const helper = 'word = 1\n';
const files = {
  'plugins/say.py': pythonFile('say', { code: 'import word\n' }),
  'plugins/word.py': helper,
  'plugins/count.tool.json': commandFile(['sh', './count.sh']),
  'plugins/count.sh': 'echo 1\n',
  'plugins/greet.mjs': toolFile('greet'),
};

test('without the language its files are refused, and no others', async () => {
  await using project = await createProject({ ...files, 'plugins/test_say.py': '', 'plugins/conftest.py': '' });
  const { tools, diagnostics, close } = await loader.loadTools(project.plugins);
  await close();
  expect(tools.map(({ name }) => name)).toEqual(['greet']);
  expect(diagnostics.map(({ severity, code, file }) => `${severity} ${code} ${file}`)).toEqual([
    'error tool.language.missing count.tool.json',
    'error tool.language.missing say.py',
    'error tool.language.missing word.py',
  ]);
  for (const { hint } of diagnostics) expect(hint).toContain('`@holdfast/loader-python`');
});

test('a locked folder does not start without the language, even with a registry', async () => {
  await using project = await createCommandProject({
    'plugins/count.tool.json': files['plugins/count.tool.json'],
    'plugins/count.sh': files['plugins/count.sh'],
  });
  await project.accept();
  const first = await loadTools(project.plugins, { lock: project.lock });
  expect(first.tools).toHaveLength(1);
  await first.close();
  const { tools, diagnostics, close } = await loader.loadTools(project.plugins, { lock: project.lock });
  await close();
  expect(tools).toEqual([]);
  expect(diagnostics.map(({ code }) => code)).toContain('tool.language.missing');
});

test('the code of a tools folder includes imports and started files', async () => {
  await using project = await createProject({
    ...files,
    'plugins/run.tool.json': commandFile(['node', './run.cjs']),
    'plugins/run.cjs': "require('./inner')",
    'plugins/inner.js': '',
  });
  const code = await readCodeFiles(['./plugins'], project.root, { languages: [language()] });
  expect([...code.files.keys()].map((path) => relative(project.plugins, path))).toEqual([
    'count.sh',
    'count.tool.json',
    'greet.mjs',
    'inner.js',
    'run.cjs',
    'run.tool.json',
    'say.py',
    'word.py',
  ]);
});

test.skipIf(!python.available)('with the language they are ordinary tools', async () => {
  await using project = await createProject(files);
  const { tools, diagnostics, close } = await loadTools(project.plugins);
  await close();
  expect({ tools: tools.map(({ name }) => name), diagnostics }).toEqual({
    tools: ['count', 'greet', 'say'],
    diagnostics: [],
  });
});
