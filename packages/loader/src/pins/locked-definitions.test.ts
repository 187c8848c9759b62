import { isHoldfastError } from '@holdfast/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatLock, parseLock } from './lock-file.ts';
import type { LockedDefinitions } from './locked-definitions.ts';

const git: LockedDefinitions = {
  version: '2.0.0',
  package: '@acme/holdfast-git',
  packageVersion: '2.0.1',
  digest: 'a'.repeat(64),
  definitions: new Map([['tool:push', { effects: 'none', description: 'Pushes.' }]]),
};
const sound = formatLock({ tools: new Map(), plugins: new Map([['plugin:git', git]]) });

function codeOf(text: string): string {
  try {
    parseLock(text, 'holdfast.lock');
    return 'taken';
  } catch (thrown) {
    if (!isHoldfastError(thrown)) throw thrown;
    expect(thrown.message).toMatch(/^[^\p{Cc}]{1,500}$/u);
    return thrown.code;
  }
}

/** The sound lock with a changed plugin. */
function change(changes: Readonly<Record<string, unknown>>): string {
  const lock = JSON.parse(sound);
  return JSON.stringify({ ...lock, plugins: { 'plugin:git': { ...lock.plugins['plugin:git'], ...changes } } });
}

function without(key: string): string {
  const lock = JSON.parse(sound);
  delete lock.plugins['plugin:git'][key];
  return JSON.stringify(lock);
}

test('locked plugins round-trip, sorted', () => {
  expect(sound).toBe(`{
  "plugins": {
    "plugin:git": {
      "definitions": {
        "tool:push": {
          "description": "Pushes.",
          "effects": "none"
        }
      },
      "digest": "${'a'.repeat(64)}",
      "package": "@acme/holdfast-git",
      "packageVersion": "2.0.1",
      "version": "2.0.0"
    }
  },
  "tools": {},
  "version": 1
}
`);
  expect(parseLock(sound, '').plugins).toEqual(new Map([['plugin:git', git]]));
  expect(codeOf(change({}))).toBe('taken');
});

test('unknown parts of the origin are left out', () => {
  const bare = { ...git, package: undefined, packageVersion: undefined, digest: undefined };
  const text = formatLock({ tools: new Map(), plugins: new Map([['pack:git', bare]]) });
  expect(Object.keys(JSON.parse(text).plugins['pack:git'])).toEqual(['definitions', 'version']);
  expect(parseLock(text, '').plugins).toEqual(new Map([['pack:git', bare]]));
});

test('a lock without plugins is accepted, and written unchanged', () => {
  const old = '{\n  "tools": {},\n  "version": 1\n}\n';
  expect(parseLock(old, '')).toEqual({ tools: new Map(), plugins: undefined });
  expect(formatLock(parseLock(old, ''))).toBe(old);
  const empty = parseLock('{"plugins":{},"tools":{},"version":1}', '');
  expect(empty.plugins).toEqual(new Map());
  expect(formatLock(empty)).toBe('{\n  "plugins": {},\n  "tools": {},\n  "version": 1\n}\n');
});

const nested = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);

test.each([
  ['plugins that are a list', '{"plugins":[],"tools":{},"version":1}'],
  ['plugins that are null', '{"plugins":null,"tools":{},"version":1}'],
  ['plugins without tools', '{"plugins":{},"version":1}'],
  ['the part twice', sound.replace('"plugins": {', '"plugins": {}, "plugins": {')],
  ['a plugin twice', sound.replace('"plugins": {', '"plugins": { "plugin:git": {},')],
  ['a plugin that is invalid', sound.replace('"plugin:git": {', '"plugin:git": null, "plugin:hg": {')],
  ['a name without a kind', sound.replace('plugin:git', 'git')],
  ['a kind that is invalid', sound.replace('plugin:git', 'tool:git')],
  ['a name in capitals', sound.replace('plugin:git', 'plugin:Git')],
  ['a name that is a path', sound.replace('plugin:git', 'plugin:../git')],
  ['a name that is empty', sound.replace('plugin:git', 'plugin:')],
  ['a name that is too long', sound.replace('plugin:git', `plugin:${'g'.repeat(33)}`)],
  ['a name with an escape', sound.replace('plugin:git', 'plugin:\\u001b[2J')],
  ['__proto__', sound.replace('plugin:git', '__proto__')],
  ['constructor', sound.replace('plugin:git', 'constructor')],
  ['another key', change({ file: 'x' })],
  ['no version', without('version')],
  ['no definitions', without('definitions')],
  ['a version that is invalid', change({ version: 2 })],
  ['a version with an escape', change({ version: '\u001b[2J' })],
  ['a package that is a path', change({ package: '../../x' })],
  ['a package that is invalid', change({ package: null })],
  ['a version of the package that is invalid', change({ packageVersion: ['1'] })],
  ['a digest that is invalid', change({ digest: 'abc' })],
  ['a digest in capitals', change({ digest: 'A'.repeat(64) })],
  ['definitions that are a list', change({ definitions: [] })],
  ['a definition that is a text', change({ definitions: { 'tool:push': 'x' } })],
  ['a definition that is a list', change({ definitions: { 'tool:push': [] } })],
  ['a definition without a kind', change({ definitions: { push: {} } })],
  ['a definition of another kind', change({ definitions: { 'thing:push': {} } })],
  ['a definition without a name', change({ definitions: { 'tool:': {} } })],
  ['a definition with a line', change({ definitions: { 'tool:a\nb': {} } })],
  ['a definition with a name that is far too long', change({ definitions: { [`tool:${'x'.repeat(1001)}`]: {} } })],
  ['a field twice', sound.replace('"effects": "none"', '"effects": "none", "effects": "external"')],
  ['a field __proto__', sound.replace('"effects"', '"__proto__"')],
  ['too many levels', change({ definitions: { 'tool:push': nested(90) } })],
])('refused: %s', (_, text) => {
  expect(codeOf(text)).toBe('lock.invalid');
});

test('property: a truncated or changed lock is refused or has another meaning', () => {
  fc.assert(
    fc.property(fc.nat(sound.length - 2), fc.integer({ min: 32, max: 126 }), (at, code) => {
      expect(codeOf(sound.slice(0, at))).toBe('lock.invalid');
      const changed = sound.slice(0, at) + String.fromCharCode(code) + sound.slice(at + 1);
      if (codeOf(changed) !== 'taken' || changed === sound) return;
      // Blanks between tokens do not matter.
      const isSame = formatLock(parseLock(changed, '')) === sound;
      expect(isSame).toBe(JSON.stringify(JSON.parse(changed)) === JSON.stringify(JSON.parse(sound)));
    }),
    { numRuns: 80 },
  );
});
