import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { executeToolCall } from '@holdfast/executor';
import { createSession } from '@holdfast/session';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type McpTools, mcpTools } from '../index.ts';

const program = fileURLToPath(new URL('../test-stdio-server.ts', import.meta.url));
const execArgv = ['--conditions=holdfast-source', '--disable-warning=ExperimentalWarning'];

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-mcp-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'notes.txt');
}

const pidsOf = (file: string): number[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('started'))
    .map((line) => Number(line.split(' ')[1]));

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function call(imported: McpTools, name: string, input: object = {}) {
  return executeToolCall({ name, arguments: input }, { tools: imported.tools, session: createSession() });
}

test.each(['legacy', 'auto'] as const)('a server in a process: started, called, ended (%s)', async (era) => {
  const file = newFile();
  const env = { HOLDFAST_TEST: 'given' };
  const args = [...execArgv, program, file];
  const imported = await mcpTools({ name: 'test', command: process.execPath, args, env, era, dangerous: false });
  expect(await call(imported, 'test_echo', { text: 'a' })).toMatchObject({ kind: 'ok', text: '{"text":"a"}' });
  expect(await call(imported, 'test_environment')).toMatchObject({ kind: 'ok', text: 'given' });
  await imported.close();
  expect(pidsOf(file).filter(isAlive)).toEqual([]);
});

test('a process that ends in a call leaves it in doubt; the next call starts it again', async () => {
  const file = newFile();
  const args = [...execArgv, program, file];
  const imported = await mcpTools({ name: 'test', command: process.execPath, args, era: 'legacy', dangerous: false });
  onTestFinished(() => imported.close());
  expect(await call(imported, 'test_die')).toMatchObject({ kind: 'in-doubt', code: 'tool.process.lost' });
  expect(await call(imported, 'test_echo')).toMatchObject({ kind: 'ok' });
  expect(pidsOf(file)).toHaveLength(2);
});

test('a server ends with its host, also when that is killed', async () => {
  const file = newFile();
  const source = `
    const { mcpTools } = await import(${JSON.stringify(new URL('../index.ts', import.meta.url).href)});
    await mcpTools({ name: 'test', command: process.execPath, args: ${JSON.stringify([...execArgv, program, file])}, era: 'legacy' });
    console.log('ready');
    setInterval(() => {}, 1000);`;
  const host = spawn(process.execPath, [...execArgv, '--input-type=module', '--eval', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => host.stdout.once('data', resolve));
  const [pid] = pidsOf(file);
  expect(pid !== undefined && isAlive(pid)).toBe(true);
  host.kill('SIGKILL');
  await vi.waitFor(() => expect(pidsOf(file).filter(isAlive)).toEqual([]), { timeout: 10_000 });
});
