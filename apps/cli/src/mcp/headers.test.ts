import { expect, test } from 'vitest';
import { readHeaders, toBearer } from './headers.ts';

const host = { environment: { 'X-Key': 'a', TOKEN: 't' } };

test('a header comes from the variable of its name, a token from any', () => {
  expect(readHeaders(['X-Key', toBearer('TOKEN')], host)).toEqual({ 'X-Key': 'a', Authorization: 'Bearer t' });
});

test.each([
  ['X-Other', '`--header X-Other` needs'],
  [toBearer('GONE'), '`--bearer GONE` needs a token in the variable `GONE`'],
])('a variable that is not set is named: %s', (name, message) => {
  const read = (): unknown => readHeaders([name], host);
  expect(read).toThrow(expect.objectContaining({ code: 'usage.invalid', message: expect.stringContaining(message) }));
});
