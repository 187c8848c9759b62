import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';

const setup = fileURLToPath(new URL('../../setup.mjs', import.meta.url));
const folder = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-setup-')));
const program = join(folder, 'program.ts');
const own = join(folder, 'compiled');
await writeFile(
  program,
  `const words: readonly string[] = process.argv.slice(2);
const compiled = process.env.NODE_COMPILE_CACHE;
console.log(JSON.stringify({ words, folder: process.cwd(), source: import.meta.resolve('#source'), compiled }));
if (words.includes('wait')) setInterval(() => {}, 1000);
process.exitCode = 7;
`,
);
await writeFile(
  join(folder, 'package.json'),
  JSON.stringify({
    type: 'module',
    imports: { '#source': { 'holdfast-source': './source.ts', default: './built.js' } },
  }),
);

afterAll(() => rm(folder, { recursive: true }));

test('passes arguments, folder, exit code and stdout through, and runs on the sources', () => {
  const words = ['a b', '--json', '"q$x', ''];
  const { status, stdout, stderr } = spawnSync(process.execPath, [setup, program, ...words], {
    encoding: 'utf8',
    env: { ...process.env, INIT_CWD: folder, NODE_COMPILE_CACHE: own },
  });
  expect({ status, stderr }).toEqual({ status: 7, stderr: '' });
  expect(JSON.parse(stdout)).toEqual({ words, folder, source: expect.stringMatching(/source\.ts$/), compiled: own });
});

test('keeps the compile cache in node_modules', () => {
  const { NODE_COMPILE_CACHE: _, ...env } = process.env;
  const { stdout } = spawnSync(process.execPath, [setup, program], { encoding: 'utf8', env });
  const { compiled } = JSON.parse(stdout);
  expect(compiled).toMatch(/node_modules[\\/]\.cache[\\/]node$/);
  expect(existsSync(compiled)).toBe(true);
});

test.each(['SIGTERM', 'SIGINT'] as const)('%s reaches the program, and its exit is passed on', async (signal) => {
  const child = spawn(process.execPath, [setup, program, 'wait'], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(child.stdout, 'data');
  child.kill(signal);
  expect(await once(child, 'exit')).toEqual([null, signal]);
});
