import { readdir } from 'node:fs/promises';
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
