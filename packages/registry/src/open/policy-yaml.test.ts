import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { readRuleFile } from './policy-file.ts';
import { parsePolicyText } from './policy-text.ts';
import { readConfig } from './read-config.ts';
import { createFolder } from './test-folder.ts';

const rules = `# yaml-language-server: $schema=./node_modules/@holdfast/registry/schemas/policy.json
deny:
  - reads: secrets # never
  - { runs: git push --force }

ask:
- runs: 'npm publish'
`;

test.each(['holdfast.policy.yaml', 'holdfast.policy.yml'])('%s is read as JSON is, with its lines', async (name) => {
  await using folder = await createFolder({ [name]: rules });
  const directory = folder.path;
  const expected = {
    deny: [{ reads: 'secrets' }, { runs: 'git push --force' }],
    ask: [{ runs: 'npm publish' }],
  };
  const lines = new Map([
    ['deny[0]', 3],
    ['deny[1]', 4],
    ['ask[0]', 7],
  ]);
  expect(await readConfig({ directory, workspace: directory })).toEqual({
    layers: [{ layer: 'workspace', file: name, config: expected, lines }],
  });
  for (const owner of ['user', 'workspace'] as const)
    expect(await readRuleFile(directory, owner)).toEqual({
      name,
      rules: expected,
      lines,
      checks: [],
      checkpoints: false,
    });
});

test("the user's own file says what counts as a check; a workspace's cannot", async () => {
  await using folder = await createFolder({ 'holdfast.policy.yml': 'checks: [make lint, ./check.sh]' });
  const directory = folder.path;
  expect((await readRuleFile(directory, 'user'))?.checks).toEqual(['make lint', './check.sh']);
  for (const read of [
    () => readRuleFile(directory, 'workspace'),
    () => readConfig({ directory, workspace: directory }),
  ])
    await expect(read()).rejects.toMatchObject({
      code: 'config.invalid',
      reason: 'policy',
      message: expect.stringContaining('`checks`: a workspace cannot say what counts as a check') as string,
    });
  for (const checks of ['make lint', '[-x]', '[a  b]', '[1]', `[${'x'.repeat(201)}]`]) {
    await folder.write({ 'holdfast.policy.yml': `checks: ${checks}` });
    await expect(readRuleFile(directory, 'user')).rejects.toMatchObject({ code: 'config.invalid', reason: 'policy' });
  }
});

test("the user's own file says whether files are kept, and where sessions are; a workspace's cannot", async () => {
  await using folder = await createFolder({ 'holdfast.policy.yml': 'checkpoints: true' });
  const directory = folder.path;
  expect((await readRuleFile(directory, 'user'))?.checkpoints).toBe(true);
  await expect(readRuleFile(directory, 'workspace')).rejects.toMatchObject({
    message: expect.stringContaining('`checkpoints`: a workspace cannot say what is kept') as string,
  });
  await folder.write({ 'holdfast.policy.yml': 'store: /var/sessions.db' });
  expect((await readRuleFile(directory, 'user'))?.store).toBe('/var/sessions.db');
  await expect(readRuleFile(directory, 'workspace')).rejects.toMatchObject({
    message: expect.stringContaining('`store`: a workspace cannot say where sessions are kept') as string,
  });
  await folder.write({ 'holdfast.policy.yml': 'store: sessions.db' });
  await expect(readRuleFile(directory, 'user')).rejects.toMatchObject({ code: 'config.invalid', reason: 'policy' });
  await folder.write({ 'holdfast.policy.yml': 'checkpoints: yes please' });
  await expect(readRuleFile(directory, 'user')).rejects.toMatchObject({ code: 'config.invalid', reason: 'policy' });
});

test('the lines of rules in JSON', async () => {
  await using folder = await createFolder({
    'holdfast.policy.json': `{ "$schema": "a\\nb",
  "ask"
   :
   [ { "runs": "git push" },
     { "reads":
       "a[0]{}" } ], "deny": [{ "reads": "secrets" }],
  "allow": [
    {"runs": "git push origin main"}]}`,
  });
  expect((await readRuleFile(folder.path, 'user'))?.lines).toEqual(
    new Map([
      ['ask[0]', 4],
      ['ask[1]', 5],
      ['deny[0]', 6],
      ['allow[0]', 8],
    ]),
  );
});

test.each([
  [['holdfast.policy.json', 'holdfast.policy.yaml'], 'holdfast.policy.json'],
  [['holdfast.policy.json', 'holdfast.policy.yml'], 'holdfast.policy.json'],
  [['holdfast.policy.yaml', 'holdfast.policy.yml'], 'holdfast.policy.yaml'],
])('of %j one must go, even if both are unusable', async (names, kept) => {
  for (const content of ['{}', '[[']) {
    await using folder = await createFolder(Object.fromEntries(names.map((name) => [name, content])));
    const directory = folder.path;
    const problem = {
      code: 'config.invalid',
      reason: 'policy',
      message: expect.stringContaining(`Keep \`${kept}\`, add to it`) as string,
    };
    await expect(readConfig({ directory, workspace: directory })).rejects.toMatchObject(problem);
    await expect(readRuleFile(directory, 'user')).rejects.toMatchObject(problem);
  }
});

const bomb = 'a: &a ["lol"]\nb: &b [*a, *a]\nc: [*b, *b]';

