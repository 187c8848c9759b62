import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { findTagged, tagName } from '../child/tagged-programs.ts';
import { until } from '../test-tools.ts';
import { backgroundClock } from './pool.ts';
import { ProcessGroups } from './process-groups.ts';
import { runProgram } from './run-program.ts';

/** Leaves a program running outside the group, and ends. */
const leave = 'setsid sleep 1000 > /dev/null 2>&1 &';

// Other systems do not provide the data.
test.skipIf(process.platform !== 'linux').each([
  { when: 'when its group ends', end: (groups: ProcessGroups, leader: number) => groups.end(leader) },
  { when: 'when the host ends', end: () => process.listeners('exit').at(-1)?.(0) },
])('a program that left its process group is killed $when', async ({ end }) => {
  const tag = `test-${process.pid}-${process.hrtime.bigint()}`;
  const before = process.listeners('exit');
  const groups = new ProcessGroups();
  const child = spawn('/bin/sh', ['-c', leave], { env: { ...process.env, [tagName]: tag }, detached: true });
  const leader = child.pid ?? 0;
  groups.add(leader, tag);
  await once(child, 'exit');
  await until(() => findTagged([tag]).length > 0);
  end(groups, leader);
  await until(() => findTagged([tag]).length === 0);
  groups.end(leader);
  await until(() => !process.listeners('exit').some((listener) => !before.includes(listener)));
  expect(findTagged([tag])).toEqual([]);
});

test.skipIf(process.platform !== 'linux')(
  'a program that left its group is killed at the end of the program that started it',
  async () => {
    const end = await runProgram({
      command: ['/bin/sh', '-c', `${leave} echo "$${tagName}"`],
      environment: { PATH: process.env['PATH'] ?? '' },
      input: '',
      signal: new AbortController().signal,
      maxOutputBytes: 1_000,
      groups: new ProcessGroups(),
      clock: backgroundClock,
      print: () => undefined,
    });
    const tag = end.type === 'exited' ? Buffer.from(end.output).toString().trim() : '';
    expect(tag).not.toBe('');
    await until(() => findTagged([tag]).length === 0);
  },
);
