import { defineTool, type Json, type JsonObject, type Tool, toolError } from '@holdfast/core';
import { fileTools, memoryFilesystem } from '@holdfast/filesystem';
import type { PackCases, PolicyCall, PolicyStep, PresetCases } from '@holdfast/testing';
import * as v from 'valibot';

/** A tool that answers with what its argument `answers` holds, and fails where it is told to. */
function spender(name: string, more: Partial<Pick<Tool, 'effects' | 'repeat'>> = {}): Tool {
  return defineTool({
    name,
    description: 'Stands in for a tool that takes something.',
    inputSchema: v.looseObject({ fails: v.optional(v.boolean()), answers: v.optional(v.unknown()) }),
    effects: 'state',
    ...(more as object),
    execute: ({ fails = false, answers = null }) => (fails ? toolError('It failed.') : (answers as Json)),
  }) as Tool;
}

const named =
  (tool: string) =>
  (input: JsonObject): PolicyCall => ({ tool, input });
const failed = (call: PolicyCall): PolicyStep => ({
  ...call,
  input: { ...call.input, fails: true },
  outcome: 'failed',
});
const pay = named('pay');
const ask = named('ask_model');
const look = named('look_up');
const note: PolicyCall = { tool: 'note' };
const write = (content: string): PolicyCall => ({ tool: 'write_file', input: { path: 'a.txt', content } });
const edit = (newText: string, replaceAll = false): PolicyCall => ({
  tool: 'edit_file',
  input: { path: 'x.txt', oldText: replaceAll ? 'x' : 'x x', newText, replaceAll },
});

const world: Pick<PresetCases, 'tools' | 'resources'> = {
  tools: [...['pay', 'ask_model', 'look_up', 'note', 'append_log'].map((name) => spender(name)), ...fileTools()],
  resources: () => ({ filesystem: memoryFilesystem({ 'x.txt': 'x x, x, x' }) }),
};
const times = (count: number, call: PolicyCall): readonly PolicyCall[] => Array.from({ length: count }, () => call);

const reads = [
  { call: note, answer: 'allow' },
  { call: write('short'), answer: 'allow' },
  { title: 'what is not counted', call: pay({ amount: 1_000_000 }), answer: 'allow' },
] as const;

const cents = { maxMoney: '10.00', money: { pay: { argument: 'amount', result: 'paid' }, look_up: { amount: 0.01 } } };
const odd: readonly Json[] = [
  ...[-1, -0.01, 1e15, 1e300, '-1', '1e3', '+1', '0x10', '1,50', '01', '.5', '5.', ' 5', '5 ', '５', '', 'five'],
  ...[null, true, [], [1], {}, { amount: 1 }],
];

