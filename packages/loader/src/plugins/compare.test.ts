import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isHoldfastError, type JsonObject } from '@holdfast/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatLock, parseLock, readLock } from '../pins/lock-file.ts';
import { codesOf, createProject, type TestProject, toolFile } from '../test-project.ts';
import { compareDefinitions, type DefinitionComparison, findDefinitionProblem, readDefinitionLock } from './compare.ts';
import { definitionsOf, type PluginDefinitions } from './definitions.ts';
import { makePack, makePlugin, type Said } from './test-plugins.ts';

const statesOf = ({ plugins }: DefinitionComparison): readonly string[] =>
  plugins.map(({ id, state }) => `${id} ${state}`);

const describe = (said: Said = {}): PluginDefinitions => definitionsOf(makePlugin(said));
const pack = definitionsOf(makePack());

async function lockOf(project: TestProject, current: readonly PluginDefinitions[]): Promise<void> {
  await compareDefinitions(current, project).accept();
}

test('without a lock everything is new; with one there are no differences', async () => {
  await using project = await createProject();
  const first = compareDefinitions([describe(), pack], project);
  expect(first).toMatchObject({ lock: project.lock, found: false });
  expect(statesOf(first)).toEqual(['pack:git-safety new', 'plugin:git new']);
  expect(first.plugins[0]?.changes).toEqual([
    { definition: '', field: 'version', before: null, after: '1.0.0' },
    { definition: 'pack:git-safety', field: '', before: null, after: pack.definitions.get('pack:git-safety') },
  ]);
  await first.accept();
  const second = compareDefinitions([pack, describe()], project);
  expect(second.found).toBe(true);
  expect(second.plugins).toEqual([
    { id: 'pack:git-safety', kind: 'pack', name: 'git-safety', state: 'same', changes: [] },
    { id: 'plugin:git', kind: 'plugin', name: 'git', state: 'same', changes: [] },
  ]);
});

const object = { type: 'object', additionalProperties: false };
const changes: readonly (readonly [Said, string, string, unknown, unknown])[] = [
  [{ version: '2.0.1' }, '', 'version', '2.0.0', '2.0.1'],
  [{ pluginDescription: 'More.' }, 'plugin:git', 'description', 'Works with Git.', 'More.'],
  [{ holdfast: '^1.0.0' }, 'plugin:git', 'holdfast', '*', '^1.0.0'],
  [
    { options: { type: 'object', properties: { url: { type: 'string' } } } },
    'plugin:git',
    'options',
    { ...object, properties: {} },
    { ...object, properties: { url: { type: 'string' } } },
  ],
  [{ description: 'Pushes.' }, 'tool:push', 'description', 'Pushes a branch.', 'Pushes.'],
  [
    { parameters: { type: 'object', properties: {} } },
    'tool:push',
    'parameters',
    { ...object, properties: { path: { type: 'string' } }, required: ['path'] },
    { ...object, properties: {} },
  ],
  [{ returns: { type: 'number' } }, 'tool:push', 'returns', { type: 'string' }, { type: 'number' }],
  [{ effects: 'external' }, 'tool:push', 'effects', 'none', 'external'],
  [{ dangerous: true }, 'tool:push', 'dangerous', false, true],
  [{ timeoutMs: 501 }, 'tool:push', 'timeoutMs', 500, 501],
  [
    { attempts: 3 },
    'tool:push',
    'retry',
    expect.objectContaining({ attempts: 2 }),
    expect.objectContaining({ attempts: 3 }),
  ],
  [
    { example: 'Two.' },
    'tool:push',
    'examples',
    [expect.objectContaining({ description: 'One.' })],
    [expect.objectContaining({ description: 'Two.' })],
  ],
  [{ template: 'Push.' }, 'section:guide', 'template', 'Push with care.', 'Push.'],
  [{ title: 'Help' }, 'section:guide', 'title', 'Guide', 'Help'],
  [{ summary: 'Pushing.' }, 'section:guide', 'summary', null, 'Pushing.'],
  [{ defaults: { who: 'me' } }, 'section:guide', 'defaults', null, { who: 'me' }],
  [{ retention: 'log' }, 'slice:git/pushed', 'retention', 'state', 'log'],
  [{ modelDescription: 'Small.' }, 'model:small', 'description', 'A model.', 'Small.'],
  [{ lifetime: 'call' }, 'resource:repository', 'lifetime', 'session', 'call'],
  [{ commandDescription: 'Log.' }, 'command:git-log', 'description', 'Shows the log.', 'Log.'],
  [{ packVersion: '1.0.1' }, 'pack:git-safety', 'version', '1.0.0', '1.0.1'],
  [
    { strict: { most: 100 } },
    'pack:git-safety',
    'preset strict',
    { description: 'One push.', config: { most: 1 }, observe: false },
    { description: 'One push.', config: { most: 100 }, observe: false },
  ],
  [
    { packOptions: { type: 'object', properties: {} } },
    'pack:git-safety',
    'options',
    { ...object, properties: { most: { type: 'integer' } } },
    { ...object, properties: {} },
  ],
];

