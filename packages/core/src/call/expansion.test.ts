import { expect, test } from 'vitest';
import { HoldfastError } from '../basics/errors.ts';
import { readExpansion, visibilityExpansionRequired } from './expansion.ts';

test('the request is read back, also from a copy of the class', () => {
  const error = visibilityExpansionRequired(['a', 'b.c'], 'For the rules.');
  expect(error).toMatchObject({
    code: 'visibility.expansion_required',
    message: 'The sections `a`, `b.c` must be open first: call `open_sections`. For the rules.',
  });
  expect(readExpansion(error)).toEqual({ keys: ['a', 'b.c'], reason: 'For the rules.' });
  expect(readExpansion(visibilityExpansionRequired(['a']))).toEqual({ keys: ['a'], reason: '' });
});

test.each([
  new Error('visibility.expansion_required'),
  { code: 'visibility.expansion_required', data: { keys: ['a'] } },
  new HoldfastError('tool.failed', 'No.', { data: { keys: ['a'] } }),
  new HoldfastError('visibility.expansion_required', 'No keys.'),
  new HoldfastError('visibility.expansion_required', 'No list.', { data: { keys: 'a' } }),
  new HoldfastError('visibility.expansion_required', 'No texts.', { data: { keys: ['a', { toString: 1 }] } }),
  Object.defineProperty(new HoldfastError('visibility.expansion_required', 'It throws.'), 'data', {
    get: () => {
      throw new Error('boo');
    },
  }),
  undefined,
])('%# is not a request', (thrown) => {
  expect(readExpansion(thrown)).toBeUndefined();
});
