import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'tsdown';
import type { SizeReport } from './report.ts';

// The user's schema library and the validator of plain JSON Schema do not count.
const notCounted = [/^valibot$/, /^@valibot\//, /^@cfworker\//];

export interface Bundle {
  /** Minified. */
  readonly code: string;
  /** Paths of the modules that remain in the bundle. */
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
  const modules = chunks.flatMap((chunk) =>
    Object.entries(chunk.modules).flatMap(([path, { renderedLength }]) => (renderedLength === 0 ? [] : [path])),
  );
  return { code: chunks.map(({ code }) => code).join(''), modules };
}

/** The minified bundle of a program that defines a tool and runs a loop. */
export async function measureSize(): Promise<SizeReport> {
  const { code } = await bundle('smallest-program.ts');
  if (!code.includes('greet')) throw new Error('the bundle does not hold the program');
  const imports = [...code.matchAll(/(?:from|import)\s?["']([^"']+)["']/g)].map(([, name = '']) => name);
  return {
    name: 'size',
    sizes: [
      {
        name: `define a tool and run a loop, without ${imports.join(', ')}`,
        bytes: code.length,
        gzipBytes: gzipSync(code, { level: 9 }).length,
        goalGzipBytes: 30_000,
      },
    ],
  };
}
