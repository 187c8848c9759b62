import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { describeCommand } from './index.ts';
import { type CommandLine, commandHalves } from './test-command-lines.ts';
import { dangerousLines } from './test-dangerous-lines.ts';
import { folder } from './test-folder.ts';
import { findQuestions } from './test-policy.ts';

const isAsked = (line: string): boolean => findQuestions(describeCommand(line, folder), folder).length > 0;

test('of the dangerous lines these are let through, since what they run is read and is `id`, or a file of the workspace', () => {
  expect(dangerousLines.length).toBeGreaterThan(300);
  expect(new Set(dangerousLines.map(({ line }) => line)).size).toBe(dangerousLines.length);
  expect(dangerousLines.filter(({ line }) => !isAsked(line)).map(({ line }) => line)).toMatchInlineSnapshot(`
    [
      "git fetch --upload-pack=id origin",
      "git rebase -x id HEAD~1",
      "tar cf a.tar -I id src",
      "find . -exec id \\;",
      "man -P id ls",
      "npm test --script-shell=./x.sh",
      "trap 'id' EXIT",
      "zsh -c "id"",
      "ls() { id; }; ls",
      "parallel id ::: a",
      "shred -u src/a.ts",
    ]
  `);
});

test.each([
  'git fetch --upload-pack="cat .env" origin',
  'git rebase -x "cat .env" HEAD~1',
  'tar cf a.tar -I "cat .env" src',
  'find . -exec cat .env \\;',
  'man -P "cat .env" ls',
  "trap 'cat .env' EXIT",
  "zsh -c 'cat .env'",
  'ls() { cat .env; }; ls',
])('it is what they run that is judged: %s', (line) => {
  expect(describeCommand(line, folder).reads).toContainEqual({ path: '/w/.env', inside: true });
});

const spellings = readFileSync(new URL('./test-spellings.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter(Boolean);

// `⏎` is the end of a line.
test.each(spellings)('is asked about: %s', (line) => {
  expect(isAsked(line.replaceAll('⏎', '\n'))).toBe(true);
});

test.each(['npm test', 'git status', 'ls', 'rg TODO', 'npm ci', 'git diff', 'cat README.md', 'cat .env.example'])(
  'is let through: %s',
  (line) => {
    expect(findQuestions(describeCommand(line, folder), folder)).toEqual([]);
  },
);

const hasLines = commandHalves() !== undefined;
test.skipIf(!hasLines).each(['seen', 'aside'] as const)(
  'of the real lines in the half %s at most one in twenty is asked about (skipped where they are missing)',
  (half) => {
    const lines: readonly CommandLine[] = commandHalves()?.[half] ?? [];
    expect(lines).toHaveLength(268);
    const plain = lines.filter(({ maybe }) => maybe !== true);
    const asked = plain.filter(({ command }) => isAsked(command));
    expect(asked.length / plain.length).toBeLessThan(0.05);
  },
);
