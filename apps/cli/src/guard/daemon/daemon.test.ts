import { existsSync, readdirSync, statSync } from 'node:fs';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openJsonlLog, readLog } from '@holdfast/session/jsonl';
import { describe, expect, test, vi } from 'vitest';
import { createFolder } from '../../testing/test-folder.ts';
import {
  bash,
  createHookWorld,
  type HookWorld,
  hookProgram,
  stopDaemon,
  toEvent,
  toHost,
  untilAnnounced,
  untilGone,
} from '../../testing/test-hook.ts';
import { guardFolder } from '../../user/guard-folder.ts';
import { answerHook } from '../hook.ts';
import { askDaemon, askToLeave } from './ask.ts';
import { daemonFolder, readAnnouncement, toSocket } from './place.ts';
import { serveGuard } from './serve.ts';
import { keepFromStarting, startingPath } from './start.ts';

const minute = 60_000;
const silent = { stdout: '', stderr: '', exitCode: 0 };
const denied = { exitCode: 0, stdout: expect.stringContaining('"permissionDecision":"deny"') };

const logOf = ({ host }: HookWorld) => join(guardFolder(host), '.holdfast', 'sessions', 'claude-code-s-1.jsonl');

function endsOf(world: HookWorld): readonly unknown[] {
  const { records, problem } = readLog(logOf(world));
  expect(problem).toBeUndefined();
  return records
    .filter(({ type }) => type === 'tool-call-end')
    .map(({ callId, outcome }) => [callId, (outcome as { kind: string }).kind]);
}

/** Asks the daemon of this process, without a hook. */
function ask({ folder, daemon }: HookWorld, id: string, command: string, event = 'PreToolUse') {
  const text = toEvent(folder.path, event, id, bash(command), { tool_response: 'x' });
  if (daemon === undefined) throw new Error('no daemon');
  return askDaemon(daemon.announcement, { agent: 'claude-code', text, directory: folder.path }, 20_000);
}

describe('one daemon a user', () => {
  test('there is never a second one; when it ends, nothing is left and another can start', async () => {
    await using world = await createHookWorld('here');
    const folder = daemonFolder(world.host);
    expect(await serveGuard(hookProgram, world.host)).toBeUndefined();
    expect(statSync(folder).mode & 0o077).toBe(0);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
    await world.daemon?.end();
    expect(readdirSync(folder)).toEqual([]);
    const next = await serveGuard(hookProgram, world.host);
    expect(next?.announcement.token).not.toBe(world.daemon?.announcement.token);
    await next?.end();
  });

  test.each([0o755, 0o711, 0o770])('guard.failed: daemon_folder: others can use its folder (%o)', async (mode) => {
    await using folder = await createFolder();
    const host = toHost(folder.path);
    await mkdir(daemonFolder(host), { recursive: true });
    await chmod(daemonFolder(host), mode);
    await expect(serveGuard(hookProgram, host)).rejects.toMatchObject({
      code: 'guard.failed',
      reason: 'daemon_folder',
    });
    await writeFile(join(daemonFolder(host), 'daemon.json'), JSON.stringify({ socket: '/s' }));
    expect(readAnnouncement(daemonFolder(host))).toBeUndefined();
  });

  test('guard.failed: daemon_folder: its path is too long for a socket; nothing stays locked', async () => {
    await using folder = await createFolder();
    const host = toHost(join(folder.path, 'x'.repeat(100)));
    await expect(serveGuard(hookProgram, host)).rejects.toMatchObject({
      code: 'guard.failed',
      reason: 'daemon_folder',
    });
    expect(readdirSync(daemonFolder(host))).toEqual([]);
  });

  test('Windows has a pipe that names no user', () => {
    expect(toSocket(String.raw`C:\Users\u`, 'ab12', 'win32')).toBe(String.raw`\\.\pipe\holdfast-guard-ab12`);
    expect(toSocket('/home/u', '0123456789abcdef', 'linux')).toBe('/home/u/s-01234567');
    expect(toSocket('x'.repeat(91), '0123456789abcdef', 'linux')).toBeUndefined();
  });

  test('it has no variable that no decision needs', async () => {
    await using world = await createHookWorld('here');
    expect(Object.keys(world.daemon?.announcement.environment ?? {}).toSorted()).toEqual(['HOLDFAST_HOME', 'HOME']);
  });
});

