import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { bundleForBrowsers } from './bundle.ts';
import { neutralPackages, neutralResult } from './neutral-packages.ts';
import { readPackages } from './packed-package.ts';
import { createProject, type Project } from './stranger.ts';

let project: Project;

beforeAll(async () => {
  project = await createProject(inject('registry'), neutralPackages);
});

afterAll(() => project.remove());

// Globals beyond the language that all browsers, workers and servers provide and the packages need.
const webGlobals = [
  'AbortController',
  'AbortSignal',
  'ReadableStream',
  'TextDecoder',
  'TextEncoder',
  'URL',
  'clearTimeout',
  'crypto',
  'setTimeout',
  'structuredClone',
];

// A context of node:vm would have its own `Object` beside the web globals of this one; a worker has one of each. What the
// language has is asked of an empty context; what is on neither list is taken away.
const worker = `
const { parentPort, workerData: { code, webGlobals } } = require('node:worker_threads');
const language = require('node:vm').runInNewContext('Object.getOwnPropertyNames(globalThis)');
for (const name of Object.getOwnPropertyNames(globalThis)) {
  if (!language.includes(name) && !webGlobals.includes(name)) delete globalThis[name];
}
(0, eval)(code).then((result) => parentPort.postMessage(result));
`;

async function runInBareWorker(code: string): Promise<unknown> {
  const running = new Worker(worker, { eval: true, workerData: { code, webGlobals } });
  const [result] = await once(running, 'message');
  await running.terminate();
  return result;
}

test('the program is about every package that has to run anywhere', async () => {
  const libraries = (await readPackages(inject('tarballs'))).filter(({ manifest }) => manifest.exports !== undefined);
  // These need Node.js: an engine, tool files, a model in a file with what runs it, and servers in processes.
  const forNode = [
    '@holdfast/driver-dbos',
    '@holdfast/loader',
    '@holdfast/loader-python',
    '@holdfast/mcp',
    '@holdfast/adapter-llama-cpp',
    '@holdfast/model-tiny',
  ];
  const names = libraries.map(({ manifest }) => manifest.name).filter((name) => !forNode.includes(name));
  expect(neutralPackages).toEqual([...names, expect.stringMatching(/^valibot@/)]);
});

test('the worker has nothing of Node.js', async () => {
  const types = ['process', 'Buffer', 'require', 'global', 'setImmediate', 'fetch'].map((name) => `typeof ${name}`);
  const result = await runInBareWorker(`Promise.resolve(new Set([${types.join()}, typeof setTimeout]))`);
  expect(result).toEqual(new Set(['undefined', 'function']));
});

test('a bundle for browsers holds nothing of Node.js, and runs where there is none', async () => {
  const code = await bundleForBrowsers(project);
  expect(await runInBareWorker(`${code}\nprogram.runEverything();`)).toEqual(neutralResult);
});

test('an import of a module of Node.js is found', async () => {
  await project.write('node_modules/@holdfast/core/dist/index.js', "import 'node:fs';\n");
  await expect(bundleForBrowsers(project)).rejects.toThrow('node:fs');
});
