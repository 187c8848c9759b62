import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadModules, type ModuleSource, memoryModules } from '@holdfast/modules';
import { folderModules } from '@holdfast/modules/node';
import { compare, type Extent, everything, limitRounds, type Subject } from '../compare.ts';
import type { TimeReport } from '../report.ts';
import { advise } from './advice.ts';
import { createModuleFolder, writeModules } from './module-files.ts';

const counts = [100, 1_000];

/** Measures loading per module: the same at 100 and 1,000 if it is linear. */
export async function measureLoading(extent: Extent = everything): Promise<TimeReport> {
  const measured = counts.filter((count) => count <= extent.largest);
  const files = measured.map((count) => ({ count, files: writeModules(count) }));
  using folders = new DisposableStack();
  const subjects = files.flatMap(({ count, files }) => {
    const { root } = folders.use(createModuleFolder(files));
    return [
      floor(`in memory, ${count} modules: floor`, count, () => Object.values(files)),
      loading(`in memory, ${count} modules`, count, () => memoryModules(files)),
      floor(`in a folder, ${count} modules: floor`, count, () =>
        Object.keys(files).map((path) => readFileSync(join(root, path), 'utf8')),
      ),
      loading(`in a folder, ${count} modules`, count, () => folderModules(root)),
    ];
  });
  return {
    name: 'modules: loading, a module',
    notes: [
      'Files of 1.6 kB with four demos, each with its hash in the manifest. floor: their texts, from memory or one file after another,',
      'each parsed as JSON and hashed with SHA-256. The other: `loadModules`, which checks paths, ids, hashes, signatures and every demo.',
    ],
    rows: await compare(subjects, limitRounds({ rounds: 20, warmUpRounds: 5 }, extent)),
  };
}

function floor(name: string, count: number, read: () => readonly string[]): Subject {
  return {
    name,
    operations: count,
    prepare: () => () => {
      for (const text of read()) {
        const { length } = createHash('sha256').update(text).digest('hex');
        if (length !== 64 || typeof JSON.parse(text) !== 'object') throw new Error('a file is invalid');
      }
    },
  };
}

function loading(name: string, count: number, open: () => ModuleSource): Subject {
  const smallest = name.replace(` ${count} `, ` ${counts[0]} `);
  return {
    name,
    operations: count,
    against: [{ name: `${name}: floor` }, ...(count === counts[0] ? [] : [{ name: smallest }])],
    prepare: () => {
      const source = open();
      return async () => {
        const { modules, diagnostics } = await loadModules(source, { signatures: [advise] });
        if (modules.size !== count || diagnostics.length > 0)
          throw new Error(`${modules.size} of ${count} were loaded`);
      };
    },
  };
}
