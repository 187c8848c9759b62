import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { gemini } from './gemini.ts';
import type { Said, Script } from './model-server.ts';
import { type AgentRun, audit, type Folders, installAgent, outcomes, type RunOptions, runAgent } from './rig.ts';
import { writeTable } from './table.ts';

beforeAll(() => installAgent(gemini));
writeTable(`Gemini CLI ${gemini.version}`, 'gemini --yolo -p');

const run = (script: Script, options?: RunOptions): Promise<AgentRun> => runAgent(gemini, script, options);
const shell = (command: string): Said => ({ call: 'run_shell_command', arguments: { command } });
const done: readonly Said[] = [{ text: 'Finished.' }];

/** The results of the latest calls, as a request tells them to the model. */
function results(request: string | undefined): readonly string[] {
  const { contents = [] } = JSON.parse(request ?? '{}') as {
    readonly contents?: readonly { readonly parts: readonly { readonly functionResponse?: object }[] }[];
  };
  return (contents.at(-1)?.parts ?? []).flatMap(({ functionResponse: result }) =>
    result === undefined ? [] : [JSON.stringify(result)],
  );
}

/** Changes the one hook that decides. */
function replaceHook(hook: object): (text: string) => string {
  return (text) => {
    const settings = JSON.parse(text) as { hooks: Record<string, { hooks: object[] }[]> };
    for (const group of settings.hooks['BeforeTool'] ?? []) for (const found of group.hooks) Object.assign(found, hook);
    return JSON.stringify(settings);
  };
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
  expect(results(ran.requests[1]).join()).toContain('holds secrets');
  expect(results(ran.requests[2]).join()).toContain('a.txt');
  expect(await outcomes(ran)).toEqual(['run_shell_command denied', 'run_shell_command ok']);
});

test('an edit of `.gemini/settings.json`, then one of `a.txt` → the first denied, the second ran', async () => {
  const edit = { file_path: 'a.txt', old_string: 'hi', new_string: 'ho', instruction: 'Change it.' };
  const script = [
    [{ call: 'write_file', arguments: { file_path: '.gemini/settings.json', content: '{}' } }],
    [{ call: 'replace', arguments: edit }],
    done,
  ];
  await using ran = await run(script);
  expect(existsSync(join(ran.workspace, '.gemini'))).toBe(false);
  expect(await outcomes(ran)).toEqual(['write_file denied', 'replace ok']);
});

test('`npm install left-pad` → did not run; the model was told that a person has to approve', async () => {
  await using ran = await run([[shell('npm install left-pad')], done]);
  expect(results(ran.requests[1]).join()).toContain('A person has to approve this in Holdfast first');
  expect(existsSync(join(ran.workspace, 'node_modules'))).toBe(false);
});

test('three calls in one message, two of them equal → each decided by itself', async () => {
  await using ran = await run([[shell('ls'), shell('cat .env'), shell('ls')], done]);
  expect(ran.leaked).toBe(false);
  expect(results(ran.requests[1]).join()).toContain('holds secrets');
  expect((await outcomes(ran)).toSorted()).toEqual([
    'run_shell_command denied',
    'run_shell_command ok',
    'run_shell_command ok',
  ]);
});

test('a session that is resumed → guarded, in the same log', async () => {
  await using ran = await run([[shell('ls')], done, [shell('cat .env')], done], { resumed: true });
  expect(ran.exitCode).toBe(0);
  expect(ran.leaked).toBe(false);
  expect(await outcomes(ran)).toEqual(['run_shell_command ok', 'run_shell_command denied']);
});

test('`read_file` of an MCP server → allowed for `a.txt` and reported; denied for `.env`', async () => {
  const readFile = (path: string): Said => ({ call: 'mcp_files_read_file', arguments: { path } });
  await using ran = await run([[readFile('a.txt')], [readFile('.env')], done]);
  expect(ran.leaked).toBe(false);
  expect(results(ran.requests[1]).join()).toContain('hi');
  expect(results(ran.requests[2]).join()).toContain('holds secrets');
  expect(await outcomes(ran)).toEqual(['mcp__files__read_file ok', 'mcp__files__read_file denied']);
});

