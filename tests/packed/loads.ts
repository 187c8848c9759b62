import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { tolerance } from './sizes.ts';

/** The modules and bytes that a process loads for an import, of all packages together: unlike times, the same on every machine. */
export interface Load {
  /** `import of @holdfast/core, …`. */
  readonly entry: string;
  readonly modules: number;
  readonly bytes: number;
}

const program = `
import { registerHooks } from 'node:module';
let [modules, bytes] = [0, 0];
registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (url.startsWith('file:')) {
      modules += 1;
      bytes += Buffer.byteLength(loaded.source);
    }
    return loaded;
  },
});
for (const specifier of process.argv.slice(1)) await import(specifier);
console.log(JSON.stringify({ modules, bytes }));
`;

// The path of every call, and what a first program imports.
const imports = [['core', 'executor', 'policy', 'session'], ['kit']];

export async function measureLoads(): Promise<readonly Load[]> {
  return Promise.all(
    imports.map(async (names) => {
      const packages = names.map((name) => `@holdfast/${name}`);
      const words = ['--input-type=module', '--eval', program, ...packages];
      const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: import.meta.dirname });
      const { modules, bytes } = JSON.parse(stdout) as Omit<Load, 'entry'>;
      return { entry: `import of ${packages.join(', ')}`, modules, bytes };
    }),
  );
}

const head = `
## Imports

What a process loads for an import, of all packages together and as they are published. \`npm run packed\` fails when one loads more modules
or over 5 % more bytes.

| Import | Modules | Bytes |
| --- | ---: | ---: |
`;

export function formatLoads(loads: readonly Load[]): string {
  return head + loads.map(({ entry, modules, bytes }) => `| ${entry} | ${modules} | ${bytes} |\n`).join('');
}

export function parseLoads(text: string): readonly Load[] {
  const rows = text.matchAll(/^\| (import of .+) \| (\d+) \| (\d+) \|$/gm);
  return [...rows].map(([, entry = '', modules, bytes]) => ({ entry, modules: Number(modules), bytes: Number(bytes) }));
}

/** Imports that load more than their budget or have none, and budgets without an import. */
export function findLoadProblems(loads: readonly Load[], budgets: readonly Load[]): readonly string[] {
  const gone = budgets.filter(({ entry }) => !loads.some((load) => load.entry === entry));
  return [
    ...loads.flatMap(({ entry, modules, bytes }) => {
      const budget = budgets.find((other) => other.entry === entry);
      if (budget === undefined) return [`the ${entry} has no budget`];
      if (modules <= budget.modules && bytes <= budget.bytes * tolerance) return [];
      return [
        `the ${entry} loads ${modules} modules, ${bytes} bytes; its budget is ${budget.modules}, ${budget.bytes}`,
      ];
    }),
    ...gone.map(({ entry }) => `the ${entry} has a budget and is gone`),
  ];
}
