import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { compare, type Subject } from './compare.ts';
import type { TimeReport } from './report.ts';

const rounds = 25;
const packages = ['core', 'session', 'policy', 'executor'].map((name) => `@holdfast/${name}`);
// What smallest-program.ts imports, the user's schema library among it.
const program = ['@holdfast/core', '@holdfast/executor', '@holdfast/prompt', '@holdfast/session', 'valibot'];

/** What it costs a fresh process to import the runtime. */
export async function measureImport(): Promise<TimeReport> {
  const rows = await compare(
    [
      processWith('empty process', []),
      { ...processWith(packages.join(' + '), packages), goalOverNs: 12e6 },
      processWith('define a tool and run a loop', program),
    ],
    {
      rounds,
      warmUpRounds: 2,
      now: () => Number(process.hrtime.bigint()),
    },
  );
  return { name: 'import', rounds, rows };
}

function processWith(name: string, imported: readonly string[]): Subject {
  const source = imported.map((specifier) => `import '${specifier}';`).join('');
  const folder = fileURLToPath(new URL('..', import.meta.url));
  return {
    name,
    operations: 1,
    prepare: () => () => {
      const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', source], {
        cwd: folder,
      });
      if (status !== 0) throw new Error(`the process of \`${name}\` failed: ${stderr.toString()}`);
    },
  };
}
