import { expect, test } from 'vitest';
import { defineTool } from '../call/tool.ts';
import { definePlugin, isPlugin } from './plugin.ts';

const plain = { name: 'git', version: '1.2.3', description: 'Works with git.', holdfast: '>=0.0.0 <1' };

test('a plugin is frozen, and its lists are copies', () => {
  const tools = [defineTool({ name: 'push', description: 'Push.', execute: () => null })];
  const plugin = definePlugin({ ...plain, tools });
  tools.length = 0;
  expect(plugin).toMatchObject({ type: 'plugin', ...plain, configSchema: undefined });
  expect(plugin.tools?.map(({ name }) => name)).toEqual(['push']);
  expect(Object.isFrozen(plugin) && Object.isFrozen(plugin.tools)).toBe(true);
  expect(Object.hasOwn(plugin, 'packs')).toBe(false);
  expect(isPlugin(plugin)).toBe(true);
});

test.each([null, 'git', {}, { type: 'plugin' }, []])('%j is not a plugin', (value) => {
  expect(isPlugin(value)).toBe(false);
});

test.each([
  ['an empty name', { name: '' }, 'needs a name'],
  ['a name with a slash', { name: 'acme/git' }, 'needs a name'],
  ['a name with a colon', { name: 'acme:git' }, 'needs a name'],
  ['a name in capitals', { name: 'Git' }, 'needs a name'],
  ['a list for a name', { name: ['git'] }, 'needs a name'],
  ['half a version', { version: '1.2' }, 'needs a `version`'],
  ['no description', { description: '   ' }, 'needs a `description`'],
  ['two lines of description', { description: 'a\nb' }, 'needs a `description`'],
  ['no range', { holdfast: ' ' }, 'needs `holdfast`'],
  ['an invalid schema', { configSchema: 'object' }, 'has a `configSchema`'],
  ['an invalid setup', { setup: {} }, 'has a `setup`'],
  ['tools that are not a list', { tools: {} }, 'has `tools`'],
  ['a misspelt key', { tool: [] }, 'has the unknown key `tool`'],
])('%s is refused', (_, wrong, problem) => {
  expect(() => definePlugin({ ...plain, ...wrong } as never)).toThrow(
    expect.objectContaining({ code: 'plugin.invalid', message: expect.stringContaining(problem) }),
  );
});
