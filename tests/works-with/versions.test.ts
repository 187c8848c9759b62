import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { versions } from './versions.ts';

test('the page of the guide claims what `npm run works-with` runs, and nothing else', async () => {
  const page = await readFile(new URL('../../apps/docs/guide/status.md', import.meta.url), 'utf8');
  const [, table = ''] = /^## Node\.js, .+\n([\s\S]+?)^## /m.exec(page) ?? [];
  const claimed = [...table.matchAll(/^\| (.*\d) \|/gm)].map(([, cell]) => cell);
  const run = Object.entries(versions).map(([name, list]) => `${name} ${list.join(', ')}`);
  expect(claimed.join(', ')).toBe(run.join(', '));
});
