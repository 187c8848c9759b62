import { expect, test } from 'vitest';
import { createFollowedFiles } from './folder.ts';

test('a linked file is known by each requested name and its own', () => {
  const followed = createFollowedFiles();
  followed.add('a.json', 'data/x.json');
  followed.add('b.json', 'data/x.json');
  followed.add('c.json');
  expect(followed.namesOf('data/x.json')).toEqual(['a.json', 'b.json']);
  expect(followed.namesOf('a.json')).toEqual(['a.json']);
  expect(followed.namesOf('other.json')).toEqual([]);
});

test('new folders are reported once, by name and by real path, until the listener is removed', () => {
  const followed = createFollowedFiles();
  let told = 0;
  const stop = followed.onFolder(() => {
    told += 1;
  });
  followed.add('manifest.json');
  expect([told, [...followed.folders()]]).toEqual([0, ['.']]);
  followed.add('deep/er/a.json');
  expect([told, [...followed.folders()].sort()]).toEqual([1, ['.', 'deep', 'deep/er']]);
  followed.add('deep/b.json');
  expect(told).toBe(1);
  followed.add('b.json', 'other/b.json');
  expect(told).toBe(2);
  stop();
  followed.add('late/c.json');
  expect(told).toBe(2);
});
