import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startServer } from './test-server.ts';

test('the programs of the guide run', async () => {
  const page = await readFile(new URL('../../apps/docs/guide/serve.md', import.meta.url), 'utf8');
  const programs = [...page.matchAll(/^```text\n(import [\s\S]*?)^```/gm)].map(([, program = '']) => program);
  expect(programs.length).toBe(2);
  // Below this folder, where their packages are found.
  const folder = new URL('./.cache/', import.meta.url);
  await mkdir(folder, { recursive: true });
  await using server = await startServer([]);
  for (const [index, program] of programs.entries()) {
    const path = fileURLToPath(new URL(`guide-${index}.mjs`, folder));
    await writeFile(path, program.replace('http://127.0.0.1:8080/v1', server.url));
    const { stdout } = await promisify(execFile)(process.execPath, [path]);
    expect(stdout).toBe('get_weather\n');
  }
});
