import { defineTool, type Tool } from '@holdfast/core';
import type { Disk } from '@holdfast/core/types';
import { executeToolCall } from '@holdfast/executor';
import { createFacts, mcpFacts } from '@holdfast/facts';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession } from '@holdfast/session';
import { expect, test } from 'vitest';
import { readFirst } from './read-first.ts';

const inputSchema = jsonSchema<Record<string, string>>({
  type: 'object',
  properties: { path: { type: 'string' }, content: { type: 'string' } },
});

/** A server's file tools over files in memory. */
function createWorld(files: Map<string, string>) {
  const disk: Disk = {
    folds: false,
    look: (path) => ({ type: files.has(path) ? 'file' : path === '/w' || path === '/' ? 'folder' : 'missing' }),
    list: () => undefined,
    readText: (path, maxBytes) => {
      const text = files.get(path);
      return text !== undefined && text.length <= maxBytes ? text : undefined;
    },
  };
  const write = ({ path = '', content = '' }: Record<string, string>): string => {
    files.set(`/w/${path}`, content);
    return 'ok';
  };
  const tools: readonly Tool[] = ['read_file', 'write_file', 'edit_file', 'convert'].map(
    (name) =>
      defineTool({
        name: `files_${name}`,
        description: name,
        inputSchema,
        execute: name === 'read_file' ? () => 'ok' : write,
      }) as Tool,
  );
  const view = { folder: '/w', workspace: '/w', disk };
  const facts = createFacts({ describers: [mcpFacts({ server: 'files' })], view });
  const options = { tools, session: createSession(), policies: [readFirst()], facts };
  return async (name: string, path: string, content = ''): Promise<string> => {
    const outcome = await executeToolCall({ name: `files_${name}`, arguments: { path, content } }, options);
    if (outcome.kind === 'suspended') throw new Error('No policy asks.');
    return outcome.kind === 'denied' ? outcome.message : outcome.kind;
  };
}

test('a file is overwritten only in the version that was read or written', async () => {
  const files = new Map([['/w/a.txt', 'one']]);
  const call = createWorld(files);
  expect(await call('write_file', 'a.txt', 'two')).toContain('`a.txt` exists already: read it');
  expect(files.get('/w/a.txt')).toBe('one');
  expect(await call('read_file', 'a.txt')).toBe('ok');
  expect(await call('write_file', 'a.txt', 'two')).toBe('ok');
  expect(await call('write_file', 'a.txt', 'three')).toBe('ok');
  files.set('/w/a.txt', 'of another program');
  expect(await call('write_file', 'a.txt', 'four')).toContain('has changed since you read it');
  expect(await call('read_file', 'a.txt')).toBe('ok');
  expect(await call('write_file', 'a.txt', 'four')).toBe('ok');
});

test('a new file, an edit that reads by itself, and an unclear call are not its matter', async () => {
  const call = createWorld(new Map([['/w/a.txt', 'one']]));
  expect(await call('write_file', 'new.txt')).toBe('ok');
  expect(await call('edit_file', 'a.txt')).toBe('ok');
  expect(await call('convert', 'a.txt')).toBe('ok');
});

test('files too long to compare count as read by their path', async () => {
  const call = createWorld(new Map([['/w/long.txt', 'x'.repeat(1_048_577)]]));
  expect(await call('write_file', 'long.txt')).toContain('read it');
  expect(await call('read_file', 'long.txt')).toBe('ok');
  expect(await call('write_file', 'long.txt')).toBe('ok');
});
