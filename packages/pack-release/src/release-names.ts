import type { Tool } from '@holdfast/core';

/** Whether a tool puts something out. */
export type IsRelease = (tool: Tool) => boolean;

const releaseWords: ReadonlySet<string> = new Set([
  ...['deploy', 'redeploy', 'publish', 'release', 'rollout', 'ship', 'promote'],
]);
const checkWords: ReadonlySet<string> = new Set(['test', 'tests', 'check', 'checks', 'verify']);
// What a name that ends in a check begins with: `list_tests`, `skip_tests` and `write_test` run none.
const runWords: ReadonlySet<string> = new Set([
  ...[
    'run',
    'npm',
    'pnpm',
    'yarn',
    'cargo',
    'go',
    'make',
    'ci',
    'unit',
    'integration',
    'smoke',
    'e2e',
    'type',
    'types',
  ],
]);

/** The named tools; without names, every one that has a word for it in its own (`npm_publish`) and does not only read. */
export function releaseNames(releases: readonly string[] | undefined): IsRelease {
  if (releases !== undefined) {
    const named: ReadonlySet<string> = new Set(releases);
    return ({ name }) => named.has(name);
  }
  return ({ name, effects }) => effects !== 'none' && wordsOf(name).some((word) => releaseWords.has(word));
}

/** `run_tests`, `check-types`. */
export function hasCheckName(name: string): boolean {
  const words = wordsOf(name);
  const [first = ''] = words;
  return checkWords.has(first) || (runWords.has(first) && words.some((word) => checkWords.has(word)));
}

function wordsOf(name: string): readonly string[] {
  return name.split(/[_-]+/u);
}
