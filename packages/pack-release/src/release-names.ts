import type { Tool } from '@holdfast/core';

/** Whether a tool puts something out. */
export type IsRelease = (tool: Tool) => boolean;

const releaseWords: ReadonlySet<string> = new Set([
  ...['deploy', 'redeploy', 'publish', 'release', 'rollout', 'ship', 'promote'],
]);
// With one of these before it, a release as well: `create_deployment`.
const releaseNouns: ReadonlySet<string> = new Set(['deployment', 'deployments']);
const makingWords: ReadonlySet<string> = new Set(['create', 'make', 'new', 'push', 'run', 'start', 'trigger']);
// What only looks, whatever its effects say: `get_release` of a server that says nothing of them.
const lookingWords: ReadonlySet<string> = new Set(['count', 'describe', 'get', 'list', 'read', 'show', 'view']);
const checkWords: ReadonlySet<string> = new Set([
  ...['test', 'tests', 'check', 'checks', 'verify', 'typecheck', 'pytest', 'vitest', 'jest'],
]);
// What else the name of a check may have: `list_tests` and `skip_tests` run none, `check_weather` and `test_email` check something else.
const besideWords: ReadonlySet<string> = new Set([
  ...[
    'run',
    'exec',
    'execute',
    'npm',
    'pnpm',
    'yarn',
    'bun',
    'deno',
    'cargo',
    'go',
    'make',
    'dotnet',
    'gradle',
    'maven',
    'mvn',
  ],
  ...[
    'ci',
    'unit',
    'integration',
    'smoke',
    'e2e',
    'end',
    'to',
    'type',
    'types',
    'lint',
    'format',
    'style',
    'build',
    'all',
  ],
  ...['suite', 'project', 'workspace', 'repo', 'code', 'the', 'regression', 'acceptance', 'browser', 'ui', 'api'],
]);

/** The named tools; without names, every one that has a word for it in its own (`npm_publish`) and does not only read. */
export function releaseNames(releases: readonly string[] | undefined): IsRelease {
  if (releases !== undefined) {
    const named: ReadonlySet<string> = new Set(releases);
    return ({ name }) => named.has(name);
  }
  return ({ name, effects }) => effects !== 'none' && hasReleaseName(name);
}

function hasReleaseName(name: string): boolean {
  const words = wordsOf(name);
  const [first = ''] = words;
  if (lookingWords.has(first)) return false;
  return words.some((word) => releaseWords.has(word) || (makingWords.has(first) && releaseNouns.has(word)));
}

/** `run_tests`, `check-types`. */
export function hasCheckName(name: string): boolean {
  const words = wordsOf(name);
  return (
    words.some((word) => checkWords.has(word)) && words.every((word) => checkWords.has(word) || besideWords.has(word))
  );
}

function wordsOf(name: string): readonly string[] {
  return name.split(/[_-]+/u);
}
