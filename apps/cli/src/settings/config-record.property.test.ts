import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readTerms, toTermsRecord } from '../run/terms.ts';
import { type ConfigRecord, checkSameConfig } from './config-record.ts';

const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/);
const version = fc.constantFrom('1.0.0', '1.1.0', '2.0.0');
const options = fc.option(fc.constantFrom('a1', 'b2'), { nil: undefined });
const source = { package: options, digest: options };
const plugin = fc.record({ name, version, prefix: fc.option(name, { nil: undefined }), options, ...source });
const pack = fc.record({
  id: name,
  name,
  version,
  preset: fc.constantFrom('recommended', 'strict'),
  observe: fc.option(fc.boolean(), { nil: undefined }),
  options,
  ...source,
});
const record: fc.Arbitrary<ConfigRecord> = fc.record({
  file: fc.option(fc.constant('holdfast.config.ts'), { nil: null }),
  plugins: fc.uniqueArray(plugin, { selector: (one) => one.name, maxLength: 4 }),
  packs: fc.uniqueArray(pack, { selector: ({ id }) => id, maxLength: 4 }),
  allowTools: fc.option(fc.uniqueArray(name, { maxLength: 4 }), { nil: undefined }),
  denyTools: fc.uniqueArray(name, { maxLength: 4 }),
  winners: fc.dictionary(name, name, { maxKeys: 2 }),
  locked: fc.boolean(),
});

/** True if a run may be resumed. */
function isSame(before: ConfigRecord, now: ConfigRecord | undefined): boolean {
  try {
    checkSameConfig(before, now);
    return true;
  } catch (thrown) {
    expect(thrown).toMatchObject({ code: 'run.config.changed' });
    return false;
  }
}

test("a run's configuration equals itself, in any order and when read from its log", () => {
  fc.assert(
    fc.property(record, (before) => {
      const turned = {
        ...before,
        plugins: before.plugins.toReversed(),
        packs: before.packs.toReversed(),
        allowTools: before.allowTools?.toReversed(),
        denyTools: before.denyTools.toReversed(),
      };
      expect(isSame(before, turned)).toBe(true);
      const terms = { directory: '/', model: 'offline', tools: null, approval: 'ask', allow: [], order: [] } as const;
      const entry = JSON.parse(JSON.stringify(toTermsRecord({ ...terms, config: before })));
      const read = readTerms([{ ...entry, seq: 0, atMs: 0 }], 1)?.config;
      if (read === undefined) throw new Error('the record is invalid');
      expect(isSame(read, before)).toBe(true);
    }),
  );
});

test('additional plugins, guards and denied tools, and fewer allowed tools, do not count as a change', () => {
  fc.assert(
    fc.property(record, record, fc.nat(), (before, other, at) => {
      const others = <Thing>(own: readonly Thing[], more: readonly Thing[], toKey: (thing: Thing) => string) => {
        const known = new Set(own.map(toKey));
        return [...more.filter((thing) => !known.has(toKey(thing))), ...own];
      };
      const now: ConfigRecord = {
        ...before,
        plugins: others(before.plugins, other.plugins, (one) => one.name),
        packs: others(before.packs, other.packs, ({ id }) => id),
        denyTools: [...before.denyTools, ...other.denyTools],
        allowTools: before.allowTools?.filter((_, index) => index !== at % 4) ?? other.allowTools,
      };
      expect(isSame(before, now)).toBe(true);
    }),
  );
});

test('anything missing, different or looser is a change', () => {
  const changes: readonly ((before: ConfigRecord, at: number) => ConfigRecord | undefined)[] = [
    (before, at) => ({ ...before, plugins: before.plugins.toSpliced(at % before.plugins.length, 1) }),
    (before, at) => ({ ...before, packs: before.packs.toSpliced(at % before.packs.length, 1) }),
    (before, at) => ({ ...before, denyTools: before.denyTools.toSpliced(at % before.denyTools.length, 1) }),
    (before) => ({ ...before, allowTools: [...(before.allowTools ?? []), 'zz-another'] }),
    (before) => ({ ...before, allowTools: undefined }),
    (before) => ({ ...before, winners: { ...before.winners, zz: 'another' } }),
    (before) => ({ ...before, packs: before.packs.map((one) => ({ ...one, digest: `${one.digest}+` })) }),
    (before) => ({ ...before, plugins: before.plugins.map((one) => ({ ...one, package: `${one.package}+` })) }),
    (before) => ({ ...before, plugins: before.plugins.map((one) => ({ ...one, options: `${one.options}+` })) }),
    (before) => ({ ...before, plugins: before.plugins.map((one) => ({ ...one, prefix: `${one.prefix}z` })) }),
    (before) => ({ ...before, packs: before.packs.map((one) => ({ ...one, preset: 'other' })) }),
    (before) => ({ ...before, packs: before.packs.map((one) => ({ ...one, observe: one.observe !== true })) }),
    (before) => ({ ...before, packs: before.packs.map((one) => ({ ...one, options: `${one.options}+` })) }),
    () => undefined,
  ];
  fc.assert(
    fc.property(record, fc.constantFrom(...changes), fc.nat(), (before, change, at) => {
      fc.pre(before.plugins.length > 0 && before.packs.length > 0 && before.denyTools.length > 0);
      fc.pre(before.allowTools !== undefined);
      expect(isSame(before, change(before, at))).toBe(false);
    }),
  );
});
