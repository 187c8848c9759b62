import type { Command } from '@holdfast/core/types';
import { expect, test } from 'vitest';
import { isAllowedBy, matchRule, readCommandRule } from './command-rule.ts';

/** Words separated by single spaces; `$x` stands for any number of unknown words. */
function toCommand(text: string): Command {
  const [program = '', ...words] = text.split(' ');
  const found = words.map((word) => (word === '$x' ? null : word));
  const rest = { folder: '/w', environment: [], decides: true, background: false, after: [], written: false };
  return { program, arguments: found, ...rest };
}

test.each([
  ['rm', 'rm a', 'yes'],
  ['rm', 'rmdir a', 'no'],
  ['rm', 'rm-all a', 'no'],
  ['rm', '/BIN/Rm.EXE', 'yes'],
  ['rm', 'C:\\bin\\rm.exe', 'yes'],
  ['rm -r', 'rm a', 'no'],
  ['rm -r', 'rm a -xrf', 'yes'],
  ['rm -r', 'rm --recursive=x', 'yes'],
  ['rm -r', 'rm --r', 'yes'],
  ['rm -r', 'rm --', 'no'],
  ['rm -r', 'rm -- $x', 'no'],
  ['rm -r', 'rm $x', 'maybe'],
  ['rm -r -f', 'rm -r', 'no'],
  ['rm -r -f', 'rm -fR', 'yes'],
  ['find -delete', 'find . -delete', 'yes'],
  ['find -delete', 'find . -del', 'no'],
  ['tar --to-command', 'tar --to-c=a', 'yes'],
  ['git push', 'git push', 'yes'],
  ['git push', 'git PUSH', 'yes'],
  ['git push', 'git -C a push', 'yes'],
  ['git push', 'git --git-dir=a push', 'yes'],
  ['git push', 'git -C push status', 'yes'],
  ['git push', 'git remote push', 'no'],
  ['git push', 'git log -- push', 'no'],
  ['git push', 'git $x', 'maybe'],
  ['git push', 'git -C $x push', 'maybe'],
  ['git push', 'git-push', 'yes'],
  ['git push --force', 'git-push -f', 'yes'],
  ['git push --force', 'git push $x', 'maybe'],
  ['git push --force', 'git $x --force', 'maybe'],
  ['git push --force', 'git push origin +main', 'yes'],
  ['git push --force', 'git push origin main:main', 'no'],
  ['git push --delete', 'git push origin :main', 'yes'],
  ['git branch -D', 'git branch -d a', 'no'],
  ['git branch -D', 'git branch -D a', 'yes'],
  ['git push --delete', 'git push origin a:main', 'no'],
  ['git clean --force', 'git clean +a', 'no'],
  ['docker compose up', 'docker -H compose compose up', 'yes'],
  ['docker compose up', 'docker compose -f a up', 'yes'],
  ['docker compose up', 'docker compose down up', 'no'],
  ['uniq * *', 'uniq -c a', 'no'],
  ['uniq * *', 'uniq -c a b', 'yes'],
  ['uniq * *', 'uniq -c a $x', 'maybe'],
])('%s refuses %s: %s', (rule, command, expected) => {
  expect(matchRule(readCommandRule(rule), toCommand(command))).toBe(expected);
});

test.each([
  ['git status', 'git status', true],
  ['git status', 'git status -s $x', true],
  ['git status', '/tmp/git status', false],
  ['git status', './git status', false],
  ['git status', 'Git status', false],
  ['git status', 'git -C a status', false],
  ['git status', 'git Status', false],
  ['git status', 'git $x', false],
  ['git status', 'git', false],
  ['git', 'git push', true],
  ['./build.sh', './build.sh now', true],
  ['./build.sh', '/bin/./build.sh', false],
])('%s allows %s: %s', (rule, command, expected) => {
  expect(isAllowedBy(readCommandRule(rule), toCommand(command))).toBe(expected);
});
