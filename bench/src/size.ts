import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'tsdown';
import type { SizeReport } from './report.ts';

// The user's schema library and the validator of plain JSON Schema are not ours to count.
const notCounted = [/^valibot$/, /^@valibot\//, /^@cfworker\//];

/** The minified bundle of a program that defines a tool and runs a loop. */
export async function measureSize(): Promise<SizeReport> {
  const bundles = await build({
    config: false,
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    entry: ['smallest-program.ts'],
    platform: 'neutral',
    dts: false,
    minify: true,
    write: false,
    clean: false,
    logLevel: 'error',
    deps: { alwaysBundle: [/^@holdfast\//], neverBundle: notCounted },
  });
  const code = bundles
    .flatMap(({ chunks }) => chunks.map((chunk) => (chunk.type === 'chunk' ? chunk.code : '')))
    .join('');
  if (!code.includes('greet')) throw new Error('the bundle does not hold the program');
  const imports = [...code.matchAll(/(?:from|import)\s?["']([^"']+)["']/g)].map(([, name = '']) => name);
  return {
    name: 'size',
    sizes: [
      {
        name: `define a tool and run a loop, without ${imports.join(', ')}`,
        bytes: code.length,
        gzipBytes: gzipSync(code, { level: 9 }).length,
        goalGzipBytes: 12_000,
      },
    ],
  };
}
