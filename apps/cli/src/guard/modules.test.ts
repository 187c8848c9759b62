import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createFolder, type TestFolder } from '../testing/test-folder.ts';
import { editSettings, installations } from './install.ts';
import { installHooks, readHooks, uninstallHooks } from './installed.ts';

const hostOf = (folder: TestFolder) => ({
  environment: { HOME: folder.path, HOLDFAST_HOME: join(folder.path, 'own') },
  directory: folder.path,
});

describe.each([
  ['opencode', '.config/opencode/plugin/holdfast.js', '.opencode/plugin/holdfast.js'],
  ['pi', '.pi/agent/extensions/holdfast.js', '.pi/extensions/holdfast.js'],
])('%s', (agent, file, inProject) => {
  test('installed twice and uninstalled, nothing is left', async () => {
    await using folder = await createFolder({ 'project/a.txt': '' });
    const host = hostOf(folder);
    for (const place of [{ agent }, { agent, project: join(folder.path, 'project') }]) {
      const path = join(folder.path, place.project === undefined ? file : `project/${inProject}`);
      expect(await installHooks(place, host)).toMatchObject({ path, changed: true, others: [] });
      expect([...(await readHooks(place, host)).keys()]).toEqual(installations[agent]?.events);
      expect(await installHooks(place, host)).toMatchObject({ changed: false });
      expect(await uninstallHooks(place, host)).toMatchObject({ changed: true, after: undefined });
      await expect(readFile(path)).rejects.toMatchObject({ code: 'ENOENT' });
      expect(await uninstallHooks(place, host)).toMatchObject({ changed: false });
    }
  });

  test('a module of ours that was changed since is replaced, and removed', async () => {
    await using folder = await createFolder();
    const host = hostOf(folder);
    await installHooks({ agent }, host);
    const path = join(folder.path, file);
    const text = await readFile(path, 'utf8');
    await writeFile(path, `${text}// more\n`);
    expect(await installHooks({ agent }, host)).toMatchObject({ changed: true, after: text });
    await writeFile(path, `${text}// more\n`);
    expect(await uninstallHooks({ agent }, host)).toMatchObject({ changed: true, after: undefined });
    await expect(readFile(path)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test.each(['', 'export default () => {};\n'])(
    'a file that is not ours is refused and left alone: %j',
    async (text) => {
      await using folder = await createFolder({ [file]: text });
      await expect(installHooks({ agent }, hostOf(folder))).rejects.toMatchObject({ code: 'settings.invalid' });
      expect(await uninstallHooks({ agent }, hostOf(folder))).toMatchObject({ changed: false });
      expect(await readFile(join(folder.path, file), 'utf8')).toBe(text);
    },
  );
});

type Handler = (event: object, context: object) => Promise<unknown>;

/** The handlers of pi's extension, with `words` as the hook. */
async function loadPi(folder: TestFolder, words: readonly string[]): Promise<ReadonlyMap<string, Handler>> {
  const path = join(folder.path, 'module.mjs');
  await writeFile(path, editSettings(undefined, 'pi', words).text);
  const { default: extend } = (await import(path)) as { default: (pi: object) => void };
  const handlers = new Map<string, Handler>();
  extend({ on: (name: string, handler: Handler) => handlers.set(name, handler) });
  return handlers;
}

const context = { cwd: '/w', sessionManager: { getSessionId: () => 's-1' } };
const event = { type: 'tool_call', toolName: 'bash', toolCallId: 'c-1', input: { command: 'ls' } };
const program = (code: string): readonly string[] => [process.execPath, '-e', code];

test("opencode's plugin is in the folder of the user's settings", async () => {
  await using folder = await createFolder();
  const host = hostOf(folder);
  const environment = { ...host.environment, XDG_CONFIG_HOME: join(folder.path, 'settings') };
  const { path } = await installHooks({ agent: 'opencode' }, { ...host, environment });
  expect(path).toBe(join(folder.path, 'settings/opencode/plugin/holdfast.js'));
});

describe("opencode's plugin", () => {
  type Hook = (input: object, output: object) => Promise<void>;
  const sessions: Readonly<Record<string, object>> = { top: { id: 'top' }, sub: { id: 'sub', parentID: 'top' } };

  /** Its hooks, in a program that knows these sessions. */
  async function load(folder: TestFolder, words: readonly string[]): Promise<Readonly<Record<string, Hook>>> {
    const path = join(folder.path, 'module.mjs');
    await writeFile(path, editSettings(undefined, 'opencode', words).text);
    const { Holdfast } = (await import(path)) as { Holdfast: (input: object) => Promise<Record<string, Hook>> };
    const get = ({ path: { id } }: { path: { id: string } }) => Promise.resolve({ data: sessions[id] });
    return await Holdfast({ client: { session: { get } }, directory: '/w' });
  }

  test('tells the session that a sub-agent works for, and the servers', async () => {
    await using folder = await createFolder();
    const file = JSON.stringify(join(folder.path, 'told'));
    const hooks = await load(folder, program(`require('fs').writeFileSync(${file}, require('fs').readFileSync(0))`));
    expect(Object.keys(hooks).toSorted()).toEqual(['config', ...(installations['opencode']?.events ?? [])].toSorted());
    await hooks['config']?.({ mcp: { files: {} } }, {});
    const input = { tool: 'bash', sessionID: 'sub', callID: 'c-1' };
    await hooks['tool.execute.before']?.(input, { args: { command: 'ls' } });
    const told = { hook_event_name: 'tool.execute.before', session_id: 'top', sub_agent_id: 'sub', cwd: '/w' };
    const event = { ...input, args: { command: 'ls' } };
    const text = await readFile(join(folder.path, 'told'), 'utf8');
    expect(JSON.parse(text)).toEqual({ ...told, mcp_servers: ['files'], event });
    await hooks['dispose']?.({}, {});
    const end = { hook_event_name: 'dispose', session_id: 'top', cwd: '/w', event: {} };
    expect(JSON.parse(await readFile(join(folder.path, 'told'), 'utf8'))).toEqual(end);
  });

  test('blocks a call that the hook denies, or of a session that is not known, and keeps no result back', async () => {
    await using folder = await createFolder();
    const hooks = await load(folder, program(`console.log('{"decision":"deny","reason":"No."}')`));
    const before = (sessionID: string) =>
      hooks['tool.execute.before']?.({ tool: 'bash', sessionID, callID: 'c' }, { args: {} });
    await expect(before('top')).rejects.toThrow(/^No\.$/);
    await expect(before('other')).rejects.toThrow('cannot find the session of this call');
    const after = hooks['tool.execute.after'];
    expect(await after?.({ tool: 'bash', sessionID: 'top', callID: 'c', args: {} }, { output: 'x' })).toBeUndefined();
    expect(await after?.({ tool: 'bash', sessionID: 'other', callID: 'c', args: {} }, {})).toBeUndefined();
  });
});

describe("pi's extension", () => {
  test('passes an event on as it is, and lets a call through where the hook is silent', async () => {
    await using folder = await createFolder();
    const keep = `require('fs').writeFileSync(${JSON.stringify(join(folder.path, 'told'))}, require('fs').readFileSync(0) + process.argv.at(-1))`;
    const handlers = await loadPi(folder, program(keep));
    expect([...handlers.keys()].toSorted()).toEqual(installations['pi']?.events.toSorted());
    expect(await handlers.get('tool_call')?.(event, context)).toBeUndefined();
    const told = { hook_event_name: 'tool_call', session_id: 's-1', cwd: '/w', event };
    expect(await readFile(join(folder.path, 'told'), 'utf8')).toBe(`${JSON.stringify(told)}pi`);
  });

  test.each([
    ['denies', program(`console.log('{"decision":"deny","reason":"No."}')`), /^No\.$/],
    ['denies with exit code 2', program(`console.error('No.'); process.exit(2)`), /so the call is denied: No\.$/],
    ['says nothing and fails', program('process.exit(1)'), /so the call is denied: exit code 1$/],
    ['is killed', program(`process.kill(process.pid, 'SIGKILL')`), /so the call is denied: exit code null$/],
    ['says something else', program(`console.log('loading')`), /so the call is denied: exit code 0$/],
    ['cannot be started', ['/nonexistent/node'], /so the call is denied: spawn/],
  ])('blocks where the hook %s, and keeps no result back', async (_, words, reason) => {
    await using folder = await createFolder();
    const handlers = await loadPi(folder, words);
    await expect(handlers.get('tool_call')?.(event, context)).rejects.toThrow(reason);
    expect(await handlers.get('tool_result')?.(event, context)).toBeUndefined();
  });

  test('blocks a call that cannot be told', async () => {
    await using folder = await createFolder();
    const handlers = await loadPi(folder, program(''));
    await expect(handlers.get('tool_call')?.({ ...event, input: { many: 1n } }, context)).rejects.toThrow(/BigInt/);
    await expect(handlers.get('tool_call')?.(event, {})).rejects.toThrow(/getSessionId/);
  });
});
