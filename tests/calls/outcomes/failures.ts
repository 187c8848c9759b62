import { allow, defineResource, defineSlice, HoldfastError, type Slice, toolError, toolOk } from '@holdfast/core';
import * as v from 'valibot';
import { cycle, hostileProxy, revokedProxy, thenable, thrown, type WorldOptions } from '../call-fixtures.ts';
import { breaking, type Cause, ends, external, guard, notNested, refusing, repeatable } from './cause.ts';

const failed = ends('failed');
type Settle = (value: unknown) => void;

function throwsWhenRead(object: object, ...keys: readonly string[]): object {
  const read = { get: () => thrown(new Error('read')) };
  return Object.defineProperties(object, Object.fromEntries(keys.map((key) => [key, read])));
}

const throwables: readonly (readonly [string, () => unknown, string?])[] = [
  ['an Error', () => new Error('broke'), 'broke'],
  ['null', () => null],
  ['undefined', () => undefined],
  ['a string', () => 'broke', 'broke'],
  ['a number', () => 7],
  ['a symbol', () => Symbol('broke')],
  ['a function', () => () => 'broke'],
  ['a proxy', hostileProxy],
  ['a revoked proxy', revokedProxy],
  ['a frozen Error', () => Object.freeze(new Error('broke')), 'broke'],
  ['an Error that throws when read', () => throwsWhenRead(new Error('x'), 'name', 'message', 'stack', 'cause')],
  ['an Error whose message is not text', () => Object.assign(new Error('x'), { message: hostileProxy() })],
  ['a thenable', () => thenable((resolve: Settle) => resolve('no word'))],
  ['what looks like a deadline', () => Object.assign(new Error('late'), { name: 'DeadlineExceededError' }), 'late'],
  ['what looks like an abort', () => new DOMException('stopped', 'AbortError'), 'stopped'],
  ['what looks like an outcome', () => ({ kind: 'ok', message: 'fine' }), 'fine'],
  ['a success', () => toolOk('fine', 'fine'), 'fine'],
  ['a cycle', cycle],
  ['a HoldfastError whose code is not text', () => Object.assign(new HoldfastError('a.b', 'odd'), { code: 42 }), 'odd'],
  ['a HoldfastError whose code throws', () => throwsWhenRead(new HoldfastError('a.b', 'odd'), 'code'), 'odd'],
];

const fragile: Slice<number> = defineSlice({
  id: 'fragile',
  kind: 'value',
  initial: 0,
  schema: v.number(),
  reducers: {
    broke: () => thrown(new Error('reducer broke')),
    odd: () => 'no operation' as never,
  },
});
export const withFragile = (): WorldOptions => ({ slices: [fragile as Slice] });

const dispatches = (type: string, payload: unknown = null): Required<Pick<Cause, 'does'>> => ({
  does: ({ session }) => session.dispatch({ type, payload: payload as null }),
});

export const failures: readonly Cause[] = [
  ...throwables.flatMap(([what, make, message]) => {
    const outcome = message === undefined ? {} : { outcome: { message, rendered: '', text: message } };
    return [
      failed(`it throws ${what}`, 'tool.threw', { does: () => thrown(make()), ...outcome }),
      // A tool's own word, also when the tool touches the world.
      failed(`it rejects with ${what}`, 'tool.threw', {
        tool: external,
        does: () => Promise.reject(make()),
        ...outcome,
      }),
    ];
  }),
  failed('it throws a HoldfastError', 'call.deadline', {
    does: () => thrown(new HoldfastError('call.deadline', 'mine')),
    outcome: { message: 'mine' },
  }),
  failed('it says so', 'tool.failed', {
    does: () => toolError('No.'),
    outcome: { message: 'No.', value: null, rendered: '', text: 'No.' },
  }),
  failed('it says so with a code and a payload', 'mine.full', {
    tool: external,
    does: () => toolError('No.', { code: 'mine.full', value: { left: 1 } }),
    outcome: { value: { left: 1 }, rendered: '{"left":1}', text: 'No.\n\n{"left":1}' },
  }),
  failed('its thenable rejects, then resolves', 'tool.threw', {
    does: () => thenable((resolve: Settle, reject: Settle) => [reject('no'), resolve(1)]),
    outcome: { message: 'no' },
  }),
  failed('its thenable throws', 'tool.threw', { does: () => thenable(() => thrown(new Error('no then'))) }),
  failed('its `then` throws when read', 'tool.threw', { does: () => throwsWhenRead({}, 'then') }),
  failed('it is only declared', 'tool.not_executable', { tool: 'declared', reached: 'authorise' }),
  failed('a reducer throws', 'tool.threw', {
    world: withFragile,
    ...dispatches('broke'),
    outcome: { message: 'reducer broke' },
  }),
  failed('a reducer answers no operation', 'slice.invalid: operation.invalid', {
    world: withFragile,
    ...dispatches('odd'),
  }),
  failed('an event has no reducer', 'event.invalid: unhandled', dispatches('unheard')),
  failed('an event is not JSON', 'event.invalid', dispatches('noted', new Map())),
  failed('an event breaks a schema', 'slice.invalid: value.invalid', dispatches('noted', 7)),
  failed('it publishes what changes state', 'event.invalid: retention', {
    does: ({ session }) => session.publish({ type: 'noted', payload: 'x' }),
  }),
  failed('an onResult throws', 'commit.failed', {
    policies: [
      guard(
        () => allow,
        () => thrown(new Error('onResult broke')),
      ),
    ],
    outcome: { message: 'onResult broke' },
  }),
  failed('an onResult throws after a repeatable effect', 'commit.failed', {
    tool: repeatable,
    policies: [
      guard(
        () => allow,
        () => thrown(null),
      ),
    ],
  }),
  failed('a resource cannot be made', 'resource.failed: create', {
    does: ({ use }) =>
      use(defineResource({ name: 'broken', lifetime: 'call', create: () => thrown(new Error('no client')) })),
  }),
  failed('a resource cannot be prepared', 'commit.failed', {
    ...notNested,
    options: (world) => ({ resources: { filesystem: breaking(world, 'prepare') } }),
    outcome: { message: 'prepare broke' },
  }),
  failed('a resource cannot be cleaned up', 'mine.full', {
    ...notNested,
    does: () => toolError('No.', { code: 'mine.full' }),
    options: (world) => ({ resources: { filesystem: breaking(world, 'discard') } }),
  }),
  failed('the log refuses its commit', 'commit.failed', { ...notNested, world: refusing('tool-call-end') }),
  failed('the log refuses its start', 'log.write_failed', {
    ...notNested,
    tool: external,
    world: refusing('tool-call-start'),
    reached: 'authorise',
  }),
];
