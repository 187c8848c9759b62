import type { ToolCallEndEvent } from '@holdfast/core';
import { expect, test } from 'vitest';
import { createColors } from '../terminal/colors.ts';
import { callEnd } from '../testing/test-events.ts';
import { createChangeCollector, formatChanges } from './changes.ts';

type Change = ToolCallEndEvent['writes'][number]['change'];

function collect(...changes: readonly Change[]): string {
  const collector = createChangeCollector();
  for (const change of changes)
    collector.add(callEnd('ok', { writes: [{ resource: 'filesystem', key: 'a', change }] }));
  return collector
    .list()
    .map(({ path, change }) => `${change} ${path}`)
    .join();
}

test.each<{ changes: readonly Change[]; sum: string }>([
  { changes: ['created'], sum: 'created a' },
  { changes: ['created', 'changed'], sum: 'created a' },
  { changes: ['created', 'removed'], sum: '' },
  { changes: ['changed', 'removed'], sum: 'removed a' },
  { changes: ['removed', 'created'], sum: 'changed a' },
  { changes: ['removed', 'created', 'changed'], sum: 'changed a' },
])('$changes sums up to `$sum`', ({ changes, sum }) => {
  expect(collect(...changes)).toBe(sum);
});

test('a failed call changes nothing', () => {
  const collector = createChangeCollector();
  const writes = [{ resource: 'filesystem', key: 'a', change: 'created' as const }];
  for (const kind of ['failed', 'denied', 'in-doubt', 'cancelled'] as const) collector.add(callEnd(kind, { writes }));
  expect(collector.list()).toEqual([]);
});

test('files come in path order', () => {
  const collector = createChangeCollector();
  const write = (key: string) => ({ resource: 'filesystem', key, change: 'created' as const });
  collector.add(callEnd('ok', { writes: [write('b'), write('a/z'), write('a')] }));
  expect(collector.list().map(({ path }) => path)).toEqual(['a', 'a/z', 'b']);
});

test('one line per file', () => {
  const changes = [
    { path: 'a\x1b[2J', change: 'created' as const },
    { path: 'b', change: 'changed' as const },
    { path: 'c', change: 'removed' as const },
  ];
  expect(formatChanges(changes, createColors(false))).toEqual([
    '  + created a\\x1b[2J',
    '  ~ changed b',
    '  - removed c',
  ]);
});
