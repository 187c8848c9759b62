import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { isSameProgram } from '../guard/daemon/place.ts';
import { keepFromStarting } from '../guard/daemon/start.ts';
import { installations } from '../guard/install.ts';
import { hasHooks, installHooks } from '../guard/installed.ts';
import { runProgram } from '../program.ts';
import { createFolder } from '../testing/test-folder.ts';
import { startHook, toHost } from '../testing/test-hook.ts';
import { createTestHost } from '../testing/test-host.ts';
import { findPlugin } from './found.ts';
import { makePlugins, plugins } from './make.ts';

const bundle = new Map([
  ['/own/guard/bin/1.0.0-0123456789ab/guard-hook-main.cjs', "require('./hook.cjs')"],
  ['/own/guard/bin/1.0.0-0123456789ab/hook.cjs', '1'],
]);
const made = makePlugins({ words: [], files: bundle });
const read = (path: string): unknown => JSON.parse(made.get(path) ?? 'null');

// No npm package has these schemas. Written from code.claude.com/docs/en/plugins (manifest and marketplace reference) and
// code.claude.com/docs/en/hooks; developers.openai.com/codex/plugins/build and openai/codex core-plugins (`manifest.rs`,
// `marketplace.rs`); google-gemini/gemini-cli docs/extensions/reference.md and docs/hooks/reference.md; pi's own docs/packages.md;
// opencode.ai/docs/plugins. `npm run agents -- plugins` adds the plugins to the real agents, but Claude Code's.
const kebab = v.pipe(v.string(), v.regex(/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/));
const semver = v.pipe(v.string(), v.regex(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/));
const below = v.pipe(v.string(), v.regex(/^\.\/(?!.*\.\.)/));
const about = { name: kebab, version: semver, description: v.string() };
const hook = (unit: object) =>
  v.strictObject({ type: v.literal('command'), command: v.string(), timeout: v.number(), ...unit });
const hooks = (events: readonly string[], more: object = {}) =>
  v.strictObject({
    hooks: v.record(
      v.picklist(events),
      v.array(v.strictObject({ matcher: v.optional(v.literal('*')), hooks: v.array(hook(more)) })),
    ),
  });
const npm = {
  ...about,
  license: v.string(),
  type: v.literal('module'),
};
const schemas: readonly (readonly [string, v.GenericSchema])[] = [
  [
    '.claude-plugin/marketplace.json',
    v.strictObject({
      name: kebab,
      description: v.string(),
      owner: v.strictObject({ name: v.string() }),
      plugins: v.array(v.strictObject({ ...about, source: below })),
    }),
  ],
  ['claude-code/.claude-plugin/plugin.json', v.strictObject({ ...about, license: v.string() })],
  [
    'claude-code/hooks/hooks.json',
    hooks(installations['claude-code']?.events ?? [], { onFailure: v.literal('block') }),
  ],
  [
    '.agents/plugins/marketplace.json',
    v.strictObject({
      name: kebab,
      interface: v.strictObject({ displayName: v.string() }),
      plugins: v.array(
        v.strictObject({
          name: kebab,
          source: v.strictObject({ source: v.literal('local'), path: below }),
          policy: v.strictObject({
            installation: v.picklist(['AVAILABLE', 'INSTALLED_BY_DEFAULT', 'NOT_AVAILABLE']),
            authentication: v.picklist(['ON_INSTALL', 'ON_USE']),
          }),
          category: v.string(),
        }),
      ),
    }),
  ],
  ['codex/.codex-plugin/plugin.json', v.strictObject({ ...about, license: v.string(), hooks: below })],
  ['codex/hooks/hooks.json', hooks(['PreToolUse', 'PostToolUse', 'UserPromptSubmit'])],
  ['gemini/gemini-extension.json', v.strictObject(about)],
  [
    'gemini/hooks/hooks.json',
    hooks(['BeforeTool', 'AfterTool', 'BeforeAgent', 'SessionEnd'], { name: v.literal('holdfast') }),
  ],
  ['holdfast-opencode/package.json', v.strictObject({ ...npm, main: below })],
  [
    'holdfast-pi/package.json',
    v.strictObject({
      ...npm,
      keywords: v.tuple([v.literal('pi-package')]),
      pi: v.strictObject({ extensions: v.array(below) }),
    }),
  ],
];

test.each(schemas)('%s is as its agent documents it', (path, schema) => {
  expect(v.safeParse(schema, read(path)).issues).toBeUndefined();
});

test('every JSON file has a schema, and every file that one names is there', () => {
  expect([...made.keys()].filter((path) => path.endsWith('.json')).toSorted()).toEqual(
    schemas.map(([path]) => path).toSorted(),
  );
  for (const [agent, { folder = agent }] of Object.entries(plugins)) {
    expect(made.get(`${folder}/1.0.0-0123456789ab/hook.cjs`)).toBe('1');
    const text = made.get(`${folder}/hooks/hooks.json`) ?? made.get(`${folder}/index.js`) ?? '';
    expect(text).toContain('/1.0.0-0123456789ab/guard-hook-main.cjs');
  }
  expect(read('holdfast-opencode/package.json')).toMatchObject({ version: manifest.version });
});

describe('the commands of hooks', () => {
  test.each(['claude-code', 'codex', 'gemini'])(
    '%s: its events, and the shell denies where its hook is gone',
    (agent) => {
      const { hooks: found } = read(`${agent}/hooks/hooks.json`) as {
        hooks: Record<string, { hooks: { command: string }[] }[]>;
      };
      const { before = '', events = [] } = installations[agent] ?? {};
      expect(Object.keys(found)).toEqual(events);
      const variable = { 'claude-code': 'CLAUDE_PLUGIN_ROOT', codex: 'PLUGIN_ROOT', gemini: 'extensionPath' }[agent];
      expect(found[before]?.[0]?.hooks[0]?.command).toMatch(
        `'node' "\${${variable}}/1.0.0-0123456789ab/guard-hook-main.cjs" '${agent}' '--plugin' || {`,
      );
    },
  );
});

