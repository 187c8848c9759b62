import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { assemble } from './assemble.ts';
import { fillParts } from './generated-parts.ts';
import { libraries, repository } from './libraries.ts';
import { escapeText, renderReference } from './reference-page.ts';

const docs = await mkdtemp(join(tmpdir(), 'holdfast-docs-'));
const page = (path: string): Promise<string> => readFile(join(docs, '.cache', 'site', path), 'utf8');

beforeAll(async () => {
  await cp(join(repository, 'apps', 'docs', 'guide'), join(docs, 'guide'), { recursive: true });
  await assemble(docs);
  // Runs the help of every command, and a busy machine may take seconds to start Node.js.
});

afterAll(() => rm(docs, { recursive: true }));

test('every marker is filled, every diagram inlined', async () => {
  const pages = (await readdir(join(docs, '.cache', 'site'), { recursive: true })).filter((path) =>
    path.endsWith('.md'),
  );
  for (const path of pages) expect(await page(path)).not.toMatch(/<!-- generated|\.\/diagrams\/|<style/);
  expect(await page('call-path.md')).toContain('<title id="call-path-title">');
});

test('the command line page has the help of every command', async () => {
  const text = await page('command-line.md');
  for (const name of ['run', 'show', 'list', 'check']) expect(text).toContain(`Usage: holdfast ${name} `);
});

test.each(libraries())('the reference of $name has every import of it', async ({ folder, entries }) => {
  const text = await page(`reference/${folder}.md`);
  for (const { specifier } of entries) expect(text).toContain(`## ${specifier}\n`);
  expect(text.match(/^#{3,4} /gm)?.length).toBeGreaterThan(0);
});

test('a long reference has a table of contents by kind, and an outline by file', async () => {
  const [text = '', , rare = ''] = (await page('reference/core.md')).split(
    /\n## @holdfast\/core\/(?:internal|types)\n/,
  );
  const [, values = '', types = ''] = /\*\*Functions and values\*\*: (.+)\n\n\*\*Types\*\*: (.+)\n/.exec(text) ?? [];
  expect(values).toContain('[`defineTool`](#definetool) · ');
  expect(types).toContain('[`ToolContext`](#toolcontext)');
  // If two names differ only by case, the site numbers the later heading.
  expect([values.includes('[`allow`](#allow)'), rare.includes('[`Allow`](#allow-1)')]).toEqual([true, true]);
  const names = [...text.matchAll(/^#### (\w+)$/gm)].map(([, name = '']) => name);
  for (const name of names) expect(`${values} ${types}`).toContain(`[\`${name}\`](#${name.toLowerCase()}`);
  expect(text).toMatch(/\n### tool\.ts\n(?:(?!\n### )[\s\S])*\n#### defineTool\n/);
  expect(text.match(/^### /gm)?.length).toBeLessThan(60);
});

test('the same sources give the same pages', async () => {
  const again = libraries()
    .filter(({ folder }) => folder === 'core')
    .map((core) => renderReference(core, join(repository, 'packages', core.folder)));
  expect(again).toEqual([await page('reference/core.md')]);
});

test('an unknown part', async () => {
  await expect(fillParts('<!-- generated: nothing -->')).rejects.toThrow('Unknown generated part `nothing`');
});

test.each([
  ['a < b and `a < b`', 'a &lt; b and `a < b`'],
  ['{{ a }}', '&#123;&#123; a }}'],
  ['@throws HoldfastError `a.b`.', 'Throws HoldfastError `a.b`.'],
])('%s is text', (text, escaped) => {
  expect(escapeText(text)).toBe(escaped);
});
