import { expect, test } from 'vitest';
import { foldProgram, isAllowedBy, matchRule, readCommandRule } from './command-rule.ts';
import { knownWord, type ShellWord } from './shell-word.ts';

/** Words with one space between; `$x` is one word that is not known, `*` may be many, `./$x` begins as it says. */
function toWords(command: string): readonly ShellWord[] {
  return command.split(' ').map((word) => {
    if (word === '*') return { text: '', known: false, splits: true };
    const [text = ''] = word.split('$');
    return word.includes('$') ? { text, known: false, splits: false } : knownWord(word);
  });
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
  ['rm -r', 'rm ./$x', 'no'],
  ['rm -r', 'rm -$x', 'maybe'],
  ['rm -r', 'rm *', 'maybe'],
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
  ['git push', 'git p$x', 'maybe'],
  ['git push', 'git q$x', 'no'],
  ['git push', 'git -C $x push', 'maybe'],
  ['git push', 'git -C ./$x push', 'yes'],
  ['git push', 'git-push', 'yes'],
  ['git push --force', 'git-push -f', 'yes'],
  ['git push --force', 'git push $x', 'maybe'],
  ['git push --force', 'git $x --force', 'maybe'],
  ['git push --force', 'git push origin +main', 'yes'],
  ['git push --force', 'git push origin +$x', 'yes'],
  ['git push --force', 'git push origin main:main', 'no'],
  ['git push --delete', 'git push origin :main', 'yes'],
  ['git push --delete', 'git push origin a:main', 'no'],
  ['git clean --force', 'git clean +a', 'no'],
  ['docker compose up', 'docker -H compose compose up', 'yes'],
  ['docker compose up', 'docker compose -f a up', 'yes'],
  ['docker compose up', 'docker compose down up', 'no'],
  ['uniq * *', 'uniq -c a', 'no'],
  ['uniq * *', 'uniq -c a b', 'yes'],
  ['uniq * *', 'uniq -c a $x', 'maybe'],
])('%s refuses %s: %s', (rule, command, expected) => {
  const [name, ...given] = toWords(command);
  expect(matchRule(readCommandRule(rule), foldProgram(name?.text ?? ''), given)).toBe(expected);
});

test.each([
  ['git status', 'git status', true],
  ['git status', 'git status -s $x', true],
  ['git status', '/usr/bin/git status', true],
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
  ['ls', '$x', false],
])('%s allows %s: %s', (rule, command, expected) => {
  expect(isAllowedBy(readCommandRule(rule), toWords(command))).toBe(expected);
});
