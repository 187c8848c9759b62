// Measures the memory of a loaded model and prints figures as JSON. Runs with --expose-gc; takes the number of answers.
import type { Figure } from '../report.ts';
import { readModelFile } from './bare-binding.ts';
import { answer, createRequests, loadTiny } from './tiny-model.ts';

const asked = Number(process.argv[2]);

const collectGarbage = globalThis.gc;
if (collectGarbage === undefined) throw new Error('memory is measured with --expose-gc');

function resident(): number {
  collectGarbage?.();
  return process.memoryUsage().rss;
}

const figure = (name: string, bytes: number): Figure => ({ name, value: Math.round(bytes / 2 ** 20), unit: 'MiB' });

const fileBytes = await readModelFile();
await import('node-llama-cpp');
const before = resident();
const model = await loadTiny();
const loaded = resident();
const next = createRequests();
for (let count = 0; count < asked; count += 1) await answer(model.stream(next()));
const used = resident();
await model.close();
console.log(
  JSON.stringify([
    { name: 'the file of the model', value: Math.round(fileBytes / 1e5) / 10, unit: 'MB' },
    figure('resident with the binding imported, before a model', before),
    figure('more with the model loaded', loaded - before),
    figure(`more after ${asked} answers`, used - loaded),
  ]),
);
