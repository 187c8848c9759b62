import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { definePlugin, defineTool, isHoldfastError, type Json } from '@holdfast/core';
import { toCanonicalJson } from '@holdfast/core/internal';
import { compareLock, type LoadedTools, loadTools } from '@holdfast/loader';
import {
  compareDefinitions,
  type DefinitionComparison,
  definitionsOf,
  findDefinitionProblem,
  type PluginDefinitions,
} from '@holdfast/loader/plugins';
import { jsonSchema } from '@holdfast/schema/json';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { metadataFile } from './hostile-tool-files.ts';

let root = '';
let [lock, registry] = ['', ''];
let [lockText, registryText] = ['', ''];
let clean: readonly string[] = [];
let current: PluginDefinitions;

const git = definePlugin({
  name: 'git',
  version: '1.0.0',
  description: 'Git.',
  holdfast: '*',
  tools: [
    defineTool({
      name: 'push',
      description: 'Pushes a branch.',
      inputSchema: jsonSchema<{ branch: string }>({ type: 'object', properties: { branch: { type: 'string' } } }),
      dangerous: true,
      execute: () => null,
    }),
  ],
});

const load = (): Promise<LoadedTools> => loadTools(join(root, 'plugins'), { lock, isolation: 'in-process' });

/** Each tool as a host and a model see it. */
function show({ tools }: LoadedTools): readonly string[] {
  return tools.map(({ name, description, dangerous, effects, inputSchema, origin }) =>
    toCanonicalJson(JSON.parse(JSON.stringify([name, description, dangerous, effects, inputSchema, origin])) as Json),
  );
}

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'holdfast-locks-'));
  [lock, registry] = [join(root, 'holdfast.lock'), join(root, '.holdfast/registry.json')];
  mkdirSync(join(root, 'plugins'));
  writeFileSync(join(root, 'word.mjs'), "export const word = 'good';\n");
  writeFileSync(join(root, 'plugins/a.mjs'), `import '../word.mjs';\n${metadataFile('first', {})}`);
  writeFileSync(join(root, 'plugins/b.mjs'), metadataFile('second', { dangerous: 'true' }));
  await (await compareLock(join(root, 'plugins'), { lock })).accept();
  current = definitionsOf(git, { package: '@acme/holdfast-git', version: '1.0.0', digest: 'a'.repeat(64) });
  await compareDefinitions([current], { lock }).accept();
  clean = show(await load());
  [lockText, registryText] = [readFileSync(lock, 'utf8'), readFileSync(registry, 'utf8')];
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A text with something cut out, put in or put in the place of something else. */
function damaged(text: string): fc.Arbitrary<string> {
  const place = fc.nat({ max: text.length });
  const pieces = [
    '"',
    '}',
    '{',
    ',',
    '0',
    'a',
    '../',
    '\\u0061',
    'true',
    'null',
    '"__proto__": {},',
    '"version": 1,',
    '',
  ];
  return fc
    .tuple(place, fc.constantFrom(...pieces), fc.constantFrom(0, 0, 1, 20, text.length))
    .map(([at, piece, length]) => text.slice(0, at) + piece + text.slice(at + length));
}

