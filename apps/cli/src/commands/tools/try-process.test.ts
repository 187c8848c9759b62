import { expect, test } from 'vitest';
import { type Ended, type RunMainOptions, runMain, toTool } from '../../testing/test-program.ts';

const run = (source: string, argv: readonly string[] = [], options: RunMainOptions = {}): Promise<Ended> =>
  runMain(['try', 'plugins/tool.mjs', ...argv], { files: { 'plugins/tool.mjs': source }, ...options });

test('a tool that ends the process is said to have done so, and no exit code of its own passes for ours', async () => {
  const source = toTool('leave', 'process.exit(0);');
  const trusting = ['--isolation', 'in-process'];
  const { exitCode, stdout, stderr } = await run(source, trusting);
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining('(tool.process.exited)') });
  expect(stdout).toContain('\ninput  {}\n');
  expect(await run(source, [...trusting, '--json'])).toMatchObject({ exitCode: 1, stdout: '' });
});

test('in a process of its own it costs the call, and the next one has another process', async () => {
  const example = "examples: [{ description: 'None', input: {}, output: null }],\n  parameters:";
  const source = toTool('leave', 'process.exit(0);').replace('parameters:', () => example);
  const { exitCode, stdout, stderr } = await run(source, ['--input', '{}']);
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: '' });
  expect(stdout).toContain('runs in a process of its own');
  expect(stdout).toContain('  failed (tool.process.exited) after ');
  expect(stdout).toContain('not good: 2 calls, 2 without success\n');
});

test.each([
  {
    where: 'this process',
    argv: ['--isolation', 'in-process'],
    body: 'return new Promise(() => setInterval(() => {}, 1000));',
  },
  { where: 'a process of its own', argv: [], body: 'for (;;);' },
])('Ctrl-C ends a call that hangs in $where', async ({ argv, body }) => {
  const { exitCode, stdout } = await run(toTool('hang', `console.error('begun'); ${body}`), argv, {
    onStdout(child, seen) {
      // Seen before the call begins: whenever the signal comes, it is the same.
      if (seen.includes('input  {}') && !child.killed) child.kill('SIGINT');
    },
  });
  expect(exitCode).toBe(130);
  expect(stdout).toContain('  cancelled (call.aborted) after ');
  expect(stdout).toContain('not good: 1 call, 1 without success\n');
});

test.each([
  { file: 'worker', argv: ['--isolation', 'in-process'], place: 'a thread' },
  { file: 'worker', argv: [], place: 'a process of its own' },
  { file: 'in-process', argv: [], place: 'a process of its own' },
  { file: 'in-process', argv: ['--isolation', 'in-process'], place: 'this process' },
  { file: 'subprocess', argv: ['--isolation', 'worker'], place: 'a process of its own' },
])('a tool whose file says $file, with $argv, runs in $place', async ({ file, argv, place }) => {
  const source = toTool('away', 'return process.pid;').replace("'none',", `'none', isolation: '${file}',`);
  const { exitCode, stdout } = await run(source, argv);
  expect(exitCode).toBe(0);
  expect(stdout).toContain(`runs in ${place}\n`);
});