describe('its sessions', () => {
  test('are in memory, while other processes work on their logs', async () => {
    await using world = await createHookWorld('here');
    expect(await ask(world, 't1', 'ls')).toEqual(silent);
    // As `approve` does.
    openJsonlLog(logOf(world)).store.close();
    expect(await ask(world, 't1', 'ls', 'PostToolUse')).toEqual(silent);
    const text = toEvent(world.folder.path, 'PreToolUse', 't2', bash('ls'));
    const options = { ...world.host, untilMs: Date.now() + minute, pause: (ms: number) => pause(ms) };
    expect(await answerHook({ agent: 'claude-code', text }, options)).toEqual(silent);
    expect(await ask(world, 't2', 'ls', 'PostToolUse')).toEqual(silent);
    expect(await ask(world, 't3', 'cat .env')).toMatchObject(denied);
    expect(endsOf(world)).toEqual([
      ['t1', 'ok'],
      ['t2', 'ok'],
      ['t3', 'denied'],
    ]);
  });

  test('begin anew when their log is gone', async () => {
    await using world = await createHookWorld('here');
    await ask(world, 't1', 'cat .env');
    await rm(logOf(world));
    expect(await ask(world, 't2', 'cat .env')).toMatchObject(denied);
    expect(endsOf(world)).toEqual([['t2', 'denied']]);
  });

  test('a log that was changed denies', async () => {
    await using world = await createHookWorld('here');
    await ask(world, 't1', 'ls');
    await writeFile(logOf(world), '{"seq":0}\n');
    expect(await ask(world, 't2', 'ls')).toMatchObject({ exitCode: 2, stdout: '' });
  });

  test('rules that change hold for the next call', async () => {
    await using world = await createHookWorld('here');
    expect(await ask(world, 't1', 'ls')).toEqual(silent);
    await world.folder.write('holdfast.policy.json', '{ "deny": [{ "runs": "ls" }] }');
    expect(await ask(world, 't2', 'ls')).toMatchObject(denied);
    await world.folder.write('own/holdfast.policy.json', '{ "deny": [{ "runs": "pwd" }] }');
    expect(await ask(world, 't3', 'pwd')).toMatchObject(denied);
    await rm(join(world.folder.path, 'holdfast.policy.json'));
    expect(await ask(world, 't4', 'ls')).toEqual(silent);
    await world.folder.write('own/holdfast.policy.json', '{');
    expect(await ask(world, 't5', 'ls')).toMatchObject(denied);
  });

  test('a call that is asked about twice at once is decided once', async () => {
    await using world = await createHookWorld('here');
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(world, 't1', 'cat .env')));
    for (const answer of answers) expect(answer).toMatchObject(denied);
    expect(endsOf(world)).toEqual([['t1', 'denied']]);
  });
});

describe('it ends', () => {
  test('when it is idle, and first settles the calls that were never reported', async () => {
    await using world = await createHookWorld('here');
    await ask(world, 't1', 'ls');
    await ask(world, 't2', 'ls');
    await ask(world, 't2', 'ls', 'PostToolUse');
    const { daemon } = world;
    const folder = daemonFolder(world.host);
    await daemon?.tick(Date.now() + 20 * minute);
    expect(readAnnouncement(folder)).toBeDefined();
    expect(endsOf(world)).toEqual([['t2', 'ok']]);
    await daemon?.tick(Date.now() + 61 * minute);
    expect(readdirSync(folder)).toEqual([]);
    expect(endsOf(world)).toEqual([
      ['t2', 'ok'],
      ['t1', 'in-doubt'],
    ]);
  });

  test('with nothing to settle, after 15 minutes', async () => {
    await using world = await createHookWorld('here');
    await ask(world, 't1', 'cat .env');
    await world.daemon?.tick(Date.now() + 14 * minute);
    expect(await ask(world, 't2', 'cat .env')).toMatchObject(denied);
    await world.daemon?.tick(Date.now() + 16 * minute);
    expect(await ask(world, 't3', 'cat .env')).toBeUndefined();
  });

  test('when its announcement is gone', async () => {
    await using world = await createHookWorld('here');
    await rm(daemonFolder(world.host), { recursive: true });
    await world.daemon?.tick(Date.now());
    expect(await ask(world, 't1', 'ls')).toBeUndefined();
  });
});

