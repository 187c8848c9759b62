import { expect, test } from 'vitest';
import { measureCold } from './cold.ts';
import { measureGoals } from './goals.ts';
import { measureLoop } from './loop.ts';
import { measureMemory } from './memory.ts';
import { measureStateSize } from './state-size.ts';

const extent = { largest: 10, rounds: 1 };

// What the figures are is not tested: subjects fail by themselves when a call, a loop or a peer does not do its work.
// Not the peers, who are installed for those who ask for them.
test.each([measureGoals, measureLoop, measureStateSize])('%o still works', async (measure) => {
  const { name, rows } = await measure(extent);
  expect(name).toMatch(/^call-path: /);
  expect(rows.length).toBeGreaterThan(2);
  for (const { rounds, nsPerOperation } of rows) {
    expect(rounds).toBe(1);
    expect(nsPerOperation.median).toBeGreaterThan(0);
  }
});

test.each([measureCold, measureMemory])('%o still works', async (measure) => {
  const { name, figures } = await measure(extent);
  expect(name).toMatch(/^call-path: /);
  expect(figures.length).toBeGreaterThan(3);
  // What is left on the heap may be less than nothing.
  for (const { value } of figures) expect(value).toBeTypeOf('number');
});
