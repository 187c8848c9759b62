import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createFolder, type TestFolder } from '../testing/test-folder.ts';
import { editSettings, findHooks, hookCommand, installations } from './install.ts';
import { installHooks, readHooks, uninstallHooks } from './installed.ts';

const hostOf = (folder: TestFolder) => ({
  environment: { HOME: folder.path, HOLDFAST_HOME: join(folder.path, 'own') },
  directory: folder.path,
});
const files = {
  'claude-code': '.claude/settings.json',
  codex: '.codex/hooks.json',
  gemini: '.gemini/settings.json',
  cursor: '.cursor/hooks.json',
  copilot: '.copilot/hooks/holdfast.json',
} as const;
const other = { matcher: 'Bash', hooks: [{ type: 'command', command: 'other.sh' }] };

const settings: readonly [string, string | undefined][] = [
  ['no file', undefined],
  ['an empty file', ''],
  ['no hooks', '{\n\t"model": "opus"\n}\n'],
  ['empty hooks', '{"hooks":{}}'],
  ['hooks of others', JSON.stringify({ hooks: { PreToolUse: [other], Stop: [other] }, model: 'x' }, undefined, 4)],
  ['odd spacing and no last line end', '{  "a" : 1,\n\n "hooks": {"PreToolUse": []}}'],
];

describe.each(['claude-code', 'codex', 'gemini', 'cursor', 'copilot'] as const)('%s', (agent) => {
  test.each(settings)('installed twice and uninstalled, %s is as it was, to the byte', async (_, before) => {
    await using folder = await createFolder(before === undefined ? {} : { [files[agent]]: before });
    const host = hostOf(folder);
    const path = join(folder.path, files[agent]);
    expect(await installHooks({ agent }, host)).toMatchObject({ path, changed: true });
    expect([...(await readHooks({ agent }, host)).keys()].toSorted()).toEqual(installations[agent]?.events.toSorted());
    const installed = await readFile(path, 'utf8');
    expect(await installHooks({ agent }, host)).toMatchObject({ changed: false });
    expect(await readFile(path, 'utf8')).toBe(installed);
    expect(await uninstallHooks({ agent }, host)).toMatchObject({ changed: true });
    const after = await readFile(path, 'utf8').catch(() => undefined);
    expect(after).toBe(before);
    expect(await uninstallHooks({ agent }, host)).toMatchObject({ changed: false });
  });

  test('what was changed in the settings since stays when the hooks go', async () => {
    await using folder = await createFolder({ [files[agent]]: JSON.stringify({ hooks: { PreToolUse: [other] } }) });
    const host = hostOf(folder);
    await installHooks({ agent }, host);
    const path = join(folder.path, files[agent]);
    const edited = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
    await writeFile(path, JSON.stringify({ ...edited, added: true }));
    await uninstallHooks({ agent }, host);
    const { flat } = installations[agent] ?? {};
    const kept = { ...flat?.file, hooks: { PreToolUse: [other] }, added: true };
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(kept);
  });

  test.each(['{', '[]', '7', '{"hooks":[]}', '{"hooks":{"PreToolUse":{}}}', '// a comment\n{}'])(
    'settings that are %s are refused and left alone',
    async (text) => {
      await using folder = await createFolder({ [files[agent]]: text });
      await expect(installHooks({ agent }, hostOf(folder))).rejects.toMatchObject({ code: 'settings.invalid' });
      expect(await readFile(join(folder.path, files[agent]), 'utf8')).toBe(text);
    },
  );

  test('the settings of a project are its own', async () => {
    await using folder = await createFolder({ 'project/a.txt': '' });
    const place = { agent, project: join(folder.path, 'project') };
    await installHooks(place, hostOf(folder));
    expect((await readHooks(place, hostOf(folder))).size).toBeGreaterThan(0);
    expect((await readHooks({ agent }, hostOf(folder))).size).toBe(0);
  });
});

test('gemini: a hook has ten seconds, and the shell denies where it cannot start', () => {
  const { hooks } = JSON.parse(editSettings(undefined, 'gemini', ['/node', '/guard-hook-main.cjs']).text);
  const command = hookCommand('gemini', 'BeforeTool', ['/node', '/guard-hook-main.cjs']);
  expect(command).toContain('exit 2');
  expect(hooks.BeforeTool).toEqual([
    { matcher: '*', hooks: [{ type: 'command', command, name: 'holdfast', timeout: 10_000 }] },
  ]);
  expect(hooks.AfterTool[0].hooks[0].command).not.toContain('exit 2');
});

test.each([
  [
    'cursor',
    { command: 'other.sh', matcher: 'Shell' },
    { version: 1, hooks: { preToolUse: [expect.objectContaining({ failClosed: true, timeout: 10 })] } },
  ],
  [
    'copilot',
    { type: 'command', bash: 'other.sh' },
    { version: 1, hooks: { PreToolUse: [expect.objectContaining({ type: 'command', timeoutSec: 10 })] } },
  ],
])('%s: hooks stand in no groups, and those of others stay', (agent, theirs, form) => {
  const words = ['/node', '/guard-hook-main.cjs'];
  expect(JSON.parse(editSettings(undefined, agent, words).text)).toMatchObject(form);
  const { before = '' } = installations[agent] ?? {};
  const edited = editSettings(JSON.stringify({ version: 1, hooks: { [before]: [theirs] } }), agent, words);
  expect(edited.others).toEqual([{ event: before, command: 'other.sh' }]);
  const { hooks } = JSON.parse(edited.text) as { hooks: Record<string, unknown[]> };
  expect(hooks[before]).toEqual([theirs, expect.not.objectContaining({ hooks: expect.anything() })]);
  expect(findHooks(edited.text, agent).get(before)).toEqual([hookCommand(agent, before, words)]);
  expect(JSON.parse(editSettings(edited.text, agent, undefined).text)).toEqual({
    version: 1,
    hooks: { [before]: [theirs] },
  });
});

test('hooks of others that may rewrite a call are named; hooks of ours are replaced', () => {
  const words = ['/node', "/it's/guard-hook-main.js"];
  const first = editSettings(JSON.stringify({ hooks: { PreToolUse: [other] } }), 'codex', words);
  expect(first.others).toEqual([{ event: 'PreToolUse', command: 'other.sh' }]);
  // A prompt is not blocked by a hook that fails.
  expect(findHooks(first.text, 'codex').get('UserPromptSubmit')).toEqual([expect.not.stringContaining('exit 2')]);
  const newer = ['/node', '/2/guard-hook-main.js'];
  const second = editSettings(first.text, 'codex', newer);
  expect(findHooks(second.text, 'codex').get('PreToolUse')).toEqual([hookCommand('codex', 'PreToolUse', newer)]);
});
