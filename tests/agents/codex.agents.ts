import { existsSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { codex, runCodex } from './codex.ts';
import type { Said } from './model-server.ts';
import { audit, type Folders, installAgent, outcomes } from './rig.ts';
import { writeTable } from './table.ts';

beforeAll(() => installAgent(codex));

const shell = (cmd: string): Said => ({ call: 'exec_command', arguments: { cmd } });
const readFile = (path: string): Said => ({ call: 'read_file', namespace: 'mcp__files', arguments: { path } });
const done: readonly Said[] = [{ text: 'Finished.' }];
writeTable(`Codex ${codex.version}`, 'codex exec');

/** The results of the calls so far, as a request tells them to the model. */
function results(request: string | undefined): readonly string[] {
  const { input } = JSON.parse(request ?? '{}') as { readonly input: readonly { type: string; output?: unknown }[] };
  return input.flatMap(({ type, output }) => (type === 'function_call_output' ? [JSON.stringify(output)] : []));
}

function lastResult(request: string | undefined): string {
  return results(request).at(-1) ?? '';
}

test('`cat .env` without a guard → ran: the secret reached the model', async () => {
  await using run = await runCodex([[shell('cat .env')], done], { unguarded: true });
  expect(run.exitCode).toBe(0);
  expect(run.leaked).toBe(true);
  // Its transcript says so afterwards.
  expect(await audit(run)).toMatchObject({ calls: 1, denied: 1, findings: [{ about: [{ text: 'cat .env' }] }] });
});

test('`cat .env`, then `ls` → the first did not run, and the model got the reason; the second ran', async () => {
  await using run = await runCodex([[shell('cat .env')], [shell('ls')], done]);
  expect(run.exitCode).toBe(0);
  expect(run.leaked).toBe(false);
  expect(lastResult(run.requests[1])).toContain('holds secrets');
  expect(lastResult(run.requests[2])).toContain('a.txt');
  expect(await outcomes(run)).toEqual(['bash denied', 'bash in-doubt']);
});

test('`npm install left-pad` → did not run; the model was told that a person has to approve', async () => {
  await using run = await runCodex([[shell('npm install left-pad')], done]);
  expect(lastResult(run.requests[1])).toContain('A person has to approve this in Holdfast first');
  expect(existsSync(join(run.workspace, 'node_modules'))).toBe(false);
});

test('three calls in one message → each decided by itself', async () => {
  await using run = await runCodex([[shell('ls'), shell('cat .env'), shell('cat a.txt')], done]);
  expect(run.leaked).toBe(false);
  expect(results(run.requests[1]).join()).toContain('holds secrets');
  expect((await outcomes(run)).toSorted()).toEqual(['bash denied', 'bash in-doubt', 'bash in-doubt']);
});

test('a session that is resumed → guarded, in the same log', async () => {
  await using run = await runCodex([[shell('ls')], done, [shell('cat .env')], done], { resumed: true });
  expect(run.exitCode).toBe(0);
  expect(run.requests).toHaveLength(4);
  expect(run.leaked).toBe(false);
  expect(await outcomes(run)).toEqual(['bash in-doubt', 'bash denied']);
});

test('`read_file` of an MCP server → allowed for `a.txt` and reported; denied for `.env`', async () => {
  await using run = await runCodex([[readFile('a.txt')], [readFile('.env')], done]);
  expect(run.leaked).toBe(false);
  expect(lastResult(run.requests[1])).toContain('hi');
  expect(lastResult(run.requests[2])).toContain('holds secrets');
  expect(await outcomes(run)).toEqual(['mcp__files__read_file ok', 'mcp__files__read_file denied']);
});

test('`cat .env` of a sub-agent → did not run; the log of the session names the sub-agent', async () => {
  const turns = { parent: 0, child: 0 };
  const spawning: Said = {
    call: 'spawn_agent',
    namespace: 'multi_agent_v1',
    arguments: { message: 'Read it.', agent_type: 'worker' },
  };
  await using run = await runCodex((request) => {
    // The prompt of the run is not part of its sub-agent's conversation.
    const who = request.includes('Do it.') ? 'parent' : 'child';
    turns[who] += 1;
    if (who === 'child') return turns.child === 1 ? [shell('cat .env')] : done;
    return [[spawning], [shell('sleep 3')]][turns.parent - 1] ?? done;
  });
  expect(turns.child).toBe(2);
  expect(run.leaked).toBe(false);
  expect((await outcomes(run)).toSorted()).toEqual(['bash denied', 'bash in-doubt', 'spawn_agent ok']);
});

test('`git push` → denied until `holdfast guard run -- npm test` has succeeded, then run', async () => {
  const prepare = async ({ home, workspace }: Folders): Promise<void> => {
    const manifest = { private: true, scripts: { test: 'true' } };
    await writeFile(join(workspace, 'package.json'), JSON.stringify(manifest));
    await writeFile(join(workspace, '.gitignore'), '.env\n');
    const program = join(import.meta.dirname, '../../apps/cli/src/main.ts');
    const bin = join(home, 'bin');
    await mkdir(bin);
    // Codex runs commands in a login shell.
    await writeFile(join(home, '.bash_profile'), `PATH='${bin}':'${dirname(process.execPath)}':$PATH\n`);
    await writeFile(
      join(bin, 'holdfast'),
      `#!/bin/sh\nexec '${process.execPath}' --conditions=holdfast-source '${program}' "$@"\n`,
    );
    await chmod(join(bin, 'holdfast'), 0o755);
  };
  const push = shell('git push origin main');
  const script = [[push], [shell('holdfast guard run -- npm test')], [push], done];
  await using run = await runCodex(script, { prepare });
  expect(lastResult(run.requests[1])).toContain('`holdfast guard run -- npm test`');
  // Nothing is committed: this is what Git says.
  expect(lastResult(run.requests[3])).toContain('failed to push some refs');
  expect(await outcomes(run)).toEqual(['bash denied', 'bash ok', 'bash in-doubt']);
});

test.each<[string, (text: string) => string]>([
  ["the hook's file is gone", (text) => text.replaceAll('guard-hook-main.ts', 'guard-hook-main-gone.ts')],
  ['Node.js is gone', (text) => text.replaceAll(process.execPath, '/nonexistent/node')],
])('%s → every call denied', async (_, hooks) => {
  await using run = await runCodex([[shell('cat .env')], [shell('ls')], done], { hooks });
  expect(run.leaked).toBe(false);
  expect(lastResult(run.requests[1])).toContain('the call is denied');
  expect(lastResult(run.requests.at(-1))).not.toContain('a.txt');
});

test('the log cannot be written → every call denied', async () => {
  const prepare = async ({ home }: Folders): Promise<void> => {
    await writeFile(join(home, '.local', 'state', 'holdfast', 'guard', '.holdfast'), 'no folder\n');
  };
  await using run = await runCodex([[shell('cat .env')], [shell('ls')], done], { prepare });
  expect(run.leaked).toBe(false);
  expect(lastResult(run.requests[1])).toContain('so it is denied');
  expect(lastResult(run.requests.at(-1))).not.toContain('a.txt');
});

test('a command that edits its hooks → denied', async () => {
  const edit = "sed -i s/holdfast/true/ ~/.codex/hooks.json; echo 'x' > ~/.codex/config.toml";
  await using run = await runCodex([[shell(edit)], done]);
  expect(lastResult(run.requests[1])).toContain('A person has to do it');
});

// Not held: the guide, `guard install` and `guard doctor` say so.
test('a hook that does not end within its timeout → **skipped: the secret reached the model** (ours ends after 8 of its 10 seconds)', async () => {
  const hooks = (text: string): string => {
    const settings = JSON.parse(text) as {
      hooks: Record<string, { hooks: { command: string; timeout: number }[] }[]>;
    };
    for (const group of settings.hooks['PreToolUse'] ?? [])
      for (const hook of group.hooks) Object.assign(hook, { command: 'sleep 5', timeout: 1 });
    return JSON.stringify(settings);
  };
  await using run = await runCodex([[shell('cat .env')], done], { hooks });
  expect(run.leaked).toBe(true);
});

test('hooks that Codex was not told to trust → **skipped silently: the secret reached the model**', async () => {
  await using run = await runCodex([[shell('cat .env')], done], { untrusted: true });
  expect(run.leaked).toBe(true);
});
