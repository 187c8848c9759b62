import { expect, test } from 'vitest';
import { fileTools } from './file-tools.ts';

test('readers have no effects, writers change staged files only, none is dangerous', () => {
  expect(fileTools().map(({ name, effects, dangerous }) => [name, effects, dangerous])).toEqual([
    ['list_files', 'none', false],
    ['read_file', 'none', false],
    ['write_file', 'state', false],
    ['edit_file', 'state', false],
    ['delete_file', 'state', false],
    ['glob_files', 'none', false],
    ['grep_files', 'none', false],
  ]);
});