test('whatever has become of the registry, the tools are those that are locked', async () => {
  await fc.assert(
    fc.asyncProperty(damaged(registryText), async (text) => {
      writeFileSync(registry, text);
      const loaded = await load();
      expect(show(loaded)).toEqual(clean);
      expect(loaded.diagnostics).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

test('whatever has become of the lock, nothing loads but what is as it was locked', async () => {
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(
      damaged(lockText),
      fc.oneof(fc.constant(registryText), damaged(registryText)),
      async (text, other) => {
        writeFileSync(lock, text);
        writeFileSync(registry, other);
        try {
          const loaded = await load();
          for (const tool of show(loaded)) expect(clean).toContain(tool);
          if (loaded.tools.length < clean.length) expect(loaded.diagnostics).not.toEqual([]);
        } catch (thrown) {
          if (!isHoldfastError(thrown)) throw thrown;
          expect(thrown.code).toMatch(/^lock\./);
          refused += 1;
        }
      },
    ),
    { numRuns: 80 },
  );
  expect(refused).toBeGreaterThan(0);
});

/** The lock of the tests with its part of plugins in the place of this one. */
const withPlugins = (plugins: string): string =>
  `${lockText.slice(0, lockText.indexOf('"plugins":'))}"plugins": ${plugins},\n${lockText.slice(lockText.indexOf('  "tools":'))}`;

test('whatever has become of the lock, a plugin is as it is locked only where the lock says just what it is', () => {
  const part = toCanonicalJson(JSON.parse(lockText).plugins);
  const counts = { same: 0, different: 0, refused: 0 };
  const damagedPart = damaged(lockText.slice(0, lockText.indexOf('  "tools":'))).map(
    (text) => text + lockText.slice(lockText.indexOf('  "tools":')),
  );
  fc.assert(
    fc.property(fc.oneof(damaged(lockText), damagedPart), (text) => {
      writeFileSync(lock, text);
      const compared = tryCompare();
      if (compared === undefined) {
        counts.refused += 1;
        return;
      }
      const [plugin] = compared.plugins.filter(({ id }) => id === 'plugin:git');
      const problem = plugin === undefined ? undefined : findDefinitionProblem(plugin);
      const isSame = toCanonicalJson(JSON.parse(text).plugins ?? null) === part;
      counts[problem === undefined ? 'same' : 'different'] += 1;
      if (problem === undefined) expect(isSame).toBe(true);
      else expect(problem.code).toBe('lock.changed');
    }),
    { numRuns: 100 },
  );
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(0);
});

/** `undefined`: the lock was refused. */
function tryCompare(): DefinitionComparison | undefined {
  try {
    return compareDefinitions([current], { lock });
  } catch (thrown) {
    if (!isHoldfastError(thrown)) throw thrown;
    expect(thrown.code).toMatch(/^lock\./);
    expect(thrown.message).toMatch(/^[^\p{Cc}]{1,500}$/u);
    return undefined;
  }
}

const entry = '"definitions": {"tool:push": {"description": "Pushes a branch."}}, "version": "1.0.0"';

test.each([
  ['a list', '[]'],
  ['a text', '"plugin:git"'],
  ['null', 'null'],
  ['a prototype', `{"__proto__": {${entry}}}`],
  ['a prototype within', `{"plugin:git": {"definitions": {"__proto__": {}}, "version": "1.0.0"}}`],
  ['the name of a property of every object', `{"constructor": {${entry}}}`],
  ['the same plugin twice', `{"plugin:git": {${entry}}, "plugin:git": {${entry}}}`],
  ['the same definition twice', `{"plugin:git": {"definitions": {"tool:a": {}, "tool:a": {}}, "version": "1.0.0"}}`],
  ['a name that leads away', `{"plugin:../../git": {${entry}}}`],
  ['a name that clears a screen', `{"plugin:\\u001b[2J": {${entry}}}`],
  ['a digest that is a path', `{"plugin:git": {${entry}, "digest": "../../../etc/passwd"}}`],
  ['a package that is a path', `{"plugin:git": {${entry}, "package": "../.."}}`],
  ['a key of a later Holdfast', `{"plugin:git": {${entry}, "trusted": true}}`],
  ['a number out of range', `{"plugin:git": {"definitions": {"tool:a": {"x": 1e999}}, "version": "1.0.0"}}`],
  ['far too many levels', `{"plugin:git": {"definitions": ${'{"tool:a":'.repeat(5_000)}1${'}'.repeat(5_000)}}}`],
  ['half of it', `{"plugin:git": {${entry}`],
])('a lock with plugins that are %s is refused by all who read it', async (_, plugins) => {
  writeFileSync(lock, withPlugins(plugins));
  rmSync(registry, { force: true });
  expect(tryCompare()).toBeUndefined();
  await expect(load()).rejects.toMatchObject({ code: 'lock.invalid' });
});

test('a thousand unused plugins of a lock are reported as gone, and a missing one as new', () => {
  const many = Array.from({ length: 1_000 }, (_, at) => `"plugin:p${at}": {${entry}}`).join(',');
  writeFileSync(lock, withPlugins(`{${many}}`));
  const compared = compareDefinitions([current], { lock });
  expect(compared.plugins.filter(({ state }) => state === 'gone')).toHaveLength(1_000);
  expect(compared.plugins.filter(({ state }) => state === 'new')).toMatchObject([{ id: 'plugin:git' }]);
});
