import * as v from 'valibot';
import { expect, expectTypeOf, test } from 'vitest';
import { allow } from '../call/decision.ts';
import { definePolicy } from '../call/policy.ts';
import { definePack, type Pack, type PackDefinition } from './pack.ts';

const configSchema = v.object({
  maxPushes: v.optional(v.number(), 10),
  branches: v.optional(v.array(v.string()), ['main']),
});
const presets = {
  recommended: { description: 'For most projects.', config: {} },
  strict: { description: 'One push per session.', config: { maxPushes: 1 } },
};
const guard = definePolicy({ name: 'guard', check: () => allow });
const definition = {
  name: 'git-safety',
  version: '1.2.3',
  description: 'Protects the history.',
  configSchema,
  presets,
  policies: () => [guard],
};

test('a pack is data: its presets are printable and immutable', () => {
  const config = { branches: ['main', 'release'] };
  const own = { description: 'A dry run for releases.', config, observe: true };
  const pack = definePack({ ...definition, presets: { ...presets, releases: own } });
  config.branches.push('later');
  expect(JSON.parse(JSON.stringify(pack.presets))).toEqual({
    recommended: { description: 'For most projects.', config: {}, observe: false },
    strict: { description: 'One push per session.', config: { maxPushes: 1 }, observe: false },
    releases: { description: 'A dry run for releases.', config: { branches: ['main', 'release'] }, observe: true },
    observe: { description: 'A dry run of `recommended`.', config: {}, observe: true },
  });
  expect(() => Reflect.apply(Array.prototype.push, pack.presets['releases']?.config['branches'], ['x'])).toThrow(
    TypeError,
  );
  expect([pack, pack.presets, pack.presets['strict']].every((part) => Object.isFrozen(part))).toBe(true);
  expect(pack).toMatchObject({ name: 'git-safety', version: '1.2.3', description: 'Protects the history.' });
  expect(pack.policies({ maxPushes: 1, branches: [] })).toEqual([guard]);
});

test('its own `observe` preset replaces the default one', () => {
  const observe = { description: 'A dry run of one push.', config: { maxPushes: 1 }, observe: true };
  expect(definePack({ ...definition, presets: { ...presets, observe } }).presets['observe']).toEqual(observe);
});

test("the schema types the policies' options and the presets", () => {
  const pack = definePack({
    ...definition,
    configSchema,
    policies(config) {
      expectTypeOf(config).toEqualTypeOf<{ maxPushes: number; branches: string[] }>();
      return [];
    },
  });
  expectTypeOf(pack).toExtend<Pack>();
  expectTypeOf<PackDefinition<{ a: number }, { a?: number }>['presets']['strict']['config']>().toEqualTypeOf<{
    a?: number;
  }>();
  const strict = { description: 'x', config: { maxPushes: 'one' } };
  // @ts-expect-error `maxPushes` is a number.
  definePack({ ...definition, configSchema, presets: { ...presets, strict } });
  expect(pack.policies({ maxPushes: 1, branches: [] })).toEqual([]);
});

const recommended = presets.recommended;

// The casts stand for an untyped author.
test.each<{ wrong: object; says: string }>([
  { wrong: { name: 'Git' }, says: 'needs a name' },
  { wrong: { name: 'n'.repeat(33) }, says: 'needs a name' },
  { wrong: { name: '__proto__' }, says: 'needs a name' },
  { wrong: { name: 7 }, says: 'needs a name' },
  { wrong: { version: undefined }, says: '`version`' },
  { wrong: { version: '1.2' }, says: '`version`' },
  { wrong: { version: 'v1.2.3' }, says: '`version`' },
  { wrong: { version: '1.2.3-' }, says: '`version`' },
  { wrong: { version: '1.2.3\n' }, says: '`version`' },
  { wrong: { description: '' }, says: '`description`' },
  { wrong: { description: '  ' }, says: '`description`' },
  { wrong: { description: 'two\nlines' }, says: '`description`' },
  { wrong: { description: 'x'.repeat(201) }, says: '`description`' },
  { wrong: { configSchema: undefined }, says: '`configSchema`' },
  { wrong: { configSchema: null }, says: '`configSchema`' },
  { wrong: { policies: [guard] }, says: '`policies`' },
  { wrong: { presets: undefined }, says: 'needs `presets`' },
  { wrong: { presets: [] }, says: 'needs `presets`' },
  { wrong: { presets: { recommended } }, says: '`recommended` and `strict`' },
  { wrong: { presets: { ...presets, recommended: undefined } }, says: '`recommended` and `strict`' },
  { wrong: { presets: { ...presets, Loose: recommended } }, says: '`Loose`' },
  { wrong: { presets: { ...presets, ['__proto__']: recommended } }, says: '`__proto__`' },
  { wrong: { presets: { ...presets, strict: 'strict' } }, says: '`strict`, which is not an object' },
  { wrong: { presets: { ...presets, strict: { config: {} } } }, says: '`strict`, which needs a `description`' },
  { wrong: { presets: { ...presets, strict: { ...recommended, config: [] } } }, says: 'not an object' },
  { wrong: { presets: { ...presets, strict: { ...recommended, config: undefined } } }, says: 'not JSON' },
  { wrong: { presets: { ...presets, strict: { ...recommended, config: { at: new Date(0) } } } }, says: 'not JSON' },
  { wrong: { presets: { ...presets, strict: { ...recommended, observe: 'yes' } } }, says: 'neither true nor false' },
  { wrong: { presets: { ...presets, observe: recommended } }, says: '`observe: true`' },
])('pack.invalid: $wrong', ({ wrong, says }) => {
  const bad = { ...definition, ...wrong } as unknown as PackDefinition<unknown>;
  expect(() => definePack(bad)).toThrow(
    expect.objectContaining({ code: 'pack.invalid', message: expect.stringContaining(says) }),
  );
});
