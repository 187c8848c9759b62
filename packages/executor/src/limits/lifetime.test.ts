import { expect, test } from 'vitest';
import type { Lifetime } from '../call/execute.ts';
import type { EndOfLife } from '../call/types.ts';
import { testClock } from '../fixtures.ts';
import { LimitedLifetime } from './lifetime.ts';

function setUp() {
  let ended: EndOfLife | undefined;
  const listeners = new Set<(end: EndOfLife) => void>();
  const outer: Lifetime = {
    deadline: { atMs: Number.POSITIVE_INFINITY, remainingMs: () => Number.POSITIVE_INFINITY },
    get ended() {
      return ended;
    },
    endless: false,
    onEnd(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    dispose: () => undefined,
  };
  const end = (why: EndOfLife): void => {
    ended = why;
  };
  const clock = testClock();
  return { clock, outer, end, listeners };
}

test('what is around is listened to until the end of what is within, and no longer', () => {
  const { clock, outer, listeners } = setUp();
  const inner = new LimitedLifetime({ clock, outer, signal: undefined, timeoutMs: 10, budgets: [] });
  expect(listeners.size).toBe(1);
  inner.dispose();
  expect(listeners.size).toBe(0);
  const other = new LimitedLifetime({ clock, outer, signal: undefined, timeoutMs: 10, budgets: [] });
  clock.advance(10);
  expect([other.ended, listeners.size]).toEqual(['deadline', 0]);
});

test('the end of what is around is seen also before it is told, and told once', () => {
  const { clock, outer, end, listeners } = setUp();
  const heard: string[] = [];
  const inner = new LimitedLifetime({ clock, outer, signal: undefined, timeoutMs: undefined, budgets: [] });
  inner.onEnd((why) => heard.push(why));
  end('budget');
  inner.onEnd((why) => heard.push(`late ${why}`));
  for (const listener of listeners) listener('budget');
  expect(heard).toEqual(['budget', 'late budget']);
  expect(inner.ended).toBe('budget');
});

test('one that was disposed of ends by nothing any more', () => {
  const { clock, outer, end } = setUp();
  const inner = new LimitedLifetime({ clock, outer, signal: undefined, timeoutMs: 10, budgets: [] });
  inner.dispose();
  end('aborted');
  clock.advance(20);
  expect(inner.ended).toBeUndefined();
});
