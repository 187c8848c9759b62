import { expect, test } from 'vitest';
import type { Elicit } from './elicit.ts';
import { type CallClient, findAsker } from './relay.ts';

const ask = (): Elicit => () => ({ action: 'cancel' });
const client = (principal: string, asks?: Elicit): CallClient => ({ principal, ask: asks, note: () => undefined });

test('the client of the latest call that can ask is asked, if all are of one principal', () => {
  const [first, second] = [ask(), ask()];
  expect(findAsker([])).toBeUndefined();
  expect(findAsker([client('anna')])).toBeUndefined();
  expect(findAsker([client('anna', first), client('anna', second), client('anna')])).toBe(second);
  expect(findAsker([client('anna', first), client('bob')])).toBeUndefined();
});
