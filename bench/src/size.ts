import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'tsdown';
import type { SizeReport } from './report.ts';

// The user's schema library and the validator of plain JSON Schema do not count.
const notCounted = [/^valibot$/, /^@valibot\//, /^@cfworker\//];

export interface Bundle {
  /** Loaded at the start. */
  readonly start: Code;
  /** Also the files that are loaded when a call needs them. */
  readonly all: Code;
}

export interface Code {
  /** Minified, one text a file. */
  readonly files: readonly string[];
  /** Paths of the modules that remain in them. */
  readonly modules: readonly string[];
}

/** Bundles a program of this folder. `fromSources`: needs no build. */
export async function bundle(
  entry: string,
  { fromSources = false }: { readonly fromSources?: boolean } = {},
): Promise<Bundle> {
  const bundles = await build({
    config: false,
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    entry: [entry],
    ...(fromSources ? { inputOptions: { resolve: { conditionNames: ['holdfast-source', 'import'] } } } : {}),
    platform: 'neutral',
    dts: false,
    minify: true,
    write: false,
    clean: false,
    logLevel: 'error',
    deps: { alwaysBundle: [/^@holdfast\//], neverBundle: notCounted },
  });
  const chunks = bundles.flatMap((made) => made.chunks.filter((chunk) => chunk.type === 'chunk'));
  type Chunk = (typeof chunks)[number];
  const first = new Set<Chunk>(chunks.filter(({ isEntry }) => isEntry));
  // A set grows while it is walked.
  for (const { imports } of first) for (const chunk of chunks) if (imports.includes(chunk.fileName)) first.add(chunk);
  const toCode = (held: readonly Chunk[]): Code => ({
    files: held.map(({ code }) => code),
    modules: held.flatMap(({ modules }) =>
      Object.entries(modules).flatMap(([path, { renderedLength }]) => (renderedLength === 0 ? [] : [path])),
    ),
  });
  return { start: toCode([...first]), all: toCode(chunks) };
}

/** The minified bundle of a program that defines a tool and runs a loop. */
export async function measureSize(): Promise<SizeReport> {
  const { start, all } = await bundle('smallest-program.ts');
  if (!start.files.some((code) => code.includes('greet'))) throw new Error('the bundle does not hold the program');
  return {
    name: 'size',
    sizes: [
      { name: 'define a tool and run a loop, loaded at the start', ...sizeOf(start), goalGzipBytes: 30_000 },
      { name: 'the same with what calls with rare features load', ...sizeOf(all) },
    ],
  };
}

/** Of each file by itself, as they are sent. */
function sizeOf({ files }: Code): { readonly bytes: number; readonly gzipBytes: number } {
  const sum = (sizes: readonly number[]): number => sizes.reduce((total, size) => total + size, 0);
  return {
    bytes: sum(files.map((code) => code.length)),
    gzipBytes: sum(files.map((code) => gzipSync(code, { level: 9 }).length)),
  };
}
