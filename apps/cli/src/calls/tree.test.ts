import type { RunEvent } from '@holdfast/core';
import { expect, test } from 'vitest';
import { createColors } from '../terminal/colors.ts';
import { callEnd } from '../testing/test-events.ts';
import { CallTree, formatTold, type Told } from './tree.ts';

const end = (callId: string, parentId?: string): RunEvent => callEnd('ok', { callId, parentId });
const child = (callId: string, event: RunEvent, sessionId = `s/${callId}/1`): RunEvent => ({
  type: 'child-event',
  callId,
  sessionId,
  event,
});
const runStart: RunEvent = {
  type: 'run-start',
  sessionId: 's',
  run: 1,
  model: 'm',
  prompt: 'p',
  input: 'i',
  tools: [],
  atMs: 0,
};
const runEnd: RunEvent = {
  type: 'run-end',
  run: 1,
  status: 'completed',
  text: '',
  turns: 1,
  usage: { inputTokens: 0, outputTokens: 0 },
  atMs: 0,
};
const late: RunEvent = { type: 'tool-call-late', callId: 'c', name: 'slow', answer: 'threw', message: 'no', atMs: 0 };
const delta: RunEvent = { type: 'text-delta', turn: 1, text: 'x' };

/** `a(b, run(c))` */
function toText({ item, opening, under }: Told<RunEvent>): string {
  const name =
    opening !== undefined ? (item === opening ? 'unended' : 'run') : 'callId' in item ? item.callId : item.type;
  return under.length === 0 ? name : `${name}(${under.map(toText).join(' ')})`;
}

test.each<{ what: string; events: readonly RunEvent[]; told: readonly string[] }>([
  { what: 'calls of the model', events: [end('a'), end('b')], told: ['a', 'b'] },
  { what: 'nested calls', events: [end('a/1', 'a'), end('a/2', 'a'), end('a')], told: ['a(a/1 a/2)'] },
  { what: 'calls in nested calls', events: [end('a/1/1', 'a/1'), end('a/1', 'a'), end('a')], told: ['a(a/1(a/1/1))'] },
  {
    what: 'nested calls of concurrent calls',
    events: [end('b/1', 'b'), end('a/1', 'a'), end('a'), end('b')],
    told: ['a(a/1)', 'b(b/1)'],
  },
  {
    what: 'a run in a child session with a call of the same id',
    events: [
      child('a', runStart),
      child('a', delta),
      child('a', end('a/1', 'a')),
      child('a', end('a', 'a')),
      child('a', runEnd),
      end('a'),
    ],
    told: ['a(run(a(a/1)))'],
  },
  { what: 'a call in a child session', events: [child('a', end('c', 'a')), end('a')], told: ['a(c)'] },
  {
    what: 'a run that never ends, with a child',
    events: [
      child('a', runStart),
      child('a', child('c', runStart)),
      child('a', child('c', end('d', 'c'))),
      child('a', end('c', 'a')),
      end('a'),
    ],
    told: ['a(unended(c(unended(d))))'],
  },
  {
    what: 'two runs in one session',
    events: [child('a', runStart), child('a', runStart), child('a', end('b', 'a')), child('a', runEnd), end('a')],
    told: ['a(unended run(b))'],
  },
  {
    what: 'nested calls of a call without an end',
    events: [end('a/1', 'a'), runEnd, end('b')],
    told: ['a/1', 'run-end', 'b'],
  },
  {
    what: 'a child run in a call without an end',
    events: [child('a', runStart), runEnd],
    told: ['unended', 'run-end'],
  },
  { what: 'late results', events: [late, child('a', late), end('a')], told: ['c', 'a(c)'] },
  { what: 'hidden events', events: [delta, child('a', delta), end('a')], told: ['a'] },
])('$what', ({ events, told }) => {
  const tree = new CallTree<RunEvent>(({ type }) => type !== 'text-delta');
  const all = [...events.flatMap((event) => tree.take(event)), ...tree.rest()];
  expect(all.map(toText)).toEqual(told);
  expect(tree.rest()).toEqual([]);
});

test('nested lines are indented while there is room', () => {
  const told: Told<string> = { item: 'a', under: [{ item: 'b', under: [{ item: 'c', under: [] }] }] };
  const describe = ({ item }: Told<string>, { columns }: { readonly columns: number }, depth: number) => [
    `${item} ${columns} ${depth}`,
  ];
  const colors = createColors(false);
  expect(formatTold(told, { colors, columns: 80 }, describe)).toEqual(['a 80 0', '  b 78 1', '    c 76 2']);
  expect(formatTold(told, { colors, columns: 24 }, describe)).toEqual(['a 24 0', '  b 22 1', '  c 22 2']);
});
