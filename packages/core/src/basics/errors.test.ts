import { expect, test } from 'vitest';
import { HoldfastError, isHoldfastError } from '../index.ts';
import { describeCode, describeThrown, errorsOf } from '../internal.ts';

test('an error carries code, data and cause', () => {
  const cause = new Error('inner');
  const error = new HoldfastError('a.b', 'Message.', { data: { n: 1 }, cause });
  expect(error).toMatchObject({ name: 'HoldfastError', code: 'a.b', message: 'Message.', data: { n: 1 }, cause });
  expect(new HoldfastError('a.b', 'Message.')).toMatchObject({ data: null });
});

test('the reason of an error is in its data', () => {
  const error = new HoldfastError('a.b', 'Message.', { data: { reason: 'c' } });
  expect([error.reason, describeCode(error)]).toEqual(['c', 'a.b: c']);
  for (const data of [null, 'reason', ['reason'], { reason: 1 }, {}]) {
    const plain = new HoldfastError('a.b', 'Message.', { data });
    expect([plain.reason, describeCode(plain)]).toEqual([undefined, 'a.b']);
  }
});

test('errors of one code with a reason', () => {
  const cause = new Error('inner');
  const made = errorsOf<'c' | 'd'>('a.b')('d', 'Message.', { data: { n: 1, reason: 'x' }, cause });
  expect(made).toMatchObject({ code: 'a.b', reason: 'd', message: 'Message.', data: { n: 1, reason: 'd' }, cause });
  expect(errorsOf<'c'>('a.b')('c', 'Message.').data).toEqual({ reason: 'c' });
});

test('errors of another copy of the package are recognised, look-alikes are not', () => {
  const other = Object.assign(new Error('x'), { '~holdfast': 'error', code: 'a.b', data: null });
  expect(isHoldfastError(other)).toBe(true);
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  for (const value of [new Error('x'), { '~holdfast': 'error' }, null, 'HoldfastError', revoked.proxy]) {
    expect(isHoldfastError(value)).toBe(false);
  }
});

const hostile = {
  get message(): string {
    throw new Error('no');
  },
};

const hostileHandler: ProxyHandler<object> = {
  has: () => {
    throw new Error('no');
  },
};

test.each([
  [() => new Error('plain'), 'plain'],
  [() => 'text', 'text'],
  [() => ({ message: 'like an error' }), 'like an error'],
  [() => null, 'a thrown null'],
  [() => undefined, 'a thrown undefined'],
  [() => Symbol('s'), 'a thrown symbol'],
  [() => ({ message: 3 }), 'a thrown object'],
  [() => new Error(''), 'a thrown object'],
  [() => hostile, 'something thrown that cannot be described'],
  [() => new Proxy({}, hostileHandler), 'something thrown that cannot be described'],
])('thrown %#: %s', (make, text) => {
  expect(describeThrown(make())).toBe(text);
});
