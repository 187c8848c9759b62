import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { toCommand } from './words.ts';

const host = { command: 'holdfast', directory: '/home/anna' };

test.each([
  { words: ['resume', 'one'], workspace: '/home/anna', command: 'holdfast resume one' },
  {
    words: ['resume', 'one'],
    workspace: '/home/anna/my project',
    command: "holdfast resume one --workspace 'my project'",
  },
  { words: ['resume', 'one'], workspace: '/home/anna/-x', command: 'holdfast resume one --workspace /home/anna/-x' },
  { words: ['approve', 'one', 'a b'], workspace: '/home/anna', command: "holdfast approve one 'a b'" },
  {
    words: ['approve', 'one', '--grant'],
    workspace: '/home/anna/x',
    command: 'holdfast approve --workspace x -- one --grant',
  },
  { words: ['approve', 'one', ''], workspace: '/home/anna', command: "holdfast approve one ''" },
] as const)('$command', ({ words, workspace, command }) => {
  expect(toCommand({ words, workspace }, host)).toBe(command);
});

test('options are placed where they are parsed as options', () => {
  const options = ['--done'];
  const workspace = '/home/anna';
  expect(toCommand({ words: ['resolve', 'one', 'c1'], options, workspace }, host)).toBe(
    'holdfast resolve one c1 --done',
  );
  expect(toCommand({ words: ['resolve', 'one', '-c'], options, workspace }, host)).toBe(
    'holdfast resolve --done -- one -c',
  );
});

test.each(["it's", '$(id)', '`id`', '~root', '=ls', 'a\nb', '\x1b[2J', '"; rm -rf x; "', 'a\\nb', '!!', '*', '#x'])(
  'a shell reads %j as one literal word',
  (word) => {
    const command = toCommand(
      { words: ['approve', word], workspace: '/home/anna' },
      { ...host, command: 'printf %s\\\\n' },
    );
    const read = execFileSync('bash', ['-c', command], { encoding: 'utf8' });
    const printable = word.replace('\n', '\\n').replace('\x1b', '\\x1b');
    expect(read).toBe(`approve\n${printable}\n`);
  },
);
