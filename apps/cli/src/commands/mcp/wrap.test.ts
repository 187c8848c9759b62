import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineTool, type Tool } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { type Elicit, keepOpen, listenMcp, type McpTools, mcpTools, serveMcp } from '@holdfast/mcp';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession } from '@holdfast/session';
import { readLog } from '@holdfast/session/jsonl';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createFolder } from '../../testing/test-folder.ts';
import { createTestHost } from '../../testing/test-host.ts';
import { runHere } from '../../testing/test-program.ts';
import { findIssues, readSchema } from '../../testing/test-schemas.ts';
import { answerCalls } from '../answer/answer-calls.ts';

const program = fileURLToPath(new URL('../../main.ts', import.meta.url));
const server = fileURLToPath(new URL('../../../../../packages/mcp/src/test-stdio-server.ts', import.meta.url));
const node = [process.execPath, '--conditions=holdfast-source'] as const;

// The processes start from bundled sources, as those of all tests do.
const { NODE_COMPILE_CACHE = '', NODE_OPTIONS = '' } = process.env;
const bundled = { NODE_COMPILE_CACHE, NODE_OPTIONS };

const inputSchema = jsonSchema<{ path: string }>({
  type: 'object',
  properties: { path: { type: 'string' } },
  required: ['path'],
});

interface World {
  readonly path: string;
  readonly environment: Record<string, string>;
  readonly log: string;
  /** The events of the server: `started PID`, `call NAME PID`, `ended PID`. */
  notes(): readonly string[];
  words(...flags: readonly string[]): readonly string[];
}

/** Of any world: paths in the project are relative to it. */
let lock: string | undefined;

async function createWorld(): Promise<World> {
  const world = await createUnpinned();
  const { path, environment } = world;
  if (lock === undefined) {
    const argv = ['mcp', 'pin', '--accept', ...world.words().slice(world.words().indexOf('wrap') + 3)];
    const pinned = await runHere(argv, { directory: path, environment, terminals: ['stdin'] });
    expect(pinned).toMatchObject({ exitCode: 0 });
    lock = readFileSync(join(path, 'holdfast.lock'), 'utf8');
  } else writeFileSync(join(path, 'holdfast.lock'), lock);
  return world;
}

async function createUnpinned(): Promise<World> {
  const folder = await createFolder({ '.env': 'KEY=CANARY-7431\n', 'a.txt': 'hi\n', '.git/HEAD': '' });
  onTestFinished(() => folder[Symbol.asyncDispose]());
  const { path } = folder;
  const notes = join(path, 'notes.txt');
  const home = join(path, 'own');
  const log = join(home, 'guard', '.holdfast', 'sessions', 'mcp-test.jsonl');
  return {
    path,
    log,
    environment: { HOME: path, HOLDFAST_HOME: home, HOLDFAST_TEST: 'given' },
    notes: () => (existsSync(notes) ? readFileSync(notes, 'utf8').split('\n') : []),
    words: (...flags) => [
      program,
      'mcp',
      'wrap',
      '--session',
      'test',
      '--env',
      'HOLDFAST_TEST',
      '--env',
      'NODE_COMPILE_CACHE',
      '--env',
      'NODE_OPTIONS',
      ...flags,
      '--',
      ...node,
      server,
      notes,
    ],
  };
}

async function connect(
  { path, environment, words }: World,
  { flags = [], elicit, era = 'legacy' }: { flags?: readonly string[]; elicit?: Elicit; era?: 'legacy' | 'auto' } = {},
): Promise<McpTools> {
  const imported = await mcpTools({
    name: 'test',
    command: node[0],
    args: [...node.slice(1), ...words(...flags)],
    cwd: path,
    env: { ...environment, ...bundled },
    stderr: 'ignore',
    era,
    dangerous: false,
    ...(elicit === undefined ? {} : { elicit }),
  });
  onTestFinished(() => imported.close());
  return imported;
}

function call(imported: McpTools, name: string, input: object = {}) {
  const tools: readonly Tool[] = imported.tools;
  return executeToolCall({ name: `test_${name}`, arguments: input }, { tools, session: createSession() });
}

