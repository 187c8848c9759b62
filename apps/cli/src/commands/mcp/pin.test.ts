import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createFolder } from '../../testing/test-folder.ts';
import { createTestHost } from '../../testing/test-host.ts';
import { runHere } from '../../testing/test-program.ts';
import { pinServer } from './pin.ts';

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
    expect(first).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('+        "name": "read_file"') });
    expect(first.stdout).toContain('Not pinned');
    expect(await run(['--accept'], false)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('guard.person_required'),
    });
    expect(await run(['--accept'], true)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Pinned.') });
    expect(await run([], false)).toMatchObject({ exitCode: 0, stdout: 'The server is as it was pinned.\n' });
    const lock = join(directory, 'holdfast.lock');
    const { mcp } = JSON.parse(readFileSync(lock, 'utf8')) as { mcp: Record<string, object> };
    expect(mcp).toMatchObject({
      server: {
        command: process.execPath,
        args: [expect.any(String), server],
        environment: [],
        server: { name: 'test-stdio-server' },
      },
    });
    writeFileSync(lock, JSON.stringify({ mcp: { server: {} }, tools: {}, version: 1 }));
    expect(await run([], false)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('lock.invalid: mcp'),
    });
  });

  test.each([
    { keys: ['\u001b[B', '\r'], exitCode: 0, says: 'Pinned.' },
    { keys: ['\r'], exitCode: 1, says: 'Not pinned' },
  ])('asks a person at a terminal: $says', async ({ keys, exitCode, says }) => {
    await using folder = await createFolder();
    const { path: directory } = folder;
    const environment = { HOLDFAST_HOME: join(directory, 'own'), NO_COLOR: '1' };
    const { host, stdin, stdout } = createTestHost({ directory, environment, terminals: ['stdin', 'stdout'] });
    const [, program = '', ...args] = command;
    const entry = { name: 'server', user: true, start: { command: program, args, environment: [] } };
    const pinning = pinServer(entry, { accept: false }, host);
    await vi.waitFor(() => expect(stdout()).toContain('Pin the server'), { timeout: 60_000 });
    for (const key of keys) stdin.write(key);
    expect(await pinning).toBe(exitCode);
    expect(stdout()).toContain(says);
    // The user's own lock.
    expect(existsSync(join(directory, 'own', 'holdfast.lock'))).toBe(exitCode === 0);
    expect(existsSync(join(directory, 'holdfast.lock'))).toBe(false);
  });

  test('a package without a version is not pinned', async () => {
    const argv = ['mcp', 'pin', '--', 'uvx', 'some-server', '.'];
    const ended = await runHere(argv, { trusted: false });
    expect(ended).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('usage.invalid: version_missing') });
  });
});