test.each(changes)('%j is reported as one change', async (said, definition, field, before, after) => {
  await using project = await createProject();
  await lockOf(project, [describe()]);
  const [plugin] = compareDefinitions([describe(said)], project).plugins;
  expect(plugin).toMatchObject({ state: 'changed', changes: [{ definition, field, before, after }] });
  expect(plugin?.changes).toHaveLength(1);
});

test('a field that is null in a lock differs from a missing one', async () => {
  await using project = await createProject();
  const tool = new Map([['tool:push', { description: 'Pushes.' }]]);
  await lockOf(project, [{ ...pack, definitions: tool }]);
  const text = await readFile(project.lock, 'utf8');
  await project.write('holdfast.lock', text.replace('"description"', '"dangerous": null, "description"'));
  expect(compareDefinitions([{ ...pack, definitions: tool }], project).plugins).toMatchObject([{ state: 'changed' }]);
});

test('the tools of a policy are described where the policy applies', async () => {
  await using project = await createProject();
  await lockOf(project, [describe()]);
  const [plugin] = compareDefinitions([describe({ policyTools: [] })], project).plugins;
  expect(plugin?.changes).toEqual([
    { definition: 'policy:guard', field: 'tools', before: ['push'], after: [] },
    {
      definition: 'section:guide.inner',
      field: 'policies',
      before: [{ id: 'guard', name: 'guard', tools: ['push'] }],
      after: [{ id: 'guard', name: 'guard', tools: [] }],
    },
  ]);
});

const name = fc.stringMatching(/^[a-z]{1,4}$/);
const fields = fc.dictionary(
  name,
  fc.jsonValue({ maxDepth: 2 }).filter((value) => value !== null),
  { maxKeys: 4 },
);
const definitionKey = fc
  .tuple(fc.constantFrom('tool', 'section', 'policy'), name)
  .map(([kind, one]) => `${kind}:${one}`);
const definitions = fc
  .dictionary(definitionKey, fields, { minKeys: 1, maxKeys: 4 })
  // A lock refuses this key.
  .filter((made) => !JSON.stringify(made).includes('__proto__'))
  // JSON only.
  .map((made): ReadonlyMap<string, JsonObject> => new Map(Object.entries(JSON.parse(JSON.stringify(made)))));
const anyPlugin = fc.record({
  id: fc.stringMatching(/^(?:plugin|pack):[a-z][a-z0-9-]{0,4}$/),
  version: fc.stringMatching(/^\d\.\d\.\d$/),
  package: fc.option(fc.stringMatching(/^@[a-z]{1,3}\/[a-z]{1,3}$/), { nil: undefined }),
  packageVersion: fc.option(fc.stringMatching(/^\d\.\d\.\d$/), { nil: undefined }),
  digest: fc.option(fc.constantFrom('a'.repeat(64), 'b'.repeat(64)), { nil: undefined }),
  definitions,
});
const plugins = fc.uniqueArray(anyPlugin, { selector: ({ id }) => id, minLength: 1, maxLength: 4 }).map((list) =>
  list.map((one): PluginDefinitions => {
    const kind = one.id.startsWith('pack:') ? 'pack' : 'plugin';
    return { ...one, kind, name: one.id.slice(kind.length + 1) };
  }),
);

test('property: there are no differences after locking, and a changed field is reported exactly, in any order', async () => {
  await using project = await createProject();
  await fc.assert(
    fc.asyncProperty(plugins, fc.nat(), fc.nat(), fc.boolean(), async (list, which, at, isGone) => {
      await compareDefinitions(list, project).accept();
      const text = await readFile(project.lock, 'utf8');
      await compareDefinitions(list.toReversed(), project).accept();
      expect(await readFile(project.lock, 'utf8')).toBe(text);
      expect(formatLock(parseLock(text, ''))).toBe(text);
      const compared = compareDefinitions(list, project).plugins.filter(({ state }) => state !== 'gone');
      expect(compared.every(({ state, changes: found }) => state === 'same' && found.length === 0)).toBe(true);

      const chosen = list[which % list.length];
      if (chosen === undefined) return;
      const places = [...chosen.definitions].flatMap(([key, one]) =>
        ['', ...Object.keys(one)].map((field) => [key, field]),
      );
      const [key = '', field = ''] = places[at % places.length] ?? [];
      const { [field]: before = null, ...others } = chosen.definitions.get(key) ?? {};
      const changed = new Map(chosen.definitions);
      if (field === '') changed.delete(key);
      else changed.set(key, isGone ? others : { ...others, [field]: [before, 'changed'] });
      const now = list.map((one) => (one === chosen ? { ...one, definitions: changed } : one));
      const differing = compareDefinitions(now, project).plugins.filter(({ state }) => state === 'changed');
      expect(differing.map(({ id, changes: found }) => [id, found])).toEqual([
        [
          chosen.id,
          [
            {
              definition: key,
              field,
              before: field === '' ? chosen.definitions.get(key) : before,
              after: field === '' || isGone ? null : [before, 'changed'],
            },
          ],
        ],
      ]);
    }),
    { numRuns: 30 },
  );
});

