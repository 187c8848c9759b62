import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readPackages } from 'holdfast-packed-tests/packed-package';
import { findNode, runIn } from 'holdfast-packed-tests/stranger';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { findProgram, folder, installProject, toCompiler } from './install.ts';
import { programNames as programs } from './programs/all.ts';
import { askServer, findFreePort } from './server.ts';
import { versions } from './versions.ts';

const allOk = programs.map(() => 'ok');

const libraries = (await readPackages(inject('tarballs'))).filter(({ manifest }) => manifest.exports !== undefined);

beforeAll(() =>
  installProject(
    inject('registry'),
    libraries.map(({ manifest }) => manifest.name),
  ),
);

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
}

const strict = {
  target: 'es2024',
  noEmit: true,
  strict: true,
  skipLibCheck: false,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  allowImportingTsExtensions: true,
};
const forNode = { lib: ['es2024'], types: ['node'] };
const resolutions = [
  { resolution: 'nodenext', options: { module: 'nodenext', ...forNode } },
  { resolution: 'bundler', options: { module: 'esnext', moduleResolution: 'bundler', ...forNode } },
];

describe.each(versions.TypeScript)('TypeScript %s', (version) => {
  async function compile(name: string, compilerOptions: object, files: readonly string[]) {
    const project = `tsconfig.${name}.json`;
    await write(project, JSON.stringify({ compilerOptions: { ...strict, ...compilerOptions }, files }));
    const compiler = join(folder, 'node_modules', toCompiler(version), 'bin/tsc');
    return runIn(folder, process.execPath, [compiler, '--project', project]);
  }

  test.each(resolutions)('the programs, $resolution', async ({ resolution, options }) => {
    expect(await compile(resolution, options, ['programs/main.ts'])).toEqual({ status: 0, output: '' });
  });

  test('the programs, bundler, with the types of a browser', async () => {
    const options = { module: 'esnext', moduleResolution: 'bundler', lib: ['es2024', 'dom'], types: [] };
    // The declarations of ArkType name a type of Node.js.
    const files = ['zod', 'zod-mini', 'valibot'].map((program) => `programs/${program}.ts`);
    expect(await compile('browser', options, files)).toEqual({ status: 0, output: '' });
  });

  test.each(resolutions)('the declarations of every package, $resolution', async ({ resolution, options }) => {
    const specifiers = libraries.flatMap(({ manifest: { name, exports = {} } }) =>
      Object.keys(exports).flatMap((subpath) => (subpath === './package.json' ? [] : [name + subpath.slice(1)])),
    );
    const lines = specifiers.map((specifier, index) => `export * as part${index} from '${specifier}';\n`);
    await write('everything.ts', lines.join(''));
    expect(await compile(`everything-${resolution}`, options, ['everything.ts'])).toEqual({ status: 0, output: '' });
  });
});

const runtimes: readonly (readonly [string, () => Promise<readonly string[]>])[] = [
  ...versions['Node.js'].map(
    (version) =>
      [
        `Node.js ${version}`,
        async () => [version === process.versions.node ? process.execPath : await findNode(version)],
      ] as const,
  ),
  [`Bun ${versions.Bun[0]}`, async () => [await findProgram('@oven/bun-*/bin/bun*'), 'run']],
  // Nothing that needs a permission is allowed, nor asked about.
  [
    `Deno ${versions.Deno[0]}`,
    async () => [await findProgram('@deno/*/deno*'), 'run', '--no-prompt', '--node-modules-dir=manual'],
  ],
];

describe.each(runtimes)('%s', (name, find) => {
  test('is that version', async () => {
    const [program = ''] = await find();
    const { output } = await runIn(folder, program, ['--version']);
    expect(output).toContain(name.split(' ')[1]);
  });

  test.each(programs)('%s', async (program) => {
    const [command = '', ...words] = await find();
    const ended = await runIn(folder, command, [...words, 'programs/main.ts', program]);
    expect(ended).toEqual({ status: 0, output: 'ok\n' });
  });
});

