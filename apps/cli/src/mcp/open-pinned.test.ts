import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as mcp from '@holdfast/mcp';
import { expect, test } from 'vitest';
import { createFolder } from '../testing/test-folder.ts';
import { createTestHost } from '../testing/test-host.ts';
import { openPinned } from './open-pinned.ts';
import { findStartedFile } from './started-file.ts';

const seen = { instructions: null, tools: [], resources: [], templates: [], prompts: [] };

test.each([
  { integrity: 'sha512-pinned', code: 'mcp.unreachable' },
  { integrity: 'sha512-other', code: 'mcp.changed' },
])('a package that npm has installed with $integrity: $code', async ({ integrity, code }) => {
  await using folder = await createFolder();
  const { path } = folder;
  const start = { command: join(path, 'npx'), args: ['-y', 'server'], environment: [] };
  const pin = {
    ...start,
    command: '<workspace>/npx',
    package: { name: 'server', version: '1.2.3', integrity: 'sha512-pinned' },
    server: { name: 'server', version: '1.2.3' },
    seen: { instructions: null, tools: [], resources: [], templates: [], prompts: [] },
  };
  writeFileSync(join(path, 'holdfast.lock'), JSON.stringify({ mcp: { server: pin }, tools: {}, version: 1 }));
  mkdirSync(join(path, 'node_modules'));
  const installed = { packages: { 'node_modules/server': { version: '1.2.3', integrity } } };
  writeFileSync(join(path, 'node_modules', '.package-lock.json'), JSON.stringify(installed));
  const { host } = createTestHost({ directory: path });
  // There is no such `npx`: a server that is not held back cannot be reached.
  const opening = openPinned({ name: 'server', user: false, start }, mcp, {}, host);
  const found = await opening.then(
    (opened) => (opened.type === 'held' ? opened.held.code : 'opened'),
    (thrown: { readonly code: string }) => thrown.code,
  );
  expect(found).toBe(code);
});

test('a server whose script is not the one that was pinned is held back, until that is pinned', async () => {
  await using folder = await createFolder({ 'server.mjs': 'one()' });
  const { path } = folder;
  const { host } = createTestHost({ directory: path });
  const start = { command: 'no-such-node/node', args: ['server.mjs'], environment: [] };
  const open = async (): Promise<string> => {
    const file = findStartedFile(start, start, host);
    return openPinned({ name: 'server', user: false, start }, mcp, {}, host).then(
      (opened) => (opened.type === 'held' ? `${opened.held.code}: ${opened.held.message}` : 'opened'),
      (thrown: { readonly code: string }) => `${thrown.code} ${file?.path}`,
    );
  };
  const pin = (): void => {
    const pinned = mcp.toServerPin(
      start,
      { server: { info: { name: 's', version: '1' }, capabilities: {} }, seen },
      {
        file: findStartedFile(start, start, host),
      },
    );
    writeFileSync(join(path, 'holdfast.lock'), JSON.stringify({ mcp: { server: pinned }, tools: {}, version: 1 }));
  };
  pin();
  // There is no such program: a server that is not held back cannot be reached.
  expect(await open()).toBe('mcp.unreachable server.mjs');
  writeFileSync(join(path, 'server.mjs'), 'two()');
  expect(await open()).toContain(
    'mcp.changed: Holdfast holds the MCP server `server` back: `server.mjs` is not the file',
  );
  rmSync(join(path, 'server.mjs'));
  expect(await open()).toContain('mcp.changed');
  writeFileSync(join(path, 'server.mjs'), 'two()');
  pin();
  expect(await open()).toBe('mcp.unreachable server.mjs');
});
