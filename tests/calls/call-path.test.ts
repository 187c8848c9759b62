import { expect, test } from 'vitest';
import { checkRandomCalls, type Seen } from './random-calls.ts';

test.each([
  { place: 'memory', runs: 80 },
  { place: 'host', runs: 10 },
] as const)(
  'property: every call ends in one event, and whatever is not ok has changed nothing ($place)',
  async (options) => {
    const seen: Seen = { kinds: new Map(), nested: 0, failing: 0, retried: 0 };
    await checkRandomCalls(options, seen);
    // So that the property cannot hold for want of cases.
    expect(seen.kinds.get('ok')).toBeGreaterThan(options.runs / 10);
    // There are about half as many as runs, but a few runs have most of them.
    expect(seen.nested).toBeGreaterThan(options.runs / 100);
    if (options.place === 'host') return;
    expect(seen.retried).toBeGreaterThan(options.runs / 20);
    const kinds = ['cancelled', 'denied', 'failed', 'in-doubt', 'invalid', 'ok', 'timed-out', 'unknown-tool'];
    expect([...seen.kinds.keys()].sort()).toEqual(kinds);
  },
);
