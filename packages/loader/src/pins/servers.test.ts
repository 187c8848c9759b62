import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { compareDefinitions } from '../plugins/compare.ts';
import { definitionsOf } from '../plugins/definitions.ts';
import { makePlugin } from '../plugins/test-plugins.ts';
import { createProject, toolFile } from '../test-project.ts';
import { lockServer, readLockedServer } from './servers.ts';

test('a server is locked beside the tools and plugins, and stays when those are locked again', async () => {
  await using project = await createProject({ 'plugins/act.mjs': toolFile('act') });
  const { lock } = project;
  await project.accept();
  await lockServer(lock, 'files', { command: 'npx' });
  await lockServer(lock, 'docs', { url: 'https://example.com' });
  const text = readFileSync(lock, 'utf8');
  await project.accept();
  expect(readFileSync(lock, 'utf8')).toBe(text);
  const plugin = definitionsOf(makePlugin());
  await compareDefinitions([plugin], { lock }).accept();
  expect(readFileSync(lock, 'utf8')).toContain('plugin:git');
  expect(readLockedServer(lock, 'docs')).toEqual({ url: 'https://example.com' });
  expect(Object.keys((JSON.parse(text) as { mcp: object }).mcp)).toEqual(['docs', 'files']);
  expect(readLockedServer(lock, 'files')).toEqual({ command: 'npx' });
  expect(readLockedServer(lock, 'other')).toBeUndefined();
});

test.each([
  { mcp: [], says: '`mcp` is not an object' },
  { mcp: { 'A b': {} }, says: 'not a valid name' },
  { mcp: { files: 7 }, says: '`mcp.files` is not an object' },
])('a lock with bad servers is refused: $says', async ({ mcp, says }) => {
  await using project = await createProject();
  const { lock } = project;
  writeFileSync(lock, JSON.stringify({ mcp, tools: {}, version: 1 }));
  expect(() => readLockedServer(lock, 'files')).toThrow(
    expect.objectContaining({ code: 'lock.invalid', message: expect.stringContaining(says) }),
  );
});
