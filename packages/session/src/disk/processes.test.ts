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
  ['one that has ended on another machine', { pid: ended, host: 'elsewhere' }, 'unknown'],
  ['one that has ended in another container', { pid: ended, pidSpace: 'pid:[1]' }, 'unknown'],
  ['one that does not say when it began', { startedAt: '' }, 'running'],
  ...(process.platform === 'linux'
    ? ([
        ['a number used again', { startedAt: `${mine.startedAt}0` }, 'ended'],
        ['a number used again after the machine began anew', { startedAt: mine.startedAt.replace(/^./, 'x') }, 'ended'],
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
])('%j is no process', (value) => {
  expect(toProcessIdentity(value)).toBeUndefined();
});
