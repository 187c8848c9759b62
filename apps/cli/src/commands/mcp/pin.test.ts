import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findUnversioned } from '../../mcp/pins.ts';
import { createFolder } from '../../testing/test-folder.ts';
import { runHere } from '../../testing/test-program.ts';

const server = fileURLToPath(new URL('../../../../../packages/mcp/src/test-stdio-server.ts', import.meta.url));
const command = ['--', process.execPath, '--conditions=holdfast-source', server];

describe('mcp pin', { timeout: 240_000 }, () => {
  test('shows the difference, and pins it when a person accepts', async () => {
    const folder = await createFolder();
    onTestFinished(() => folder[Symbol.asyncDispose]());
    const { path: directory } = folder;
    const run = (words: readonly string[], isPerson: boolean) =>
      runHere(['mcp', 'pin', ...words, ...command], {
        directory,
        trusted: false,
        environment: { HOLDFAST_HOME: join(directory, 'own'), NO_COLOR: '1' },
        terminals: isPerson ? ['stdin'] : [],
      });
    const first = await run([], false);
    expect(first).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('+      "name": "read_file"') });
    expect(first.stdout).toContain('Not pinned');
    expect(await run(['--accept'], false)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('guard.person_required'),
    });
    expect(await run(['--accept'], true)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Pinned.') });
    expect(await run([], false)).toMatchObject({ exitCode: 0, stdout: 'The server is as it was pinned.\n' });
    const pins = join(directory, 'own', 'guard', 'mcp');
    const [name = ''] = readdirSync(pins);
    writeFileSync(join(pins, name), '{}');
    expect(await run([], false)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('mcp.pins.invalid') });
  });

  test('a package without a version is not pinned', async () => {
    const ended = await runHere(['mcp', 'pin', '--accept', '--', 'npx', '-y', 'some-server', '.'], { trusted: false });
    expect(ended).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('usage.invalid: version_missing') });
  });
});

test.each([
  { command: 'npx', args: ['-y', '@acme/server'], expected: '@acme/server' },
  { command: 'npx', args: ['-y', '@acme/server@1.2.3', '.'], expected: undefined },
  { command: 'npx', args: ['server@latest'], expected: 'server@latest' },
  { command: '/usr/bin/uvx', args: ['server'], expected: 'server' },
  { command: 'uvx', args: ['server==1.2'], expected: undefined },
  { command: 'npx.cmd', args: ['server'], expected: 'server' },
  { command: 'npx', args: ['./server.js'], expected: undefined },
  { command: 'node', args: ['server.js'], expected: undefined },
])('$command $args is started in the newest version of $expected', ({ expected, ...entry }) => {
  expect(findUnversioned(entry)).toBe(expected);
});
