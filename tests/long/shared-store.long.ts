import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PostgresServer } from '../databases/postgres-server.ts';

// Three machines, each a home of its own and processes of its own: agents on two of them, a person at a terminal on the third.

const program = (name: string): string => fileURLToPath(new URL(`../../apps/cli/src/${name}`, import.meta.url));
const node = ['--conditions=holdfast-source', '--disable-warning=ExperimentalWarning'];
const root = mkdtempSync(join(tmpdir(), 'holdfast-shared-'));
const work = join(root, 'work');
let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
  mkdirSync(join(work, 'plugins'), { recursive: true });
  const tool = `export const METADATA = { name: 'ship', function: 'ship', description: 'Ships.', dangerous: true, effects: 'external',
  parameters: { type: 'object', properties: {} } };
export async function ship() { return 'Shipped.'; }
`;
  writeFileSync(join(work, 'plugins', 'ship.js'), tool);
}, 120_000);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(root, { recursive: true, force: true });
});

interface Said {
  readonly code: number | null;
  readonly stdout: string;
  readonly text: string;
}

class Machine {
  readonly home: string;

  constructor(name: string, store: string) {
    this.home = join(root, `${name}-${Math.random().toString(36).slice(2)}`);
    const daemon = join(this.home, 'own', 'guard', 'daemon');
    mkdirSync(daemon, { recursive: true });
    // Hooks think that another one is starting a daemon, and decide by themselves.
    writeFileSync(join(daemon, 'starting'), '');
    utimesSync(join(daemon, 'starting'), Date.now() / 1000 + 86_400, Date.now() / 1000 + 86_400);
    writeFileSync(join(this.home, 'own', 'holdfast.policy.json'), JSON.stringify({ store }));
  }

  start(command: string, words: readonly string[]): ChildProcess {
    const env = { ...process.env, HOME: this.home, HOLDFAST_HOME: join(this.home, 'own') };
    return spawn(command, words, { cwd: work, env });
  }

  /** A hook of an agent: `''` lets the call through. */
  async hook(event: string, id: string, command: string, more: object = {}): Promise<string> {
    // More than the eight seconds that a busy machine may need; what asks is not held open.
    const wait = command === 'ls' ? ['--wait=60'] : [];
    const child = this.start(process.execPath, [...node, program('guard-hook-main.ts'), 'claude-code', ...wait]);
    const base = { session_id: 's-1', cwd: work, permission_mode: 'bypassPermissions', hook_event_name: event };
    const tool = { tool_name: 'Bash', tool_input: { command }, tool_use_id: id };
    child.stdin?.end(JSON.stringify({ ...base, ...tool, ...more }));
    return (await listen(child)).text;
  }

  async holdfast(...words: readonly string[]): Promise<Said> {
    return listen(this.start(process.execPath, [...node, program('main.ts'), ...words]));
  }

  /** As a person types it, who says yes. */
  async type(...words: readonly string[]): Promise<Said> {
    const line = [process.execPath, ...node, program('main.ts'), ...words].map((word) => `'${word}'`).join(' ');
    const child = this.start('script', ['-qec', line, '/dev/null']);
    child.stdin?.on('error', () => undefined);
    child.stdout?.on('data', (chunk) => String(chunk).includes('as shown above?') && child.stdin?.write('y'));
    return listen(child);
  }

  /** An MCP client that calls one tool, and its server. */
  async call(session: string, tool: string): Promise<string> {
    const child = this.start(process.execPath, [...node, program('main.ts'), 'serve', '--mcp', '--session', session]);
    const send = (message: object): void =>
      void child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const client = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    send({ id: 1, method: 'initialize', params: client });
    let result = '';
    if (child.stdout === null) throw new Error('No output.');
    for await (const text of createInterface(child.stdout)) {
      const { id, ...answer } = JSON.parse(text) as { readonly id?: number };
      if (id === 1) {
        send({ method: 'notifications/initialized' });
        send({ id: 2, method: 'tools/call', params: { name: tool, arguments: {} } });
      }
      if (id !== 2) continue;
      result = JSON.stringify(answer);
      child.stdin?.end();
    }
    return result;
  }
}

async function listen(child: ChildProcess): Promise<Said> {
  let [text, stdout] = ['', ''];
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (stream === child.stdout) stdout += chunk;
    });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, text, stdout };
}

type Kind = 'PostgreSQL' | 'SQLite';

