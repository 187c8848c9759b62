import type { RunEvent } from '@holdfast/core';
import { expect, test } from 'vitest';
import { createOpenCalls } from './open-calls.ts';
import { callEnd } from './test-events.ts';

const message: RunEvent = {
  type: 'model-message',
  turn: 1,
  text: '',
  calls: [
    { id: 'c1', name: 'read_file', arguments: '{}' },
    { id: 'c2', name: 'delete_files', arguments: '{}' },
  ],
  reason: 'tool-calls',
};
const start: RunEvent = { type: 'tool-call-start', callId: 'c1', name: 'read_file', rawArguments: '{}', atMs: 5 };
const request: RunEvent = {
  type: 'approval-request',
  pending: { callId: 'c2', name: 'delete_files', input: {}, dangerous: true, asks: [] },
};
const answer: RunEvent = { type: 'approval-answer', callId: 'c2', answer: { type: 'approve' } };
const runEnd: RunEvent = {
  type: 'run-end',
  status: 'aborted',
  text: '',
  turns: 1,
  usage: { inputTokens: 0, outputTokens: 0 },
  atMs: 9,
};

test.each<{ what: string; events: readonly RunEvent[]; open: readonly string[] }>([
  { what: 'asked for', events: [message], open: ['c1 waiting', 'c2 waiting'] },
  { what: 'started', events: [message, start], open: ['c1 running', 'c2 waiting'] },
  { what: 'asking', events: [message, request], open: ['c1 waiting', 'c2 asking'] },
  { what: 'answered', events: [message, request, answer], open: ['c1 waiting', 'c2 waiting'] },
  { what: 'ended', events: [message, start, callEnd('ok')], open: ['c2 waiting'] },
  { what: 'started without a message', events: [start], open: ['c1 running'] },
  { what: 'ended twice', events: [message, callEnd('ok'), callEnd('ok')], open: ['c2 waiting'] },
  { what: 'left behind by the end of the run', events: [message, start, runEnd], open: [] },
])('calls that are $what', ({ events, open }) => {
  const calls = createOpenCalls();
  for (const event of events) calls.apply(event);
  expect(calls.list().map(({ callId, state }) => `${callId} ${state}`)).toEqual(open);
});

test('a running call knows since when and how far it is', () => {
  const calls = createOpenCalls();
  for (const event of [message, start]) calls.apply(event);
  calls.apply({ type: 'tool-call-progress', callId: 'c1', name: 'read_file', message: 'half way' });
  expect(calls.list()[0]).toMatchObject({ startedAtMs: 5, progress: 'half way' });
});
