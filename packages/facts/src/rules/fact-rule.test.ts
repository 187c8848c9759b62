import type { PlaceView } from '@holdfast/core';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { describeCommand } from '../describe/shell.ts';
import { memoryDisk } from '../places/memory-disk.ts';
import { type FactRule, factRuleSchema, readFactRule } from './fact-rule.ts';

const view: PlaceView = {
  folder: '/w',
  workspace: '/w',
  disk: memoryDisk({ '/w/.env': '', '/w/src/a.ts': '', '/w/package.json': '{}', '/etc/passwd': '' }),
};

test.each<{ rule: FactRule; line: string; held: string | undefined }>([
  { rule: { reads: 'secrets' }, line: 'cat .env', held: 'It reads `.env`.' },
  { rule: { reads: 'secrets' }, line: 'cat src/a.ts', held: undefined },
  { rule: { reads: 'secrets' }, line: 'grep -r x .', held: 'It reads `.env` with the workspace.' },
  {
    rule: { reads: 'secrets' },
    line: 'cat $x',
    held: 'It reads unknown files: the files that it reads are known only at run time.',
  },
  { rule: { reads: 'outside' }, line: 'cat /etc/passwd', held: 'It reads `/etc/passwd`.' },
  { rule: { reads: 'src/**' }, line: 'head -1 src/a.ts', held: 'It reads `src/a.ts`.' },
  { rule: { writes: 'self-running' }, line: 'echo > package.json', held: 'It writes `package.json`.' },
  { rule: { writes: '*.ts' }, line: 'touch b.ts', held: 'It writes `b.ts`.' },
  { rule: { deletes: 'src' }, line: 'rm -rf src', held: 'It deletes `src`.' },
  { rule: { runs: 'git push --force' }, line: 'git -C a push -f', held: 'It runs `git -C a push -f`.' },
  { rule: { runs: 'git push --force' }, line: 'git push', held: undefined },
  { rule: { runs: 'destructive' }, line: 'ls; git reset --hard', held: 'It runs `git reset --hard`.' },
  { rule: { reaches: '*.example.org' }, line: 'curl https://a.example.org', held: 'It reaches `a.example.org`.' },
  { rule: { sends: '*' }, line: 'curl https://a.example.org', held: undefined },
  { rule: { sends: '*' }, line: 'git push', held: 'It sends data to `origin`.' },
])('$rule and `$line`: $held', ({ rule, line, held }) => {
  expect(v.is(factRuleSchema, rule)).toBe(true);
  expect(readFactRule(rule)(describeCommand(line, view), view)).toBe(held);
});

test.each([{}, { reads: 'a', runs: 'ls' }, { runs: '-x' }, { reads: '../a' }, { sends: 'a b' }, { does: 'x' }, 'mail'])(
  'is not a rule: %j',
  (rule) => {
    expect(v.is(factRuleSchema, rule)).toBe(false);
  },
);

test.each([
  { rule: { reads: 'secret' }, means: 'secrets' },
  { rule: { reads: 'Secrets' }, means: 'secrets' },
  { rule: { writes: 'selfrunning' }, means: 'self-running' },
  { rule: { deletes: 'outsid' }, means: 'outside' },
  { rule: { runs: 'destructiv' }, means: 'destructive' },
  { rule: { reads: './secret' }, means: undefined },
  { rule: { reads: 'secret/**' }, means: undefined },
  { rule: { reads: 'src' }, means: undefined },
])('$rule misspells $means', ({ rule, means }) => {
  const problem = v.safeParse(factRuleSchema, rule).issues?.[0].message;
  if (means === undefined) expect(problem).toBeUndefined();
  else expect(problem).toMatch(new RegExp(`^is a misspelled \`${means}\`; `));
});
