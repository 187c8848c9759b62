import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { cycle, hostileProxy, revokedProxy, thenable, thrown } from './call-fixtures.ts';
import { arbitraryKey } from './random-shapes.ts';

class Account {
  readonly admin = true;
  get secret(): string {
    return 'x';
  }
}
class Items extends Array<unknown> {}

const getter = (get: () => unknown): object => Object.defineProperty({}, 'a', { get, enumerable: true });

/** Things that are not JSON, or that pretend to be. Made anew each time: some change when they are looked at. */
const hostileMakers: readonly (() => unknown)[] = [
  hostileProxy,
  revokedProxy,
  cycle,
  () => new Proxy([1, 2], { get: (target, key) => (key === 'length' ? 5 : Reflect.get(target, key)) }),
  () => new Proxy({ a: 1 }, { ownKeys: () => ['a', 'b'] }),
  () =>
    new Proxy(
      { a: 1 },
      {
        ownKeys: () => ['__proto__'],
        getOwnPropertyDescriptor: () => ({ value: {}, enumerable: true, configurable: true }),
      },
    ),
  () => new Proxy({}, { getPrototypeOf: () => Object.prototype, get: () => 'everything', has: () => true }),
  () => getter(() => thrown(new Error('read'))),
  () => getter(() => cycle()),
  () => {
    let reads = 0;
    return getter(() => (reads += 1));
  },
  () => {
    const growing: Record<string, unknown> = {};
    return Object.defineProperty(growing, 'a', { enumerable: true, get: () => (growing['b'] = 1) });
  },
  () => new Account(),
  () => Object.create({ inherited: true }) as unknown,
  () => Object.assign(Object.create(null), { a: 1 }) as unknown,
  () => JSON.parse('{"__proto__":{"polluted":true}}') as unknown,
  () => ({ constructor: { prototype: { polluted: true } } }),
  () => ({ ['__proto__']: { polluted: true } }),
  () => Object.fromEntries([['toJSON', () => ({ polluted: true })]]),
  () => Object.assign([1], { extra: true, toJSON: () => 'other' }),
  () => Items.from([1, 2]),
  () => Array.from({ length: 3, 1: 'x' }),
  () => Object.assign(new Array<unknown>(1_000_000), { 5: 1 }),
  () => new Map([['a', 1]]),
  () => new Set([1]),
  () => new WeakMap(),
  () => new Date(0),
  () => new Date(Number.NaN),
  () => /x/g,
  () => new Uint8Array(3),
  () => new Float64Array([1]),
  () => new ArrayBuffer(8),
  () => new DataView(new ArrayBuffer(8)),
  () => Buffer.from('text'),
  () => new Error('not JSON'),
  () => Promise.resolve(1),
  () => thenable(() => undefined),
  () => Object('boxed') as unknown,
  () => Object(1) as unknown,
  () => Object(Symbol('boxed')) as unknown,
  () => Symbol('alone'),
  () => ({ [Symbol('key')]: 1 }),
  () => 1n,
  () => Number.NaN,
  () => Number.POSITIVE_INFINITY,
  () => undefined,
  () => () => 1,
  () => Account,
  () => globalThis,
  () => runInNewContext('({ a: [1] })') as unknown,
  () => runInNewContext('new Map([[1, 2]])') as unknown,
  () => Object.freeze({ a: 1 }),
  () => Array.from({ length: 70 }).reduce((inner) => [inner], 'deep'),
];

const { value, entries } = fc.letrec<{ value: () => unknown; entries: readonly (readonly [string, () => unknown])[] }>(
  (tie) => ({
    value: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      { weight: 3, arbitrary: fc.constantFrom(...hostileMakers) },
      {
        weight: 3,
        arbitrary: fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)).map((leaf) => () => leaf),
      },
      {
        weight: 2,
        arbitrary: fc.array(tie('value'), { maxLength: 3 }).map((makers) => () => makers.map((make) => make())),
      },
      { weight: 2, arbitrary: tie('entries').map((pairs) => () => toObject(pairs)) },
    ),
    entries: fc.array(fc.tuple(fc.oneof(arbitraryKey, fc.constant('q'), fc.string()), tie('value')), { maxLength: 3 }),
  }),
);

function toObject(pairs: readonly (readonly [string, () => unknown])[]): unknown {
  return Object.fromEntries(pairs.map(([key, make]) => [key, make()]));
}

