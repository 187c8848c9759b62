import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');

test('the README has at most 900 words', () => {
  expect(readme.split(/\s+/).filter((word) => word !== '').length).toBeLessThanOrEqual(900);
});

test('D14: the README does not suggest the packaged model, which fails its first request', () => {
  expect(readme).toContain('npm start -- "List every TODO comment');
  expect(readme).not.toContain('--model local');
});
