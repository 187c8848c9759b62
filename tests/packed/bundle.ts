import { readFile } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import { build } from 'tsdown';
import type { Project } from './stranger.ts';

const builtins = new Set(builtinModules);

/**
 * One script of neutral-program.ts and all that it imports from the installed packages, for browsers. It leaves
 * `program.runEverything` as a global.
 *
 * @throws Error when anything in it imports a module of Node.js.
 */
export async function bundleForBrowsers(project: Project): Promise<string> {
  await project.write('program.ts', await readFile(new URL('neutral-program.ts', import.meta.url), 'utf8'));
  const bundles = await build({
    config: false,
    cwd: project.folder,
    entry: ['program.ts'],
    format: 'iife',
    globalName: 'program',
    platform: 'browser',
    target: 'es2024',
    dts: false,
    write: false,
    logLevel: 'error',
    tsconfig: false,
    deps: { alwaysBundle: [/./] },
    plugins: [
      {
        name: 'no-node',
        resolveId(id, importer) {
          if (!id.startsWith('node:') && !builtins.has(id)) return undefined;
          throw new Error(`\`${importer}\` imports \`${id}\``);
        },
      },
    ],
  });
  const code = bundles.flatMap(({ chunks }) => chunks.map((chunk) => (chunk.type === 'chunk' ? chunk.code : '')));
  return code.join('\n');
}
