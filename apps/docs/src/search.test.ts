import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { libraries, repository } from './libraries.ts';
import { renderReference } from './reference-page.ts';
import { site } from './site.ts';

interface Index {
  addAll(documents: readonly object[]): void;
  search(query: string): readonly { readonly id: string }[];
}
// The library of VitePress's local search, in the version that it uses.
const ofVitepress = createRequire(createRequire(import.meta.url).resolve('vitepress/package.json'));
const MiniSearch = ofVitepress('minisearch') as new (options: object) => Index;

const search = site.themeConfig?.search;
const index = new MiniSearch({
  fields: ['title', 'titles', 'text'],
  searchOptions: {
    // The defaults of VitePress.
    fuzzy: 0.2,
    prefix: true,
    boost: { title: 4, text: 2, titles: 1 },
    ...(search?.provider === 'local' ? search.options?.miniSearch?.searchOptions : {}),
  },
});

const guide = join(repository, 'apps', 'docs', 'guide');
for (const name of (await readdir(guide)).filter((file) => file.endsWith('.md')))
  index.addAll(readSections(`/${name.replace('.md', '.html')}`, await readFile(join(guide, name), 'utf8')));
for (const library of libraries()) {
  const page = renderReference(library, join(repository, 'packages', library.folder));
  index.addAll(readSections(`/reference/${library.folder}.html`, page));
}

test.each([
  ['approval', '/approvals.html'],
  ['zod', '/tools.html'],
  ['api key', '/api-keys.html'],
  ['mcp', '/status.html'],
  ['environment variable', '/api-keys.html'],
  ['sandbox', '/tool-files.html'],
  ['log.locked', '/errors.html'],
])('a search for `%s` finds the guide first, with %s', (query, page) => {
  const found = index.search(query).map(({ id }) => id.replace(/#.*/, ''));
  expect(found.slice(0, 5)).toContain(page);
  expect(found[0]).not.toMatch(/^\/reference\//);
});

test.each(['definePolicy', 'loadTools'])('a search for `%s` finds the reference on the first screen', (query) => {
  const found = index.search(query).map(({ id }) => id);
  expect(found.slice(0, 10).some((id) => id.startsWith('/reference/'))).toBe(true);
});

/** The sections of a page, as VitePress indexes them. */
function readSections(page: string, text: string): readonly object[] {
  const titles: string[] = [];
  return text.split(/^(?=#{1,6} )/m).flatMap((section, place) => {
    const [, marks = '', title = ''] = /^(#+) (.+)\n/.exec(section) ?? [];
    if (title === '') return [];
    titles.length = marks.length - 1;
    const found = { id: `${page}#${place}`, title, titles: [...titles], text: section };
    titles[marks.length - 1] = title;
    return [found];
  });
}
