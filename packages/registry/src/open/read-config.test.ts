import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mergeConfig } from '../config/merge.ts';
import { readConfig } from './read-config.ts';
import { createFolder } from './test-folder.ts';

test.each(['holdfast.config.ts', 'holdfast.config.mts', 'holdfast.config.js', 'holdfast.config.mjs'])(
  "%s in the current directory is the host's configuration",
  async (file) => {
    await using folder = await createFolder({
      'package.json': '{ "type": "module" }',
      [file]: `export default { model: 'script:a.json', limits: { maxCalls: 3 } }${file.endsWith('ts') ? ' as unknown' : ''};`,
    });
    expect(await readConfig({ directory: folder.path })).toEqual({
      layers: [{ layer: 'host', file, config: { model: 'script:a.json', limits: { maxCalls: 3 } } }],
    });
  },
);

test('another file can be named, in any folder, or none', async () => {
  const text =
    'globalThis.holdfastConfigsRead = (globalThis.holdfastConfigsRead ?? 0) + 1; export default { locked: true };';
  await using elsewhere = await createFolder({ 'far.mjs': 'export default { locked: true };' });
  await using folder = await createFolder({
    'holdfast.config.mjs': text,
    'conf/near.mjs': 'export default { locked: true };',
    'w/holdfast.policy.json': '{}',
  });
  const directory = folder.path;
  const files = async (file: string | false) =>
    (await readConfig({ directory, file, workspace: join(directory, 'w') })).layers.map((layer) => layer.file);
  expect(await files('conf/near.mjs')).toEqual(['conf/near.mjs', 'w/holdfast.policy.json']);
  expect(await files(join(elsewhere.path, 'far.mjs'))).toEqual([
    join(elsewhere.path, 'far.mjs'),
    'w/holdfast.policy.json',
  ]);
  expect(await files(false)).toEqual(['w/holdfast.policy.json']);
  expect(globalThis).not.toHaveProperty('holdfastConfigsRead');
});

test('only the current directory is searched: no parent folder, not the workspace', async () => {
  const hostile = 'globalThis.holdfastRanForeign = true; export default {};';
  await using folder = await createFolder({
    'holdfast.config.mjs': hostile,
    'here/w/holdfast.config.mjs': hostile,
    'here/w/holdfast.config.ts': hostile,
  });
  const directory = join(folder.path, 'here');
  expect(await readConfig({ directory, workspace: join(directory, 'w') })).toEqual({ layers: [] });
  expect(globalThis).not.toHaveProperty('holdfastRanForeign');
});

test.each(['gone.ts', '', '.', 'package.json', 'holdfast.config.ts/inner.ts'])(
  'config.invalid: missing: `--config %s`',
  async (file) => {
    await using folder = await createFolder({ 'holdfast.config.ts': 'export default {};', 'package.json': '{}' });
    await expect(readConfig({ directory: folder.path, file })).rejects.toMatchObject({
      code: 'config.invalid',
      reason: 'missing',
      message: expect.stringContaining(`\`${file}\``) as string,
    });
  },
);

test.each([
  ['config.invalid: failed', 'throw new Error("no luck");', 'no luck'],
  ['config.invalid: failed', 'export default {', 'Cannot load `holdfast.config.mjs`'],
  ['config.invalid: failed', 'import "not-there";', 'not-there'],
  ['config.invalid: failed', 'await Promise.reject(null);', 'a thrown null'],
  ['config.invalid', 'export const config = {};', 'export default defineConfig'],
  ['config.invalid', 'export const then = (give) => give(undefined);', 'export default defineConfig'],
  ['config.invalid: failed', 'export const then = (give, fail) => fail(new Error("no luck"));', 'no luck'],
  ['config.invalid', 'export default undefined;', '`holdfast.config.mjs` is invalid'],
  ['config.invalid', 'export default { pluginz: [] };', '`pluginz`: unknown key; did you mean `plugins`?'],
  ['config.invalid', 'export default Promise.resolve({});', 'must be an object, got Promise'],
])('%s: %s', async (code, text, part) => {
  await using folder = await createFolder({ 'holdfast.config.mjs': text });
  await expect(readConfig({ directory: folder.path })).rejects.toMatchObject({
    code: code.split(': ')[0],
    reason: code.split(': ')[1],
    message: expect.stringContaining(part) as string,
  });
});

