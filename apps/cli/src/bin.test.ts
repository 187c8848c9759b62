import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createFolder } from './testing/test-folder.ts';

const program = fileURLToPath(new URL('./bin.ts', import.meta.url));

test.each([
  { versions: { bun: '1.4.5' }, says: 'this is Bun 1.4.5. Start it with `npx holdfast`' },
  { versions: { deno: '2.9.6' }, says: 'this is Deno 2.9.6. Start it with `npx holdfast`' },
  { versions: { node: '22.17.1' }, says: 'this is 22.17.1. Install it from https://nodejs.org' },
])('$versions is not supported', ({ versions, says }) => {
  const change = `Object.defineProperty(process, 'versions', { value: { ...process.versions, ...${JSON.stringify(versions)} } });`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(change)}`, program, '--version'],
    { encoding: 'utf8' },
  );
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toContain(`holdfast requires Node.js 22.18 or later; ${says}`);
});

test('--version and --help do not load the program, and a command loads only its own code', async () => {
  const listing = `import { registerHooks } from 'node:module';
    registerHooks({ load: (url, context, next) => (process.stderr.write(url + '\\n'), next(url, context)) });`;
  const preload = `data:text/javascript,${encodeURIComponent(listing)}`;
  await using home = await createFolder({});
  const compiled = join(home.path, 'guard', 'compiled');
  // From the sources.
  const { NODE_OPTIONS: _, NODE_COMPILE_CACHE: __, ...inherited } = process.env;
  const env = { ...inherited, HOLDFAST_HOME: home.path };
  const start = (...argv: readonly string[]): { readonly stdout: string; readonly stderr: string } =>
    spawnSync(process.execPath, ['--conditions=holdfast-source', '--import', preload, program, ...argv], {
      encoding: 'utf8',
      env,
    });
  const version = start('--version');
  expect(version.stdout).toBe('0.0.0\n');
  expect(version.stderr).not.toContain('/apps/cli/src/main.ts');
  const list = (...argv: readonly string[]): readonly string[] => {
    const { stderr } = start(...argv);
    expect(stderr).toContain('/apps/cli/src/program.ts');
    return [...new Set([...stderr.matchAll(/\/packages\/([\w-]+)\/src\//g)].map(([, name = '']) => name))];
  };
  const help = start('--help');
  expect(help.stdout).toContain('Exit codes:');
  expect(help.stderr).not.toMatch(/node_modules|\/packages\/|\/apps\/cli\/src\/(?!bin|help|commands\/groups)/);
  expect(existsSync(compiled)).toBe(false);
  expect(list('run', '--help')).not.toContain('executor');
  // Kept for the next start.
  expect(readdirSync(compiled, { recursive: true }).length).toBeGreaterThan(10);
  expect(statSync(compiled).mode & 0o777).toBe(0o700);
  expect(list('verify', 'nothing-like-it')).not.toContain('executor');
});
