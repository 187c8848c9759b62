import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFolder } from '../testing/test-folder.ts';
import { runHere } from '../testing/test-program.ts';

const packages = ['@holdfast/adapter-llama-cpp', '@holdfast/model-tiny', 'node-llama-cpp'];
const environment = { NO_COLOR: '1', HOLDFAST_MODELS: 'models' };

function install(name: string, version: string): Record<string, string> {
  return { [`node_modules/${name}/package.json`]: JSON.stringify({ name, version, main: 'index.js' }) };
}

/** The rows about local models, and the same as JSON. */
async function diagnose(files: Readonly<Record<string, string>>, pulled: Readonly<Record<string, string>> = {}) {
  await using folder = await createFolder({ ...files, ...pulled });
  const text = await runHere(['doctor'], { directory: folder.path, environment });
  const json = await runHere(['doctor', '--json'], { directory: folder.path, environment });
  expect([text.exitCode, json.exitCode]).toEqual([0, 0]);
  const [, rows = ''] = /^(local model [\s\S]*?)^config/m.exec(text.stdout) ?? [];
  return { rows, local: JSON.parse(json.stdout).local, path: folder.path };
}

test('nothing installed: lists the packages to install, without a problem', async () => {
  const { rows, local, path } = await diagnose({});
  expect(rows).toBe(
    `local model not installed: ${packages.join(', ')}; \`npm install ${packages.join(' ')}\`\n` +
      `pulled      no models in ${join(path, 'models')}; see \`holdfast model list\`\n`,
  );
  expect(local).toEqual({
    packages: packages.map((name) => ({ name, version: null })),
    needless: [],
    folder: join(path, 'models'),
    models: [],
    reason: '',
  });
});

test('installed, missing and unneeded packages, and pulled models', async () => {
  const { rows, local } = await diagnose(
    {
      ...install('@holdfast/adapter-llama-cpp', '1.2.3'),
      ...install('node-llama-cpp', '3.22.1'),
      ...install('@node-llama-cpp/linux-x64', '3.22.1'),
      ...install('@node-llama-cpp/linux-x64-cuda', '3.22.1'),
      ...install('@node-llama-cpp/linux-x64-cuda-ext', '3.22.1'),
      ...install('@node-llama-cpp/win-x64-vulkan', '3.22.1'),
    },
    { 'models/small.gguf': 'x'.repeat(1_200_000), 'models/half.part': 'x' },
  );
  expect(rows).toBe(
    'local model @holdfast/adapter-llama-cpp 1.2.3, node-llama-cpp 3.22.1, not installed: @holdfast/model-tiny; `npm install @holdfast/model-tiny`\n' +
      '            not needed: @node-llama-cpp/linux-x64-cuda, @node-llama-cpp/linux-x64-cuda-ext, @node-llama-cpp/win-x64-vulkan (for GPUs); exclude with `overrides` in package.json\n' +
      'pulled      small (1.2 MB)\n',
  );
  expect(local.models).toEqual([{ name: 'small', bytes: 1_200_000 }]);
  expect(local.needless).toHaveLength(3);
});

test.each(['{"version": "1.2', 'null', '{"version": 3}'])(
  'a package whose manifest is %s is not installed',
  async (text) => {
    const { local } = await diagnose({}, { 'node_modules/node-llama-cpp/package.json': text });
    expect(local.packages).toContainEqual({ name: 'node-llama-cpp', version: null });
  },
);

test('an unreadable models folder is reported', async () => {
  const { rows, local } = await diagnose({ models: 'a file' });
  expect(local.reason).toContain('Cannot use');
  expect(rows).toMatch(/^pulled +Cannot use the models folder .*models`/m);
});