test('config.invalid: an error of `defineConfig` names the file', async () => {
  const module = new URL('../config/schema.ts', import.meta.url).href;
  await using folder = await createFolder({
    'holdfast.config.mjs': `import { defineConfig } from ${JSON.stringify(module)};\nexport default defineConfig({ lockd: 1 });`,
  });
  await expect(readConfig({ directory: folder.path })).rejects.toMatchObject({
    code: 'config.invalid',
    message: expect.stringContaining('`holdfast.config.mjs` is invalid') as string,
    data: { problems: [{ path: 'lockd', message: 'unknown key; did you mean `locked`?' }] },
  });
});

test('config.invalid: two configurations in one folder', async () => {
  await using folder = await createFolder({ 'holdfast.config.js': '', 'holdfast.config.ts': '' });
  await expect(readConfig({ directory: folder.path })).rejects.toMatchObject({
    code: 'config.invalid',
    message: expect.stringContaining('`holdfast.config.ts` and `holdfast.config.js`') as string,
  });
});

test.each(['json', 'cjs', 'yaml'])('config.invalid: `holdfast.config.%s` is not ignored', async (extension) => {
  await using folder = await createFolder({ [`holdfast.config.${extension}`]: '{}' });
  const directory = folder.path;
  await expect(readConfig({ directory })).rejects.toMatchObject({
    code: 'config.invalid',
    message: expect.stringContaining(`\`holdfast.config.${extension}\` is not supported`) as string,
  });
  expect(await readConfig({ directory, file: false })).toEqual({ layers: [] });
});

test('a folder or a dead link of that name is not ignored', async () => {
  await using folder = await createFolder({ 'a/holdfast.config.mjs/x': '', 'b/x': '' });
  await folder.link('b/holdfast.config.mjs', join(folder.path, 'gone.mjs'));
  for (const name of ['a', 'b'])
    await expect(readConfig({ directory: join(folder.path, name) })).rejects.toMatchObject({
      code: 'config.invalid',
      reason: 'failed',
    });
});

const bomb = `a: &a ["lol"]\nb: &b [*a, *a]\nc: [*b, *b]`;
const deep = `${'{"limits":'.repeat(100)}1${'}'.repeat(100)}`;

test.each<readonly [string, string | Uint8Array, string]>([
  ['an empty file', '', 'it is empty'],
  ['nothing but spaces', ' \n\t', 'it is empty'],
  ['an unknown key', '{ "denytools": ["push"] }', '`denytools`: unknown key; did you mean `denyTools`?'],
  ['a misspelt key of a pack', '{ "packs": [{ "pack": "x", "presets": "off" }] }', '`packs[0].presets`: unknown key'],
  ['a key that only a host has', '{ "plugins": ["evil"], "model": "x" }', '`plugins`: unknown key'],
  ['an id of a pack', '{ "packs": [{ "pack": "x", "id": "shell-guard" }] }', '`packs[0].id`: unknown key'],
  ['a key twice', '{ "locked": true, "denyTools": [], "locked": false }', 'it has the duplicate key `locked`'],
  ['a key twice, escaped', '{ "locked": true, "lock\\u0065d": false }', 'it has the duplicate key `locked`'],
  ['a key twice within', '{ "limits": { "maxCalls": 1, "maxCalls": 9 } }', 'it has the duplicate key `maxCalls`'],
  ['`__proto__`', '{ "__proto__": { "locked": false } }', '`__proto__` is not accepted'],
  ['`constructor`', '{ "constructor": {} }', '`constructor`: unknown key'],
  ['YAML', 'denyTools:\n  - push', 'it is not JSON'],
  ['a YAML bomb', bomb, 'it is not JSON'],
  ['comments', '{ "locked": true } // yes', 'it is not JSON'],
  ['a trailing comma', '{ "locked": true, }', 'it is not JSON'],
  ['a byte order mark', '\u{feff}{}', 'it starts with a byte order mark'],
  ['UTF-16', new Uint8Array([0xff, 0xfe, 0x7b, 0, 0x7d, 0]), 'it is not UTF-8'],
  ['Latin-1', new Uint8Array([0x22, 0xe9, 0x22]), 'it is not UTF-8'],
  ['a list', '[]', 'must be an object, got Array'],
  ['null', 'null', 'must be an object, got null'],
  ['a text', '"{}"', 'must be an object'],
  ['two values', '{}{}', 'it is not JSON'],
  ['a wrong type', '{ "denyTools": "push" }', '`denyTools`: must be a list'],
  ['a wrong name', '{ "denyTools": ["push", ["rm"]] }', '`denyTools[1]`: must be a tool name'],
  ['null for a value', '{ "allowTools": null }', '`allowTools`: must be a list'],
  ['a limit of nothing', '{ "limits": { "maxCalls": 0 } }', '`limits.maxCalls`: must be an integer'],
  ['a limit beyond numbers', '{ "limits": { "maxCalls": 1e999 } }', 'too large'],
  [
    'an exception of a workspace',
    '{ "allow": [{ "runs": "ls" }] }',
    '`allow`: a workspace may only tighten; write it in',
  ],
  ['an unknown key of a rule', '{ "deny": [{ "read": "x" }] }', '`deny[0].read`: unknown key; known keys: reads'],
  ['a rule that is not an object', '{ "ask": ["secrets"] }', '`ask[0]`: must be an object such as'],
  ['a rule of two things', '{ "ask": [{ "runs": "a", "reads": "b" }] }', '`ask[0]`: must have exactly one of'],
  ['a command with two spaces', '{ "deny": [{ "runs": "git  push" }] }', '`deny[0].runs`: must be `destructive` or'],
  ['an unknown isolation', '{ "isolation": "none" }', '`isolation`: must be'],
  ['deep nesting', deep, 'nested deeper'],
  ['a huge file', `{ "denyTools": [${'"push",'.repeat(200_000)}"push"] }`, 'it is larger than 1048576 bytes'],
])('config.invalid: policy: %s', async (_, content, part) => {
  await using folder = await createFolder({ 'w/holdfast.policy.json': content });
  await expect(readConfig({ directory: folder.path, workspace: join(folder.path, 'w') })).rejects.toMatchObject({
    code: 'config.invalid',
    reason: 'policy',
    message: expect.stringContaining(part) as string,
  });
});