test('a definition that no lock could be read with is not written', async () => {
  await using project = await createProject();
  await lockOf(project, [describe(), pack]);
  const before = await readFile(project.lock, 'utf8');
  const odd: JsonObject = JSON.parse('{ "parameters": { "properties": { "__proto__": {} } } }');
  const broken = { ...pack, definitions: new Map([['tool:a', odd]]) };
  await expect(lockOf(project, [describe(), broken])).rejects.toMatchObject({
    code: 'lock.invalid',
    reason: 'unwritable',
    message: expect.stringContaining('`__proto__` is not accepted as a key'),
  });
  expect(await readFile(project.lock, 'utf8')).toBe(before);
});

test('one is accepted, the others keep their entries; a missing one leaves the lock', async () => {
  await using project = await createProject();
  await lockOf(project, [describe(), pack]);
  const other = definitionsOf(makePlugin({ version: '3.0.0' }));
  const changed = definitionsOf(makePack({ packVersion: '1.1.0' }));
  await compareDefinitions([other, changed], project).accept(['pack:git-safety']);
  expect(statesOf(compareDefinitions([other, changed], project))).toEqual([
    'pack:git-safety same',
    'plugin:git changed',
  ]);
  expect(statesOf(compareDefinitions([changed], project))).toEqual(['pack:git-safety same', 'plugin:git gone']);
  await lockOf(project, [changed]);
  expect(statesOf(compareDefinitions([changed], project))).toEqual(['pack:git-safety same']);
  await expect(compareDefinitions([changed], project).accept(['plugin:git'])).rejects.toMatchObject({
    code: 'lock.invalid',
    reason: 'unknown',
  });
});

test('a plugin that failed to load keeps its entry', async () => {
  await using project = await createProject();
  await lockOf(project, [describe(), pack]);
  const text = await readFile(project.lock, 'utf8');
  const compared = compareDefinitions([pack], { lock: project.lock, incomplete: true });
  expect(statesOf(compared)).toEqual(['pack:git-safety same', 'plugin:git refused']);
  await compared.accept();
  expect(await readFile(project.lock, 'utf8')).toBe(text);
});

test('a lock that once had plugins records their absence', async () => {
  await using project = await createProject();
  await lockOf(project, []);
  expect(await readdir(project.root)).toEqual(['plugins']);
  await lockOf(project, [pack]);
  await lockOf(project, []);
  expect(await readFile(project.lock, 'utf8')).toBe('{\n  "plugins": {},\n  "tools": {},\n  "version": 1\n}\n');
  expect(compareDefinitions([pack], project)).toMatchObject({ found: true, plugins: [{ state: 'new' }] });
});

test('writing one part of the lock keeps the other', async () => {
  await using project = await createProject({ 'plugins/greet.mjs': toolFile('greet') });
  await project.accept();
  const tools = await readFile(project.lock, 'utf8');
  const [files, current] = [await project.compare(), compareDefinitions([pack], project)];
  await current.accept();
  const both = await readFile(project.lock, 'utf8');
  // Also a comparison made before the others wrote.
  await files.accept();
  expect(await readFile(project.lock, 'utf8')).toBe(both);
  await project.accept();
  expect(await readFile(project.lock, 'utf8')).toBe(both);
  expect(codesOf(await project.load())).toEqual([]);
  expect(statesOf(compareDefinitions([pack], project))).toEqual(['pack:git-safety same']);

  const { plugins: part, ...rest } = JSON.parse(both);
  expect(Object.keys(part)).toEqual(['pack:git-safety']);
  expect(`${JSON.stringify(rest, undefined, 2)}\n`).toBe(tools);
  await project.remove('plugins/greet.mjs');
  await project.accept();
  expect(readLock(project.lock)).toMatchObject({ tools: new Map(), plugins: expect.any(Map) });
  expect(statesOf(compareDefinitions([pack], project))).toEqual(['pack:git-safety same']);
});

