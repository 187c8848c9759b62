import { expect, test } from 'vitest';
import { foldName } from './names.ts';

test.each([
  ['push', 'Push'],
  ['git_push', 'git-push'],
  ['git_push', 'gitpush'],
  ['list', '1ist'],
  ['list', 'llst'],
  ['go', 'g0'],
  ['modern', 'modem'],
  ['view', 'vievv'],
  ['push', 'ｐush'],
  ['a_b', '_a__b_'],
])('%s and %s look alike', (a, b) => {
  expect(foldName(a)).toBe(foldName(b));
});

test.each([
  ['push', 'pull'],
  ['read', 'reads'],
  ['tag1', 'tag2'],
  ['commit', 'comment'],
  ['cart', 'card'],
  ['clock', 'dock'],
])('%s and %s do not', (a, b) => {
  expect(foldName(a)).not.toBe(foldName(b));
});
