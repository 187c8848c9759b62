import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { compare, type Subject } from './compare.ts';
import type { TimeReport } from './report.ts';

const emptyProcess = 'empty process';
const packages = ['core', 'session', 'policy', 'executor'].map((name) => `@holdfast/${name}`);
// The imports of smallest-program.ts, including the user's schema library.
const program = ['@holdfast/core', '@holdfast/executor', 'valibot'];

/** Measures importing the runtime in a fresh process. */
export async function measureImport(): Promise<TimeReport> {
  const rows = await compare(
    [
      processWith(emptyProcess, []),
      {
        ...processWith('core to executor', packages),
        against: [{ name: emptyProcess, goalOverNs: 12e6 }],
      },
      { ...processWith('tool and loop', program), against: [{ name: emptyProcess }] },
    ],
    { rounds: 25, warmUpRounds: 2 },
  );
  const notes = [`core to executor: ${packages.join(', ')}.`, `tool and loop: ${program.join(', ')}.`];
  return { name: 'import', notes, rows };
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
