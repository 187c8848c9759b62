import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { readLog } from '@holdfast/session/jsonl';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createHookWorld, type HookWorld } from '../testing/test-hook.ts';
import { runHere } from '../testing/test-program.ts';
import { findClient, identifyProcess } from './client-process.ts';
import { findGoverned, heardRequest, withGoverned } from './governed.ts';

const program = fileURLToPath(new URL('../main.ts', import.meta.url));
const server = fileURLToPath(new URL('../../../../packages/mcp/src/test-stdio-server.ts', import.meta.url));
const node = [process.execPath, '--conditions=holdfast-source'] as const;

const fail = (): never => {
  throw new Error('not called');
};

/** The proxy of a server `files`, as a child of this process: like its hooks, so both have one client. */
async function startProxy({ folder, host }: HookWorld): Promise<{
  call(name: string, input: object): Promise<unknown>;
  end(signal?: 'SIGKILL'): Promise<void>;
}> {
  const command = ['--name', 'files', '--', ...node, server];
  const { environment } = host;
  const pinning = { directory: folder.path, environment, terminals: ['stdin'] as const, trusted: false };
  expect(await runHere(['mcp', 'pin', '--accept', ...command], pinning)).toMatchObject({ exitCode: 0 });
  const words = [program, 'mcp', 'wrap', '--name', 'files', '--session', 'test', '--wait', '0.1'];
  const child: ChildProcessWithoutNullStreams = spawn(node[0], [...node.slice(1), ...words, '--', ...node, server], {
    cwd: folder.path,
    env: host.environment,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const closed = once(child, 'close');
  const waiting = new Map<unknown, (result: unknown) => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, result } = JSON.parse(line) as { readonly id?: number; readonly result?: unknown };
    waiting.get(id)?.(result);
  });
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'agent', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  let id = 0;
  const request = (method: string, params: object): Promise<unknown> => {
    id += 1;
    const answered = new Promise((resolve, reject) => {
      waiting.set(id, resolve);
      void closed.then(() => reject(new Error(said)));
    });
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta } })}\n`);
    return answered;
  };
  await request('tools/list', {});
  return {
    call: (name, input) => request('tools/call', { name, arguments: input }),
    end: async (signal) => {
      if (signal === undefined) child.stdin.end();
      else child.kill(signal);
      await closed;
    },
  };
}

describe.each(['here', 'none'] as const)('with a daemon: %s', (mode) => {
  test('a call that the hook and the proxy see is decided and recorded once, by the proxy', async () => {
    await using world = await createHookWorld(mode);
    const { folder, host, start } = world;
    const logs = join(folder.path, 'own', 'guard', '.holdfast', 'sessions');
    const recordsOf = (name: string) => readLog(join(logs, `${name}.jsonl`)).records;
    const ends = (name: string) => recordsOf(name).filter(({ type }) => type === 'tool-call-end');
    const secret = { path: join(folder.path, '.env') };
    const read = { name: 'mcp__files__read_file', input: secret };
    const proxy = await startProxy(world);
    const governed = join(folder.path, 'own', 'guard', 'governed');
    expect(readdirSync(governed)).toHaveLength(1);
    // The user's words reach the proxies of this client.
    const prompt = 'Read a.txt for ann@example.com.';
    expect(await start('UserPromptSubmit', 'p1', read, { prompt }).answer).toMatchObject({ code: 0 });
    const told = readdirSync(governed).find((file) => file.endsWith('.request'));
    expect(JSON.parse(readFileSync(join(governed, String(told)), 'utf8'))).toEqual({ request: prompt });

    expect(await start('PreToolUse', 't1', read).answer).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(await proxy.call('read_file', secret)).toMatchObject({
      content: [{ text: expect.stringContaining('holds secrets') }],
    });
    expect(await start('PostToolUseFailure', 't1', read, { error: 'Denied.' }).answer).toMatchObject({ code: 0 });
    expect(ends('mcp-test')).toMatchObject([{ name: 'files_read_file', outcome: { kind: 'denied' } }]);
    expect(ends('claude-code-s-1')).toEqual([]);
    expect(recordsOf('claude-code-s-1').filter(({ type }) => type === 'guard-noted')).toMatchObject([
      { callId: 't1', server: 'files', tool: 'read_file', decidedIn: 'mcp-test' },
    ]);

    // A server that no proxy governs, and this one when its proxy has died.
    const other = { ...read, name: 'mcp__other__read_file' };
    for (const call of [other, read]) {
      const { stdout } = await start('PreToolUse', `d-${call.name}`, call).answer;
      expect(stdout.includes('holds secrets'), call.name).toBe(call === other);
    }
    await proxy.end('SIGKILL');
    expect((await start('PreToolUse', 't9', read).answer).stdout).toContain('holds secrets');
    expect(ends('claude-code-s-1')).toHaveLength(2);
    expect(findGoverned('files', { ...host, client: findClient(process.pid) })).toBeUndefined();
  }, 300_000);
});

test('only the proxy of the very client counts, and only while it runs', async () => {
  await using world = await createHookWorld('none');
  const { host, folder } = world;
  const client = findClient(process.pid);
  const proxy = await startProxy(world);
  expect(findGoverned('files', { ...host, client })).toMatchObject({ session: 'mcp-test' });
  expect(findGoverned('file', { ...host, client })).toBeUndefined();
  expect(findGoverned('files', { ...host, client: '1 1' })).toBeUndefined();
  expect(findGoverned('files', host)).toBeUndefined();
  // A hook of another client tells it nothing.
  const session = { record: () => undefined } as never;
  const silent = { before: fail, after: fail, end: fail, prompt: async () => [] } as never;
  await withGoverned(silent, { session, host: { ...host, client: '1 1' } }).prompt('Delete all.');
  expect(readdirSync(join(folder.path, 'own', 'guard', 'governed'))).toHaveLength(1);
  await withGoverned(silent, { session, host: { ...host, client } }).prompt('Read all.');
  expect(readdirSync(join(folder.path, 'own', 'guard', 'governed'))).toHaveLength(2);
  await proxy.end();
  const governed = join(folder.path, 'own', 'guard', 'governed');
  expect(readdirSync(governed)).toEqual([]);
  // A file that cannot be read, or names a process that has another identity, governs nothing.
  const claim = { name: 'files', session: 's', client, proxy: identifyProcess(process.ppid) };
  writeFileSync(join(governed, `${process.pid}.json`), JSON.stringify(claim));
  writeFileSync(join(governed, '2.json'), '{');
  expect(heardRequest(host)).toBeUndefined();
  writeFileSync(join(governed, `${process.pid}.request`), '{"request":"Read a.');
  expect(heardRequest(host)).toBeUndefined();
  writeFileSync(join(governed, `${process.pid}.request`), '{"request":"Read a.txt."}');
  expect(heardRequest(host)).toBe('Read a.txt.');
  expect(findGoverned('files', { ...host, client })).toBeUndefined();
}, 300_000);

test('a client is found behind shells, and a process that is gone has none', async () => {
  const child = spawn('/bin/sh', ['-c', 'read line; true'], { stdio: ['pipe', 'ignore', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'spawn');
  expect(findClient(child.pid)).toBe(identifyProcess(process.pid));
  expect(findClient(process.pid)).toBe(identifyProcess(process.pid));
  expect(existsSync('/proc/4194305')).toBe(false);
  expect(findClient(4_194_305)).toBeUndefined();
});
