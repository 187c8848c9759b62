import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { libraries, repository } from './libraries.ts';
import { guideMenu, site } from './site.ts';

test('the menu lists every page of the guide, and only those', async () => {
  const names = await readdir(join(repository, 'apps', 'docs', 'guide'));
  const pages = names.filter((name) => name.endsWith('.md')).map((name) => `/${name.replace(/(?:index)?\.md$/, '')}`);
  const links = [...JSON.stringify(site.themeConfig?.sidebar).matchAll(/"link":"([^"]+)"/g)].map(
    ([, link = '']) => link,
  );
  expect(links.filter((link) => !link.startsWith('/reference/')).toSorted()).toEqual(pages.toSorted());
});

test('the menu has three levels, in short lists', () => {
  expect(guideMenu.map(({ text }) => text)).toEqual(['Start', 'Use', 'Reference']);
  const lists = guideMenu.flatMap(({ items = [] }) => [items, ...items.map((topic) => topic.items ?? [])]);
  for (const list of lists) expect(list.length).toBeLessThanOrEqual(8);
});

test('the reference has the packages of a first program first, and every package once', async () => {
  const folders = libraries().map(({ folder }) => folder);
  expect(folders.slice(0, 3)).toEqual(['kit', 'core', 'executor']);
  expect(folders.toSorted()).toEqual((await readdir(join(repository, 'packages'))).toSorted());
});

test('every link to a heading leads to one', async () => {
  const folder = join(repository, 'apps', 'docs', 'guide');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.md'));
  const texts = new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')] as const)),
  );
  const anchors = new Map([...texts].map(([name, text]) => [name, readAnchors(text)]));
  const lost = [...texts].flatMap(([name, text]) =>
    [...text.matchAll(/\]\((?:\.\/([\w-]+\.md))?#([\w-]+)\)/g)]
      .filter(([, page = name, anchor = '']) => anchors.get(page)?.has(anchor) !== true)
      .map(([link]) => `${name}: ${link}`),
  );
  expect(lost).toEqual([]);
});

test('the guide has at most 40,000 words', async () => {
  const folder = join(repository, 'apps', 'docs', 'guide');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.md'));
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  // Not the bars of tables and the operators of code.
  const words = texts
    .join('\n')
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
  expect(words.length).toBeLessThanOrEqual(40_000);
});

test('the home page has a headline, features, a picture and a next step', async () => {
  const text = await readFile(join(repository, 'apps', 'docs', 'guide', 'index.md'), 'utf8');
  const [, matter = '', page = ''] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? [];
  expect(matter).toMatch(/^layout: home$/m);
  expect(matter).toMatch(/^hero:\n(?: {2}.*\n)* {2}text: .+\n(?: {2}.*\n)* {2}tagline: /m);
  expect(matter).toMatch(/link: \/five-minutes$/m);
  expect(matter.match(/^ {2}- title: /gm)?.length).toBeGreaterThanOrEqual(3);
  expect(page).toMatch(/^!\[.{40,}\]\(\.\/diagrams\/[\w-]+\.svg\)$/m);
  expect(page).toMatch(/^## Three incidents/m);
});

test('the site has an icon', async () => {
  const [link] = (site.head ?? []).filter(([, attributes]) => attributes?.['rel'] === 'icon');
  const path = join(repository, 'apps', 'docs', 'guide', 'public', String(link?.[1]?.['href']));
  expect(await readFile(path, 'utf8')).toContain('<svg');
});

// The site's search matches prefixes and ranks headings above text.
test.each([
  ['api key', 'api-keys'],
  ['API keys', 'api-keys'],
  ['environment variable', 'api-keys'],
  ['zod', 'tools'],
  ['arktype', 'tools'],
  ['ollama', 'models'],
  ['bun', 'status'],
  ['deno', 'status'],
  ['next', 'status'],
  ['workers', 'status'],
])('a search for `%s` finds the page %s by a heading', async (query, name) => {
  const text = await readFile(join(repository, 'apps', 'docs', 'guide', `${name}.md`), 'utf8');
  const headings = text.split('\n').filter((line) => /^#+ /.test(line));
  const words = query.toLowerCase().split(' ');
  const found = headings.filter((heading) => {
    const ofHeading = heading.toLowerCase().split(/[^a-z]+/);
    return words.every((word) => ofHeading.some((one) => one.startsWith(word)));
  });
  expect(found).not.toEqual([]);
});

/** The anchors that VitePress gives to the headings of a page. */
function readAnchors(text: string): ReadonlySet<string> {
  const headings = text.replaceAll(/^```.*\n[\s\S]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm);
  return new Set(
    [...headings].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll('`', '')
        .replaceAll(/[^\p{L}\p{N}_]+/gu, '-')
        .replaceAll(/^-|-$/g, ''),
    ),
  );
}