async function answer({ path, environment }: World, type: 'approve' | 'deny', callId: string): Promise<void> {
  const { host } = createTestHost({ directory: path, environment, terminals: ['stdin', 'stdout'] });
  const options = { id: 'mcp-test', calls: [callId], by: 'anna', digest: undefined, workspace: '.', json: true };
  expect(await answerCalls({ ...options, answer: { type } }, host)).toBe(0);
}

const waitingCall = async ({ log }: World): Promise<string> => {
  let found: string | undefined;
  await vi.waitFor(
    () => {
      const { records } = readLog(log);
      const [asked] = records.filter(({ type }) => type === 'approval-request');
      found = (asked?.['pending'] as { callId?: string } | undefined)?.callId;
      expect(found).toBeDefined();
    },
    { timeout: 20_000, interval: 100 },
  );
  return found ?? '';
};

const pidsOf = (world: World): readonly number[] =>
  world.notes().flatMap((line) => (line.startsWith('started') ? [Number(line.split(' ')[1])] : []));

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('a wrapped server', { timeout: 240_000 }, () => {
  test.each(['legacy', 'auto'] as const)(
    'has its own names, and its calls are judged and recorded (%s)',
    async (era) => {
      const world = await createWorld();
      const imported = await connect(world, { era });
      expect(imported.server.info.name).toBe('test-stdio-server');
      expect(imported.tools.map(({ name }) => name)).toEqual([
        'test_echo',
        'test_environment',
        'test_die',
        'test_read_file',
      ]);
      expect(existsSync(world.log)).toBe(false);
      expect(await call(imported, 'read_file', { path: 'a.txt' })).toMatchObject({
        kind: 'ok',
        text: '{"path":"a.txt"}',
      });
      const denied = await call(imported, 'read_file', { path: join(world.path, '.env') });
      expect(denied).toMatchObject({ kind: 'failed', text: expect.stringContaining('holds secrets') });
      expect(world.notes().filter((line) => line.startsWith('call'))).toHaveLength(1);
      const ends = readLog(world.log).records.filter(({ type }) => type === 'tool-call-end');
      expect(ends.map(({ name }) => name)).toEqual(['server_read_file', 'server_read_file']);
    },
  );

  test('reaches a server at an address, with the headers that it needs', async () => {
    const world = await createWorld();
    const greet = defineTool({ name: 'read_file', description: 'Reads.', inputSchema, execute: ({ path }) => path });
    const serving = serveMcp({ tools: [greet] }, { sessions: keepOpen(createSession()) });
    const { url, close } = await listenMcp(serving, { tokens: new Map([['CANARY-7431', 'test']]) });
    onTestFinished(close);
    const place = ['--user', '--header', 'Authorization', '--url', url];
    const environment = { ...world.environment, Authorization: 'Bearer CANARY-7431' };
    const pinning = { directory: world.path, environment, terminals: ['stdin'] as const };
    expect(await runHere(['mcp', 'pin', '--accept', ...place], pinning)).toMatchObject({ exitCode: 0 });
    expect(readFileSync(join(world.path, 'own', 'holdfast.lock'), 'utf8')).not.toContain('CANARY');
    const words = ['mcp', 'wrap', '--session', 'test', ...place];
    const imported = await connect({ ...world, environment, words: () => [program, ...words] });
    expect(await call(imported, 'read_file', { path: 'a.txt' })).toMatchObject({ kind: 'ok', text: '"a.txt"' });
    const denied = await call(imported, 'read_file', { path: join(world.path, '.env') });
    expect(denied).toMatchObject({ kind: 'failed', text: expect.stringContaining('holds secrets') });
    expect(readFileSync(world.log, 'utf8')).not.toContain('CANARY');
  });

  test('asks the user of a client that can ask', async () => {
    const world = await createWorld();
    const asked: string[] = [];
    const elicit: Elicit = ({ message }) => {
      asked.push(message);
      return { action: 'accept', content: { approve: true } };
    };
    const imported = await connect(world, { elicit });
    expect(await call(imported, 'environment')).toMatchObject({ kind: 'ok', text: 'given' });
    expect(asked).toEqual([expect.stringContaining('server_environment')]);
  });

  test('waits for a person in another process where its client cannot ask', async () => {
    const world = await createWorld();
    const imported = await connect(world, { flags: ['--wait', '40'] });
    const calling = call(imported, 'echo', { text: 'a' });
    await answer(world, 'approve', await waitingCall(world));
    expect(await calling).toMatchObject({ kind: 'ok', text: '{"text":"a"}' });
  });

  test('refuses after the wait, and runs the call when it is made again after a yes', async () => {
    const world = await createWorld();
    const imported = await connect(world, { flags: ['--wait', '0.1'] });
    const refused = await call(imported, 'echo', { text: 'a' });
    expect(refused).toMatchObject({ kind: 'failed', text: expect.stringContaining('a person has to approve') });
    const callId = await waitingCall(world);
    await vi.waitFor(() => answer(world, 'approve', callId), { timeout: 10_000, interval: 300 });
    expect(await call(imported, 'echo', { text: 'b' })).toMatchObject({ kind: 'failed' });
    expect(await call(imported, 'echo', { text: 'a' })).toMatchObject({ kind: 'ok', text: '{"text":"a"}' });
  });

  test('a call whose server ends in it is in doubt, and the next one starts the server again', async () => {
    const world = await createWorld();
    const elicit: Elicit = () => ({ action: 'accept', content: { approve: true } });
    const imported = await connect(world, { elicit });
    const doubt = await call(imported, 'die');
    expect(doubt).toMatchObject({ kind: 'failed', text: expect.stringContaining('It is not known whether') });
    expect(await call(imported, 'read_file', { path: 'a.txt' })).toMatchObject({ kind: 'ok' });
  });

  test('a server that was never looked at is not started: it offers nothing and says what a person can do', async () => {
    const world = await createUnpinned();
    const { path, environment, log, notes } = world;
    const imported = await connect(world);
    expect(imported.tools).toEqual([]);
    expect(imported.server.instructions).toContain('run `holdfast lock --accept mcp:server`');
    const child = start(world);
    const { client } = talk(child);
    expect(await client('tools/call', { name: 'read_file', arguments: { path: 'a.txt' } })).toMatchObject({
      result: { isError: true, _meta: { 'holdfast/outcome': { kind: 'denied', code: 'mcp.unpinned' } } },
    });
    const ends = readLog(log).records.filter(({ type }) => type === 'tool-call-end');
    expect(ends).toMatchObject([{ name: 'server_read_file', outcome: { kind: 'denied', code: 'mcp.unpinned' } }]);
    expect(notes()).toEqual([]);

    // The server that the client would have started is shown to a person, and started from then on.
    const run = (...flags: readonly string[]) =>
      runHere(['lock', '--accept', 'mcp:server', ...flags], {
        directory: path,
        environment: { ...environment, NO_COLOR: '1' },
        terminals: ['stdin'],
      });
    const looked = await run('--check', '--json');
    expect(looked.exitCode).toBe(1);
    const printed = JSON.parse(looked.stdout) as object;
    expect(findIssues(await readSchema('lock'), printed)).toEqual([]);
    expect(printed).toMatchObject({ servers: [{ name: 'server', state: 'new' }], written: false, found: false });
    expect(await run()).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(
        /^new {6}mcp:server\n[\s\S]+"name": "read_file"[\s\S]+1 named server: 0 as before, 1 new\n$/,
      ),
    });
    expect(await run('--check')).toMatchObject({ exitCode: 0 });
    expect((await connect(world)).tools.map(({ name }) => name)).toContain('test_read_file');
    // A client that was told no hears of it.
    const wait = { timeout: 60_000, interval: 100 };
    await vi.waitFor(() => expect(imported.tools.map(({ name }) => name)).toContain('test_read_file'), wait);
    expect(await call(imported, 'read_file', { path: 'a.txt' })).toMatchObject({ kind: 'ok' });
  });

  test.each([
    { what: 'with another variable', from: '"HOLDFAST_TEST"', to: '"HOLDFAST_OTHER"' },
    { what: 'by another command', from: '"--conditions=holdfast-source"', to: '"--conditions=other"' },
  ])('a server that would be started $what than it was pinned is held back', async ({ from, to }) => {
    const world = await createWorld();
    const { path, notes } = world;
    const before = notes().length;
    writeFileSync(join(path, 'holdfast.lock'), lock?.replace(from, to) ?? '');
    const child = start(world);
    const { client } = talk(child);
    expect(await client('tools/call', { name: 'read_file', arguments: {} })).toMatchObject({
      result: { isError: true, _meta: { 'holdfast/outcome': { kind: 'denied', code: 'mcp.changed' } } },
    });
    expect(notes()).toHaveLength(before);
  });

  test('a tool that a person has seen otherwise leaves the list', async () => {
    const world = await createWorld();
    writeFileSync(join(world.path, 'holdfast.lock'), lock?.replace('"name": "read_file"', '"name": "other"') ?? '');
    const imported = await connect(world);
    expect(imported.tools.map(({ name }) => name)).toEqual(['test_echo', 'test_environment', 'test_die']);
  });

  test('ends with its client, and its server with it', async () => {
    const world = await createWorld();
    const child = start(world);
    const { client } = talk(child);
    await client('server/discover', {});
    expect(pidsOf(world).filter(isAlive)).not.toEqual([]);
    child.stdin.end();
    const [code] = await once(child, 'close');
    expect(code).toBe(0);
    expect(pidsOf(world).filter(isAlive)).toEqual([]);
  });

  test('says on stderr why its server does not start', async () => {
    const { path, environment } = await createWorld();
    const env = { ...process.env, ...environment };
    const file = JSON.parse(lock ?? '') as { mcp: { server: object & { file?: unknown } } };
    const { file: _script, ...server } = file.mcp.server;
    const pin = { ...server, command: '/no/such/program', args: [], environment: [] };
    writeFileSync(join(path, 'holdfast.lock'), JSON.stringify({ ...file, mcp: { server: pin } }));
    const child = spawn(node[0], [...node.slice(1), program, 'mcp', 'wrap', '--', '/no/such/program'], {
      cwd: path,
      env,
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    expect(await talk(child).client('tools/list', {})).toMatchObject({ error: { code: -32_603 } });
    child.stdin.end();
    await once(child, 'close');
    expect(said).toContain('mcp.unreachable');
  });

  test('a question outlives the death of the proxy: another one goes on from the log', async () => {
    const world = await createWorld();
    const params = { name: 'echo', arguments: { text: 'a' } };
    const first = start(world);
    const asked = await talk(first).client('tools/call', params);
    expect(asked).toMatchObject({ result: { resultType: 'input_required' } });
    first.kill('SIGKILL');
    await once(first, 'close');

    const second = start(world);
    const { client } = talk(second);
    const { requestState } = asked['result'] as Record<string, unknown>;
    const inputResponses = { approval: { action: 'accept', content: { approve: true } } };
    const retry = { ...params, requestState, inputResponses };
    expect(await client('tools/call', retry)).toMatchObject({ result: { content: [{ text: '{"text":"a"}' }] } });
    expect(await client('tools/call', retry)).toMatchObject({ error: { code: -32_602 } });
    expect(world.notes().filter((line) => line.startsWith('call'))).toHaveLength(1);
    second.stdin.end();
    await once(second, 'close');
  });
});

function start({ path, environment, words }: World): ChildProcessWithoutNullStreams {
  const env = { ...process.env, ...environment };
  const child = spawn(node[0], [...node.slice(1), ...words()], { cwd: path, env });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** A client of 2026, by hand. */
function talk({ stdin, stdout }: ChildProcessWithoutNullStreams): {
  client(method: string, params: object): Promise<Record<string, unknown>>;
} {
  let rest = '';
  let id = 0;
  const waiting = new Map<unknown, (message: Record<string, unknown>) => void>();
  stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const message = JSON.parse(line) as Record<string, unknown>;
      waiting.get(message['id'])?.(message);
    }
  });
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'hand', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
  };
  return {
    client(method, params) {
      id += 1;
      const sent = { jsonrpc: '2.0', id, method, params: { ...params, _meta } };
      const answered = new Promise<Record<string, unknown>>((resolve) => waiting.set(sent.id, resolve));
      stdin.write(`${JSON.stringify(sent)}\n`);
      return answered;
    },
  };
}
