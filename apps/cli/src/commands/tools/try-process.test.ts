import { expect, test } from 'vitest';
import { type Ended, type RunMainOptions, runMain, toTool } from '../../testing/test-program.ts';

const run = (source: string, argv: readonly string[] = [], options: RunMainOptions = {}): Promise<Ended> =>
  runMain(['try', 'plugins/tool.mjs', ...argv], { files: { 'plugins/tool.mjs': source }, ...options });

test('a tool that ends the process is reported, and its exit code is not used', async () => {
  const source = toTool('leave', 'process.exit(0);');
  const trusting = ['--isolation', 'in-process'];
  const { exitCode, stdout, stderr } = await run(source, trusting);
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining('(tool.process.lost: exited)') });
  expect(stdout).toContain('\ninput  {}\n');
  expect(await run(source, [...trusting, '--json'])).toMatchObject({ exitCode: 1, stdout: '' });
});

test('in its own process it fails the call, and the next call gets a new process', async () => {
  const example = "examples: [{ description: 'None', input: {}, output: null }],\n  parameters:";
  const source = toTool('leave', 'process.exit(0);').replace('parameters:', () => example);
  const { exitCode, stdout, stderr } = await run(source, ['--input', '{}']);
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: '' });
  expect(stdout).toContain('runs in its own process');
  expect(stdout).toContain('  failed (tool.process.lost: exited) after ');
  expect(stdout).toContain('failed: 2 calls, 2 failed\n');
});

test.each([
  {
    where: 'this process',
    argv: ['--isolation', 'in-process'],
    body: 'return new Promise(() => setInterval(() => {}, 1000));',
  },
  { where: 'its own process', argv: [], body: 'for (;;);' },
])('Ctrl-C ends a call that hangs in $where', async ({ argv, body }) => {
  const { exitCode, stdout } = await run(toTool('hang', `console.error('begun'); ${body}`), argv, {
    onStdout(child, seen) {
      // Printed before the call begins, so that the time of the signal does not matter.
      if (seen.includes('input  {}') && !child.killed) child.kill('SIGINT');
    },
  });
  expect(exitCode).toBe(130);
  expect(stdout).toContain('  cancelled (call.aborted) after ');
  expect(stdout).toContain('failed: 1 call, 1 failed\n');
});

test.each([
  { file: 'worker', argv: ['--isolation', 'in-process'], place: 'a thread' },
  { file: 'worker', argv: [], place: 'its own process' },
  { file: 'in-process', argv: [], place: 'its own process' },
  { file: 'in-process', argv: ['--isolation', 'in-process'], place: 'this process' },
  { file: 'subprocess', argv: ['--isolation', 'worker'], place: 'its own process' },
])('a tool file with isolation $file and $argv runs in $place', async ({ file, argv, place }) => {
  const source = toTool('away', 'return process.pid;').replace("'none',", `'none', isolation: '${file}',`);
  const { exitCode, stdout } = await run(source, argv);
  expect(exitCode).toBe(0);
  expect(stdout).toContain(`runs in ${place}\n`);
});