/** Makers of decoded arguments: now and then a plain object all the way down, mostly with something foul in it. */
export const arbitraryHostileValue: fc.Arbitrary<() => unknown> = fc.oneof(
  { weight: 1, arbitrary: value },
  { weight: 4, arbitrary: entries.map((pairs) => () => toObject(pairs)) },
);

const foul = [
  '\u0000',
  '\ufeff',
  '\ud800',
  '\u2028',
  '"',
  '\\',
  '\\u0061',
  '\\ud800',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '1e999',
  '-',
  '-0',
  '00',
  'NaN',
  'undefined',
  "'",
  '/**/',
  ' ',
  '\n',
  '.',
  'e',
];
const foulMembers = [
  '"__proto__":{"polluted":true}',
  '"\\u005f_proto__":{"polluted":true}',
  '"__proto__":1,"__proto__":2',
  '"constructor":{"prototype":{"polluted":true}}',
  '"q":1',
  '"q":"again"',
  '"\\u0071":"x"',
  '"a":1,"\\u0061":2',
  '"toString":1,"toString":2',
  '"deep":{"a":{"b":1,"b":2}}',
  '"list":[{"a":1},{"a":1}]',
  '"colons":":::\\":"',
  '"n":9007199254740993',
  '"n":123456789012345678901234567890',
  '"n":1e400',
  '"n":-1e400',
  '"n":1e-400',
  '"s":"\\ud800"',
  '"s":"\\u0000\\ud83d\\ude00"',
];

type Change = (text: string) => string;
const somewhere = fc.double({ min: 0, max: 1, noNaN: true });
const at = (text: string, share: number): number => Math.floor(share * text.length);

const change: fc.Arbitrary<Change> = fc.oneof(
  somewhere.map(
    (share): Change =>
      (text) =>
        text.slice(0, at(text, share)),
  ),
  fc.tuple(somewhere, fc.nat({ max: 5 })).map(
    ([share, count]): Change =>
      (text) =>
        text.slice(0, at(text, share)) + text.slice(at(text, share) + count),
  ),
  fc.tuple(somewhere, fc.constantFrom(...foul)).map(
    ([share, inserted]): Change =>
      (text) =>
        text.slice(0, at(text, share)) + inserted + text.slice(at(text, share)),
  ),
  fc.tuple(fc.nat({ max: 4 }), fc.constantFrom(...foulMembers)).map(
    ([which, member]): Change =>
      (text) =>
        insertMember(text, which, member),
  ),
  fc.tuple(fc.nat({ max: 4 }), fc.integer({ min: 58, max: 70 }), fc.boolean()).map(
    ([which, depth, lists]): Change =>
      (text) =>
        insertMember(text, which, `"deep":${nested(depth, lists)}`),
  ),
  fc.constantFrom<Change>(
    (text) => JSON.stringify(text),
    (text) => `\ufeff${text}`,
    (text) => `${text}${text}`,
    (text) => `[${text}]`,
    (text) => `${text} \n`,
    (text) => `${text}\u0000`,
    (text) => text.replace('}', ',}'),
    (text) => text.replaceAll('"', "'"),
    (text) => text.replaceAll(/[0-9]+/g, '1e309'),
  ),
);

function insertMember(text: string, which: number, member: string): string {
  const places = [...text.matchAll(/\{/g)].map(({ index }) => index + 1);
  const place = places[which % places.length];
  if (place === undefined) return text;
  const comma = /^\s*\}/.test(text.slice(place)) ? '' : ',';
  return `${text.slice(0, place)}${member}${comma}${text.slice(place)}`;
}

function nested(depth: number, lists: boolean): string {
  return lists ? '['.repeat(depth) + ']'.repeat(depth) : `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
}

const sound = fc.dictionary(fc.oneof(arbitraryKey, fc.constant('q')), fc.jsonValue({ maxDepth: 3 }), {
  maxKeys: 4,
  noNullPrototype: true,
});

/** Argument text: an object's JSON after none, one or some changes. */
export const arbitraryHostileText: fc.Arbitrary<string> = fc
  .tuple(sound, fc.array(change, { maxLength: 3 }))
  .map(([object, changes]) => changes.reduce((text, apply) => apply(text), JSON.stringify(object)));
