// Measures the memory of loaded tools, and prints figures as JSON. Runs with --expose-gc.
import { setImmediate } from 'node:timers/promises';
import { loadTools } from '@holdfast/loader';
import type { Figure } from '../report.ts';
import { createToolProject, lockProject } from './project.ts';

const count = 1_000;

const collectGarbage = globalThis.gc;
if (collectGarbage === undefined) throw new Error('memory is measured with --expose-gc');

async function heapUsed(): Promise<number> {
  // Awaited values are held until the next turn, and weakly referenced ones until the next collection.
  for (let time = 0; time < 4; time += 1) {
    await setImmediate();
    collectGarbage?.();
  }
  return process.memoryUsage().heapUsed;
}

async function bytesPerTool(load: () => ReturnType<typeof loadTools>): Promise<number> {
  // The first load includes what all loads share.
  await (await load()).close();
  const before = await heapUsed();
  const loaded = await load();
  const bytes = ((await heapUsed()) - before) / count;
  if (loaded.tools.length !== count) throw new Error(`${loaded.tools.length} of ${count} tools were loaded`);
  return Math.round(bytes);
}

using project = createToolProject(count);
const { plugins, lock } = project;
const isolation = 'in-process';
const cold = await bytesPerTool(() => loadTools(plugins, { isolation }));
await lockProject(project);
const warm = await bytesPerTool(() => loadTools(plugins, { lock, isolation }));
const figures: readonly Figure[] = [
  { name: `per tool of ${count} after a cold scan`, value: cold, unit: 'B' },
  { name: `per tool of ${count} after a warm start`, value: warm, unit: 'B' },
];
console.log(JSON.stringify(figures));
