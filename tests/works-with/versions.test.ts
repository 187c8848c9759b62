import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { versions } from './versions.ts';

test('the page of the guide claims what `npm run works-with` runs, and nothing else', async () => {
  const page = await readFile(new URL('../../apps/docs/guide/works-with.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| ([^|-]+) \| (\d[^|]*) \|/gm)].map(([, name = '', list = '']) => [
    name,
    list.split(', '),
  ]);
  expect(rows).toEqual(Object.entries(versions));
});
