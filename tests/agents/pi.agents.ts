import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Said, Script } from './model-server.ts';
import { pi } from './pi.ts';
import { type AgentRun, audit, type Folders, installAgent, outcomes, type RunOptions, runAgent } from './rig.ts';
import { writeTable } from './table.ts';

beforeAll(() => installAgent(pi));
writeTable(`pi ${pi.version}`, 'pi -p');

const run = (script: Script, options?: RunOptions): Promise<AgentRun> => runAgent(pi, script, options);
const call = (name: string, input: object): Said => ({ call: name, arguments: input });
const shell = (command: string): Said => call('bash', { command });
const done: readonly Said[] = [{ text: 'Finished.' }];

/** The results of the calls so far, as a request tells them to the model. */
function results(request: string | undefined): readonly string[] {
  const { input } = JSON.parse(request ?? '{}') as { readonly input: readonly { type: string; output?: unknown }[] };
  return input.flatMap(({ type, output }) => (type === 'function_call_output' ? [JSON.stringify(output)] : []));
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

test('`read .env`, `read @.env`, then an edit of `a.txt` → the first two denied, the third ran', async () => {
  const edit = { path: 'a.txt', edits: [{ oldText: 'hi', newText: 'ho' }] };
  const script = [[call('read', { path: '.env' })], [call('read', { path: '@.env' })], [call('edit', edit)], done];
  await using ran = await run(script);
  expect(ran.leaked).toBe(false);
  expect(await readFile(join(ran.workspace, 'a.txt'), 'utf8')).toBe('ho\n');
  expect(await outcomes(ran)).toEqual(['read denied', 'read denied', 'edit ok']);
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
  const readWith = (path: string): Said => call('mcp__files__read_file', { path });
  await using ran = await run([[readWith('a.txt')], [readWith('.env')], done]);
  expect(ran.leaked).toBe(false);
  expect(lastResult(ran.requests[1])).toContain('hi');
  expect(lastResult(ran.requests[2])).toContain('holds secrets');
  expect(await outcomes(ran)).toEqual(['mcp__files__read_file ok', 'mcp__files__read_file denied']);
});

test('`bash` in a script of `codemode` → each call decided by itself: `cat .env` denied, `ls` ran', async () => {
  const code = `
    const tried = await Promise.allSettled(['cat .env', 'ls'].map((command) => tools.bash({ command })));
    return tried.map(({ value, reason }) => value?.output ?? String(reason)).join('; ');`;
  await using ran = await run([[call('codemode', { code })], done]);
  expect(ran.leaked).toBe(false);
  expect(lastResult(ran.requests[1])).toContain('holds secrets');
  expect(lastResult(ran.requests[1])).toContain('a.txt');
  expect((await outcomes(ran)).toSorted()).toEqual(['bash denied', 'bash ok', 'codemode ok']);
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
  ['a hook that crashes', (text) => text.replaceAll('guard-hook-main.ts', '../package.json')],
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

test('the log cannot be written → every call denied', async () => {
  const prepare = async ({ home }: Folders): Promise<void> => {
    await writeFile(join(home, '.local', 'state', 'holdfast', 'guard', '.holdfast'), 'no folder\n');
  };
  await using ran = await run([[shell('cat .env')], [shell('ls')], done], { prepare });
  expect(ran.leaked).toBe(false);
  expect(lastResult(ran.requests[1])).toContain('so it is denied');
  expect(lastResult(ran.requests[2])).not.toContain('a.txt');
});

test('our extension cannot be loaded → pi does not start', async () => {
  await using ran = await run([[shell('cat .env')], done], {
    hooks: (text) => `${text}\nthrow new Error('broken');\n`,
  });
  expect(ran.exitCode).toBe(1);
  expect(ran.requests).toEqual([]);
});

test('a command that edits its extension → denied', async () => {
  await using ran = await run([[shell('echo > ~/.pi/agent/extensions/holdfast.js')], done]);
  expect(lastResult(ran.requests[1])).toContain('A person has to do it');
});

// Not held: the guide and `guard doctor` say so.
test('our extension is gone → **not guarded: the secret reached the model**', async () => {
  const prepare = ({ home }: Folders): Promise<void> => rm(join(home, pi.hooks));
  await using ran = await run([[shell('cat .env')], done], { prepare });
  expect(ran.leaked).toBe(true);
});