describe('a hook decides by itself', () => {
  const world = async (answer: string | undefined, change: object = {}) => {
    const own = await createHookWorld('none', { '.env': 'KEY=1\n' });
    const folder = daemonFolder(own.host);
    const heard: string[] = [];
    const server = createServer((connection) => {
      connection.setEncoding('utf8').on('data', (text: string) => {
        heard.push(text);
        if (answer !== undefined) connection.end(answer);
      });
      connection.on('error', () => undefined);
    });
    const socket = join(folder, 's-00000000');
    await new Promise<void>((resolve) => server.listen(socket, () => resolve()));
    const { HOME = '', HOLDFAST_HOME = '' } = own.host.environment;
    const announcement = {
      pid: process.pid,
      socket,
      token: 'token',
      proof: 'proof',
      program: hookProgram,
      environment: { HOME, HOLDFAST_HOME },
      ...change,
    };
    await writeFile(join(folder, 'daemon.json'), JSON.stringify(announcement));
    return {
      ...own,
      heard,
      async [Symbol.asyncDispose]() {
        server.close();
        await own[Symbol.asyncDispose]();
      },
    };
  };

  const allow = { proof: 'proof', ...silent };
  test.each<[string, string | undefined]>([
    ['half an answer', JSON.stringify(allow)],
    ['no answer', ''],
    ['text', 'ok\n'],
    ['null', 'null\n'],
    ['an answer without proof', `${JSON.stringify({ ...allow, proof: undefined })}\n`],
    ['an answer of another server', `${JSON.stringify({ ...allow, proof: 'token' })}\n`],
    ['another exit code', `${JSON.stringify({ ...allow, exitCode: 1 })}\n`],
    ['an answer without text', `${JSON.stringify({ ...allow, stdout: null })}\n`],
    ['two answers', `${JSON.stringify(allow)}\n${JSON.stringify(allow)}\n`],
    ['silence', undefined],
  ])('at %s', async (_, answer) => {
    await using own = await world(answer);
    expect(await own.start('PreToolUse', 't1', bash('cat .env')).answer).toMatchObject({
      code: 0,
      stdout: denied.stdout,
    });
    expect(own.heard).toHaveLength(1);
    expect(endsOf(own)).toEqual([['t1', 'denied']]);
  });

  test.each<[string, object]>([
    ['another version', { program: '/elsewhere/guard-hook-main.cjs' }],
    ['other folders of the user', { environment: { HOME: '/elsewhere' } }],
  ])('beside a daemon of %s, which is asked to leave', async (_, change) => {
    await using own = await world(`${JSON.stringify(allow)}\n`, change);
    expect((await own.start('PreToolUse', 't1', bash('cat .env')).answer).stdout).toContain('deny');
    expect(own.heard).toEqual(['{"token":"token","leave":true}\n']);
  });

  test.each([
    '{',
    '[]',
    'null',
    '{"pid":1}',
    '{"pid":"1","socket":"s","token":"t","proof":"p","program":"q","environment":{}}',
  ])('beside the announcement %s', async (text) => {
    await using own = await createHookWorld('none', { '.env': 'KEY=1\n' });
    await writeFile(join(daemonFolder(own.host), 'daemon.json'), text);
    expect((await own.start('PreToolUse', 't1', bash('cat .env')).answer).stdout).toContain('deny');
  });
});

describe('a daemon', () => {
  const connectTo = ({ daemon }: HookWorld, line: string) => {
    if (daemon === undefined) throw new Error('no daemon');
    const { announcement } = daemon;
    // Its own question follows, and must find no one.
    return askDaemon({ ...announcement, token: line }, { agent: 'codex', text: '{}', directory: '/' }, 20_000);
  };

  test.each(['', 'x', '0'.repeat(32)])('answers nobody with the token %j', async (token) => {
    await using world = await createHookWorld('here');
    expect(await connectTo(world, token)).toBeUndefined();
    expect(await ask(world, 't1', 'ls')).toEqual(silent);
  });

  test('leaves its place to other hooks when its own are quiet', async () => {
    await using world = await createHookWorld('here');
    const { announcement } = world.daemon ?? {};
    if (announcement === undefined) throw new Error('no daemon');
    await ask(world, 't1', 'ls');
    expect(await askToLeave(announcement)).toBe(true);
    expect(await ask(world, 't2', 'ls')).toEqual(silent);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * minute });
    try {
      const ended = untilGone(world.host);
      expect(await askToLeave(announcement)).toBe(true);
      await ended;
    } finally {
      vi.useRealTimers();
    }
    expect(await askToLeave(announcement)).toBe(false);
  });

  test('is started by the first hook, answers the next, and when it is killed another one follows', async () => {
    await using world = await createHookWorld('own');
    const call = async (id: string) => {
      expect((await world.start('PreToolUse', id, bash('cat .env')).answer).stdout).toContain('deny');
    };
    await call('t1');
    const first = await untilAnnounced(world.host);
    await call('t2');
    await stopDaemon(first, 'SIGKILL');
    await call('t3');
    await untilAnnounced(world.host, first);
    // Nobody else starts one from here on: the hook asks this one.
    keepFromStarting(world.host);
    await call('t4');
    expect(existsSync(startingPath(daemonFolder(world.host)))).toBe(true);
    expect(endsOf(world)).toHaveLength(4);
  });
});
