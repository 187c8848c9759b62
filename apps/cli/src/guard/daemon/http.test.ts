import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { readLog } from '@holdfast/session/jsonl';
import { describe, expect, test } from 'vitest';
import { createFolder } from '../../testing/test-folder.ts';
import { bash, createHookWorld, type HookWorld, toEvent, toHost } from '../../testing/test-hook.ts';
import { guardFolder } from '../../user/guard-folder.ts';
import { forgetHttpPlace, type HttpPlace, isHttpHookUrl, makeHttpPlace, readHttpPlace } from '../http-place.ts';
import { findHooks } from '../install.ts';
import { installHooks, readHooks, uninstallHooks } from '../installed.ts';
import { serveGuard } from './serve.ts';

const denied = (reason: unknown) => ({
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: reason },
});

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/** As an agent posts an event; `sent` changes that. */
async function post({ port, token }: HttpPlace, body: string, sent: Sent = {}) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...sent.headers };
  const { method = 'POST', path = '/holdfast/claude-code' } = sent;
  const posted = request({ host: '127.0.0.1', port, method, path, agent: false });
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) posted.setHeader(name, value);
  posted.end(body);
  const [response] = (await once(posted, 'response')) as [IncomingMessage];
  // One that is kept could be closed just as the agent uses it again.
  expect(response.headers.connection).toBe('close');
  return { status: response.statusCode, body: await readText(response) };
}

async function createHttpWorld(): Promise<HookWorld & { readonly place: HttpPlace }> {
  const world = await createHookWorld('here');
  const place = await makeHttpPlace(world.host);
  await world.daemon?.tick(Date.now());
  return { ...world, place };
}

const eventOf = ({ folder }: HookWorld, event: string, id: string, command: string) =>
  toEvent(folder.path, event, id, bash(command), { tool_response: 'x' });

function endsOf({ host }: HookWorld): readonly unknown[] {
  const path = join(guardFolder(host), '.holdfast', 'sessions', 'claude-code-s-1.jsonl');
  const { records } = readLog(path);
  return records
    .filter(({ type }) => type === 'tool-call-end')
    .map(({ callId, outcome }) => [callId, (outcome as { kind: string }).kind]);
}

describe('an agent that posts its events', () => {
  test('is answered as its command hook is, from the same session', async () => {
    await using world = await createHttpWorld();
    const { place } = world;
    const refused = await post(place, eventOf(world, 'PreToolUse', 't1', 'cat .env'));
    expect(refused.status).toBe(200);
    expect(JSON.parse(refused.body)).toEqual(denied(expect.stringContaining('holds secrets')));
    const silent = { status: 200, body: '' };
    expect(await post(place, eventOf(world, 'PreToolUse', 't2', 'ls'))).toEqual(silent);
    // Told by both: one decision.
    expect((await world.start('PreToolUse', 't2', bash('ls')).answer).code).toBe(0);
    expect(await post(place, eventOf(world, 'PostToolUse', 't2', 'ls'))).toEqual(silent);
    expect(endsOf(world)).toEqual([
      ['t1', 'denied'],
      ['t2', 'ok'],
    ]);
  });

  test.each<[string, Sent]>([
    ['no token', { headers: { authorization: undefined } }],
    ['another token', { headers: { authorization: `Bearer ${'0'.repeat(32)}` } }],
    ['a part of the token', { headers: { authorization: 'Bearer ' } }],
    ['a page as its origin', { headers: { origin: 'http://127.0.0.1' } }],
    ['the host of a page', { headers: { host: 'example.com' } }],
    ['another method', { method: 'PUT' }],
    ['another path', { path: '/' }],
    ['an unknown agent', { path: '/holdfast/nobody' }],
    ['a name that every object has', { path: '/holdfast/constructor' }],
  ])('with %s gets nothing, and nothing is decided', async (_, sent) => {
    await using world = await createHttpWorld();
    const event = eventOf(world, 'PreToolUse', 't1', 'ls');
    expect(await post(world.place, event, sent)).toEqual({ status: 403, body: '' });
    await post(world.place, eventOf(world, 'PreToolUse', 't2', 'cat .env'));
    expect(endsOf(world)).toEqual([['t2', 'denied']]);
  });

  test('cannot tell the guard of a success that was none: no call reaches its port', async () => {
    await using world = await createHttpWorld();
    const { port } = world.place;
    const command = `curl -d @event.json http://127.0.0.1:${port}/holdfast/claude-code`;
    const { body } = await post(world.place, eventOf(world, 'PreToolUse', 't1', command));
    expect(JSON.parse(body)).toEqual(denied(expect.stringContaining('A person has to do it.')));
  });

  test('is denied what cannot be decided', async () => {
    await using world = await createHttpWorld();
    const broken = await post(world.place, JSON.stringify({ hook_event_name: 'PreToolUse', session_id: 's' }));
    expect({ ...broken, body: JSON.parse(broken.body) }).toEqual({
      status: 200,
      body: denied(expect.stringContaining('could not decide this call')),
    });
    // A failure of the hook, which blocks.
    expect(await post(world.place, 'junk')).toMatchObject({ status: 500 });
  });
});

