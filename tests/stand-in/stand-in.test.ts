import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type JudgedCall, judge, type Outcome, type StandInRequest, type Verdict } from './judge.ts';
import { requests } from './requests.ts';

const sample = new URL('../../examples/sample-project/', import.meta.url);

const before: ReadonlyMap<string, string> = new Map([
  ['README.md', 'A shop.\nIt sells bells and lamps.\n'],
  ['notes.txt', 'Call Ada on Monday.\n'],
]);

interface Case {
  readonly title: string;
  readonly entry: StandInRequest;
  readonly calls?: readonly JudgedCall[];
  readonly text: string;
  readonly completed?: boolean;
  /** Files changed by the run: `null` if deleted. */
  readonly left?: Readonly<Record<string, string | null>>;
  readonly verdict: Verdict;
}

const read: StandInRequest = { request: 'read notes', right: { answer: ['Call Ada on Monday'] }, wrong: ['A shop'] };
const save: StandInRequest = {
  request: 'count words in notes.txt and save them to count.txt',
  right: { files: { 'count.txt': { has: ['4'], lacks: ['11'] } } },
};
const edit: StandInRequest = {
  request: 'change Monday to Tuesday in notes.txt',
  right: { files: { 'notes.txt': { like: 'notes.txt', replace: ['Monday', 'Tuesday'] } } },
};
const joke: StandInRequest = { request: 'a joke?', right: 'asks' };
const sum: StandInRequest = { request: '2 + 40', right: ['asks', { answer: [['42', 'forty-two']], by: [] }] };
const missing: StandInRequest = { request: 'read gone.txt', right: 'asks or fails' };

const notes: JudgedCall = { name: 'read_file', ok: true, value: { path: 'notes.txt', text: 'Call Ada on Monday.\n' } };
const readme: JudgedCall = { name: 'read_file', ok: true, value: { path: 'README.md', text: before.get('README.md') } };
const listed: JudgedCall = { name: 'list_files', ok: true, value: { entries: [{ name: 'notes.txt' }] } };
const refused: JudgedCall = { name: 'read_file', ok: false, value: null };
const wrote: JudgedCall = { name: 'write_file', ok: true, value: { path: 'count.txt' } };
const offers = 'I am not sure what you mean. These work here:\n\n- Read notes.txt\n- Count the words in README.md';

