import { createHash } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createModuleEngine,
  type ModuleEngine,
  type ModuleSource,
  type ModuleWatch,
  memoryModules,
} from '@holdfast/modules';
import { folderModules } from '@holdfast/modules/node';
import { compare, type Extent, everything, limitRounds, type Subject } from '../compare.ts';
import type { TimeReport } from '../report.ts';
import { advise, answering, playing } from './advice.ts';
import { createModuleFolder, idOf, manifestPath, pathOf, writeModule, writeModules } from './module-files.ts';

const count = 1_000;
/** An engine's delay after a change, to batch more of them. */
const settleMs = 50;

/** Measures the time until one changed module of many is served. */
export async function measureReloading(extent: Extent = everything): Promise<readonly TimeReport[]> {
  const modules = Math.min(count, extent.largest);
  const files = writeModules(modules);
  using folder = createModuleFolder(files);
  const memory = memoryModules(files);
  const places: readonly Place[] = [
    { name: 'in memory', source: memory, write: (text) => memory.write(pathOf(0), text) },
    { name: 'in a folder', source: folderModules(folder.root), write: (text) => writeInto(folder.root, text) },
  ];
  const read: Subject[] = [floor(files[manifestPath] ?? '')];
  const watched: Subject[] = [waiting()];
  using watches = new DisposableStack();
  for (const place of places) {
    const engine = await createModuleEngine({ source: place.source, signatures: [advise], model: playing(answering) });
    if (engine.moduleIds.length !== modules) throw new Error(`${engine.moduleIds.length} modules are there`);
    read.push(reloading(place, engine));
    watched.push(watching(place, engine, watches));
  }
  const readRows = await compare(read, limitRounds({ rounds: 60, warmUpRounds: 20 }, extent));
  const watchedRows = await compare(watched, limitRounds({ rounds: 20, warmUpRounds: 3 }, extent));
  return [
    {
      name: `modules: one of ${modules.toLocaleString('en')} reloaded when it is asked for`,
      notes: [
        'floor: the texts of manifest and module, from memory, parsed as JSON, and the module hashed with SHA-256. The other: `reloadModule`,',
        'which reads both again.',
      ],
      rows: readRows,
    },
    {
      name: `modules: one of ${modules.toLocaleString('en')} changed, until it is served`,
      notes: [
        `An engine that watches reads a change ${settleMs} ms after it came, so that many are one. timer: as long, and nothing else.`,
        'In a folder, the file is replaced by renaming another one over it; the system has to tell first.',
      ],
      rows: watchedRows,
    },
  ];
}

interface Place {
  readonly name: string;
  readonly source: ModuleSource;
  readonly write: (text: string) => void;
}

function floor(manifest: string): Subject {
  const text = writeModule(0);
  return {
    name: 'floor',
    operations: 1,
    prepare: () => () => {
      const { length } = createHash('sha256').update(text).digest('hex');
      const parsed = [manifest, text].map((file): unknown => JSON.parse(file));
      if (length !== 64 || parsed.some((file) => typeof file !== 'object')) throw new Error('a file is invalid');
    },
  };
}

function reloading({ name, write }: Place, engine: ModuleEngine): Subject {
  return {
    name,
    operations: 1,
    against: [{ name: 'floor' }],
    prepare: () => {
      const version = nextVersion();
      write(writeModule(0, version));
      return async () => {
        await engine.reloadModule(idOf(0));
        checkServed(engine, version);
      };
    },
  };
}

function waiting(): Subject {
  return {
    name: 'timer',
    operations: 1,
    prepare: () => () =>
      new Promise((resolve) => {
        setTimeout(resolve, settleMs);
      }),
  };
}

function watching({ name, write }: Place, engine: ModuleEngine, watches: DisposableStack): Subject {
  let watch: ModuleWatch | undefined;
  return {
    name,
    operations: 1,
    against: [{ name: 'timer' }],
    prepare: () => {
      const version = nextVersion();
      const text = writeModule(0, version);
      return async () => {
        watch ??= watches.adopt(await engine.watch(), (open) => open.close());
        const changed = nextChange(watch);
        write(text);
        await changed;
        checkServed(engine, version);
      };
    },
  };
}

async function nextChange(watch: ModuleWatch): Promise<void> {
  for await (const { type } of watch) if (type === 'module-changed') return;
}

let versions = 1;

function nextVersion(): number {
  versions += 1;
  return versions;
}

function checkServed(engine: ModuleEngine, version: number): void {
  const served = engine.getModule(idOf(0))?.definition.metadata.version;
  if (served !== `${version}.0.0`) throw new Error(`version ${served} is served, ${version} is there`);
}

function writeInto(root: string, text: string): void {
  writeFileSync(join(root, 'next'), text);
  renameSync(join(root, 'next'), join(root, pathOf(0)));
}