test('config.invalid: policy: a non-regular file is neither ignored nor waited for', async () => {
  await using folder = await createFolder({ 'folder/holdfast.policy.json/x': '', 'link/x': '', 'fifo/x': '' });
  await folder.write({ 'policy.json': '{}', 'far/x': '', 'lost/x': '' });
  await folder.link('link/holdfast.policy.json', '/dev/null');
  await folder.link('far/holdfast.policy.json', '../policy.json');
  await folder.link('lost/holdfast.policy.json', '../gone.json');
  execFileSync('mkfifo', [join(folder.path, 'fifo/holdfast.policy.json')]);
  // A path that no system opens: its content is unknown.
  for (const name of ['folder', 'link', 'far', 'lost', 'fifo', 'x'.repeat(5_000)]) {
    const workspace = join(folder.path, name);
    await expect(readConfig({ directory: folder.path, workspace })).rejects.toMatchObject({
      code: 'config.invalid',
      reason: 'policy',
    });
  }
});

test('if the policy file of a workspace is invalid, no host code runs', async () => {
  await using folder = await createFolder({
    'holdfast.config.mjs': 'globalThis.holdfastRanTooEarly = true; export default {};',
    'holdfast.policy.json': '{',
  });
  const directory = folder.path;
  await expect(readConfig({ directory, workspace: directory })).rejects.toMatchObject({
    code: 'config.invalid',
    reason: 'policy',
  });
  expect(globalThis).not.toHaveProperty('holdfastRanTooEarly');
});

test('a permissive policy file of a workspace has no effect and is reported', async () => {
  await using folder = await createFolder({
    'holdfast.config.mjs':
      'export default { denyTools: ["push"], allowTools: ["read_file"], locked: true, isolation: "sandbox", limits: { maxCalls: 5 } };',
    'holdfast.policy.json': JSON.stringify({
      denyTools: [],
      allowTools: ['read_file', 'push', 'rm'],
      locked: false,
      isolation: 'in-process',
      limits: { maxCalls: 1_000_000, maxRounds: 1_000_000 },
    }),
  });
  const directory = folder.path;
  const alone = mergeConfig((await readConfig({ directory })).layers);
  const { passedOver, allowTools, ...config } = mergeConfig(
    (await readConfig({ directory, workspace: directory })).layers,
  );
  expect({ ...config, allowTools: allowTools?.value, passedOver: [] }).toEqual({
    ...alone,
    allowTools: alone.allowTools?.value,
  });
  expect(passedOver.map(({ key, value, reason }) => [key, value, reason])).toEqual([
    ['locked', false, 'looser'],
    ['isolation', 'in-process', 'looser'],
    ['allowTools', ['push', 'rm'], 'looser'],
    ['limits.maxRounds', 1_000_000, 'looser'],
    ['limits.maxCalls', 1_000_000, 'looser'],
  ]);
});
