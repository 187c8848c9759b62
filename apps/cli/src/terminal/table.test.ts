import { expect, test } from 'vitest';
import { createColors } from './colors.ts';
import { formatTable } from './table.ts';

const colors = createColors(false);
const head = [{ title: 'tool' }, { title: 'owner' }, { title: 'description' }];
const rows = [
  ['push', 'git', 'Sends commits to the server, all of them at once.'],
  ['read_all', '', 'Reads.'],
];

test('the last column is wrapped to the remaining width', () => {
  expect(formatTable(head, rows, { colors, columns: 40 })).toEqual([
    'tool      owner  description',
    'push      git    Sends commits to the',
    '                 server, all of them at',
    '                 once.',
    'read_all         Reads.',
  ]);
});

test('without room the cells are stacked, and empty ones left out', () => {
  expect(formatTable(head, rows, { colors, columns: 30 })).toEqual([
    'push',
    '  owner: git',
    '  Sends commits to the',
    '  server, all of them at',
    '  once.',
    'read_all',
    '  Reads.',
  ]);
});

test('without a terminal lines have a readable length', () => {
  const [, line = ''] = formatTable(head, [['a', 'b', 'word '.repeat(100)]], {
    colors,
    columns: Number.POSITIVE_INFINITY,
  });
  expect(line.length).toBeLessThanOrEqual(140);
});

test('control characters are escaped in every column', () => {
  const text = formatTable(head, [['a\u001b[2J', 'b\u202e', 'c\nd']], { colors, columns: 80 }).join('\n');
  expect(text).toContain('a\\x1b[2J');
  expect(text).toContain('b\\u{202e}');
  expect(text).toContain('c\\nd');
});

test('a column may be colored, except its title', () => {
  const paint = (text: string): string => `<${text}>`;
  const [first, second] = formatTable([{ title: 'tool', paint }, { title: 'description' }], [['a', 'b']], {
    colors,
    columns: 80,
  });
  expect(first).toContain('tool');
  expect(second).toContain('<a>');
});
