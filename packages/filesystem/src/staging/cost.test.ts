import * as promises from 'node:fs/promises';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Filesystem, FilesystemReader, StagedResource } from '@holdfast/core';
import { expect, test } from 'vitest';
import { createHostBackend } from '../host/backend.ts';
import type { HostOperations } from '../host/folder.ts';
import { makeTestFolder } from '../host/test-folder.ts';
import { MemoryBackend } from '../memory/backend.ts';
import { createProtection } from '../paths/protection.ts';
import type { Backend } from './backend.ts';
import { createStagedFilesystem } from './transaction.ts';

/** Wraps an object and records its method calls with the first argument. */
function counted<Target extends object>(target: Target, calls: string[]): Target {
  return new Proxy(target, {
    get(_target, property) {
      const method: unknown = Reflect.get(target, property);
      if (typeof method !== 'function') return method;
      return (...parameters: unknown[]) => {
        const [first] = parameters;
        calls.push(`${String(property)} ${typeof first === 'string' ? first : JSON.stringify(first)}`);
        return Reflect.apply(method, target, parameters);
      };
    },
  });
}

/** Writes, creates and removes in the folder `d0`, in a nested call too, and drops a second call. */
async function work(resource: StagedResource<Filesystem, FilesystemReader>): Promise<void> {
  for (const end of ['discard', 'commit'] as const) {
    const call = resource.begin('c1');
    await call.view.readText('d0/f1.txt');
    await call.view.write('d0/f1.txt', 'changed');
    const nested = call.begin('c2');
    await nested.view.write('d0/new/x.txt', 'new');
    await nested.view.remove('d0/f2.txt');
    await nested.prepare();
    await nested.commit();
    if (end === 'commit') await call.prepare();
    await call[end]();
  }
}

test('the cost of a call in memory does not grow with the tree', async () => {
  const run = async (folders: number): Promise<readonly string[]> => {
    const files = new Map<string, Uint8Array>();
    for (let index = 0; index < folders * 100; index += 1) {
      files.set(`d${Math.floor(index / 100)}/f${index}.txt`, new Uint8Array([65]));
    }
    const calls: string[] = [];
    const backend: Backend = counted(new MemoryBackend(files, 1000), calls);
    await work(createStagedFilesystem(backend, createProtection([]), 1000));
    return calls;
  };
  const small = await run(1);
  expect(await run(200)).toEqual(small);
  expect(small.filter((call) => call.startsWith('list'))).toEqual([]);
  expect(small.length).toBeLessThan(150);
});

test('the cost of a call on a host does not grow with the tree, and it reads only what it touches', async () => {
  const run = async (files: number): Promise<readonly string[]> => {
    await using folder = await makeTestFolder();
    await mkdir(join(folder.path, 'd0'));
    await mkdir(join(folder.path, 'd1'));
    for (let index = 0; index < files; index += 1) await writeFile(join(folder.path, `d0/f${index}.txt`), 'A');
    await writeFile(join(folder.path, 'd1/f.txt'), 'A');
    const calls: string[] = [];
    const operations: HostOperations = counted<HostOperations>({ ...promises }, calls);
    await work(createStagedFilesystem(createHostBackend(folder.path, operations, 1000), createProtection([]), 1000));
    const shown = calls.map((call) =>
      call
        .replace(folder.path, '')
        .replace(/\/proc\/self\/fd\/\d+/u, 'fd')
        .replace(/\.holdfast-\d+-[^/]+-1(?=[-.])/u, 'temporary'),
    );
    // Some run in parallel, in any order.
    return shown.sort();
  };
  const small = await run(3);
  expect(await run(600)).toEqual(small);
  expect(small.filter((call) => /readdir|f0\.txt|d1/u.test(call))).toEqual([]);
  expect(small.length).toBeLessThan(500);
});
