import { expect, test } from 'vitest';
import { jsonRun, runMain, script, toTool, trustingRun } from './testing/test-program.ts';

test('version and usage errors', async () => {
  expect(await runMain(['--version'])).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+/) });
  expect(await runMain(['ran'])).toMatchObject({ exitCode: 2, stdout: '' });
});

test('the offline model works on the files of a folder', async () => {
  const { exitCode, stdout, stderr } = await runMain(['run', 'Read notes.txt'], { files: { 'notes.txt': 'milk\n' } });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toMatch(/ok {8}read_file/);
  expect(stdout).toContain('milk');
});

test('output of a tool does not mix with --json', async () => {
  const files = {
    'plugins/loud.mjs': toTool('loud', "console.log('LOUD'); process.stdout.write('LOUDER\\n'); return 1;"),
    'script.json': script('loud'),
  };
  const { exitCode, stdout, stderr } = await runMain(jsonRun, { files });
  expect(exitCode).toBe(0);
  const types = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).type);
  expect(types.at(-1)).toBe('run-end');
  expect(stderr).toBe('LOUD\nLOUDER\n');
});

test('a tool that leaves work behind neither ends the run early nor keeps the process alive', async () => {
  const files = {
    'plugins/rude.mjs': toTool('rude', "setInterval(() => {}, 1000); Promise.reject(new Error('stray')); return 1;"),
    'script.json': script('rude'),
  };
  const { exitCode, stdout, stderr } = await runMain(trustingRun, { files });
  expect(exitCode).toBe(0);
  expect(stdout).toContain('"run-end"');
  expect(stderr).toContain('stray');
  expect(stderr).not.toContain('    at ');
});

test('a late exception of a tool is reported and ends the run cleanly', async () => {
  const body = "setTimeout(() => { throw new Error('late'); }); return new Promise(() => setInterval(() => {}, 1000));";
  const files = { 'plugins/late.mjs': toTool('late', body), 'script.json': script('late') };
  const { exitCode, stdout, stderr } = await runMain(trustingRun, { files });
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: 'error: late\n' });
  expect(stdout).toContain('"run-end"');
});

test('a tool that ends the process fails the run, which can be resumed', async () => {
  const files = { 'plugins/quit.mjs': toTool('quit', 'process.exit(0);'), 'script.json': script('quit') };
  const { exitCode, stdout, stderr } = await runMain(trustingRun, { files });
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/a tool ended this process during the run; resume it with `.* resume \S+`/);
  expect(stdout).not.toContain('"run-end"');
});

test('output of a tool in its own process is shown, with control characters escaped', async () => {
  const tool = toTool('loud', "console.log('LOUD\u001b[2J'); return 1;").replace(
    "'none',",
    "'none', isolation: 'subprocess',",
  );
  const files = { 'plugins/loud.mjs': tool, 'script.json': script('loud') };
  const { exitCode, stderr } = await runMain(jsonRun, { files });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: 'LOUD\\x1b[2J\n' });
});

test('a closed pipe ends the program quietly', async () => {
  const files = {
    'plugins/wait.mjs': toTool('wait', 'return new Promise(() => setInterval(() => context.progress("x"), 5));'),
    'script.json': script('wait'),
  };
  const { exitCode, stderr } = await runMain(jsonRun, {
    files,
    onStdout(child, seen) {
      if (seen.includes('"tool-call-start"')) child.stdout?.destroy();
    },
  });
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: '' });
});