describe(`Vite ${versions.Vite[0]}`, () => {
  const bundle = async (out: string, config: object) => {
    await write(`vite.${out}.mjs`, `export default ${JSON.stringify({ logLevel: 'warn', ...config })};\n`);
    const vite = join(folder, 'node_modules/vite/bin/vite.js');
    return runIn(folder, process.execPath, [vite, 'build', '--config', `vite.${out}.mjs`]);
  };

  test('a library that runs in Node.js', async () => {
    const build = { lib: { entry: 'programs/main.ts', formats: ['es'], fileName: 'main' }, outDir: 'library' };
    expect(await bundle('library', { build: { ...build, rollupOptions: { external: ['node:process'] } } })).toEqual({
      status: 0,
      output: '',
    });
    for (const program of programs) {
      const ended = await runIn(folder, process.execPath, ['library/main.js', program]);
      expect(ended, program).toEqual({ status: 0, output: 'ok\n' });
    }
  });

  test('a page for browsers, without a module of Node.js', async () => {
    await write('page.js', "import { runProgram } from './programs/all.ts';\nglobalThis.runProgram = runProgram;\n");
    await write('index.html', '<!doctype html><script type="module" src="page.js"></script>\n');
    expect(await bundle('page', { build: { outDir: 'page' } })).toEqual({ status: 0, output: '' });
    const names = (await readdir(join(folder, 'page/assets'))).filter((name) => name.endsWith('.js'));
    const code = (await Promise.all(names.map((name) => readFile(join(folder, 'page/assets', name), 'utf8')))).join('');
    // What Vite puts in place of such a module has this name.
    expect(code).not.toMatch(/["'`]node:|browser-external/);
  });
});

test(`Next.js ${versions['Next.js'][0]}: a route handler`, async () => {
  await write(
    'app/[program]/route.ts',
    `import { runProgram } from '../../programs/all.ts';

export async function GET(_request: Request, { params }: { params: Promise<{ program: string }> }): Promise<Response> {
  return new Response(await runProgram((await params).program));
}
`,
  );
  const compilerOptions = { strict: true, allowImportingTsExtensions: true, noEmit: true };
  await write('tsconfig.json', JSON.stringify({ compilerOptions }));
  await write('next.config.mjs', 'export default { turbopack: { root: import.meta.dirname } };\n');
  const next = [process.execPath, join(folder, 'node_modules/next/dist/bin/next')] as const;
  const built = await runIn(folder, next[0], [next[1], 'build']);
  expect(built.status, built.output).toBe(0);
  const port = await findFreePort();
  const command = [...next, 'start', '--hostname', '127.0.0.1', '--port', String(port)];
  expect(await askServer(folder, { command, port, paths: programs })).toEqual(allOk);
});

test(`workerd ${versions.workerd[0]}: a worker`, async () => {
  await write(
    'worker.ts',
    `import { runProgram } from './programs/all.ts';

export default {
  async fetch({ url }: Request): Promise<Response> {
    return new Response(await runProgram(new URL(url).pathname.slice(1)));
  },
};
`,
  );
  const build = { lib: { entry: 'worker.ts', formats: ['es'], fileName: 'worker' }, outDir: 'worker' };
  await write('vite.worker.mjs', `export default ${JSON.stringify({ logLevel: 'warn', build })};\n`);
  const vite = join(folder, 'node_modules/vite/bin/vite.js');
  const built = await runIn(folder, process.execPath, [vite, 'build', '--config', 'vite.worker.mjs']);
  expect(built).toEqual({ status: 0, output: '' });
  const port = await findFreePort();
  // Without the flag \`nodejs_compat\`: there is nothing of Node.js.
  await write(
    'worker.capnp',
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (modules = [(name = "worker", esModule = embed "worker/worker.js")], compatibilityDate = "2026-11-01"))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
`,
  );
  const command = [await findProgram('@cloudflare/workerd-*/bin/workerd*'), 'serve', 'worker.capnp'];
  expect(await askServer(folder, { command, port, paths: programs })).toEqual(allOk);
});
