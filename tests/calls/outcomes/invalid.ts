import { toolError, toolOk } from '@holdfast/core';
import * as v from 'valibot';
import { cycle, hostileProxy, revokedProxy, thrown } from '../call-fixtures.ts';
import { type Cause, ends, inputSchema, repeatable } from './cause.ts';

const invalid = ends('invalid');
const outputSchema = v.object({ n: v.number() });

const notJson: readonly (readonly [string, () => unknown])[] = [
  ['a function', () => () => 1],
  ['a symbol', () => Symbol('x')],
  ['a BigInt', () => 1n],
  ['NaN', () => Number.NaN],
  ['Infinity', () => ({ n: Number.POSITIVE_INFINITY })],
  ['a cycle', cycle],
  ['undefined deep down', () => ({ a: [{ b: undefined }] })],
  ['a list with holes', () => Array.from({ length: 2, 1: 'x' })],
  ['a Date', () => new Date(0)],
  ['a Map', () => new Map()],
  ['bytes', () => new Uint8Array(2)],
  ['an Error', () => new Error('returned')],
  ['an instance of a class', () => new (class Account {})()],
  ['`__proto__`', () => JSON.parse('{"__proto__":{"polluted":true}}') as unknown],
  [
    'a getter that throws',
    () => Object.defineProperty({}, 'a', { enumerable: true, get: () => thrown(new Error('read')) }),
  ],
];

const badArguments: readonly (readonly [string, unknown])[] = [
  ['malformed', '{'],
  ['duplicate_key', '{"q":"a","q":"b"}'],
  ['not_object', '[]'],
  ['reserved_key', '{"q":"x","__proto__":{}}'],
  ['too_deep', `{"q":${'['.repeat(65)}${']'.repeat(65)}}`],
  ['too_large', `{"q":"${'x'.repeat(1_048_576)}"}`],
  ['not_json', { q: () => 1 }],
  ['', '{"q":7}'],
  ['', '{"q":null}'],
  ['', '{"q":"x","more":1}'],
];

const badChecks: readonly (readonly [string, () => unknown])[] = [
  ['an Error', () => new Error('check broke')],
  ['null', () => null],
  ['a revoked proxy', revokedProxy],
];

/** A result that may be looked at, but not read. */
const unreadable = (): unknown =>
  new Proxy(toolOk(1), {
    get: (_target, key) => (key === 'then' ? undefined : thrown(new Error('read'))),
  });

export const invalids: readonly Cause[] = [
  ...notJson.flatMap(([what, value]) => [
    invalid(`it returns ${what}`, 'output.invalid: not_json', { does: value }),
    invalid(`it succeeds with ${what}`, 'output.invalid: not_json', { does: () => toolOk(value(), 'Done.') }),
    invalid(`it fails with ${what}`, 'output.invalid: not_json', {
      does: () => toolError('No.', { value: value() as null }),
    }),
  ]),
  invalid('it returns undefined', 'output.invalid: undefined', { does: () => undefined }),
  invalid('it returns a promise of undefined', 'output.invalid: undefined', { does: async () => undefined }),
  invalid('a repeatable effect returns undefined', 'output.invalid: undefined', {
    does: () => undefined,
    tool: repeatable,
  }),
  invalid('its result throws when read', 'output.invalid: unreadable', { does: unreadable }),
  invalid('the message of its result is not text', 'output.invalid: unreadable', {
    does: () => toolOk(1, hostileProxy() as unknown as string),
  }),
  invalid('it returns what its schema refuses', 'output.invalid', { does: () => ({ n: 'x' }), tool: { outputSchema } }),
  invalid('it returns more than its schema says', 'output.invalid', {
    does: () => ({ n: 1, more: 1 }),
    tool: { outputSchema },
  }),
  ...badArguments.map(([reason, raw]) =>
    invalid(
      `its arguments are ${JSON.stringify(raw).slice(0, 40)}`,
      `arguments.invalid${reason === '' ? '' : `: ${reason}`}`,
      {
        tool: { inputSchema },
        call: { arguments: raw },
        reached: 'parse',
      },
    ),
  ),
  invalid('it takes no arguments and is given some', 'arguments.invalid', {
    call: { arguments: '{"q":1}' },
    reached: 'parse',
  }),
  ...badChecks.map(([what, make]) =>
    invalid(`the check of its arguments throws ${what}`, 'arguments.invalid: check_failed', {
      tool: {
        inputSchema: v.pipe(
          inputSchema,
          v.check(() => thrown(make())),
        ),
      },
      call: { arguments: '{"q":"x"}' },
      reached: 'parse',
    }),
  ),
];
