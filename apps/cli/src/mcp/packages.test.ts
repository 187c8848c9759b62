import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { McpStart } from '@holdfast/mcp';
import { expect, test } from 'vitest';
import { createFolder } from '../testing/test-folder.ts';
import { createTestHost } from '../testing/test-host.ts';
import { findInstalled, findPackage, resolvePackage, startPinned } from './packages.ts';

const toStart = (line: string): McpStart => {
  const [command = '', ...args] = line.split(' ');
  return { command, args, environment: [] };
};

test.each([
  { line: 'npx -y @acme/server .', name: '@acme/server', isExact: false },
  { line: 'npx -y @acme/server@1.2.3 .', name: '@acme/server', wanted: '1.2.3', isExact: true },
  { line: 'npx server@1.2.3-beta.1', name: 'server', wanted: '1.2.3-beta.1', isExact: true },
  { line: 'npx server@latest', name: 'server', wanted: 'latest', isExact: false },
  { line: 'npx server@^1.2.3', name: 'server', wanted: '^1.2.3', isExact: false },
  { line: 'npx -y -p server@1.2.3 run', name: 'server', wanted: '1.2.3', isExact: true },
  { line: 'npx --package=server run', name: 'server', isExact: false, prefix: '--package=' },
  { line: 'npx.cmd server', name: 'server', isExact: false },
  { line: 'npm exec -- server@1.2.3', name: 'server', wanted: '1.2.3', isExact: true },
  { line: 'pnpm dlx server', name: 'server', isExact: false },
  { line: '/usr/bin/bunx server@2.0.0', name: 'server', wanted: '2.0.0', isExact: true },
  { line: '/usr/bin/uvx server', name: 'server', isExact: false },
  { line: 'uvx server==1.2', name: 'server', wanted: '1.2', isExact: true },
  { line: 'uvx server@1.2.0 --port 1', name: 'server', wanted: '1.2.0', isExact: true },
  { line: 'uvx server@latest', name: 'server', wanted: 'latest', isExact: false },
  { line: 'uvx --from git-server==2 serve', name: 'git-server', wanted: '2', isExact: true },
  { line: 'uv tool run server', name: 'server', isExact: false },
  { line: 'npx github:acme/server', name: 'github:acme/server', isExact: false },
  // The value of a flag: no version, so it is not started.
  { line: 'npx --registry https://example.com server@1.2.3', name: 'https://example.com', isExact: false },
])('$line starts $name', ({ line, prefix = '', ...expected }) => {
  expect(findPackage(toStart(line))).toMatchObject({ ...expected, prefix });
});

test.each(['npx ./server.js', 'npx /opt/server', 'node server.js', 'npm run server', 'uv run server.py', 'npx'])(
  '%s starts no package of a registry',
  async (line) => {
    expect(findPackage(toStart(line))).toBeUndefined();
    expect(await resolvePackage(toStart(line), createTestHost().host)).toBeUndefined();
    expect(startPinned(toStart(line), { name: 'server', version: '1.0.0' })).toEqual(toStart(line));
  },
);

/** A folder whose `npm` answers with `published`. */
async function createRegistry(published: unknown) {
  const folder = await createFolder();
  const npm = join(folder.path, 'npm');
  writeFileSync(npm, `#!/bin/sh\necho '${JSON.stringify(published)}'\n`);
  chmodSync(npm, 0o755);
  const environment = { PATH: folder.path, HOME: folder.path };
  return { folder, host: createTestHost({ directory: folder.path, environment }).host };
}

test.skipIf(process.platform === 'win32')(
  'a package is resolved by its registry, and started in that version',
  async () => {
    const one = { name: 'server', version: '1.2.3', 'dist.integrity': 'sha512-a' };
    const pinned = { name: 'server', version: '1.2.3', integrity: 'sha512-a' };
    for (const published of [one, [{ ...one, version: '1.0.0' }, one]]) {
      const { folder, host } = await createRegistry(published);
      await using _folder = folder;
      for (const [line, started] of [
        ['npx -y server .', 'npx -y server@1.2.3 .'],
        ['npx --package=server run', 'npx --package=server@1.2.3 run'],
        ['npx server@1.2.3', 'npx server@1.2.3'],
      ] as const) {
        expect(await resolvePackage(toStart(line), host)).toEqual(pinned);
        expect(startPinned(toStart(line), pinned)).toEqual(toStart(started));
      }
    }
  },
);

test.each([[[]], [null], ['no JSON object'], [{ name: 'server' }]])(
  'without an answer of a registry only the version that is named is known: %j',
  async (published) => {
    const { folder, host } = await createRegistry(published);
    await using _folder = folder;
    expect(await resolvePackage(toStart('npx server@1.2.3'), host)).toEqual({ name: 'server', version: '1.2.3' });
    expect(await resolvePackage(toStart('uvx server==1.2'), host)).toEqual({ name: 'server', version: '1.2' });
    for (const line of ['npx server', 'npx server@^1.0.0', 'uvx server'])
      await expect(resolvePackage(toStart(line), host)).rejects.toMatchObject({
        code: 'usage.invalid',
        data: { reason: 'version_missing' },
      });
  },
);

test('what npx has installed is found beside the project, else in its cache', async () => {
  await using folder = await createFolder();
  const { path } = folder;
  const pinned = { name: 'server', version: '1.2.3', integrity: 'sha512-a' };
  const start = toStart('npx -y server@1.2.3');
  const { host } = createTestHost({ directory: join(path, 'project', 'below'), environment: { HOME: path } });
  const install = (at: string, installed: object): void => {
    mkdirSync(join(at, 'node_modules'), { recursive: true });
    const text = JSON.stringify({ packages: { 'node_modules/server': installed } });
    writeFileSync(join(at, 'node_modules', '.package-lock.json'), text);
  };
  expect(findInstalled(start, pinned, host)).toBeUndefined();
  const digest = createHash('sha512').update('server@1.2.3').digest('hex').slice(0, 16);
  install(join(path, '.npm', '_npx', digest), { version: '1.2.3', integrity: 'sha512-cache' });
  expect(findInstalled(start, pinned, host)).toBe('sha512-cache');
  install(join(path, 'project'), { version: '1.0.0', integrity: 'sha512-old' });
  expect(findInstalled(start, pinned, host)).toBe('sha512-cache');
  install(join(path, 'project'), { version: '1.2.3', integrity: 'sha512-project' });
  expect(findInstalled(start, pinned, host)).toBe('sha512-project');
  // A link into a workspace has none.
  install(join(path, 'project'), { version: '1.2.3' });
  expect(findInstalled(start, pinned, host)).toBeUndefined();
  expect(findInstalled(toStart('bunx server@1.2.3'), pinned, host)).toBeUndefined();
});
