import { definePlugin, defineTool } from '@holdfast/core';
import { fileTools } from '@holdfast/filesystem';
import { markdownSection } from '@holdfast/prompt';
import { createRegistry } from '@holdfast/registry';
import { expect, test } from 'vitest';
import { filesPlugin, folderPlugin } from '../settings/builtin-plugins.ts';
import { createRunPrompt } from './prompt.ts';

const toTool = (name: string) => defineTool({ name, description: 'Acts.', effects: 'none', execute: () => 1 });

test('guidance, then plugin sections in their order, then sections for loose tools', () => {
  const git = definePlugin({
    name: 'git',
    version: '1.0.0',
    description: 'Version control, for $5 and $$branch.',
    holdfast: '*',
    tools: [toTool('push')],
    sections: [markdownSection({ title: 'History', template: 'Who wrote what.', tools: [toTool('blame')] })],
  });
  const registry = createRegistry()
    .use(filesPlugin(fileTools()))
    .use(folderPlugin([toTool('act')]))
    .use(git);
  const { text, tools } = createRunPrompt(registry).render({ session: undefined });
  expect([...text.matchAll(/^## .+$/gm)].map(([heading]) => heading)).toEqual([
    '## 1. Guidance (guidance)',
    '## 2. Files (files)',
    '## 3. Tools (tools)',
    '## 4. History (history)',
    '## 5. git (git)',
  ]);
  expect(text).toMatch(/\nVersion control, for \$5 and \$\$branch\.$/);
  expect(tools.map(({ name }) => name).sort()).toEqual(registry.tools.map(({ name }) => name).sort());
});

test('a folder without tools has no section', () => {
  const registry = createRegistry().use(filesPlugin(fileTools())).use(folderPlugin([]));
  expect(createRunPrompt(registry).render({ session: undefined }).text).not.toContain('## 3.');
});

test('section names may clash with those of the prompt and of plugins', () => {
  const named = (name: string, title: string) =>
    definePlugin({
      name,
      version: '1.0.0',
      description: 'Has both.',
      holdfast: '*',
      tools: [toTool(`${name}_loose`)],
      sections: [markdownSection({ title, template: 'Text.', tools: [toTool(`${name}_held`)] })],
    });
  const registry = createRegistry()
    .use(named('guidance', 'Guidance'))
    .use(named('notes', 'Papers'))
    .use(named('papers', 'Notes'));
  const { text, tools } = createRunPrompt(registry).render({ session: undefined });
  const keys = [...text.matchAll(/^## .+ \((.+)\)$/gm)].map(([, key]) => key);
  expect(new Set(keys).size).toBe(7);
  expect(tools).toHaveLength(6);
});
