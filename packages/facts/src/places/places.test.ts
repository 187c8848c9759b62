import type { Place, PlaceView } from '@holdfast/core';
import { expect, test } from 'vitest';
import { memoryDisk } from './memory-disk.ts';
import { Places } from './places.ts';
import { findWithin } from './within.ts';

const files = {
  '/w/src/a.ts': 'a',
  '/w/out': { link: '/elsewhere' },
  '/w/in': { link: 'src' },
  '/w/up': { link: '../w/src/../in' },
  '/w/circle': { link: 'circle' },
  '/w/gone': { link: 'nothing/here' },
  '/elsewhere/b': 'b',
};

function view(folds = false): PlaceView {
  return { folder: '/w', workspace: '/w', disk: memoryDisk(files, { folds }) };
}

test.each([
  { path: '/w/src/a.ts', place: { path: '/w/src/a.ts', inside: true } },
  { path: '/w', place: { path: '/w', inside: true } },
  { path: '/w/./src//a.ts/', place: { path: '/w/src/a.ts', inside: true } },
  { path: '/w/../w2', place: { path: '/w2', inside: false } },
  { path: '/..', place: { path: '/', inside: false } },
  { path: '/w/out/new/file', place: { path: '/elsewhere/new/file', inside: false } },
  { path: '/w/out/../x', place: { path: '/x', inside: false } },
  { path: '/w/in/new', place: { path: '/w/src/new', inside: true } },
  { path: '/w/up/a.ts', place: { path: '/w/src/a.ts', inside: true } },
  { path: '/w/gone', place: { path: '/w/nothing/here', inside: true } },
  { path: '/w/circle', place: undefined },
  { path: `/${'a/'.repeat(5_000)}`, place: undefined },
])('$path', ({ path, place }) => {
  expect(new Places(view()).place(path)).toEqual(place);
});

test('the workspace is the same in any letter case only on a disk that folds names', () => {
  expect(new Places(view(true)).place('/W/Src/A.ts')?.inside).toBe(true);
  expect(new Places(view(true)).place('/W/OUT/x')).toEqual({ path: '/elsewhere/x', inside: false });
  expect(new Places(view()).place('/W/src')?.inside).toBe(false);
  const accented: PlaceView = { folder: '/caf\u00e9', workspace: '/caf\u00e9', disk: memoryDisk({}) };
  expect(new Places(accented).place('/cafe\u0301/x')?.inside).toBe(true);
});

const tree = memoryDisk({
  '/w/.gitignore': 'ignored/\n*.log\n!keep.log\n',
  '/w/.hidden/key': '',
  '/w/ignored/key': '',
  '/w/a/b/key': '',
  '/w/a/.gitignore': 'b\n',
  '/w/a/c/d.log': '',
  '/w/a/c/keep.log': '',
  '/w/link': { link: '/elsewhere/key' },
  '/w/folder': { link: '/elsewhere' },
  '/elsewhere/key': '',
});

test.each<{ recursive: NonNullable<Place['recursive']>; name: string; found: string | undefined }>([
  { recursive: { skips: ['hidden', 'ignored'] }, name: 'key', found: undefined },
  { recursive: { skips: ['hidden'], except: ['ignored'] }, name: 'key', found: '/w/a/b/key' },
  { recursive: { skips: ['ignored'] }, name: 'key', found: '/w/.hidden/key' },
  { recursive: { skips: ['untracked'] }, name: 'd.log', found: undefined },
  { recursive: { skips: ['untracked'] }, name: 'keep.log', found: '/w/a/c/keep.log' },
  { recursive: { skips: [], only: ['*.ts'] }, name: 'key', found: undefined },
  { recursive: { skips: [], only: ['k*'], except: ['a', '.hidden', 'ignored'] }, name: 'key', found: undefined },
  { recursive: { skips: [], only: ['link'], follows: 'files' }, name: 'key', found: '/elsewhere/key' },
  { recursive: { skips: ['hidden', 'ignored'], only: ['key'], follows: 'files' }, name: 'key', found: undefined },
  { recursive: { skips: ['hidden', 'ignored'], only: ['key'], follows: 'all' }, name: 'key', found: '/elsewhere/key' },
])('$recursive finds $found', ({ recursive, name, found }) => {
  const place: Place = { path: '/w', inside: true, recursive };
  const answer = findWithin(
    place,
    { folder: '/w', workspace: '/w', disk: tree },
    { matches: (path) => path.endsWith(`/${name}`) },
  );
  expect(answer).toEqual(found === undefined ? { type: 'none' } : { type: 'found', path: found });
});

test('a search that takes too long, sees too many entries, or has no disk, is unclear', () => {
  const names = Array.from({ length: 20_001 }, (_, index) => [`/w/${index}`, ''] as const);
  const many: PlaceView = { folder: '/w', workspace: '/w', disk: memoryDisk(Object.fromEntries(names)) };
  const place: Place = { path: '/w', inside: true, recursive: { skips: [] } };
  const matches = (): boolean => false;
  expect(findWithin(place, many, { matches, now: () => 0 })).toEqual({ type: 'unclear' });
  let time = 0;
  expect(findWithin(place, many, { matches, now: () => (time += 21) })).toEqual({ type: 'unclear' });
  expect(findWithin(place, { folder: '/w', workspace: '/w' }, { matches })).toEqual({ type: 'unclear' });
  expect(findWithin({ ...place, recursive: { skips: [], only: ['[[:alpha:]]'] } }, many, { matches })).toEqual({
    type: 'unclear',
  });
});