export const cases: PackCases = {
  presets: {
    recommended: {
      ...world,
      cases: [...reads, { after: times(20, note), call: write('x'.repeat(100_000)), answer: 'allow' }],
    },
    strict: {
      ...world,
      cases: [
        ...reads,
        { title: 'call 100', after: times(99, note), call: note, answer: 'allow' },
        {
          title: 'call 101',
          after: times(100, note),
          call: note,
          answer: 'deny',
          reason: 'The budget of calls has 0 of 100 left, and `note` takes 1.',
        },
        {
          title: 'too much at once',
          call: write('x'.repeat(1_000_001)),
          answer: 'deny',
          reason: 'The budget of bytes to write has 1000000 of 1000000 left, and `write_file` takes 1000001.',
        },
      ],
    },
  },
  configs: [
    {
      title: 'calls and bytes',
      config: { maxCalls: 4, maxBytes: 10, bytes: { append_log: { argument: 'entry.lines', result: 'written' } } },
      ...world,
      // Nothing to write takes nothing.
      different: ['missing'],
      cases: [
        { after: [note, note, note], call: note, answer: 'allow' },
        { after: [note, failed(note), note, note, note], call: note, answer: 'deny', reason: '0 of 4 left' },
        { title: 'a failed call does not count', after: times(9, note).map(failed), call: note, answer: 'allow' },
        { call: write('1234567890'), answer: 'allow' },
        {
          title: 'letters of several bytes',
          call: write('1234ääää'),
          answer: 'deny',
          reason: 'takes 12',
          different: ['case', 'unicode'],
        },
        { after: [edit('1234')], call: write('123456'), answer: 'allow' },
        { title: 'a piece that was put in four places', after: [edit('12', true)], call: write('12'), answer: 'allow' },
        {
          title: 'and one byte more',
          after: [edit('12', true)],
          call: write('123'),
          answer: 'deny',
          reason: '2 of 10 left',
        },
        { call: named('append_log')({ entry: { lines: ['a'] } }), answer: 'allow' },
        {
          title: 'a value that is not text counts as JSON',
          call: named('append_log')({ entry: { lines: ['a', 'b', 'c'] } }),
          answer: 'deny',
          reason: 'takes 13',
        },
        {
          title: 'what was really written',
          after: [named('append_log')({ entry: { lines: 'abcdefghij' }, answers: { written: 3 } })],
          call: write('1234567'),
          answer: 'allow',
        },
        { title: 'nothing to write', after: [write('1234567890')], call: named('append_log')({}), answer: 'allow' },
      ],
    },
    {
      title: 'nothing',
      config: { maxCalls: 0 },
      ...world,
      cases: [{ call: note, answer: 'deny', reason: '0 of 0 left' }],
    },
    {
      title: 'tokens',
      config: {
        maxTokens: 1000,
        tokens: { ask_model: { amount: 400, argument: 'maxTokens', result: 'usage.total' }, look_up: { amount: 1 } },
      },
      ...world,
      // Then `amount` counts.
      different: ['missing'],
      cases: [
        { call: note, answer: 'allow' },
        { after: [ask({}), ask({})], call: ask({ maxTokens: 200 }), answer: 'allow' },
        {
          after: [ask({}), ask({})],
          call: ask({}),
          answer: 'deny',
          reason: 'has 200 of 1000 left, and `ask_model` takes 400',
        },
        {
          title: 'what it really took',
          after: [ask({ answers: { usage: { total: 900 } } })],
          call: ask({}),
          answer: 'deny',
          reason: 'has 100 of 1000 left, and `ask_model` takes 400. Calls have taken 500 more than they had said.',
        },
        {
          title: 'less than it had said',
          after: times(20, ask({ answers: { usage: { total: 10 } } })),
          call: ask({}),
          answer: 'allow',
        },
        ...[-5, 1.5, '10', null, 1e300].map((total) => ({
          title: `an odd ${JSON.stringify(total)} does not count: what was reserved counts`,
          after: times(2, ask({ answers: { usage: { total } } })),
          call: ask({}),
          answer: 'deny' as const,
          reason: '200 of 1000 left',
        })),
        ...[-1, 0.5, '100', 2 ** 53, null, [100]].map((maxTokens) => ({
          title: `${JSON.stringify(maxTokens)} tokens`,
          call: ask({ maxTokens }),
          answer: 'deny' as const,
          reason: 'must be a whole number of at least 0, got',
        })),
        { after: [ask({ maxTokens: 1000 })], call: look({}), answer: 'deny', reason: '0 of 1000 left' },
        { after: [ask({ maxTokens: 1000 })], call: ask({ maxTokens: 0 }), answer: 'allow' },
      ],
    },
    {
      title: 'money',
      config: cents,
      ...world,
      cases: [
        { call: note, answer: 'allow' },
        { call: pay({ amount: 10 }), answer: 'allow' },
        { call: pay({ amount: '10.00' }), answer: 'allow' },
        {
          call: pay({ amount: 10.01 }),
          answer: 'deny',
          reason: 'The budget of money has 10 of 10 left, and `pay` takes 10.01.',
        },
        { call: pay({ amount: '10.000000001' }), answer: 'deny' },
        {
          title: 'a hundred dimes',
          after: times(99, pay({ amount: 0.1 })),
          call: pay({ amount: 0.1 }),
          answer: 'allow',
        },
        {
          title: 'and a cent',
          after: times(100, pay({ amount: 0.1 })),
          call: look({}),
          answer: 'deny',
          reason: 'has 0 of 10 left, and `look_up` takes 0.01',
        },
        {
          title: 'what was refunded at once',
          after: [pay({ amount: 10, answers: { paid: '2.50' } })],
          call: pay({ amount: 7.5 }),
          answer: 'allow',
        },
        {
          title: 'a tip',
          after: [pay({ amount: 10, answers: { paid: 12 } })],
          call: look({}),
          answer: 'deny',
          reason: 'has 0 of 10 left, and `look_up` takes 0.01. Calls have taken 2 more than they had said.',
        },
        { title: 'what failed', after: [failed(pay({ amount: 10 }))], call: pay({ amount: 10 }), answer: 'allow' },
        {
          call: pay({}),
          answer: 'deny',
          reason: 'says in `amount` what it takes, which must be a number of at least 0, or',
        },
        ...odd.map((amount) => ({
          title: `an odd ${JSON.stringify(amount)}`,
          call: pay({ amount }),
          answer: 'deny' as const,
          reason: 'must be a number of at least 0',
        })),
      ],
    },
  ],
};