async function newStore(kind: Kind): Promise<string> {
  if (kind === 'SQLite') return join(mkdtempSync(join(root, 'store-')), 'sessions.db');
  const { host, database, user } = server.settings(await server.newDatabase());
  return `postgres://${user}@/${database}?host=${encodeURIComponent(host)}`;
}

async function newMachines(kind: Kind): Promise<{ first: Machine; second: Machine; person: Machine }> {
  const store = await newStore(kind);
  const [first, second, person] = ['first', 'second', 'person'].map((name) => new Machine(name, store));
  if (!first || !second || !person) throw new Error('Three machines.');
  return { first, second, person };
}

const kinds = ['PostgreSQL', 'SQLite'] as const;

test.each(kinds)('guards on two machines, one session, and an answer from a third: %s', async (kind) => {
  const { first, second, person } = await newMachines(kind);
  const install = 'npm install left-pad';
  expect(await first.hook('PreToolUse', 't1', install)).toContain('A person has to approve this');
  expect(await second.hook('PreToolUse', 't2', install)).toContain('A person has to approve this');
  const pending = await person.holdfast('pending', '--guard', '--json');
  expect(JSON.parse(pending.stdout)).toMatchObject([{ session: 'claude-code-s-1', calls: [{ callId: 't1' }] }]);
  expect(await person.holdfast('approve', 'claude-code-s-1', 't1')).toMatchObject({ code: 2 });
  const approved = await person.type('approve', 'claude-code-s-1', 't1');
  expect(approved).toMatchObject({ code: 0, text: expect.stringContaining('Approved') });
  expect(await second.hook('PreToolUse', 't3', install)).toBe('');
  // One yes is for one call.
  expect(await first.hook('PreToolUse', 't4', install)).toContain('A person has to approve this');
  const ids = ['a', 'b', 'c', 'd'];
  const at = (index: number): Machine => (index % 2 === 0 ? first : second);
  expect(await Promise.all(ids.map((id, index) => at(index).hook('PreToolUse', id, 'ls')))).toEqual(['', '', '', '']);
  const reports = ids.map((id, index) =>
    at(index + 1).hook('PostToolUse', id, 'ls', { tool_response: { stdout: '' } }),
  );
  await Promise.all(reports);
  expect(await person.holdfast('verify', 'claude-code-s-1')).toMatchObject({ code: 0 });
  const shown = await person.holdfast('show', 'claude-code-s-1', '--json');
  const records = shown.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const ended = records.filter(({ type }) => type === 'tool-call-end').map(({ callId }) => callId);
  expect(ended.filter((id) => ids.includes(String(id))).toSorted()).toEqual(ids);
});

test.each(kinds)('MCP servers on two machines, one session, and an answer from a third: %s', async (kind) => {
  const { first, second, person } = await newMachines(kind);
  for (const machine of [first, second]) await machine.holdfast('trust');
  expect(await first.call('work', 'ship')).not.toContain('Shipped.');
  const pending = await person.holdfast('pending', '--guard', '--json');
  const [{ calls } = { calls: [] }] = JSON.parse(pending.stdout) as [{ calls: { callId: string }[] }?];
  expect(calls).toHaveLength(1);
  const approved = await person.type('approve', 'work', calls[0]?.callId ?? '');
  expect(approved).toMatchObject({ code: 0, text: expect.stringContaining('Approved') });
  expect(await second.call('work', 'ship')).toContain('Shipped.');
  expect(await first.call('work', 'ship')).not.toContain('Shipped.');
  expect(await person.holdfast('verify', 'work')).toMatchObject({ code: 0 });
});

test('the database ends: calls are denied and nothing takes its place; it is back: the session goes on', async () => {
  const { first, person } = await newMachines('PostgreSQL');
  await first.holdfast('trust');
  expect(await first.hook('PreToolUse', 't1', 'ls')).toBe('');
  await server.stop('crash');
  expect(await first.hook('PreToolUse', 't2', 'ls')).toContain('The database cannot be reached');
  expect(await first.call('work', 'ship')).toContain('The database cannot be reached');
  expect(await person.holdfast('pending', '--guard')).toMatchObject({ text: expect.stringContaining('log.database') });
  await server.resume();
  expect(await first.hook('PreToolUse', 't3', 'ls')).toBe('');
  expect(await person.holdfast('verify', 'claude-code-s-1')).toMatchObject({ code: 0 });
});