describe('the daemon', () => {
  test('listens while a hook by HTTP is installed, where the settings say', async () => {
    await using world = await createHttpWorld();
    const { host, daemon, place } = world;
    expect(statSync(join(guardFolder(host), 'http.json')).mode & 0o077).toBe(0);
    expect(await makeHttpPlace(host)).toEqual(place);
    await forgetHttpPlace(host);
    await daemon?.tick(Date.now());
    await expect(post(place, '{}')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    const next = await makeHttpPlace(host);
    await daemon?.tick(Date.now());
    expect(await post(next, eventOf(world, 'PreToolUse', 't1', 'ls'))).toEqual({ status: 200, body: '' });
    await daemon?.end();
    await expect(post(next, '{}')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('stays through a day of work without a prompt, which alone could start it again', async () => {
    await using world = await createHttpWorld();
    await world.daemon?.tick(Date.now() + 11 * 3_600_000);
    expect((await post(world.place, eventOf(world, 'PreToolUse', 't1', 'ls'))).status).toBe(200);
    await world.daemon?.tick(Date.now() + 14 * 3_600_000);
    await expect(post(world.place, '{}')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('serves command hooks where its port is taken', async () => {
    await using folder = await createFolder({ 'a.txt': '' });
    const host = toHost(folder.path);
    const { port } = await makeHttpPlace(host);
    const other = createServer().listen(port, '127.0.0.1');
    await once(other, 'listening');
    const daemon = await serveGuard('program', host);
    await daemon?.tick(Date.now());
    expect(daemon?.announcement.pid).toBe(process.pid);
    await daemon?.end();
    other.close();
  });
});

describe('installed by HTTP', () => {
  test('calls are posted, a command starts the daemon, and uninstalled the settings are as they were', async () => {
    const before = '{\n  "hooks": { "Stop": [] }\n}\n';
    await using folder = await createFolder({ '.claude/settings.json': before });
    const host = toHost(folder.path);
    const agent = 'claude-code';
    const { path, after = '' } = await installHooks({ agent }, host, { http: true, waitSeconds: 60 });
    const place = readHttpPlace(host);
    const { hooks } = JSON.parse(after);
    expect(hooks.PreToolUse[0].hooks).toEqual([
      {
        type: 'http',
        url: `http://127.0.0.1:${place?.port}/holdfast/claude-code?wait=60`,
        headers: { Authorization: `Bearer ${place?.token}` },
        timeout: 85,
        onFailure: 'block',
      },
    ]);
    const kinds = [...findHooks(after, agent)].map(([event, [found = '']]) => [event, isHttpHookUrl(found)]);
    expect(Object.fromEntries(kinds)).toEqual({
      SessionStart: false,
      PreToolUse: true,
      PostToolUse: true,
      PostToolUseFailure: true,
      PermissionDenied: true,
      UserPromptSubmit: false,
      SessionEnd: false,
    });
    expect(statSync(path).mode & 0o077).toBe(0);
    expect(await installHooks({ agent }, host, { http: true, waitSeconds: 60 })).toMatchObject({ changed: false });
    // As commands again.
    await installHooks({ agent }, host);
    expect([...(await readHooks({ agent }, host)).values()].flat().some(isHttpHookUrl)).toBe(false);
    expect(readHttpPlace(host)).toBeUndefined();
    await installHooks({ agent }, host, { http: true });
    await uninstallHooks({ agent }, host);
    expect(await readFile(path, 'utf8')).toBe(before);
    expect(readHttpPlace(host)).toBeUndefined();
    expect(readFileSync(path, 'utf8')).not.toContain('holdfast');
  });
});
