import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram } from '../../program.ts';
import { createFolder } from '../../testing/test-folder.ts';
import { createTestHost } from '../../testing/test-host.ts';

async function run(words: readonly string[], directory: string) {
  const { host, stdout, stderr } = createTestHost({ directory, environment: { HOME: directory } });
  const exitCode = await runProgram(words, host, '0');
  return { exitCode, stdout: stdout(), stderr: stderr() };
}

test.each<[readonly string[], string]>([
  [['install', 'claude'], 'Unknown agent `claude`. Known agents: claude-code, codex.'],
  [['install', 'codex', '--project', 'nowhere'], 'There is no folder `nowhere`.'],
  [['install', 'claude-code'], 'Cannot edit `.claude/settings.json` of claude-code: '],
  [['uninstall', 'codex'], 'Only a person at a terminal can take a guard away'],
])('guard %j is refused and changes nothing', async (words, message) => {
  await using folder = await createFolder({ '.claude/settings.json': '{ "hooks": [' });
  const { exitCode, stdout, stderr } = await run(['guard', ...words], folder.path);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain(message);
  expect(await readdir(folder.path)).toEqual(['.claude']);
  expect(await readFile(join(folder.path, '.claude/settings.json'), 'utf8')).toBe('{ "hooks": [');
});

test('guard status tells what is installed', async () => {
  await using folder = await createFolder();
  expect((await run(['guard', 'status'], folder.path)).stdout).toBe('claude-code: not guarded\ncodex: not guarded\n');
  const { stdout } = await run(['guard', 'install', 'codex', '--json'], folder.path);
  expect(JSON.parse(stdout)).toMatchObject({ agent: 'codex', changed: true, otherHooks: [] });
  const { agents } = JSON.parse((await run(['guard', 'status', '--json'], folder.path)).stdout);
  expect(agents).toMatchObject([{ guarded: false }, { agent: 'codex', guarded: true, missing: [] }]);
});
