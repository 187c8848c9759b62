import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { hostProcesses, toProcessIdentity } from './processes.ts';

const mine = hostProcesses.identify();
const ended = spawnSync(process.execPath, ['--version']).pid;

test('a process describes itself in the same way each time, as JSON', () => {
  expect(hostProcesses.identify()).toEqual(mine);
  expect(toProcessIdentity(JSON.parse(JSON.stringify(mine)))).toEqual(mine);
  expect(mine.pid).toBe(process.pid);
});

test.each([
  ['itself', {}, 'running'],
  ['one that has ended', { pid: ended }, 'ended'],
  ['one that ended on another machine', { pid: ended, host: 'elsewhere' }, 'unknown'],
  ['one that ended in another container', { pid: ended, pidSpace: 'pid:[1]' }, 'unknown'],
  ['one without a start time', { startedAt: '' }, 'running'],
  ...(process.platform === 'linux'
    ? ([
        ['a number used again', { startedAt: `${mine.startedAt}0` }, 'ended'],
        ['a PID reused after a reboot', { startedAt: mine.startedAt.replace(/^./, 'x') }, 'ended'],
      ] as const)
    : []),
] as const)('%s', (_what, change, expected) => {
  expect(hostProcesses.stateOf({ ...mine, ...change })).toBe(expected);
});

test.each([
  [null],
  ['1'],
  [{ ...mine, pid: 0 }],
  [{ ...mine, pid: -1 }],
  [{ ...mine, pid: '1' }],
  [{ ...mine, host: 1 }],
  [{ pid: 1 }],
])('%j is not a process identity', (value) => {
  expect(toProcessIdentity(value)).toBeUndefined();
});
