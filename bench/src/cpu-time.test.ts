import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { cpuMsOfChildren, cpuMsOfProcess } from './cpu-time.ts';

test.runIf(process.platform === 'linux')('counts what a child has computed', () => {
  const before = cpuMsOfChildren();
  spawnSync(process.execPath, ['--eval', 'while (process.cpuUsage().user < 60_000);']);
  expect(cpuMsOfChildren() - before).toBeGreaterThanOrEqual(50);
});

test.runIf(process.platform === 'linux')('counts what a process has computed', () => {
  const before = cpuMsOfProcess(process.pid);
  const { user } = process.cpuUsage();
  while (process.cpuUsage().user - user < 20_000);
  expect(cpuMsOfProcess(process.pid) - before).toBeGreaterThanOrEqual(15);
});
