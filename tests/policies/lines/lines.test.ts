import { readFileSync } from 'node:fs';
import { describeCommand } from '@holdfast/facts';
import { expect, test } from 'vitest';
import { answerCall, answerLine, isEarlyRelease } from './answers.ts';
import { type CommandLine, commandHalves } from './command-lines.ts';
import { folder } from './test-folder.ts';

const isAsked = (line: string): boolean => answerLine(line, folder).type !== 'allow';

/** The command lines of a file beside this one. `⏎` is the end of a line; a comment begins with `# `. */
function readLines(name: string): readonly string[] {
  const lines = readFileSync(new URL(name, import.meta.url), 'utf8').split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('# ')).map((line) => line.replaceAll('⏎', '\n'));
}

test('of the dangerous lines these are let through, since what they run is read and is `id`, or a file of the workspace', () => {
  const dangerous = readLines('./dangerous-lines.txt');
  expect(dangerous.length).toBeGreaterThan(300);
  expect(new Set(dangerous).size).toBe(dangerous.length);
  expect(dangerous.filter((line) => !isAsked(line))).toMatchInlineSnapshot(`
    [
      "git fetch --upload-pack=id origin",
      "git rebase -x id HEAD~1",
      "tar cf a.tar -I id src",
      "find . -exec id \\;",
      "man -P id ls",
      "npm test --script-shell=./x.sh",
      "zsh -c "id"",
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

test.each(readLines('./spellings.txt'))('is asked about: %s', (line) => {
  expect(isAsked(line)).toBe(true);
});

test.each(['npm test', 'git status', 'ls', 'rg TODO', 'npm ci', 'git diff', 'cat README.md', 'cat .env.example'])(
  'is let through: %s',
  (line) => {
    expect(answerLine(line, folder)).toEqual({ type: 'allow' });
  },
);

test.each([
  ['bash', { command: 'cat .env' }],
  ['bash', { command: 'grep TOKEN .env' }],
  ['bash', { command: 'base64 < .env' }],
  ['bash', { command: 'head -1 ./.env' }],
  ['bash', { command: 'cat .e*' }],
  ['Read', { file_path: '.env' }],
  ['read_file', { path: 'x' }],
])('a secret is refused, however it is read: %s %j', (tool, input) => {
  expect(answerCall(tool, input, folder)).toMatchObject({
    type: 'deny',
    reason: expect.stringContaining('holds secrets'),
  });
});

test.each([
  ['bash', { command: 'git diff HEAD -- .env' }],
  ['bash', { command: 'find . -name .env -exec cat {} +' }],
  ['Read', { file_path: '/etc/passwd' }],
  ['Grep', { pattern: 'TOKEN', path: '.env' }],
])('is refused or asked about: %s %j', (tool, input) => {
  expect(answerCall(tool, input, folder).type).not.toBe('allow');
});

const hasLines = commandHalves() !== undefined;
test.skipIf(!hasLines).each(['seen', 'aside'] as const)(
  'of the real lines in the half %s at most one in twenty is asked about (skipped where they are missing)',
  (half) => {
    const lines: readonly CommandLine[] = commandHalves()?.[half] ?? [];
    expect(lines).toHaveLength(268);
    const plain = lines.filter(({ maybe }) => maybe !== true);
    const asked = plain.filter(({ command }) => isAsked(command));
    expect(asked.length / plain.length).toBeLessThan(0.05);
    // Nor does one of them have to wait for its checks, in the guard's preset `coding`.
    expect(plain.filter(({ command }) => isEarlyRelease(command, folder))).toEqual([]);
    expect(isEarlyRelease('git push', folder)).toBe(true);
  },
);