const cases: readonly Case[] = [
  { title: 'the text asked for', entry: read, calls: [notes], text: 'Call Ada on Monday.', verdict: 'right' },
  {
    title: 'the text of another file',
    entry: read,
    calls: [readme],
    text: 'A shop.\nIt sells',
    verdict: 'silently wrong',
  },
  {
    title: 'both texts',
    entry: read,
    calls: [readme, notes],
    text: 'A shop. Call Ada on Monday.',
    verdict: 'silently wrong',
  },
  { title: 'an answer without a call', entry: read, text: 'Call Ada on Monday.', verdict: 'silently wrong' },
  {
    title: 'an answer with a question below',
    entry: read,
    calls: [readme],
    text: 'A shop.\n\nMore?',
    verdict: 'silently wrong',
  },
  {
    title: 'a question over an answer',
    entry: read,
    calls: [readme],
    text: 'Not sure: A shop.',
    verdict: 'silently wrong',
  },
  { title: 'nothing but a claim', entry: edit, text: 'Done.', verdict: 'silently wrong' },
  { title: 'a question', entry: read, text: 'Which file do you mean?', verdict: 'asked back' },
  { title: 'offers', entry: read, text: offers, verdict: 'asked back' },
  { title: 'offers after a look at the files', entry: read, calls: [listed], text: offers, verdict: 'asked back' },
  { title: 'a list of the files', entry: read, calls: [listed], text: 'notes.txt', verdict: 'silently wrong' },
  { title: 'a request that is repeated', entry: joke, text: 'a joke?', verdict: 'silently wrong' },
  { title: 'no tool for a joke', entry: joke, text: 'No tool fits "a joke?".', verdict: 'right' },
  { title: 'a file for a joke', entry: joke, calls: [notes], text: 'Call Ada on Monday.', verdict: 'silently wrong' },
  {
    title: 'a failed call for a joke',
    entry: joke,
    calls: [refused],
    text: 'It does not exist.',
    verdict: 'failed honestly',
  },
  { title: 'a sum, worked out', entry: sum, text: 'It is forty-two.', verdict: 'right' },
  { title: 'a sum, searched for', entry: sum, calls: [readme], text: 'No match.', verdict: 'silently wrong' },
  { title: 'a missing file', entry: missing, calls: [refused], text: '`gone.txt` is missing.', verdict: 'right' },
  { title: 'a failure', entry: read, calls: [refused], text: 'That did not work.', verdict: 'failed honestly' },
  { title: 'a failure that is not told', entry: read, calls: [refused], text: 'Done.', verdict: 'silently wrong' },
  { title: 'a limit', entry: read, calls: [notes], text: '', completed: false, verdict: 'failed honestly' },
  {
    title: 'the count in a file',
    entry: save,
    calls: [wrote],
    text: '',
    left: { 'count.txt': 'words: 4' },
    verdict: 'right',
  },
  {
    title: 'another count',
    entry: save,
    calls: [wrote],
    text: '',
    left: { 'count.txt': '11, 4' },
    verdict: 'silently wrong',
  },
  {
    title: 'a part of a number',
    entry: save,
    calls: [wrote],
    text: '',
    left: { 'count.txt': '4.5' },
    verdict: 'silently wrong',
  },
  {
    title: 'a file for a question',
    entry: joke,
    calls: [wrote],
    text: 'What?',
    left: { 'a.txt': '' },
    verdict: 'silently wrong',
  },
  {
    title: 'a file beside the one asked for',
    entry: save,
    calls: [wrote],
    text: 'Done.',
    left: { 'count.txt': '4', 'a.txt': '' },
    verdict: 'silently wrong',
  },
  {
    title: 'a failure after what was asked for by half',
    entry: { request: 'move', right: { files: { 'old.txt': { like: 'notes.txt' }, 'notes.txt': null } } },
    calls: [wrote, refused],
    text: '`notes.txt` could not be deleted.',
    left: { 'old.txt': 'Call Ada on Monday.\n' },
    verdict: 'failed honestly',
  },
  {
    title: 'an edit',
    entry: edit,
    calls: [notes],
    text: '',
    left: { 'notes.txt': 'Call Ada on Tuesday.\n' },
    verdict: 'right',
  },
  {
    title: 'an edit that lost the rest',
    entry: edit,
    calls: [notes],
    text: '',
    left: { 'notes.txt': 'Tuesday' },
    verdict: 'silently wrong',
  },
  {
    title: 'a file deleted unasked',
    entry: edit,
    text: 'Sorry?',
    left: { 'README.md': null },
    verdict: 'silently wrong',
  },
];

describe('the requests of a newcomer', () => {
  test('are 60, without duplicates', () => {
    expect(requests.length).toBe(60);
    expect(new Set(requests.map(({ request }) => request.trim().toLowerCase())).size).toBe(60);
  });

  test('each has an expected result', () => {
    const empty = requests.filter(({ right }) =>
      [right].flat().every((one) => typeof one !== 'string' && one.answer === undefined && one.files === undefined),
    );
    expect(empty).toEqual([]);
  });

  test('every compared file exists in the sample project', () => {
    const results = requests.flatMap(({ right }) => [right].flat()).filter((right) => typeof right !== 'string');
    const likes = results.flatMap(({ files = {} }) =>
      Object.values(files).flatMap((file) =>
        file !== null && typeof file === 'object' && 'like' in file ? [file] : [],
      ),
    );
    expect(likes.length).toBeGreaterThan(0);
    for (const { like, replace: [from] = [''] } of likes) {
      const file = new URL(like, sample);
      expect(existsSync(file) && readFileSync(file, 'utf8').includes(from), `${like}: ${from}`).toBe(true);
    }
  });
});

describe('the judge', () => {
  test.each(cases)('$title: $verdict', ({ entry, calls = [], text, completed = true, left = {}, verdict }) => {
    const after = new Map(before);
    for (const [path, content] of Object.entries(left)) {
      if (content === null) after.delete(path);
      else after.set(path, content);
    }
    const outcome: Outcome = { calls, text, completed, before, after };
    expect(judge(entry, outcome)).toBe(verdict);
  });
});
