import type { Message } from '@holdfast/core';
import { expect, test } from 'vitest';
import { toChatHistory } from './chat-history.ts';

const call = (id: string, given: unknown) => ({ id, name: 'do_it', arguments: given });
const result = (callId: string, text: string): Message => ({
  role: 'tool',
  callId,
  name: 'do_it',
  success: true,
  text,
});
const done = (params: unknown, text: string) => ({ type: 'functionCall', name: 'do_it', params, result: text });

test.each<[what: string, messages: readonly Message[], history: unknown]>([
  ['nothing', [], [{ type: 'model', response: [] }]],
  [
    'a request',
    [
      { role: 'system', text: 'You know maps.' },
      { role: 'user', text: 'Hi' },
    ],
    [
      { type: 'system', text: 'You know maps.' },
      { type: 'user', text: 'Hi' },
      { type: 'model', response: [] },
    ],
  ],
  [
    'calls with their results, in one message that goes on',
    [
      { role: 'user', text: 'Hi' },
      { role: 'assistant', text: 'One moment.', calls: [call('1', '{"a":1}'), call('2', { b: 2 })] },
      result('2', 'second'),
      result('1', 'first'),
      { role: 'assistant', text: '', calls: [call('3', 'broken')] },
    ],
    [
      { type: 'user', text: 'Hi' },
      {
        type: 'model',
        response: ['One moment.', done({ a: 1 }, 'first'), done({ b: 2 }, 'second'), done('broken', '')],
      },
    ],
  ],
  [
    'ids that come again, and a result without its call',
    [
      { role: 'assistant', text: '', calls: [call('1', {})] },
      result('1', 'first'),
      result('9', 'nobody asked'),
      { role: 'assistant', text: 'On.', calls: [call('1', {})] },
      result('1', 'second'),
    ],
    [{ type: 'model', response: [done({}, 'first'), 'On.', done({}, 'second')] }],
  ],
  [
    'an answer and the next request',
    [
      { role: 'assistant', text: 'Yes.', calls: [] },
      { role: 'user', text: 'And?' },
    ],
    [
      { type: 'model', response: ['Yes.'] },
      { type: 'user', text: 'And?' },
      { type: 'model', response: [] },
    ],
  ],
])('%s', (_what, messages, history) => {
  expect(toChatHistory(messages)).toEqual(history);
});