test('`cat .env` of a sub-agent → did not run; the log has it as a call of the session', async () => {
  const turns = { parent: 0, child: 0 };
  const spawning: Said = { call: 'invoke_agent', arguments: { agent_name: 'generalist', prompt: 'Read the file.' } };
  const finish: Said = { call: 'complete_task', arguments: { response: 'Done.' } };
  await using ran = await run((request) => {
    // A sub-agent is asked to end by this tool.
    const who = request.includes('"name":"complete_task"') ? 'child' : 'parent';
    turns[who] += 1;
    if (who === 'child') return turns.child === 1 ? [shell('cat .env')] : [finish];
    return turns.parent === 1 ? [spawning] : done;
  });
  expect(turns.child).toBeGreaterThan(1);
  expect(ran.leaked).toBe(false);
  expect((await outcomes(ran)).slice(0, 2)).toEqual(['run_shell_command denied', expect.any(String)]);
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
  expect(results(ran.requests[3]).join()).toContain('failed to push some refs');
  expect(await outcomes(ran)).toEqual(['run_shell_command denied', 'run_shell_command ok', 'run_shell_command failed']);
});

test("the hook's file is gone → every call denied", async () => {
  const hooks = (text: string): string => text.replaceAll('guard-hook-main.ts', 'guard-hook-main-gone.ts');
  await using ran = await run([[shell('cat .env')], [shell('ls')], done], { hooks });
  expect(ran.leaked).toBe(false);
  expect(results(ran.requests[1]).join()).toContain('the call is denied');
  expect(results(ran.requests[2]).join()).not.toContain('a.txt');
});

test('Node.js is gone → `cat .env` did not run', async () => {
  const hooks = (text: string): string => text.replaceAll(process.execPath, '/nonexistent/node');
  await using ran = await run([[shell('cat .env')], done], { hooks });
  expect(ran.leaked).toBe(false);
});

test('the log cannot be written → every call denied', async () => {
  const prepare = async ({ home }: Folders): Promise<void> => {
    await writeFile(join(home, '.local', 'state', 'holdfast', 'guard', '.holdfast'), 'no folder\n');
  };
  await using ran = await run([[shell('cat .env')], [shell('ls')], done], { prepare });
  expect(ran.leaked).toBe(false);
  expect(results(ran.requests[1]).join()).toContain('so it is denied');
  expect(results(ran.requests[2]).join()).not.toContain('a.txt');
});

test('a command that edits its hooks → denied', async () => {
  await using ran = await run([[shell('sed -i s/holdfast/true/ ~/.gemini/settings.json')], done]);
  expect(results(ran.requests[1]).join()).toContain('A person has to do it');
});

// Not held: the guide and `guard doctor` say so.
test.each<[string, RunOptions]>([
  [
    'a hook that crashes without the shell around it (exit code 1)',
    { hooks: replaceHook({ command: 'echo crashed >&2; exit 1' }) },
  ],
  ['a hook that does not end within its timeout', { hooks: replaceHook({ command: 'sleep 5', timeout: 1000 }) }],
])(
  '%s → **skipped: the secret reached the model** (ours ends with 2, after 8 of its 10 seconds)',
  async (_, options) => {
    await using ran = await run([[shell('cat .env')], done], options);
    expect(ran.leaked).toBe(true);
  },
);

test('settings of a trusted project with `"hooksConfig": { "enabled": false }` → **skipped: the secret reached the model**', async () => {
  const prepare = async ({ workspace }: Folders): Promise<void> => {
    await mkdir(join(workspace, '.gemini'));
    await writeFile(join(workspace, '.gemini', 'settings.json'), '{ "hooksConfig": { "enabled": false } }\n');
  };
  await using ran = await run([[shell('cat .env')], done], { prepare });
  expect(ran.leaked).toBe(true);
});
