import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { describeProcess, hasEnded, isProcessIdentity } from './process-identity.ts';

const mine = describeProcess();
const ended = spawnSync(process.execPath, ['--version']).pid;

test('a process describes itself in the same way each time, as JSON', () => {
  expect(describeProcess()).toEqual(mine);
  expect(isProcessIdentity(JSON.parse(JSON.stringify(mine)))).toBe(true);
  expect(mine.pid).toBe(process.pid);
});

test.each([
  ['itself', {}, false],
  ['one that has ended', { pid: ended }, true],
  ['one that has ended on another machine', { pid: ended, host: 'elsewhere' }, false],
  ['one that has ended in another container', { pid: ended, pidSpace: 'pid:[1]' }, false],
  ['one that does not say when it began', { startedAt: '' }, false],
  ...(process.platform === 'linux'
    ? ([
        ['a number used again', { startedAt: `${mine.startedAt}0` }, true],
        ['a number used again after the machine began anew', { startedAt: mine.startedAt.replace(/^./, 'x') }, true],
      ] as const)
    : []),
] as const)('%s', (_what, change, expected) => {
  expect(hasEnded({ ...mine, ...change }, mine)).toBe(expected);
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
  expect(isProcessIdentity(value)).toBe(false);
});
