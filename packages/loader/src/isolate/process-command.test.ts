import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { limitProcess } from './process-command.ts';
import { killGroup } from './process-groups.ts';

test.skipIf(process.platform !== 'linux')('a program cannot exceed its process limit', async () => {
  const script = 'for one in $(seq 60); do sleep 60 >/dev/null 2>&1 & echo $one; done';
  const [program, ...parameters] = limitProcess(['/bin/sh', '-c', script], { memoryMb: 1_024, tasks: 30 });
  // Root has no limit. The user `nobody` has few processes; other users may already exceed the limit.
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const child = spawn(program, parameters, { ...user, cwd: '/', detached: true });
  try {
    const [started, problem] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect(problem).toMatch(/fork/i);
    expect(started.split('\n').filter(Boolean).length).toBeLessThan(30);
  } finally {
    killGroup(child.pid ?? 0);
  }
});
