import { expect, test } from 'vitest';
import { newRequestState } from './request-state.ts';

test('no state comes twice, also when the random bytes are used up', () => {
  const states = Array.from({ length: 1_000 }, newRequestState);
  expect(new Set(states).size).toBe(1_000);
  for (const state of states) expect(state).toMatch(/^[0-9a-f]{32}$/);
});
