import type { LogRecord } from '@holdfast/session';
import { expect, test } from 'vitest';
import { findNearest, listCallIds, matchCallId, shortenCallIds } from './ids.ts';

const record = (fields: object): LogRecord => ({ seq: 0, atMs: 0, type: 'x', ...fields }) as LogRecord;

test('collects ids once from messages, questions, starts, ends and child sessions', () => {
  const records = [
    record({ type: 'model-message', calls: [{ id: 'a' }, { id: 'b' }, { id: 7 }, null] }),
    record({ type: 'approval-request', pending: { callId: 'c' } }),
    record({ type: 'tool-call-end', callId: 'a' }),
    record({
      type: 'child-record',
      callId: 'b',
      entry: { type: 'child-record', callId: 'd', entry: { type: 'tool-call-end', callId: 'e' } },
    }),
    record({ type: 'child-record', callId: 'f', entry: 'none' }),
    record({ type: 'from the future', calls: 1, pending: 2 }),
  ];
  expect(listCallIds(records)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
});

const provider = ['toolu_01AbCdEfGhIjKl', 'toolu_01AbXyZwVuTsRq', 'call_1_0'];
const nested = [...provider, 'toolu_01AbCdEfGhIjKl/1', 'toolu_01AbCdEfGhIjKl/10', 'toolu_01AbCdEfGhIjKl/1/1'];

test('ids are shortened to a unique prefix', () => {
  expect([...shortenCallIds(nested)]).toEqual([
    ['call_1_0', 'call_1_0'],
    ['toolu_01AbCdEfGhIjKl', 'toolu_01AbC'],
    ['toolu_01AbXyZwVuTsRq', 'toolu_01AbX'],
    ['toolu_01AbCdEfGhIjKl/1', 'toolu_01AbC/1'],
    ['toolu_01AbCdEfGhIjKl/10', 'toolu_01AbC/10'],
    ['toolu_01AbCdEfGhIjKl/1/1', 'toolu_01AbC/1/1'],
  ]);
  for (const [id, short] of shortenCallIds(nested)) expect(matchCallId(short, nested)).toEqual([id]);
});

test('a short id that is a prefix of a longer one stays unchanged', () => {
  const ids = ['averylongidofacall', 'averylongidofacall2'];
  expect([...shortenCallIds(ids).values()]).toEqual(['averylongidofacall', 'averylongidofacall2']);
});

test.each([
  { given: 'call_1_0', matched: ['call_1_0'] },
  { given: 'toolu', matched: ['toolu_01AbCdEfGhIjKl', 'toolu_01AbXyZwVuTsRq'] },
  { given: 'toolu_01AbC', matched: ['toolu_01AbCdEfGhIjKl'] },
  { given: 'toolu_01AbC/1', matched: ['toolu_01AbCdEfGhIjKl/1'] },
  { given: 'toolu_01AbC/1/1', matched: ['toolu_01AbCdEfGhIjKl/1/1'] },
  { given: 'toolu/2', matched: [] },
  { given: '/1', matched: [] },
  { given: 'other', matched: [] },
])('$given stands for $matched', ({ given, matched }) => {
  expect(matchCallId(given, nested)).toEqual(matched);
});

test('an id with a slash is not necessarily nested', () => {
  expect(matchCallId('functions/re', ['functions/read:0', 'functions/write:1'])).toEqual(['functions/read:0']);
});

test.each([
  { given: 'call_1_0x', nearest: ['call_1_0', 'call_1_1', 'call_2_0'] },
  { given: 'call_2_', nearest: ['call_2_0', 'call_1_0', 'call_1_1'] },
  // No similar id: the last ones.
  { given: 'x'.repeat(10_000), nearest: ['call_1_0', 'call_1_1', 'call_2_0'] },
])('the ids nearest to $given', ({ given, nearest }) => {
  expect(findNearest(given, ['call_1_0', 'call_1_1', 'call_2_0'])).toEqual(nearest);
});
