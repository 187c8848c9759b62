import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './holdfast.ts';
import { copySample } from './sample.ts';

async function start(
  ...words: readonly string[]
): Promise<{ readonly exitCode: number | null; readonly text: string }> {
  const program = join(root, 'tooling/start/start.ts');
  const child = spawn(process.execPath, ['--conditions=holdfast-source', program, ...words], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '' },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
  }
  const exitCode = await new Promise<number | null>((resolve) => child.on('close', resolve));
  const [, copy] = /(\.holdfast[\\/]start[\\/]sample-\w+)/.exec(text) ?? [];
  if (copy !== undefined) rmSync(join(root, copy), { recursive: true, force: true });
  return { exitCode, text };
}

test('without a request: every step of the demo matches its description', async () => {
  const { exitCode, text } = await start();
  expect({ exitCode, problem: /did not come out.*/.exec(text)?.[0] }).toEqual({ exitCode: 0, problem: undefined });
  expect(text).toMatch(
    /created report\.md[\s\S]+denied {4}delete_files[\s\S]+deny: read-before-write[\s\S]+hash chain intact/,
  );
  expect(text).toContain('Holdfast in 4 steps');
  // D14: it does not repeat the demo.
  expect(text).not.toMatch(/--model local|examples -- 24/);
});

test('--demo: a guarded coding agent', async () => {
  const { exitCode, text } = await start('--demo');
  expect(exitCode).toBe(0);
  expect(text).toMatch(/\$ cat \.env\s+denied[\s\S]+policy diff/);
}, 60_000);

test('a request runs in a copy of the sample project, and the report is shown', async () => {
  const { exitCode, text } = await start('List every TODO comment in the sources and write them to report.md');
  expect(exitCode).toBe(0);
  expect(text).toMatch(/offline stand-in answered[\s\S]*\nreport\.md\n-+\n[\s\S]*src\/price\.ts:6/);
  expect(existsSync(join(root, 'examples/sample-project/report.md'))).toBe(false);
});

test('D14: `--model` selects another model, and the note does not suggest the packaged one', async () => {
  const { text } = await start('Read README.md', '--model', 'local', '--max-rounds', '2');
  expect(text).toMatch(/^local · /m);
  expect(text).not.toContain('stand-in answered');
  const { text: byRules } = await start('Read README.md');
  expect(byRules).toContain('stand-in answered');
  expect(byRules).not.toContain('--model local');
});

test('--workspace accepts a user folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-start-'));
  try {
    writeFileSync(join(folder, 'a.js'), '// TODO: water the plants\n');
    const { exitCode } = await start('List every TODO comment and write them to todos.md', '--workspace', folder);
    expect(exitCode).toBe(0);
    expect(readFileSync(join(folder, 'todos.md'), 'utf8')).toContain('water the plants');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('a wrong option is a usage error', async () => {
  expect(await start('x', '--wrokspace', '.')).toMatchObject({
    exitCode: 2,
    text: expect.stringContaining('--wrokspace'),
  });
});

test('only the newest ten copies are kept', () => {
  const parent = mkdtempSync(join(tmpdir(), 'holdfast-samples-'));
  try {
    const copies = Array.from({ length: 12 }, () => copySample(parent));
    expect(readdirSync(parent)).toHaveLength(10);
    expect(existsSync(copies[11] ?? '')).toBe(true);
    writeFileSync(join(parent, 'mine.txt'), 'not a copy');
    copySample(parent);
    expect(existsSync(join(parent, 'mine.txt'))).toBe(true);
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
});

test('SIGTERM ends the run cleanly, with everything recorded', async () => {
  const workspace = mkdtempSync(join(tmpdir(), 'holdfast-start-'));
  const tools = mkdtempSync(join(tmpdir(), 'holdfast-tools-'));
  try {
    writeFileSync(
      join(tools, 'wait.mjs'),
      `export const METADATA = { name: 'wait_for_ever', function: 'wait', description: 'Wait for ever.', dangerous: false,
        parameters: { type: 'object', properties: {} } };
      export const wait = () => { console.error('waiting'); return new Promise(() => setInterval(() => {}, 1000)); };`,
    );
    const words = ['wait for ever', '--workspace', workspace, '--tools', tools];
    const child = spawn(
      process.execPath,
      ['--conditions=holdfast-source', join(root, 'tooling/start/start.ts'), ...words],
      {
        cwd: root,
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    child.stderr.on('data', (chunk: Buffer) => {
      if (chunk.toString().includes('waiting')) child.kill('SIGTERM');
    });
    expect(await new Promise((resolve) => child.on('close', resolve))).not.toBe(0);
    const [log = ''] = readdirSync(join(workspace, '.holdfast/sessions'));
    const lines = readFileSync(join(workspace, '.holdfast/sessions', log), 'utf8').split('\n');
    expect(lines.pop()).toBe('');
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ type: 'run-end', status: 'aborted' });
  } finally {
    rmSync(workspace, { recursive: true, force: true });
    rmSync(tools, { recursive: true, force: true });
  }
});
