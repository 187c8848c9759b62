import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Tool } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { type McpToolsOptions, mcpTools } from '@holdfast/mcp';
import { createSession } from '@holdfast/session';
import { readLog } from '@holdfast/session/jsonl';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createFolder, toUserFolder } from '../../testing/test-folder.ts';
import { runHere, toTool, trustHere } from '../../testing/test-program.ts';

const program = fileURLToPath(new URL('../../main.ts', import.meta.url));
const files = { 'plugins/greet.js': toTool('greet', "return 'Hello.';"), 'a.txt': 'hi\n' };

async function createWorld(): Promise<{ readonly path: string; readonly environment: Record<string, string> }> {
  const folder = await createFolder(files);
  onTestFinished(() => folder[Symbol.asyncDispose]());
  await trustHere(folder.path);
  const own = { HOLDFAST_HOME: toUserFolder(folder.path), HOLDFAST_MCP_TOKEN: 'secret' };
  // The processes start from bundled sources, as those of all tests do.
  const { NODE_COMPILE_CACHE = '', NODE_OPTIONS = '' } = process.env;
  return { path: folder.path, environment: { ...own, NODE_COMPILE_CACHE, NODE_OPTIONS } };
}

/** Calls the served tools; returns the names of the calls in the log. */
async function callAll(path: string, place: Partial<McpToolsOptions>): Promise<readonly unknown[]> {
  const imported = await mcpTools({ name: 'test', dangerous: false, stderr: 'ignore', ...place });
  const names = imported.tools.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['test_greet', 'test_read_file', 'test_write_file']));
  const tools: readonly Tool[] = imported.tools;
  const call = (name: string, input: object) =>
    executeToolCall({ name, arguments: input }, { tools, session: createSession() });
  expect(await call('test_greet', {})).toMatchObject({ kind: 'ok', text: '"Hello."' });
  // Its policies hold: a file must be read before it is written.
  const write = { path: 'a.txt', content: 'new\n' };
  expect(await call('test_write_file', write)).toMatchObject({ kind: 'failed', text: expect.stringContaining('read') });
  expect(await call('test_read_file', { path: 'a.txt' })).toMatchObject({ kind: 'ok' });
  expect(await call('test_write_file', write)).toMatchObject({ kind: 'ok' });
  await imported.close();
  const { records } = readLog(join(path, '.holdfast', 'sessions', 'work.jsonl'));
  return records.filter(({ type }) => type === 'tool-call-end').map(({ name }) => name);
}

const expected = ['greet', 'write_file', 'read_file', 'write_file'];

describe('serve --mcp', { timeout: 240_000 }, () => {
  const words = [program, 'serve', '--mcp', '--session', 'work'];

  test.each(['legacy', 'auto'] as const)('offers the tools of a run over stdin and stdout (%s)', async (era) => {
    const { path, environment } = await createWorld();
    const args = ['--conditions=holdfast-source', ...words];
    const recorded = await callAll(path, { command: process.execPath, args, cwd: path, env: environment, era });
    expect(recorded).toEqual(expected);
  });

  test('offers them over HTTP to clients with the token', async () => {
    const { path, environment } = await createWorld();
    const env = { ...process.env, ...environment };
    const child = spawn(process.execPath, ['--conditions=holdfast-source', ...words, '--port', '0'], {
      cwd: path,
      env,
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let said = '';
    const url = await new Promise<string>((resolve, reject) => {
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        const [found] = /http:\S+/.exec(said) ?? [];
        if (found !== undefined) resolve(found);
      });
      child.once('close', () => reject(new Error(said)));
    });
    const recorded = await callAll(path, { url, headers: { authorization: 'Bearer secret' } });
    expect(recorded).toEqual(expected);
    const refused = await mcpTools({ name: 'test', url }).catch((thrown: unknown) => thrown);
    expect(refused).toMatchObject({ code: 'mcp.unreachable' });
    expect(said).not.toContain('secret');
    child.kill('SIGTERM');
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect(code).toBe(0);
  });

  test.each([
    { argv: ['serve'], says: 'usage.invalid: protocol_missing' },
    { argv: ['serve', '--mcp', '--port', 'x'], says: 'a port number' },
    { argv: ['serve', '--mcp', '--session', '../x'], says: 'usage.invalid: session_invalid' },
    { argv: ['mcp', 'wrap', '--session', 'A', '--', 'node'], says: 'usage.invalid: session_invalid' },
    { argv: ['mcp', 'wrap', '--name', 'A b', '--', 'node'], says: '1 to 24 of a-z' },
    { argv: ['mcp', 'pin', '--name', 'A b', '--', 'node'], says: '1 to 24 of a-z' },
    { argv: ['mcp', 'wrap'], says: 'usage.invalid: server_missing' },
    { argv: ['mcp', 'pin'], says: 'usage.invalid: server_missing' },
    { argv: ['mcp', 'wrap', '--url', 'http://127.0.0.1:1', '--', 'node'], says: 'usage.invalid: server_missing' },
    {
      argv: ['mcp', 'pin', '--url', 'http://127.0.0.1:1', '--header', 'X-None'],
      says: 'usage.invalid: header_missing',
    },
  ])('$argv is a usage error', async ({ argv, says }) => {
    const { path } = await createWorld();
    const { exitCode, stderr } = await runHere(argv, { directory: path, trusted: false });
    expect(stderr).toContain(says);
    expect(exitCode).toBe(2);
  });
});
