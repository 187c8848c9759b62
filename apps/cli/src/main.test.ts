import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { createFolder } from './test-folder.ts';

// A busy machine may take seconds to start Node.js.
vi.setConfig({ testTimeout: 60_000 });

const program = fileURLToPath(new URL('./main.ts', import.meta.url));

function toTool(name: string, body: string): string {
  return `export const METADATA = {
  name: '${name}', function: 'act', description: 'Acts.', dangerous: false,
  parameters: { type: 'object', properties: {} },
};
export function act(_, context) { ${body} }
`;
}

interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the program for real, in a folder with `files`. `onStdout` sees the process at every chunk. */
async function runMain(
  argv: readonly string[],
  {
    files = {},
    onStdout = () => undefined,
  }: {
    readonly files?: Record<string, string>;
    readonly onStdout?: (child: ChildProcess, stdout: string) => void;
  } = {},
): Promise<Ended> {
  await using folder = await createFolder(files);
  const child = spawn(process.execPath, ['--conditions=holdfast-source', program, ...argv], {
    cwd: folder.path,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
    onStdout(child, stdout);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const exitCode = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { exitCode, stdout, stderr };
}

function script(...names: readonly string[]): string {
  return JSON.stringify({ turns: [{ calls: names.map((name) => ({ name, arguments: {} })) }, { text: 'Done.' }] });
}

const jsonRun = ['run', 'Do it.', '--model', 'script:script.json', '--json'];

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

test('what a tool prints does not get between the lines of --json', async () => {
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

test('a tool that leaves work behind neither ends the run early nor keeps the process', async () => {
  const files = {
    'plugins/rude.mjs': toTool('rude', "setInterval(() => {}, 1000); Promise.reject(new Error('stray')); return 1;"),
    'script.json': script('rude'),
  };
  const { exitCode, stdout, stderr } = await runMain(jsonRun, { files });
  expect(exitCode).toBe(0);
  expect(stdout).toContain('"run-end"');
  expect(stderr).toContain('stray');
  expect(stderr).not.toContain('    at ');
});

test('an exception that a tool leaves behind is told, and ends the run in order', async () => {
  const body = "setTimeout(() => { throw new Error('late'); }); return new Promise(() => setInterval(() => {}, 1000));";
  const files = { 'plugins/late.mjs': toTool('late', body), 'script.json': script('late') };
  const { exitCode, stdout, stderr } = await runMain(jsonRun, { files });
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: 'error: late\n' });
  expect(stdout).toContain('"run-end"');
});

test('Ctrl-C ends a run in order with 130', async () => {
  const files = {
    'plugins/wait.mjs': toTool('wait', 'return new Promise(() => setInterval(() => {}, 1000));'),
    'script.json': script('wait'),
  };
  const { exitCode, stdout } = await runMain(jsonRun, {
    files,
    onStdout(child, seen) {
      if (seen.includes('"tool-call-start"') && !child.killed) child.kill('SIGINT');
    },
  });
  expect(exitCode).toBe(130);
  expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ type: 'run-end', status: 'aborted' });
});

test('a reader that goes away ends the program quietly', async () => {
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
