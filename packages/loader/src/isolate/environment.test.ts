import { pathToFileURL } from 'node:url';
import { definePlugin, type Tool } from '@holdfast/core';
import { afterEach, expect, test, vi } from 'vitest';
import { loadTools } from '../load/tools.ts';
import { loadPlugin } from '../plugins/load.ts';
import { callTool, codesOf, createProject, toolFile } from '../test-project.ts';
import { testContext } from '../test-tools.ts';
import { startWatch } from '../watch/test-watch.ts';
import type { EnvironmentRequest } from './environment.ts';

afterEach(() => void vi.unstubAllEnvs());

const names = '["API_KEY", "REGION?", "UNSET?"]';
const look = 'return Object.entries(process.env).sort();';
const asks = toolFile('asks', { more: `environment: ${names},`, body: look });
const values = { API_KEY: 'k3y', REGION: 'eu', UNDECLARED: 'x', LD_PRELOAD: 'x' };

function find(tools: readonly Tool[], name: string): Tool | undefined {
  return tools.find((tool) => tool.name === name);
}

const always = ['PATH', 'LANG', 'TZ', 'TMPDIR'].filter((name) => process.env[name] !== undefined);

test('a process has the common variables and those both declared and granted', async () => {
  vi.stubEnv('UNDECLARED', 'of the host');
  vi.stubEnv('NODE_OPTIONS', '--no-deprecation');
  await using project = await createProject({
    'plugins/javascript.mjs': asks.replace('asks', 'javascript'),
    'plugins/typescript.ts': asks.replace('asks', 'typescript').replace('work(input)', 'work(input: object)'),
    'plugins/worker.mjs': asks.replace('asks', 'worker'),
    'plugins/definition.mjs': `import { defineTool } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
export default defineTool({
  name: 'definition', description: 'Looks.', effects: 'none', environment: ${names},
  inputSchema: jsonSchema({ type: 'object', properties: {} }),
  execute: () => { ${look} },
});`,
    'node_modules/@holdfast/core/package.json':
      '{"name":"@holdfast/core","version":"0.0.0","type":"module","exports":"./index.js"}',
    'node_modules/@holdfast/core/index.js': 'export const defineTool = (tool) => tool;',
    'node_modules/@holdfast/schema/package.json':
      '{"name":"@holdfast/schema","version":"0.0.0","type":"module","exports":{"./json":"./json.js"}}',
    'node_modules/@holdfast/schema/json.js': 'export const jsonSchema = (schema) => ({ schema });',
  });
  const environment = () => values;
  const processes = await loadTools(project.plugins, { environment });
  const threads = await loadTools(project.plugins, { environment, isolation: 'worker' });
  try {
    expect(codesOf(processes)).toEqual([]);
    const seen = async (loaded: typeof processes, name: string): Promise<unknown> => {
      const entries = await callTool(find(loaded.tools, name), testContext());
      // Variables that a shell or an interpreter adds on start.
      return Array.isArray(entries) ? Object.fromEntries(entries) : entries;
    };
    const shared = Object.fromEntries(always.map((name) => [name, process.env[name]]));
    const granted = { ...shared, API_KEY: 'k3y', REGION: 'eu' };
    const expected = { ...granted, HOLDFAST_PROCESS: expect.any(String) };
    for (const name of ['javascript', 'typescript', 'definition'])
      expect(await seen(processes, name)).toEqual(expected);
    expect(await seen(threads, 'worker')).toEqual(granted);
  } finally {
    await Promise.all([processes.close(), threads.close()]);
  }
});

test.each([
  { given: { API_KEY: 'k' }, missing: [] },
  { given: { API_KEY: 'k', REGION: 'eu' }, missing: [] },
  { given: { REGION: 'eu' }, missing: ['API_KEY'] },
  { given: { API_KEY: '' }, missing: ['API_KEY'] },
  { given: undefined, missing: ['API_KEY'] },
])('with $given the tool is missing $missing', async ({ given, missing }) => {
  await using project = await createProject({ 'plugins/asks.mjs': asks.replace(look, 'return 1;') });
  const environment = given === undefined ? {} : { environment: () => given };
  const { tools } = await loadTools(project.plugins, { isolation: 'in-process', ...environment });
  const called = tools[0]?.execute?.({}, testContext());
  if (missing.length === 0) return expect(await called).toBe(1);
  await expect(called).rejects.toMatchObject({
    code: 'tool.environment.missing',
    message:
      '`asks` is missing the environment variable `API_KEY`. Calling it again does not help: a person has to provide it.',
  });
});

