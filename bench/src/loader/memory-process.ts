// Measures what loaded tools keep, and prints figures as JSON. Runs with --expose-gc.
import { loadTools } from '@holdfast/loader';
import type { Figure } from '../report.ts';
import { createToolProject, lockProject } from './project.ts';

const count = 1_000;

const collectGarbage = globalThis.gc;
if (collectGarbage === undefined) throw new Error('memory is measured with --expose-gc');

function heapUsed(): number {
  // What only weak references hold goes in the next collection.
  for (let time = 0; time < 4; time += 1) collectGarbage?.();
  return process.memoryUsage().heapUsed;
}

async function bytesPerTool(load: () => ReturnType<typeof loadTools>): Promise<number> {
  // The first time also what is kept for all loads.
  await load();
  const before = heapUsed();
  const { tools } = await load();
  const bytes = (heapUsed() - before) / count;
  if (tools.length !== count) throw new Error(`${tools.length} of ${count} tools were loaded`);
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
