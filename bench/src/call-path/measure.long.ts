import { expect, test } from 'vitest';
import { measureCold } from './cold.ts';
import { measureGoals } from './goals.ts';
import { measureLoop } from './loop.ts';
import { measureMemory } from './memory.ts';
import { measureStateSize } from './state-size.ts';

const extent = { largest: 10, rounds: 1 };

// Figures are not tested: subjects fail if a call, a loop or a peer does not do its work.
// Without the peers, which are installed on demand.
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
  // The heap may shrink.
  for (const { value } of figures) expect(value).toBeTypeOf('number');
});
