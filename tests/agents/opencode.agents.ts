import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Said, Script } from './model-server.ts';
import { opencode } from './opencode.ts';
import { type AgentRun, audit, type Folders, installAgent, outcomes, type RunOptions, runAgent } from './rig.ts';
import { writeTable } from './table.ts';

beforeAll(() => installAgent(opencode));
writeTable(`opencode ${opencode.version}`, 'opencode run');

const run = (script: Script, options?: RunOptions): Promise<AgentRun> => runAgent(opencode, script, options);
const call = (name: string, input: object): Said => ({ call: name, arguments: input });
const shell = (command: string): Said => call('bash', { command, description: 'Runs it' });
const done: readonly Said[] = [{ text: 'Finished.' }];

/** The results of the calls so far, as a request tells them to the model. */
function results(request: string | undefined): readonly string[] {
  const { messages } = JSON.parse(request ?? '{}') as {
    readonly messages: readonly { role: string; content: unknown }[];
  };
  return messages.flatMap(({ role, content }) => (role === 'tool' ? [JSON.stringify(content)] : []));
}

function lastResult(request: string | undefined): string {
  return results(request).at(-1) ?? '';
}

test('`cat .env` without a guard → ran: the secret reached the model', async () => {
  await using ran = await run([[shell('cat .env')], done], { unguarded: true });
  expect(ran.exitCode).toBe(0);
  expect(ran.leaked).toBe(true);
  // Its transcript says so afterwards.
  expect(await audit(ran)).toMatchObject({ calls: 1, denied: 1, findings: [{ about: [{ text: 'cat .env' }] }] });
});

test('`cat .env`, then `ls` → the first did not run, and the model got the reason; the second ran', async () => {
  await using ran = await run([[shell('cat .env')], [shell('ls')], done]);
  expect(ran.exitCode).toBe(0);
  expect(ran.leaked).toBe(false);
  expect(lastResult(ran.requests[1])).toContain('holds secrets');
  expect(lastResult(ran.requests[2])).toContain('a.txt');
  expect(await outcomes(ran)).toEqual(['bash denied', 'bash ok']);
});

test('`read .env`, then an edit of `a.txt` → the first denied, the second ran', async () => {
  const edit = { filePath: 'a.txt', oldString: 'hi', newString: 'ho' };
  const script = [
    [call('read', { filePath: '.env' })],
    [call('read', { filePath: 'a.txt' })],
    [call('edit', edit)],
    done,
  ];
  await using ran = await run(script);
  expect(ran.leaked).toBe(false);
  expect(await readFile(join(ran.workspace, 'a.txt'), 'utf8')).toBe('ho\n');
  expect(await outcomes(ran)).toEqual(['read denied', 'read ok', 'edit ok']);
});

test('`npm install left-pad` → did not run; the model was told that a person has to approve', async () => {
  await using ran = await run([[shell('npm install left-pad')], done]);
  expect(lastResult(ran.requests[1])).toContain('A person has to approve this in Holdfast first');
  expect(existsSync(join(ran.workspace, 'node_modules'))).toBe(false);
});

test('three calls in one message → each decided by itself', async () => {
  await using ran = await run([[shell('ls'), shell('cat .env'), shell('ls')], done]);
  expect(ran.leaked).toBe(false);
  expect(results(ran.requests[1]).join()).toContain('holds secrets');
  expect((await outcomes(ran)).toSorted()).toEqual(['bash denied', 'bash ok', 'bash ok']);
});

test('a session that is resumed → guarded, in the same log', async () => {
  await using ran = await run([[shell('ls')], done, [shell('cat .env')], done], { resumed: true });
  expect(ran.exitCode).toBe(0);
  expect(ran.leaked).toBe(false);
  expect(await outcomes(ran)).toEqual(['bash ok', 'bash denied']);
});

test('`read_file` of an MCP server → allowed for `a.txt` and reported; denied for `.env`', async () => {
  const readWith = (path: string): Said => call('files_read_file', { path });
  await using ran = await run([[readWith('a.txt')], [readWith('.env')], done]);
  expect(ran.leaked).toBe(false);
  expect(lastResult(ran.requests[1])).toContain('hi');
  expect(lastResult(ran.requests[2])).toContain('holds secrets');
  expect(await outcomes(ran)).toEqual(['mcp__files__read_file ok', 'mcp__files__read_file denied']);
});

test('`cat .env` of a sub-agent → did not run; the log of the session has it', async () => {
  const turns = { parent: 0, child: 0 };
  const spawning = call('task', { description: 'Read', prompt: 'Read the file.', subagent_type: 'general' });
  await using ran = await run((request) => {
    // A sub-agent cannot start another one.
    const who = request.includes('"name":"task"') ? 'parent' : 'child';
    turns[who] += 1;
    if (who === 'child') return turns.child === 1 ? [shell('cat .env')] : done;
    return turns.parent === 1 ? [spawning] : done;
  });
  expect(turns.child).toBe(2);
  expect(ran.leaked).toBe(false);
  expect((await outcomes(ran)).toSorted()).toEqual(['bash denied', 'task ok']);
});

test('`git push` → denied until `npm test` has succeeded, then run', async () => {
  const prepare = async ({ workspace }: Folders): Promise<void> => {
    const manifest = { private: true, scripts: { test: 'true' } };
    await writeFile(join(workspace, 'package.json'), JSON.stringify(manifest));
    await writeFile(join(workspace, '.gitignore'), '.env\n');
  };
  const push = shell('git push origin main');
  await using ran = await run([[push], [shell('npm test')], [push], done], { prepare });
  // Nothing is committed: this is what Git says.
  expect(lastResult(ran.requests[3])).toContain('failed to push some refs');
  expect(await outcomes(ran)).toEqual(['bash denied', 'bash ok', 'bash failed']);
});

test.each<[string, (text: string) => string]>([
  ["the hook's file is gone", (text) => text.replaceAll('guard-hook-main.ts', 'guard-hook-main-gone.ts')],
  ['Node.js is gone', (text) => text.replaceAll(process.execPath, '/nonexistent/node')],
  ['a hook that does not end within its timeout', (text) => withCommand(text, ['sleep', '60'])],
])('%s → every call denied', async (_, hooks) => {
  await using ran = await run([[shell('cat .env')], [shell('ls')], done], { hooks });
  expect(ran.leaked).toBe(false);
  expect(lastResult(ran.requests[1])).toContain('the call is denied');
  expect(lastResult(ran.requests[2])).not.toContain('a.txt');
});

function withCommand(text: string, words: readonly string[]): string {
  return text.replace(/^const command = .+$/m, `const command = ${JSON.stringify(words)};`);
}

test('a command that edits its plugin → denied', async () => {
  await using ran = await run([[shell('echo > ~/.config/opencode/plugin/holdfast.js')], done]);
  expect(lastResult(ran.requests[1])).toContain('A person has to do it');
});

// Not held: the guide and `guard doctor` say so.
test('our plugin cannot be loaded → **dropped silently: the secret reached the model**', async () => {
  await using ran = await run([[shell('cat .env')], done], {
    hooks: (text) => `${text}\nthrow new Error('broken');\n`,
  });
  expect(ran.leaked).toBe(true);
});

test('our plugin is gone → **not guarded: the secret reached the model**', async () => {
  const prepare = ({ home }: Folders): Promise<void> => rm(join(home, opencode.hooks));
  await using ran = await run([[shell('cat .env')], done], { prepare });
  expect(ran.leaked).toBe(true);
});
