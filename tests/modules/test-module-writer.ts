// A process that edits a folder of modules, for tests that watch it: `node test-module-writer.ts FOLDER SEED`. Told `go` on its standard
// input it makes a round of edits, told `mend` it writes every file anew, and told `damage` it then leaves one file broken and one away.
// Each time it ends by writing `marker.json` with the number of the round, and says so on its standard output.
import { mkdirSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ModuleDefinition } from '@holdfast/modules';
import { saveModule } from '@holdfast/modules/node';
import { manifestText, moduleText } from './test-module-texts.ts';

const [folder = '', seed = '1'] = process.argv.slice(2);
const ids = ['a', 'b', 'c', 'd', 'deep.e'] as const;
const pathOf = (id: string): string => (id === 'deep.e' ? 'deep/e.json' : `${id}.json`);
const entryOf = (id: string): { readonly path: string } => ({ path: pathOf(id) });

let state = Number(seed);
/** Below `limit`; the same for the same seed. */
function random(limit: number): number {
  state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
  return Math.floor((state / 2 ** 32) * limit);
}

let count = 0;
const kept = new Map<string, string>();

function nextText(id: string): string {
  count += 1;
  return moduleText(id, `${id}-${count}`);
}

function write(path: string, text: string): void {
  writeFileSync(join(folder, path), text);
}

function replaceFile(path: string, text: string): void {
  write(`${path}.new`, text);
  renameSync(join(folder, `${path}.new`), join(folder, path));
}

const edits: readonly ((id: string) => void)[] = [
  (id) => write(pathOf(id), nextText(id)),
  (id) => replaceFile(pathOf(id), nextText(id)),
  (id) => {
    const text = nextText(id);
    const half = text.length >> 1;
    write(pathOf(id), text.slice(0, half));
    writeFileSync(join(folder, pathOf(id)), text.slice(half), { flag: 'a' });
  },
  (id) => write(pathOf(id), nextText(id).slice(0, -7)),
  (id) => {
    const text = kept.get(id) ?? nextText(id);
    kept.set(id, text);
    rmSync(join(folder, pathOf(id)), { force: true });
    if (random(2) === 0) write(pathOf(id), text);
  },
  (id) => {
    // As an editor that keeps the former file.
    write(pathOf(id), nextText(id));
    renameSync(join(folder, pathOf(id)), join(folder, `${pathOf(id)}~`));
    write(pathOf(id), nextText(id));
  },
  () => replaceFile('manifest.json', manifest(ids.filter(() => random(4) > 0))),
  () => write('manifest.json', manifest(ids).slice(0, random(40))),
  () => {
    rmSync(join(folder, 'manifest.json'), { force: true });
    write('manifest.json', manifest(ids));
  },
  () => {
    rmSync(join(folder, 'deep'), { recursive: true, force: true });
    mkdirSync(join(folder, 'deep'));
    write('deep/e.json', nextText('deep.e'));
  },
];

function manifest(listed: readonly string[]): string {
  return manifestText(Object.fromEntries([...listed, 'marker'].map((id) => [id, entryOf(id)])));
}

async function save(id: string): Promise<void> {
  try {
    await saveModule(folder, JSON.parse(nextText(id)) as ModuleDefinition);
  } catch {
    // A half-written file cannot be saved into; the next edits continue.
  }
}

let round = 0;
for await (const line of createInterface({ input: process.stdin })) {
  round += 1;
  if (line === 'go') {
    for (let edit = 0; edit < 20; edit += 1) {
      const id = ids[random(ids.length)] ?? 'a';
      const chosen = edits[random(edits.length + 1)];
      if (chosen === undefined) await save(id);
      else chosen(id);
    }
  } else {
    mkdirSync(join(folder, 'deep'), { recursive: true });
    for (const id of ids) replaceFile(pathOf(id), nextText(id));
  }
  if (line === 'damage') {
    write(pathOf('c'), '{');
    rmSync(join(folder, pathOf('d')));
  }
  replaceFile('manifest.json', manifest(ids));
  replaceFile('marker.json', moduleText('marker', round));
  writeSync(1, `${round}\n`);
}
