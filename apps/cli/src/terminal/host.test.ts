import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createTestHost } from '../testing/test-host.ts';
import { describeTerminal, findQuestionStream } from './host.ts';

const terminal = Object.assign(new PassThrough(), { isTTY: true, columns: 100 });
const pipe = new PassThrough();

test.each([
  { stream: terminal, environment: {}, seen: { color: true, live: true, columns: 100 } },
  { stream: terminal, environment: { NO_COLOR: '1' }, seen: { color: false, live: true, columns: 100 } },
  { stream: terminal, environment: { NO_COLOR: '' }, seen: { color: true, live: true, columns: 100 } },
  { stream: terminal, environment: { TERM: 'dumb' }, seen: { color: false, live: false, columns: 100 } },
  { stream: pipe, environment: {}, seen: { color: false, live: false, columns: Number.POSITIVE_INFINITY } },
  { stream: pipe, environment: { FORCE_COLOR: '1' }, seen: { color: true, live: false } },
  { stream: pipe, environment: { FORCE_COLOR: '0' }, seen: { color: false, live: false } },
  { stream: pipe, environment: { FORCE_COLOR: '1', NO_COLOR: '1' }, seen: { color: false } },
  {
    stream: Object.assign(new PassThrough(), { isTTY: true, columns: 0 }),
    environment: {},
    seen: { live: false, columns: 80 },
  },
])('$environment shows $seen', ({ stream, environment, seen }) => {
  expect(describeTerminal(stream, environment)).toMatchObject(seen);
});

const none = { stdin: false, stdout: false };

test.each([
  { terminals: ['stdin', 'stdout', 'stderr'], taken: { ...none, stdin: true }, asks: undefined },
  { terminals: ['stdin', 'stdout', 'stderr'], taken: none, asks: 'stdout' },
  { terminals: ['stdin', 'stdout', 'stderr'], taken: { ...none, stdout: true }, asks: 'stderr' },
  { terminals: ['stdin', 'stderr'], taken: none, asks: 'stderr' },
  { terminals: ['stdin'], taken: none, asks: undefined },
  { terminals: ['stdout', 'stderr'], taken: none, asks: undefined },
] as const)('with terminals at $terminals, questions go to $asks', ({ terminals, taken, asks }) => {
  const { host } = createTestHost({ terminals });
  expect(findQuestionStream(host, taken)).toBe(asks === undefined ? undefined : host[asks]);
});
