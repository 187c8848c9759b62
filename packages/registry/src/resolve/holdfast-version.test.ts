import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { findVersionProblem, holdfastVersion } from './holdfast-version.ts';

test.each([
  ['^1.2.0', '1.4.0'],
  ['>=0.0.0', '0.0.0'],
  ['^1.2.0 || ^2.0.0', '2.0.1'],
  ['*', '7.0.0'],
  ['1.x', '1.9.9'],
  // A prerelease.
  ['^1.2.0', '1.3.0-next.1'],
  ['>=1.2.0', '2.0.0-next.1'],
])('%s: supports %s', (range, version) => {
  expect(findVersionProblem('The plugin `git` 2.0.0', range, version)).toBeUndefined();
});

test.each([
  ['^2.0.0', '0.1.0'],
  ['^1.2.0', '2.0.0'],
  ['~1.2.0', '1.3.0'],
  ['>1.0.0 <1.0.0', '1.0.0'],
])('%s: plugin.failed: version.mismatch with %s', (range, version) => {
  expect(findVersionProblem('The plugin `git` 2.0.0', range, version)).toMatchObject({
    code: 'plugin.failed',
    reason: 'version.mismatch',
    message: expect.stringContaining(`The plugin \`git\` 2.0.0 requires Holdfast ${range}, and this is ${version}: `),
  });
});

test.each(['latest', 'one', '^1.2.0 and up', '>=', '__proto__', '1.2.3.4', 'x'.repeat(100_000)])(
  '%.20s: plugin.failed: version.invalid',
  (range) => {
    const problem = findVersionProblem('The plugin `git` 2.0.0', range);
    expect(problem).toMatchObject({ code: 'plugin.failed', reason: 'version.invalid' });
    expect(problem?.message.length).toBeLessThan(300);
  },
);

test('matches the version of the package', () => {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  expect(manifest).toMatchObject({ version: holdfastVersion });
});
