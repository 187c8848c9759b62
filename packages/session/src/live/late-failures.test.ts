import { append, defineSlice, replace, type SessionEvent, upsert } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSession, type LogRecord, memoryStore, type Session } from '../index.ts';

/* What users' functions answer although they should answer nothing, or something else. */

const unhandled: unknown[] = [];
const note = (thrown: unknown): void => void unhandled.push(thrown);
beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', note);
});
afterEach(() => void process.off('unhandledRejection', note));

/** Node.js reports unhandled rejections after the microtasks. */
const untilTold = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

const thrown = (message: string): never => {
  throw new Error(message);
};

type Listener = (record: LogRecord) => unknown;

function listen(listener: Listener): { session: Session; errors: () => readonly LogRecord[] } {
  const store = memoryStore();
  const session = createSession({ store });
  session.subscribe(listener as (record: LogRecord) => void);
  return { session, errors: () => store.records.filter(({ type }) => type === 'subscriber-error') };
}

const failing: readonly [string, Listener, string][] = [
  ['an async function that throws', async () => Promise.reject(new Error('broke')), 'broke'],
  ['a promise that rejects with null', () => Promise.reject(null), 'a thrown null'],
  [
    'a thenable whose `then` throws',
    () => ({
      // biome-ignore lint/suspicious/noThenProperty: this is what is tested.
      then: () => thrown('broke'),
    }),
    'broke',
  ],
  [
    'a thenable whose `then` cannot be read',
    () => Object.defineProperty({}, 'then', { get: () => thrown('broke') }),
    'broke',
  ],
  [
    'a thenable that rejects twice',
    () => ({
      // biome-ignore lint/suspicious/noThenProperty: this is what is tested.
      then: (_done: unknown, fail: (why: Error) => void) => {
        fail(new Error('broke'));
        fail(new Error('again'));
      },
    }),
    'broke',
  ],
];

test.each(failing)('subscriber-error: a listener that returns %s', async (_what, listener, message) => {
  const { session, errors } = listen(listener);
  session.record({ type: 'x' });
  expect(errors()).toEqual([]);
  await untilTold();
  expect(errors()).toMatchObject([{ recordSeq: 1, message }]);
  expect(unhandled).toEqual([]);
});

test.each(failing)('after closing, nothing is reported: %s', async (_what, listener) => {
  const { session, errors } = listen(listener);
  session.record({ type: 'x' });
  await session.close();
  await untilTold();
  expect(errors()).toEqual([]);
  expect(unhandled).toEqual([]);
});

test.each([
  ['nothing', () => undefined],
  ['null', () => null],
  ['a number', () => 1],
  ['an object', () => ({})],
  ['a promise', async () => 1],
  // biome-ignore lint/suspicious/noThenProperty: this is what is tested.
  ['a thenable that never settles', () => ({ then: () => undefined })],
])('a listener may return %s', async (_what, listener) => {
  const { session, errors } = listen(listener);
  session.record({ type: 'x' });
  await untilTold();
  expect([errors(), unhandled]).toEqual([[], []]);
});

const broken = (): Promise<never> => Promise.reject(new Error('broke'));

test.each([
  ['a promise', () => Promise.reject(new Error('broke'))],
  ['a list', () => ['a']],
  ['a map', () => new Map([['a', 'b']])],
])('%s cannot replace the items of a keyed slice', async (_what, make) => {
  const slice = defineSlice<string>({
    id: 'notes',
    kind: 'keyed',
    reducers: { set: () => upsert('a', 'b'), noted: () => replace(make()) },
  });
  const session = createSession({ slices: [slice] });
  session.dispatch({ type: 'set', payload: null });
  expect(() => session.dispatch({ type: 'noted', payload: null })).toThrow(
    expect.objectContaining({ code: 'slice.invalid', reason: 'operation.invalid' }),
  );
  await untilTold();
  expect(unhandled).toEqual([]);
  expect(session.read(slice).toObject()).toEqual({ a: 'b' });
});

test.each([
  ['a promise', broken, 'slice.invalid: operation.invalid'],
  ['a list with a promise', () => [append('a'), broken()], 'slice.invalid: operation.invalid'],
  ['an operation on a promise', () => append(broken()), 'slice.invalid: value.invalid'],
  ['a list for a promise', () => replace([broken()]), 'slice.invalid: value.invalid'],
  ['a promise for a list', () => replace(broken()), 'slice.invalid: operation.invalid'],
])('%s, returned by a reducer, fails only the event', async (_what, reducer, code) => {
  const slice = defineSlice<string>({ id: 'notes', kind: 'list', reducers: { noted: reducer as () => [] } });
  const session = createSession({ slices: [slice] });
  const event: SessionEvent = { type: 'noted', payload: null };
  expect(() => session.dispatch(event)).toThrow(
    expect.toSatisfy((error: { code: string }) => describeCode(error) === code),
  );
  await untilTold();
  expect(unhandled).toEqual([]);
  expect(session.read(slice).size).toBe(0);
});
