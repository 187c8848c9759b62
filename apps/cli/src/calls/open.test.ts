import type { RunEvent } from '@holdfast/core';
import { expect, test } from 'vitest';
import { callEnd, pendingApproval } from '../testing/test-events.ts';
import { createOpenCalls } from './open.ts';

const message: RunEvent = {
  type: 'model-message',
  run: 1,
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
  pending: pendingApproval({ callId: 'c2', name: 'delete_files' }),
};
const answer: RunEvent = { type: 'approval-answer', callId: 'c2', digest: 'd', answer: { type: 'approve' } };
const runEnd: RunEvent = {
  type: 'run-end',
  run: 1,
  status: 'aborted',
  text: '',
  turns: 1,
  usage: { inputTokens: 0, outputTokens: 0 },
  atMs: 9,
};

const startTwo: RunEvent = { ...start, callId: 'c2', name: 'delete_files' };
const inner: RunEvent = { ...start, callId: 'c1/1', parentId: 'c1', name: 'inner' };
const runStart: RunEvent = {
  type: 'run-start',
  sessionId: 's',
  run: 1,
  model: 'm',
  prompt: 'p',
  input: 'i',
  tools: [],
  atMs: 7,
};
const inChild = (event: RunEvent): RunEvent => ({ type: 'child-event', callId: 'c1', sessionId: 's/c1/1', event });

test.each<{ what: string; events: readonly RunEvent[]; open: readonly string[] }>([
  { what: 'asked for', events: [message], open: ['read_file waiting', 'delete_files waiting'] },
  { what: 'started', events: [message, start], open: ['read_file running', 'delete_files waiting'] },
  { what: 'asking', events: [message, request], open: ['read_file waiting', 'delete_files asking'] },
  { what: 'answered', events: [message, request, answer], open: ['read_file waiting', 'delete_files waiting'] },
  { what: 'ended', events: [message, start, callEnd('ok')], open: ['delete_files waiting'] },
  { what: 'started without a message', events: [start], open: ['read_file running'] },
  { what: 'ended twice', events: [message, callEnd('ok'), callEnd('ok')], open: ['delete_files waiting'] },
  {
    what: 'asking after their start',
    events: [message, startTwo, request],
    open: ['read_file waiting', 'delete_files asking'],
  },
  {
    what: 'answered after their start',
    events: [message, startTwo, request, answer],
    open: ['read_file waiting', 'delete_files running'],
  },
  {
    what: 'nested',
    events: [message, start, inner],
    open: ['read_file running', '> inner running', 'delete_files waiting'],
  },
  {
    what: 'nested in one that has ended',
    events: [message, start, inner, callEnd('ok')],
    open: ['delete_files waiting'],
  },
  {
    what: 'of a run in a child session',
    events: [start, inChild(runStart), inChild(message), inChild(start), inChild(inner)],
    open: [
      'read_file running',
      '> child run running',
      '> > read_file running',
      '> > > inner running',
      '> > delete_files waiting',
    ],
  },
  {
    what: 'left over at the end of a run in a child session',
    events: [start, inChild(runStart), inChild(message), inChild(runEnd)],
    open: ['read_file running'],
  },
  { what: 'left over at the end of the run', events: [message, start, runEnd], open: [] },
])('calls: $what', ({ events, open }) => {
  const calls = createOpenCalls();
  for (const event of events) calls.apply(event);
  expect(calls.list().map(({ name, state, depth }) => `${'> '.repeat(depth)}${name} ${state}`)).toEqual(open);
});

test('a running call has its start time and progress', () => {
  const calls = createOpenCalls();
  for (const event of [message, start]) calls.apply(event);
  calls.apply({ type: 'tool-call-progress', callId: 'c1', name: 'read_file', message: 'half way' });
  calls.apply({ type: 'tool-call-beat', callId: 'c1', name: 'read_file', atMs: 8 });
  expect(calls.list()[0]).toMatchObject({ startedAtMs: 5, progress: 'half way', beatAtMs: 8 });
  const failed = { callId: 'c1', name: 'read_file', attempt: 1, code: 'tool.threw', message: 'busy' };
  calls.apply({ type: 'tool-call-retry', ...failed, delayMs: 2_000, atMs: 9 });
  expect(calls.list()[0]).toMatchObject({ progress: 'attempt 1 failed, next in 2.0 s' });
});
