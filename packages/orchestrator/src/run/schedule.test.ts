import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PositionQueue, toEdges } from '../plan/positions.ts';
import { blockedError, Schedule } from './schedule.ts';

const scheduleOf = (parents: readonly (readonly number[])[]): Schedule => new Schedule(toEdges(parents));

/** Takes and settles nodes until none is left; returns their order. */
function drain(schedule: Schedule): readonly number[] {
  const order: number[] = [];
  for (let next = schedule.next(); next !== undefined; next = schedule.next()) {
    order.push(next);
    schedule.settle(next);
  }
  return order;
}

describe('Schedule', () => {
  test.each<[string, number[][], number[]]>([
    ['nothing', [], []],
    ['in plan order without dependencies', [[], [], []], [0, 1, 2]],
    ['a chain against plan order', [[1], [2], []], [2, 1, 0]],
    ['a diamond', [[], [0], [0], [1, 2]], [0, 1, 2, 3]],
    ['of the nodes that can start, the first in plan order', [[3], [], [], []], [1, 2, 3, 0]],
  ])('%s', (_name, parents, expected) => {
    const schedule = scheduleOf(parents);
    expect(drain(schedule)).toEqual(expected);
    expect([schedule.unsettled, schedule.blocked]).toEqual([0, false]);
  });

  test('a node is returned once, and again after it is put back', () => {
    const schedule = scheduleOf([[], [], [0]]);
    expect([schedule.next(), schedule.next(), schedule.next()]).toEqual([0, 1, undefined]);
    schedule.putBack(0);
    expect(schedule.blocked).toBe(false);
    expect([schedule.next(), schedule.next()]).toEqual([0, undefined]);
    schedule.settle(0);
    expect([schedule.next(), schedule.isSettled(0), schedule.isSettled(1)]).toEqual([2, true, false]);
  });

  test('a node that settles early is never returned', () => {
    const schedule = scheduleOf([[], [0], [1]]);
    schedule.settle(0);
    schedule.settle(1);
    expect([schedule.next(), schedule.next(), schedule.unsettled]).toEqual([2, undefined, 1]);
  });

  test.each<[string, number[][], number[], number]>([
    ['two nodes in a cycle', [[1], [0], []], [2], 2],
    ['a node that depends on itself', [[0]], [], 1],
    ['a node that depends on a cycle', [[], [2], [1], [2]], [0], 3],
  ])('%s: blocked', (_name, parents, expected, left) => {
    const schedule = scheduleOf(parents);
    expect(drain(schedule)).toEqual(expected);
    expect([schedule.blocked, schedule.unsettled]).toEqual([true, left]);
  });

  test('not blocked while a node is running', () => {
    const schedule = scheduleOf([[], [2], [1]]);
    schedule.next();
    expect(schedule.blocked).toBe(false);
    schedule.settle(0);
    expect(schedule.blocked).toBe(true);
  });

  test('random graphs in random order: each node once, after its dependencies, and in plan order', () => {
    const graph = fc
      .array(fc.array(fc.nat({ max: 30 }), { maxLength: 4 }), { maxLength: 30 })
      .map((list) =>
        list.map((parents, position) =>
          position === 0 ? [] : [...new Set(parents.map((parent) => parent % position))],
        ),
      );
    fc.assert(
      fc.property(graph, fc.infiniteStream(fc.nat()), (parents, picks) => {
        const schedule = scheduleOf(parents);
        const settled = new Set<number>();
        const out: number[] = [];
        const handed = new Set<number>();
        for (;;) {
          const pick = picks.next().value ?? 0;
          const position = pick % 2 === 0 ? schedule.next() : undefined;
          if (position !== undefined) {
            const free = parents.flatMap((list, at) =>
              !handed.has(at) && list.every((one) => settled.has(one)) ? [at] : [],
            );
            expect(position).toBe(free[0]);
            handed.add(position);
            out.push(position);
          } else if (out.length > 0) {
            const [done = -1] = out.splice(pick % out.length, 1);
            settled.add(done);
            schedule.settle(done);
          } else if (schedule.unsettled === 0) break;
        }
        expect(handed.size).toBe(parents.length);
      }),
    );
  });

  test('the error names the blocked nodes, but not all of a long list', () => {
    const error = blockedError([{ id: 'a' }, { id: 7 }]);
    expect(error).toMatchObject({ code: 'plan.invalid', reason: 'blocked', data: { nodes: ['a', 7] } });
    expect(error.message).toContain('`a`, `7` depend on each other');
    expect(blockedError(Array.from({ length: 50 }, (_, id) => ({ id }))).message).toContain('and 30 more');
  });
});

test('the queue returns its items in ascending order', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat({ max: 50 }))), (steps) => {
      const queue = new PositionQueue();
      const plain: number[] = [];
      for (const step of steps) {
        if (step === null) {
          plain.sort((left, right) => left - right);
          expect(queue.pop()).toBe(plain.shift());
        } else {
          queue.push(step);
          plain.push(step);
        }
        expect(queue.size).toBe(plain.length);
      }
    }),
  );
});
