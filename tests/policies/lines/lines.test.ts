import { readFileSync } from 'node:fs';
import { describeCommand } from '@holdfast/facts';
import { expect, test } from 'vitest';
import { answerLine } from './answers.ts';
import { type CommandLine, commandHalves } from './command-lines.ts';
import { dangerousLines } from './dangerous-lines.ts';
import { folder } from './folder.ts';

const isAsked = (line: string): boolean => answerLine(line, folder).type !== 'allow';

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

const spellings = readFileSync(new URL('./spellings.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter(Boolean);

// `⏎` is the end of a line.
test.each(spellings)('is asked about: %s', (line) => {
  expect(isAsked(line.replaceAll('⏎', '\n'))).toBe(true);
});

test.each(['npm test', 'git status', 'ls', 'rg TODO', 'npm ci', 'git diff', 'cat README.md', 'cat .env.example'])(
  'is let through: %s',
  (line) => {
    expect(answerLine(line, folder)).toEqual({ type: 'allow' });
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
