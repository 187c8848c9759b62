import { expect, test } from 'vitest';
import { findPhrasesIn } from './phrases.ts';

test.each([
  ['a run that is go' + 'ne on with', 'resume, continue'],
  ['Who' + 'ever asks validates what comes back.', 'name who: the caller, the host'],
  ['`x` is n' + 'o parameter of the prompt.', 'is not a, unknown'],
  ['/** W' + 'hat is known of a call. */', 'a noun: "The fields that …"'],
  ['// Wh' + 'ether it holds.', '"True if …"'],
  ['Port 80 cannot be ha' + 'd.', 'is not available, is already in use'],
])('finds a habit of speech: %s', (line, better) => {
  expect(findPhrasesIn('a.ts', `one\n${line}\n`)).toEqual([expect.stringMatching(/^a\.ts:2: /)]);
  expect(findPhrasesIn('a.ts', line)[0]).toContain(better);
});

test.each([
  'There is no such tool.',
  'It is no longer needed.',
  'Deny beats ask, whatever the order.',
  'What does a call do?',
  'const what = whether;',
  'a `file` that is not one of its `files`',
])('leaves plain English alone: %s', (line) => {
  expect(findPhrasesIn('a.ts', line)).toEqual([]);
});