test('a tool with a missing variable is not imported', async () => {
  await using project = await createProject({
    'plugins/asks.mjs': `throw new Error('imported');\n${asks}`,
  });
  const { tools } = await loadTools(project.plugins, { isolation: 'in-process' });
  expect(await callTool(tools[0])).toBe('threw tool.environment.missing');
});

test('a request lists the variables, and is bound to all code that would see the values', async () => {
  await using project = await createProject({
    'plugins/asks.mjs': `import './_helper.mjs';${asks}`,
    'plugins/_helper.mjs': 'export const one = 1;',
    'plugins/plain.mjs': toolFile('plain'),
  });
  const request = async (lock?: string): Promise<EnvironmentRequest | undefined> => {
    const requests: EnvironmentRequest[] = [];
    const environment = (one: EnvironmentRequest) => {
      requests.push(one);
      return {};
    };
    await loadTools(project.plugins, { environment, ...(lock === undefined ? {} : { lock }) });
    expect(requests.length).toBeLessThan(2);
    return requests[0];
  };
  const first = await request();
  expect(first).toEqual({
    tool: 'asks',
    file: 'asks.mjs',
    digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    variables: [
      { name: 'API_KEY', required: true },
      { name: 'REGION', required: false },
      { name: 'UNSET', required: false },
    ],
  });
  await project.accept();
  expect(await request(project.lock)).toEqual(first);
  // Again, from the registry, without reading the file.
  expect(await request(project.lock)).toEqual(first);
  await project.write('plugins/_helper.mjs', 'export const one = 2;');
  const second = await request();
  expect(second?.digest).toMatch(/^[0-9a-f]{64}$/);
  expect(second?.digest).not.toBe(first?.digest);
  await project.write('plugins/_helper.mjs', 'export const one = await import(process.argv[2]);');
  expect(await request()).toMatchObject({ tool: 'asks', digest: undefined });
});

test('a changed list of variables is a difference from the lock', async () => {
  await using project = await createProject({ 'plugins/asks.mjs': asks });
  await project.accept();
  const more = asks.replace('"UNSET?"', '"UNSET?", "AWS_SECRET_ACCESS_KEY?"');
  await project.write('plugins/asks.mjs', more);
  const { tools, diagnostics } = await loadTools(project.plugins, { lock: project.lock, environment: () => values });
  expect(tools).toEqual([]);
  expect(diagnostics).toMatchObject([{ code: 'lock.changed' }]);
  expect(diagnostics[0]?.message).toContain('environment');
});

test('a watch asks again only for a new version', async () => {
  const requests: (string | undefined)[] = [];
  const environment = ({ digest }: EnvironmentRequest) => {
    requests.push(digest);
    return { API_KEY: `key ${requests.length}` };
  };
  const body = asks.replace(look, 'return 1;');
  await using watch = await startWatch({ 'plugins/asks.mjs': body }, { environment });
  await watch.edit({ 'plugins/other.mjs': toolFile('other') });
  expect(requests).toHaveLength(1);
  await watch.edit({ 'plugins/asks.mjs': body.replace('return 1', 'return 2') });
  expect(await watch.answers()).toMatchObject({ asks: 2 });
  expect(new Set(requests).size).toBe(2);
});

test('tool files of a plugin ask too, and its definitions list their variables', async () => {
  await using project = await createProject({ 'plugins/asks.mjs': asks.replace(look, 'return 1;') });
  const toolFolders = [pathToFileURL(`${project.plugins}/`)];
  const plugin = definePlugin({
    name: 'weather',
    version: '1.0.0',
    description: 'Weather.',
    holdfast: '*',
    toolFolders,
  });
  const loaded = await loadPlugin(plugin, { isolation: 'in-process', environment: () => values });
  expect(await callTool(loaded.plugin.tools?.[0])).toBe(1);
  expect(loaded.plugin.tools?.[0]?.environment).toEqual(['API_KEY', 'REGION?', 'UNSET?']);
  const definition = loaded.definitions.definitions.get('tool:asks');
  expect(definition).toMatchObject({ environment: ['API_KEY', 'REGION?', 'UNSET?'] });
});
