import { expect, test } from 'vitest';
import { memoryModules } from './source.ts';

test('notifies watchers of writes and removals', async () => {
  const source = memoryModules({ 'a.json': '1' });
  const told: (string | undefined)[] = [];
  const watch = await source.watch((path) => told.push(path));
  source.write('b/c.json', '2');
  source.remove('a.json');
  source.remove('a.json');
  expect([await source.read('a.json'), await source.read('b/c.json')]).toEqual([undefined, '2']);
  watch.close();
  source.write('a.json', '3');
  expect(told).toEqual(['b/c.json', 'a.json']);
});

test('a watcher that closes during a notification, and one that starts', async () => {
  const source = memoryModules();
  const told: string[] = [];
  const first = await source.watch(() => {
    told.push('first');
    first.close();
  });
  await source.watch(() => told.push('second'));
  source.write('a', '');
  source.write('a', '');
  expect(told).toEqual(['first', 'second', 'second']);
});

test.each(['../a.json', '/a.json', 'C:\\a.json', ''])('rejects the path %j', async (path) => {
  const source = memoryModules();
  expect(() => memoryModules({ [path]: '' })).toThrow(
    expect.objectContaining({ code: 'modules.invalid', reason: 'path' }),
  );
  expect(() => source.write(path, '')).toThrow(expect.objectContaining({ code: 'modules.invalid', reason: 'path' }));
  await expect(source.read(path)).rejects.toMatchObject({ code: 'modules.invalid', reason: 'path' });
});
