import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toEdges } from '../plan/positions.ts';
import { isDone, mayStart, type RunState, startState, step } from './step.ts';
import { follow, nodesOf, outcome } from './test-world.ts';

const draws = fc.array(fc.nat({ max: 10_000 }), { maxLength: 200 });

describe('a run of a plan', () => {
  test('any plan in any order of events keeps the limits and dependencies, runs each node once, and ends', () => {
    fc.assert(
      fc.property(nodesOf({ eventful: true }), fc.integer({ min: 1, max: 4 }), draws, (nodes, max, drawn) => {
        const { world, count } = follow(nodes, max, drawn);
        expect(count).toBeLessThan(2_000);
        const { state, settled } = world;
        expect(world.wrong).toEqual([]);
        expect([isDone(state), state.running, world.idle, state.schedule.blocked]).toEqual([true, 0, true, false]);
        // Without a stop, only nodes that wait for approval and their dependents are left.
        if (state.stop !== undefined || state.open.size === 0) expect(settled.size).toBe(nodes.length);
        for (const position of state.open) expect(settled).not.toContain(position);
      }),
      { numRuns: 500 },
    );
  });

  test('with a concurrency of one and no waits, the first ready node in plan order runs', () => {
    fc.assert(
      fc.property(nodesOf({ eventful: false }), (nodes) => {
        const { world } = follow(nodes, 1, []);
        expect(world.wrong).toEqual([]);
        const done = new Set<number>();
        for (const position of world.started) {
          const first = nodes.findIndex(
            ({ parents }, at) => !done.has(at) && parents.every((parent) => done.has(parent)),
          );
          expect(position).toBe(first);
          done.add(position);
        }
        expect(done.size).toBe(nodes.length);
      }),
    );
  });
});

const plain = (parents: readonly (readonly number[])[], maxConcurrency = 10): RunState =>
  startState(toEdges(parents), maxConcurrency);

describe('single steps', () => {
  test('a broken run starts nothing, cancels running calls, and is done when they return', () => {
    const state = plain([[], []]);
    step(state, { type: 'next' });
    expect(step(state, { type: 'prepared', position: 0, locks: [], delayMs: 0 })).toEqual([
      { type: 'call', position: 0, isOpen: false },
    ]);
    expect(step(state, { type: 'broken', thrown: 'disk' })).toEqual([{ type: 'clear-rates' }, { type: 'cancel' }]);
    expect([mayStart(state), isDone(state)]).toEqual([false, false]);
    expect(step(state, { type: 'over', by: 'aborted' })).toEqual([]);
    step(state, { type: 'returned', position: 0, outcome });
    expect([isDone(state), step(state, { type: 'rest' }), state.broken]).toEqual([true, [], { thrown: 'disk' }]);
  });

  test('a node that halts the run ends the open calls; one that failed for lack of time aborts it', () => {
    const halted = plain([[], [], [0]]);
    step(halted, { type: 'opened', position: 1 });
    const end = { type: 'settled', position: 0, consequence: 'halt' } as const;
    expect(step(halted, { ...end, ended: undefined })).toEqual([
      { type: 'clear-rates' },
      { type: 'cancel' },
      { type: 'end-open', position: 1 },
    ]);
    expect([halted.stop, halted.open.size, isDone(halted)]).toEqual([{ type: 'halted', by: 0 }, 0, false]);
    const late = plain([[], [0]]);
    expect(step(late, { ...end, ended: 'deadline' })).toEqual([{ type: 'clear-rates' }]);
    expect(step(late, { type: 'rest' })).toEqual([
      { type: 'close', position: 1, why: { type: 'aborted', by: 'deadline' } },
    ]);
  });

  test('a node that runs alone waits until nothing runs, and no later node overtakes it', () => {
    const state = plain([[], [], []]);
    step(state, { type: 'next' });
    step(state, { type: 'prepared', position: 0, locks: [], delayMs: 0 });
    step(state, { type: 'next' });
    expect(step(state, { type: 'prepared', position: 1, locks: undefined, delayMs: 0 })).toEqual([]);
    expect(mayStart(state)).toBe(false);
    step(state, { type: 'returned', position: 0, outcome });
    expect([mayStart(state), step(state, { type: 'next' })]).toEqual([true, [{ type: 'prepare', position: 1 }]]);
    step(state, { type: 'prepared', position: 1, locks: undefined, delayMs: 0 });
    expect([state.alone, mayStart(state)]).toEqual([true, false]);
  });

  test('locks granted when nothing may start are released, and so are those of a node that has ended', () => {
    const state = plain([[], []], 1);
    step(state, { type: 'next' });
    step(state, { type: 'prepared', position: 0, locks: ['x'], delayMs: 0 });
    step(state, { type: 'lock-awaited', position: 0 });
    step(state, { type: 'next' });
    step(state, { type: 'prepared', position: 1, locks: [], delayMs: 0 });
    expect(step(state, { type: 'lock-answered', position: 0, locks: ['x'], answer: 'granted' })).toEqual([
      { type: 'release', position: 0, locks: ['x'] },
    ]);
    expect(step(state, { type: 'returned', position: 1, outcome })).toEqual([{ type: 'settle', position: 1, outcome }]);
    expect(step(state, { type: 'next' })).toEqual([{ type: 'prepare', position: 0 }]);
  });

  test('locks granted after the host ended the call are released, and the node does not start', () => {
    const state = plain([[]]);
    step(state, { type: 'opened', position: 0 });
    step(state, { type: 'next' });
    step(state, { type: 'prepared', position: 0, locks: ['x'], delayMs: 0 });
    step(state, { type: 'lock-awaited', position: 0 });
    step(state, { type: 'heard', position: 0, isEnd: true });
    expect(step(state, { type: 'lock-answered', position: 0, locks: ['x'], answer: 'granted' })).toEqual([
      { type: 'release', position: 0, locks: ['x'] },
    ]);
    expect(step(state, { type: 'next' })).toEqual([]);
  });

  test.each([false, true])('a call that the host resumes itself stays open; stopped: %s', (isStopped) => {
    const state = plain([[]]);
    step(state, { type: 'next' });
    step(state, { type: 'prepared', position: 0, locks: ['x'], delayMs: 0 });
    step(state, { type: 'lock-taken', position: 0 });
    if (isStopped) step(state, { type: 'over', by: 'aborted' });
    const lost = { type: 'lost', position: 0, thrown: undefined, elsewhere: true } as const;
    expect(step(state, lost)).toEqual([
      { type: 'release', position: 0, locks: ['x'] },
      { type: 'watch', position: 0 },
      { type: 'check-end', position: 0 },
    ]);
    step(state, { type: 'heard', position: 0, isEnd: true });
    expect([state.open.size, isDone(state)]).toEqual([0, false]);
    step(state, { type: 'ended-elsewhere' });
    expect(isDone(state)).toBe(true);
  });
});
