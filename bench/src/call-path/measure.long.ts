import { expect, test } from 'vitest';
import { measureGoals } from './goals.ts';
import { measureLoop } from './loop.ts';
import { measureOneCall } from './one-call.ts';
import { measurePeers } from './peers.ts';
import { measureStateSize } from './state-size.ts';
import { measureTurn } from './turn.ts';

// What the figures are is not tested: subjects fail by themselves when a call, a loop or a peer does not do its work.
test.each([measureGoals, measureOneCall, measureTurn, measureLoop, measureStateSize, measurePeers])(
  '%o still works',
  async (measure) => {
    const { name, rows } = await measure({ largest: 10, rounds: 1 });
    expect(name).toMatch(/^call-path: /);
    expect(rows.length).toBeGreaterThan(5);
    for (const { rounds, nsPerOperation } of rows) {
      expect(rounds).toBe(1);
      expect(nsPerOperation.median).toBeGreaterThan(0);
    }
  },
);