test.each<readonly [what: string, text: string, says: string]>([
  ['an empty file', '', 'it is empty'],
  ['nothing but a comment', '# later\n', 'must be an object'],
  ['anchors', bomb, 'it has anchors, which are not accepted (line 1, column 4)'],
  ['an alias', 'deny: []\nask: *a', 'it has aliases, which are not accepted (line 2, column 6)'],
  [
    'a merge key',
    'limits:\n  <<: { maxCalls: 1 }',
    'it has the merge key `<<`, which is not accepted (line 2, column 3)',
  ],
  ['a merge key in the options of a pack', 'packs: [{ pack: a, config: { <<: {} } }]', 'merge key `<<`'],
  ['a tag', 'locked: !!bool yes', 'it has tags, which are not accepted (line 1, column 9)'],
  ['a tag of its own', 'locked: !js true', 'it has tags'],
  ['a directive', '%YAML 1.1\n---\nlocked: yes', 'it has directives'],
  ['two documents', 'locked: true\n---\nlocked: false', 'it has more than one document (line 2, column 1)'],
  ['a key twice', 'locked: true\ndeny: []\nlocked: false', 'it has the duplicate key `locked` (line 3, column 1)'],
  ['a key twice, written otherwise', 'locked: true\n"lock\\x65d": false', 'the duplicate key `locked` (line 2,'],
  ['a key twice within', 'limits:\n  maxCalls: 1\n  maxCalls: 9', 'the duplicate key `maxCalls` (line 3, column 3)'],
  ['a key that is a list', '? [deny]\n: []', 'it is not YAML: With stringKeys, all keys must be strings (line 1,'],
  ['a key that is a number', '1: []', '`1`: unknown key'],
  ['`__proto__`', '__proto__: { locked: false }', '`__proto__` is not accepted'],
  ['a NUL', 'locked: true\n# \0', 'it has a control character (line 2, column 3)'],
  ['a NUL, escaped', 'deny:\n  - reads: "a\\0"', '`deny[0].reads`: must be'],
  ['a byte order mark', '\u{feff}locked: true', 'it starts with a byte order mark'],
  ['a broken list', 'deny: [', 'it is not YAML'],
  ['a tab', 'deny:\n\t- reads: secrets', 'it is not YAML'],
  ['a number beyond numbers', 'limits: { maxCalls: 1e999 }', 'it has a number that is too large'],
  ['a number that loses digits', 'limits:\n  maxCalls: 9007199254740993', 'too large (line 2, column 13)'],
  ['infinity', 'limits: { maxCalls: .inf }', 'it has a number that is too large'],
  ['a yes that is text', 'locked: yes', '`locked`: must be true or false, got "yes" (line 1, column 1)'],
  ['an unknown key', 'deny:\n  - reads: secrets\n  - read: x', '`deny[1].read`: unknown key; known keys: reads'],
  ['a wrong item', 'deny:\n  - reads: secrets\n  - secrets', 'such as { "reads": "secrets" } (line 3, column 5)'],
  ['`allow`', 'allow: []', '`allow`: a workspace may only tighten'],
  ['flow nesting', '['.repeat(20_000), 'it is nested deeper than 64 levels (line 1, column 65)'],
  ['maps in maps', '{ a: '.repeat(5_000), 'it is nested deeper than 64 levels'],
  ['nested keys', '? '.repeat(10_000), 'it is'],
  ['nested items', '- '.repeat(10_000), 'it is'],
  ['nested lines', Array.from({ length: 90 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'), 'deeper than 64'],
  ['a large file', `deny:\n${'  - reads: secrets\n'.repeat(60_000)}`, 'it is larger than 32768 bytes'],
])('config.invalid: policy: %s', async (_, text, says) => {
  await using folder = await createFolder({ 'w/holdfast.policy.yaml': text });
  await expect(readConfig({ directory: folder.path, workspace: join(folder.path, 'w') })).rejects.toMatchObject({
    code: 'config.invalid',
    reason: 'policy',
    message: expect.stringContaining(says) as string,
  });
});

test('problems of JSON have their places, too', async () => {
  await using folder = await createFolder({
    'holdfast.policy.json': '{\n  "deny": [\n    { "reads": "secrets" },\n    { "reed": "x" }\n  ] }',
  });
  const directory = folder.path;
  await expect(readConfig({ directory, workspace: directory })).rejects.toMatchObject({
    message: expect.stringMatching(/`deny\[1\]\.reed`: unknown key; known keys: .* \(line 4, column 7\)/) as string,
  });
  await folder.write({ 'holdfast.policy.json': '{\n  "deny": [],\n  "deny": [] }' });
  await expect(readConfig({ directory, workspace: directory })).rejects.toMatchObject({
    message: expect.stringContaining('it has the duplicate key `deny` (line 3, column 3)') as string,
  });
});

test('any JSON written as YAML, or as itself, is the same value', async () => {
  const json = fc.jsonValue({ maxDepth: 4, noUnicodeString: false }).filter((value) => {
    const text = JSON.stringify(value);
    // YAML has no such keys, and no such characters outside of escapes.
    return !/__proto__|<<|-0(?!\d)|\d{16}|e\+/.test(text);
  });
  await fc.assert(
    fc.asyncProperty(json, async (value) => {
      for (const text of [stringify(value, { aliasDuplicateObjects: false }), JSON.stringify(value, null, 1)]) {
        const parsed = await parsePolicyText(text, { yaml: true });
        if (!parsed.ok) expect(parsed.problem).toMatch(/control character|too large|empty/);
        else expect(parsed.value).toEqual(value);
      }
    }),
    { numRuns: 300 },
  );
});