test('entries accepted by another process meanwhile are kept', async () => {
  await using project = await createProject();
  const [one, two] = [compareDefinitions([pack], project), compareDefinitions([describe()], project)];
  await one.accept();
  await two.accept();
  expect(statesOf(compareDefinitions([describe(), pack], project))).toEqual([
    'pack:git-safety same',
    'plugin:git same',
  ]);
});

test('a pack used twice is one pack; two versions of it are refused', async () => {
  await using project = await createProject();
  expect(statesOf(compareDefinitions([pack, definitionsOf(makePack())], project))).toEqual(['pack:git-safety new']);
  expect(() => compareDefinitions([pack, definitionsOf(makePack({ packVersion: '1.1.0' }))], project)).toThrow(
    expect.objectContaining({
      code: 'lock.invalid',
      reason: 'duplicate',
      message: expect.stringContaining('versions 1.0.0 and 1.1.0'),
    }),
  );
});

test('a damaged lock is not overwritten, and an unwritable one is reported', async () => {
  await using project = await createProject({ 'holdfast.lock': '<<<<<<<' });
  expect(() => compareDefinitions([pack], project)).toThrow(expect.objectContaining({ code: 'lock.invalid' }));
  await project.remove('holdfast.lock');
  const compared = compareDefinitions([pack], project);
  await project.write('holdfast.lock', '<<<<<<<');
  await expect(compared.accept()).rejects.toMatchObject({ code: 'lock.invalid' });
  const nowhere = compareDefinitions([pack], { lock: join(project.root, 'nowhere/holdfast.lock') });
  await expect(nowhere.accept()).rejects.toMatchObject({ code: 'lock.invalid', reason: 'unwritable' });
});

test.each<{ now: readonly PluginDefinitions[]; reason?: string; code: string; says: string }>([
  {
    now: [describe({ dangerous: true, description: 'Pushes.' })],
    code: 'lock.changed',
    says: '(tool:push: dangerous, description)',
  },
  {
    now: [definitionsOf(makePlugin({ version: '2.1.0' }), { digest: 'a'.repeat(64) })],
    code: 'lock.changed',
    says: '(its file, version 2.0.0 -> 2.1.0)',
  },
  {
    now: [definitionsOf(makePack({ strict: { most: 2 } }))],
    code: 'lock.changed',
    reason: 'pack',
    says: '(pack:git-safety: preset strict)',
  },
  {
    now: [{ ...describe(), id: 'plugin:hg', name: 'hg' }],
    code: 'lock.changed',
    reason: 'new',
    says: '`holdfast lock --check --accept plugin:hg`; run that without `--check`',
  },
  {
    now: [{ ...pack, id: 'pack:other', name: 'other' }],
    code: 'lock.changed',
    reason: 'pack_new',
    says: 'The pack `other` is not in the lock',
  },
])('$code: $says', async ({ now, code, says }) => {
  await using project = await createProject();
  await lockOf(project, [describe(), pack]);
  const problems = compareDefinitions(now, project).plugins.flatMap((one) => findDefinitionProblem(one) ?? []);
  expect(problems).toMatchObject([{ code, message: expect.stringContaining(says) }]);
});

test('each is compared with the same snapshot of the lock', async () => {
  await using project = await createProject();
  expect(readDefinitionLock(project.lock)).toMatchObject({ lock: project.lock, found: false });
  expect(readDefinitionLock(project.lock).compare(pack)).toMatchObject({ state: 'new' });
  await lockOf(project, [describe()]);
  const locked = readDefinitionLock(project.lock);
  await lockOf(project, [pack]);
  expect(locked.found).toBe(true);
  const all = [describe(), describe({ dangerous: true }), pack].map((one) => locked.compare(one));
  expect(all.map(({ id, state }) => `${id} ${state}`)).toEqual([
    'plugin:git same',
    'plugin:git changed',
    'pack:git-safety new',
  ]);
  expect(all.map((one) => findDefinitionProblem(one)?.code)).toEqual([undefined, 'lock.changed', 'lock.changed']);
  await project.write('holdfast.lock', '{');
  expect(() => readDefinitionLock(project.lock)).toThrow(expect.objectContaining({ code: 'lock.invalid' }));
});

test('a message about differences is short and on one line', async () => {
  await using project = await createProject();
  const many = new Map(Array.from({ length: 500 }, (_, at) => [`tool:${'x'.repeat(20)}${at}`, { 'a\n\u001b[2J': at }]));
  await lockOf(project, [{ ...describe(), definitions: new Map() }]);
  const [compared] = compareDefinitions([{ ...describe(), definitions: many }], project).plugins;
  const problem = compared === undefined ? undefined : findDefinitionProblem(compared);
  if (!isHoldfastError(problem)) throw new Error('it differs');
  expect(problem.message).toMatch(/^[^\p{Cc}]{1,1500}$/u);
  expect(problem.message).toContain('495 more');
});
