import { glob, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'tsdown';

/** Where the budgets are. */
export const budgetsPath: string = fileURLToPath(new URL('sizes.md', import.meta.url));

export interface Size {
  /** What is imported, or the program's name. */
  readonly entry: string;
  readonly minifiedBytes: number;
  readonly gzipBytes: number;
}

interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly exports?: Readonly<Record<string, string | { readonly default: string }>>;
  readonly bin?: Readonly<Record<string, string>>;
}

const root = fileURLToPath(new URL('../../', import.meta.url));

/** What every root, subpath and program of the built packages takes, sorted; of each only the package's own code. */
export async function measureSizes(): Promise<readonly Size[]> {
  const sizes: Size[] = [];
  for await (const path of glob('{packages,apps}/*/package.json', { cwd: root })) {
    const manifest = JSON.parse(await readFile(join(root, path), 'utf8')) as Manifest;
    if (manifest.private === true) continue;
    for (const [entry, file] of listEntries(manifest))
      sizes.push(await measure(entry, join(root, dirname(path)), file));
  }
  return sizes.toSorted((a, b) => (a.entry < b.entry ? -1 : 1));
}

function listEntries({ name, exports = {}, bin = {} }: Manifest): readonly (readonly [string, string])[] {
  const libraries = Object.entries(exports).flatMap(([subpath, target]) =>
    typeof target === 'string' ? [] : [[name + subpath.slice(1), target.default] as const],
  );
  return [...libraries, ...Object.entries(bin)];
}

async function measure(entry: string, folder: string, path: string): Promise<Size> {
  const bundles = await build({
    config: false,
    cwd: folder,
    entry: [path],
    platform: 'neutral',
    target: 'es2024',
    dts: false,
    minify: true,
    write: false,
    clean: false,
    logLevel: 'error',
    tsconfig: false,
    // Everything that is not a file of the package is somebody else's, or counted there.
    deps: { neverBundle: [/^[^./]/] },
  });
  const code = bundles
    .flatMap(({ chunks }) => chunks.map((chunk) => (chunk.type === 'chunk' ? chunk.code : '')))
    .join('');
  return { entry, minifiedBytes: Buffer.byteLength(code), gzipBytes: gzipSync(code, { level: 9 }).length };
}

const head = `# Sizes

What each root, subpath and program takes, minified and without what it imports from other packages. Written by
\`npm run sizes\`; \`npm run packed\` fails when one is over its gzip size here by more than 5 %.

| Entry | Minified, bytes | gzip, bytes |
| --- | ---: | ---: |
`;

export function formatSizes(sizes: readonly Size[]): string {
  const rows = sizes.map(({ entry, minifiedBytes, gzipBytes }) => `| ${entry} | ${minifiedBytes} | ${gzipBytes} |\n`);
  return head + rows.join('');
}

/** The gzip bytes by entry. */
export function parseBudgets(text: string): ReadonlyMap<string, number> {
  const rows = text.matchAll(/^\| (\S+) \| \d+ \| (\d+) \|$/gm);
  return new Map([...rows].map(([, entry = '', bytes]) => [entry, Number(bytes)]));
}

export const tolerance: number = 1.05;

/** What is over its budget, has none, or has one and is gone. */
export function findSizeProblems(sizes: readonly Size[], budgets: ReadonlyMap<string, number>): readonly string[] {
  const gone = [...budgets.keys()].filter((entry) => !sizes.some((size) => size.entry === entry));
  return [
    ...sizes.flatMap(({ entry, gzipBytes }) => {
      const budget = budgets.get(entry);
      if (budget === undefined) return [`\`${entry}\` has no budget`];
      return gzipBytes > budget * tolerance ? [`\`${entry}\` takes ${gzipBytes} bytes, its budget is ${budget}`] : [];
    }),
    ...gone.map((entry) => `\`${entry}\` has a budget and is gone`),
  ];
}
