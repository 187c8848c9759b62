import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type InlineConfig } from 'tsdown';

const root = fileURLToPath(new URL('../../', import.meta.url));
const cache = join(root, 'node_modules', '.cache');

/**
 * Hundreds of tests start the program, tool processes, hosts and Python. Each starts in a fraction of the time if our sources
 * are a few files of plain JavaScript, which take a second to build.
 */
export default async function setUp(): Promise<() => Promise<void>> {
  usePythonItself();
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'programs-'));
  await Promise.all([bundleToolPrograms(join(folder, 'tools')), bundleSources(join(folder, 'sources'))]);
  process.env['HOLDFAST_TOOL_PROGRAMS'] = join(folder, 'tools');
  process.env['HOLDFAST_SOURCES'] = join(folder, 'sources', 'hook.mjs');
  // The compile cache is stored with them.
  process.env['NODE_COMPILE_CACHE'] = join(folder, 'compiled');
  return () => rm(folder, { recursive: true, force: true, maxRetries: 10 });
}

const common: InlineConfig = {
  config: false,
  platform: 'node',
  dts: false,
  logLevel: 'error',
  deps: { alwaysBundle: [/^@holdfast\//] },
  inputOptions: { resolve: { conditionNames: ['holdfast-source', 'import', 'node', 'default'] } },
};

/** With all imports, because a tool process may read little more than its own program. */
async function bundleToolPrograms(outDir: string): Promise<void> {
  const entry = ['src/tool-process-main.ts', 'src/tool-worker-main.ts'];
  await build({ ...common, cwd: join(root, 'packages', 'loader'), entry, outDir });
}

/** Bundles the packages' exports and the program, and a hook that makes Node import the bundles instead of the sources. */
async function bundleSources(outDir: string): Promise<void> {
  const programs = ['main.ts', 'guard/hook.ts', 'guard/daemon/serve.ts', 'guard/daemon/start.ts'];
  const paths = [...listExports(), ...programs.map((path) => `apps/cli/src/${path}`)];
  const entry = Object.fromEntries(paths.map((path) => [path.replace(/\.ts$/, ''), join(root, path)]));
  await build({
    ...common,
    cwd: root,
    entry,
    outDir,
    plugins: [
      {
        name: 'as-sources',
        // Each package has its own dependencies, resolved here by location.
        async resolveId(source, importer, options) {
          if (importer === undefined || /^(?:[./]|node:|@holdfast\/)/.test(source)) return null;
          const found = await this.resolve(source, importer, { ...options, skipSelf: true });
          return found?.id.startsWith('/') === true ? { id: pathToFileURL(found.id).href, external: true } : null;
        },
        // Keeps the original location of every file.
        transform: (code, id) => code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href)),
      },
    ],
  });
  const made = paths.map((path) => [
    pathToFileURL(join(root, path)).href,
    pathToFileURL(join(outDir, path.replace(/\.ts$/, '.mjs'))).href,
  ]);
  await writeFile(join(outDir, 'hook.mjs'), toHook(made));
}

function listExports(): readonly string[] {
  return globSync('packages/*/package.json', { cwd: root }).flatMap((path) => {
    const { exports = {} } = JSON.parse(readFileSync(join(root, path), 'utf8')) as {
      readonly exports?: Readonly<Record<string, string | { readonly 'holdfast-source'?: string }>>;
    };
    return Object.values(exports).flatMap((target) =>
      typeof target === 'object' && target['holdfast-source'] !== undefined
        ? [join(dirname(path), target['holdfast-source'])]
        : [],
    );
  });
}

function toHook(made: readonly (readonly string[])[]): string {
  return `import { registerHooks } from 'node:module';

const made = new Map(${JSON.stringify(made)});
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const url = made.get(found.url);
    return url === undefined ? found : { ...found, url, format: 'module' };
  },
});
`;
}

/** The first `python3` of the PATH may be a script that searches for the real one at every start: resolve it once. */
function usePythonItself(): void {
  try {
    const found = execFileSync('python3', ['-I', '-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' });
    process.env['PATH'] = [dirname(found.trim()), process.env['PATH']].join(delimiter);
  } catch {
    // Without Python its tests report that.
  }
}
