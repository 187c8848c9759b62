import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repository } from './libraries.ts';
import { site } from './site.ts';

test('every page of the guide has a place in the menu, and every place a page', async () => {
  const names = await readdir(join(repository, 'apps', 'docs', 'guide'));
  const pages = names.filter((name) => name.endsWith('.md')).map((name) => `/${name.replace(/(?:index)?\.md$/, '')}`);
  const links = [...JSON.stringify(site.themeConfig?.sidebar).matchAll(/"link":"([^"]+)"/g)].map(
    ([, link = '']) => link,
  );
  expect(links.filter((link) => !link.startsWith('/reference/')).toSorted()).toEqual(pages.toSorted());
});

// The local search of the site finds the beginnings of words, and ranks a title above a text.
test.each(['api key', 'API keys', 'environment variable'])(
  'a search for `%s` finds the page on API keys',
  async (query) => {
    const text = await readFile(join(repository, 'apps', 'docs', 'guide', 'api-keys.md'), 'utf8');
    const headings = text.split('\n').filter((line) => /^#+ /.test(line));
    const words = query.toLowerCase().split(' ');
    const found = headings.filter((heading) => {
      const ofHeading = heading.toLowerCase().split(/[^a-z]+/);
      return words.every((word) => ofHeading.some((one) => one.startsWith(word)));
    });
    expect(found).not.toEqual([]);
  },
);