async function run(words: readonly string[], directory: string) {
  const { host, stdout, stderr } = createTestHost({ directory, environment: { HOME: directory } });
  return { exitCode: await runProgram(words, host, '0'), stdout: stdout(), stderr: stderr() };
}

test('`guard plugins` writes them into a new folder, and into no other', async () => {
  await using folder = await createFolder();
  const { exitCode, stdout } = await run(['guard', 'plugins', 'out'], folder.path);
  expect({ exitCode, stdout }).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining(`pi install ${folder.path}`),
  });
  expect(await readFile(join(folder.path, 'out/holdfast-pi/index.js'), 'utf8')).toContain(
    'export default function (pi)',
  );
  const again = await run(['guard', 'plugins', 'out'], folder.path);
  expect(again).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('file_exists') });
});

describe('an agent that has the plugin', () => {
  test.each<[string, string, string]>([
    ['claude-code', '.claude/settings.json', '{"enabledPlugins":{"holdfast@team":true}}'],
    ['codex', '.codex/config.toml', 'model = "m"\n[plugins."holdfast@team"]\nenabled = true\n'],
    ['gemini', '.gemini/extensions/holdfast/gemini-extension.json', '{}'],
    ['opencode', '.config/opencode/opencode.jsonc', '// mine\n{"plugin":["file:///HOME/out/holdfast-opencode"]}'],
    ['opencode', '.config/opencode/opencode.json', '{"plugin":[["holdfast-opencode@1.0.0",{}]]}'],
    ['pi', '.pi/agent/settings.json', '{"packages":["../../out/holdfast-pi"]}'],
    ['pi', '.pi/agent/settings.json', '{"packages":[{"source":"npm:holdfast-pi"}]}'],
  ])('%s (%s): is not installed by settings as well, and status and doctor say why', async (agent, path, text) => {
    await using folder = await createFolder();
    await run(['guard', 'plugins', 'out'], folder.path);
    const file = join(folder.path, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text.replace('/HOME', folder.path));
    const refused = await run(['guard', 'install', agent], folder.path);
    expect(refused).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('(usage.invalid: plugin_installed)'),
    });
    expect((await run(['guard', 'status'], folder.path)).stdout).toContain(`${agent}: guarded by its plugin (`);
    expect((await run(['guard', 'doctor'], folder.path)).stdout).toContain(`${agent}: its plugin guards it (`);
  });

  test.each<[string, string, string]>([
    ['claude-code', '.claude/settings.json', '{"enabledPlugins":{"holdfast@team":false,"other@team":true}}'],
    ['codex', '.codex/config.toml', '[plugins."holdfast@team"]\nenabled = false\n[plugins."b@team"]\nenabled = true\n'],
    ['opencode', '.config/opencode/opencode.json', '{"plugin":["opencode-helicone", 7]}'],
    ['opencode', '.config/opencode/opencode.json', '{"plugin":["file://elsewhere/holdfast-opencode", "file:///%00"]}'],
    ['pi', '.pi/agent/settings.json', '{"packages":["../nowhere"]}'],
  ])('%s: not where it is switched off, or is another (%s)', async (agent, path, text) => {
    await using folder = await createFolder({ [path]: text });
    expect(findPlugin(agent, { environment: { HOME: folder.path }, directory: folder.path })).toBeUndefined();
  });

  test('status says so where it has both', async () => {
    await using folder = await createFolder();
    await installHooks({ agent: 'pi' }, { environment: { HOME: folder.path }, directory: folder.path });
    await writeFile(join(folder.path, '.pi/agent/settings.json'), '{"packages":["npm:holdfast-pi@1.0.0"]}');
    expect((await run(['guard', 'status'], folder.path)).stdout).toMatch(/^pi: .+: one is enough$/m);
  });
});

test('in Gemini CLI, which gives no id of a call, the hook of the settings decides alone', async () => {
  await using folder = await createFolder({ '.env': 'KEY=1\n' });
  const call = { session_id: 's-1', cwd: folder.path, hook_event_name: 'BeforeTool', tool_name: 'run_shell_command' };
  const input = JSON.stringify({ ...call, tool_input: { command: 'cat .env' } });
  keepFromStarting(toHost(folder.path));
  const ask = () => startHook(input, folder.path, 'gemini', [], ['--plugin']).answer;
  expect(await ask()).toMatchObject({ code: 0, stdout: expect.stringContaining('"decision":"deny"') });
  await installHooks({ agent: 'gemini' }, toHost(folder.path));
  expect(await ask()).toEqual({ code: 0, stdout: '', stderr: '' });
  // Broken settings have no hook that would run.
  await writeFile(join(folder.path, '.gemini/settings.json'), '{');
  expect(await hasHooks({ agent: 'gemini' }, toHost(folder.path))).toBe(false);
}, 60_000);

test('a copy of the hook in a plugin and one of the user share a daemon, if they are equal', () => {
  const path = '/own/guard/bin/1.0.0-0123456789ab/guard-hook-main.cjs';
  expect(isSameProgram(path, '/plugins/pi/1.0.0-0123456789ab/guard-hook-main.cjs')).toBe(true);
  expect(isSameProgram(path, '/plugins/pi/1.0.0-0123456789ac/guard-hook-main.cjs')).toBe(false);
  expect(isSameProgram(path, '/plugins/hook/guard-hook-main.cjs')).toBe(false);
});
