import { chmodSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createFolder } from '../../testing/test-folder.ts';
import { runHere } from '../../testing/test-program.ts';

const settings = `{
  // Mine.
  "mcpServers": { "files": { "command": "npx", "args": ["server"], "env": { "TOKEN": "CANARY-7431" } }, "far": { "url": "https://example.com" }, "old": { "url": "https://example.com/sse", "type": "sse" } }
}
`;

test('settings are wrapped where they lie, and a person takes it back to the byte', async () => {
  const folder = await createFolder({ 'real.json': settings });
  onTestFinished(() => folder[Symbol.asyncDispose]());
  const { path: directory } = folder;
  const real = join(directory, 'real.json');
  chmodSync(real, 0o644);
  symlinkSync(real, join(directory, '.mcp.json'));
  const environment = { HOLDFAST_HOME: join(directory, 'own'), NO_COLOR: '1' };
  const run = (verb: string, isPerson = false) =>
    runHere(['mcp', verb, '.mcp.json'], {
      directory,
      environment,
      trusted: false,
      terminals: isPerson ? ['stdin'] : [],
    });
  const wrapped = await run('import');
  expect(wrapped).toMatchObject({
    exitCode: 0,
    stdout:
      'files: wrapped\nfar: wrapped\nold: left alone: neither a program nor an address that `mcp wrap` can reach\nEach is held back until you have looked at it: start your client once, then run `holdfast lock --accept mcp:NAME`.\n',
  });
  expect(readFileSync(real, 'utf8')).toContain(
    '"mcp", "wrap", "--name", "files", "--env", "TOKEN", "--", "npx", "server"',
  );
  expect(statSync(real).mode & 0o777).toBe(0o644);
  expect(await run('import')).toMatchObject({ stdout: expect.stringContaining('files: not wrapped') });
  expect(await run('restore')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('guard.person_required'),
  });
  expect(await run('restore', true)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('files: restored') });
  expect(readFileSync(real, 'utf8')).toBe(settings);
  expect(JSON.stringify(wrapped)).not.toContain('CANARY');
});

test.each([
  { files: {}, says: 'usage.invalid: file_missing', exitCode: 2 },
  { files: { '.mcp.json': '[mcp_servers]' }, says: 'not JSON with comments', exitCode: 2 },
  { files: { 'config.toml': '[mcp_servers' }, file: 'config.toml', says: 'not TOML', exitCode: 2 },
])('a file that cannot be changed: $says', async ({ files, file = '.mcp.json', says, exitCode }) => {
  const folder = await createFolder(files);
  onTestFinished(() => folder[Symbol.asyncDispose]());
  const ended = await runHere(['mcp', 'import', file], { directory: folder.path, trusted: false });
  expect(ended).toMatchObject({ exitCode, stderr: expect.stringContaining(says) });
});

test.each([
  { file: '.claude.json', user: true },
  { file: '.gemini/settings.json', user: true },
  { file: 'Library/Application Support/Claude/claude_desktop_config.json', user: true },
  { file: 'project/.mcp.json', user: false },
  { file: 'project/.cursor/mcp.json', user: false },
])('servers in ~/$file are pinned for the user: $user', async ({ file, user }) => {
  const folder = await createFolder({ [file]: '{ "mcpServers": { "a": { "command": "x" } } }' });
  onTestFinished(() => folder[Symbol.asyncDispose]());
  const environment = { HOME: folder.path, USERPROFILE: folder.path, NO_COLOR: '1' };
  const ended = await runHere(['mcp', 'import', file], { directory: folder.path, environment, trusted: false });
  expect(ended.stdout.includes('`holdfast lock --user --accept mcp:NAME`')).toBe(user);
  expect(readFileSync(join(folder.path, file), 'utf8').includes('"--user"')).toBe(user);
});

test('settings without servers say so', async () => {
  const folder = await createFolder({ '.mcp.json': '{}' });
  onTestFinished(() => folder[Symbol.asyncDispose]());
  const ended = await runHere(['mcp', 'import', '.mcp.json'], { directory: folder.path, trusted: false });
  expect(ended).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('No servers in') });
});
