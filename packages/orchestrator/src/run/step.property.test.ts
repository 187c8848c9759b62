import type { Outcome } from '@holdfast/core';
import type { Suspended } from '@holdfast/executor';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toEdges } from '../plan/positions.ts';
import { isDone, mayStart, type RunState, startState, step } from './step.ts';
import type { StepCommand, StepEvent } from './step-types.ts';

/** What a node of the test's world does. Whatever else is left open is drawn while it goes on. */
interface Node {
  readonly parents: readonly number[];
  /** It comes to nothing that can be called. */
  readonly closes: boolean;
  readonly locks: readonly string[] | undefined;
  readonly halts: boolean;
  readonly isOpen: boolean;
}

const outcome: Outcome = {
  kind: 'ok',
  callId: 'c',
  name: 'a',
  code: undefined,
  message: '',
  value: null,
  text: '',
  rendered: '',
} as Outcome;
const suspended: Suspended = { kind: 'suspended', pending: [] } as unknown as Suspended;

const lockNames = fc.oneof(
  { weight: 4, arbitrary: fc.constant<readonly string[]>([]) },
  { weight: 3, arbitrary: fc.subarray(['x', 'y', 'z'], { minLength: 1 }) },
  { weight: 1, arbitrary: fc.constant(undefined) },
);
const nodesOf = (rest: { readonly eventful: boolean }): fc.Arbitrary<readonly Node[]> => {
  const seldom = rest.eventful ? fc.integer({ min: 0, max: 9 }).map((drawn) => drawn === 0) : fc.constant(false);
  const one = fc.record({
    parents: fc.array(fc.nat(), { maxLength: 3 }),
    closes: seldom,
    locks: rest.eventful ? lockNames : fc.constant<readonly string[]>([]),
    halts: seldom,
    isOpen: seldom,
  });
  return fc.array(one, { minLength: 1, maxLength: 12 }).map((drawn) =>
    drawn.map((node, position) => ({
      ...node,
      parents: position === 0 ? [] : [...new Set(node.parents.map((parent) => parent % position))],
    })),
  );
};

/** A world without time: what is under way comes back in any order, as `draw` says. */
class World {
  readonly state: RunState;
  readonly started: number[] = [];
  readonly settled = new Set<number>();
  readonly underWay = new Set<number>();
  readonly #nodes: readonly Node[];
  readonly #draw: (below: number) => number;
  readonly #owners = new Map<string, number>();
  /** What may happen next, each once. */
  readonly #pending: (() => void)[] = [];
  readonly #rated = new Set<number>();

  constructor(nodes: readonly Node[], maxConcurrency: number, draw: (below: number) => number) {
    this.#nodes = nodes;
    this.#draw = draw;
    this.state = startState(toEdges(nodes.map(({ parents }) => parents)), maxConcurrency);
  }

  get idle(): boolean {
    return this.#owners.size === 0 && this.#rated.size === 0;
  }

  begin(): void {
    this.turn(() => {
      for (const [position, { isOpen }] of this.#nodes.entries()) if (isOpen) this.tell({ type: 'opened', position });
    });
  }

  turn(act: () => void): void {
    act();
    while (mayStart(this.state)) if (!this.tell({ type: 'next' })) break;
    this.tell({ type: 'rest' });
  }

  /** Has one of the things happen that can. Answers false when there are none. */
  happen(): boolean {
    const [act] = this.#pending.splice(this.#draw(this.#pending.length), 1);
    if (act !== undefined) this.turn(act);
    return act !== undefined;
  }

  tell(event: StepEvent): boolean {
    const commands = step(this.state, event);
    for (const command of commands) this.#perform(command);
    return commands.length > 0;
  }

  #perform(command: StepCommand): void {
    switch (command.type) {
      case 'prepare':
        if (this.#nodeAt(command.position).closes) this.#settle(command.position, 'go-on');
        else this.#prepared(command.position);
        return;
      case 'lock':
        this.#lock(command.position, command.locks);
        return;
      case 'release':
        this.#release(command.position, command.locks);
        return;
      case 'look':
        this.tell({ type: 'looked', position: command.position, delayMs: this.#delayMs(), ended: undefined });
        return;
      case 'wait-rate': {
        const { position } = command;
        this.#rated.add(position);
        this.#pending.push(() => {
          // The timers are gone with the rates.
          if (this.#rated.delete(position)) this.tell({ type: 'woken', position });
        });
        return;
      }
      case 'clear-rates':
        this.#rated.clear();
        return;
      case 'call':
        this.#call(command.position);
        return;
      case 'end-open':
        this.#come(command.position, outcome);
        return;
      case 'settle':
        this.#settle(command.position, this.#nodeAt(command.position).halts ? 'halt' : 'go-on');
        return;
      case 'close':
        this.#settle(command.position, 'go-on');
        return;
      case 'note-open':
        this.tell({ type: 'suspended', position: command.position });
        return;
      case 'check-open':
        this.#maybeChange(command.position);
        return;
      case 'watch':
        this.#pending.push(() => this.#maybeChange(command.position));
        return;
      case 'cancel':
        return;
      default:
        command satisfies never;
    }
  }

  #nodeAt(position: number): Node {
    return this.#nodes[position] as Node;
  }

  #delayMs(): number {
    return this.#nodes.some(({ locks }) => locks?.length !== 0) && this.#draw(6) === 5 ? 10 : 0;
  }

  #prepared(position: number): void {
    this.tell({ type: 'prepared', position, locks: this.#nodeAt(position).locks, delayMs: this.#delayMs() });
  }

  #take(position: number, locks: readonly string[]): boolean {
    if (locks.some((name) => this.#owners.has(name))) return false;
    for (const name of locks) this.#owners.set(name, position);
    return true;
  }

  #lock(position: number, locks: readonly string[]): void {
    if (this.#take(position, locks)) {
      this.tell({ type: 'lock-taken', position });
      return;
    }
    this.tell({ type: 'lock-awaited', position });
    const ask = (): void => {
      if (this.#draw(8) === 7) this.tell({ type: 'lock-answered', position, locks, answer: 'timed-out' });
      else if (this.#take(position, locks)) this.tell({ type: 'lock-answered', position, locks, answer: 'granted' });
      else this.#pending.push(ask);
    };
    this.#pending.push(ask);
  }

  #release(position: number, locks: readonly string[]): void {
    for (const name of locks) {
      expect(this.#owners.get(name)).toBe(position);
      this.#owners.delete(name);
    }
  }

  #call(position: number): void {
    const { parents, locks } = this.#nodeAt(position);
    const { stop, broken, maxConcurrency } = this.state;
    expect([stop, broken, this.settled.has(position), this.underWay.has(position)]).toEqual([
      undefined,
      undefined,
      false,
      false,
    ]);
    for (const parent of parents) expect(this.settled).toContain(parent);
    const others = [...this.underWay].map((other) => this.#nodeAt(other).locks);
    expect(others.length).toBeLessThan(maxConcurrency);
    if (locks === undefined) expect(others).toEqual([]);
    expect(others).not.toContain(undefined);
    this.started.push(position);
    this.#come(position, this.#draw(5) === 4 && this.#nodes.some(({ isOpen }) => isOpen) ? suspended : outcome);
  }

  #come(position: number, came: Outcome | Suspended): void {
    this.underWay.add(position);
    this.#pending.push(() => {
      this.underWay.delete(position);
      this.tell({ type: 'returned', position, outcome: came });
    });
  }

  /** Somebody answers the question, or ends the call. */
  #maybeChange(position: number): void {
    if (!this.state.open.has(position)) return;
    const isEnd = this.#draw(3) === 2;
    if (!isEnd && this.#draw(2) === 0) return;
    this.tell({ type: 'heard', position, isEnd });
    this.#pending.push(() => {
      if (!isEnd) this.tell({ type: 'answered', position });
      else {
        this.tell({ type: 'ended-elsewhere' });
        this.#settle(position, 'go-on');
      }
    });
  }

  #settle(position: number, consequence: 'go-on' | 'halt'): void {
    expect(this.settled).not.toContain(position);
    this.settled.add(position);
    this.tell({ type: 'settled', position, consequence, ended: undefined });
  }
}

interface Course {
  readonly world: World;
  /** Things that happened. */
  readonly count: number;
}

function follow(nodes: readonly Node[], maxConcurrency: number, draws: readonly number[]): Course {
  let drawn = 0;
  // Nothing out of the ordinary happens any more when the draws are used up.
  const draw = (below: number): number => (draws[drawn++] ?? 0) % Math.max(1, below);
  const world = new World(nodes, maxConcurrency, draw);
  world.begin();
  const endAfter = draw(60);
  let count = 0;
  while (!isDone(world.state) && count < 2_000 && world.happen()) {
    count += 1;
    if (count === endAfter) world.turn(() => world.tell({ type: 'over', by: 'aborted' }));
  }
  return { world, count };
}

const draws = fc.array(fc.nat({ max: 10_000 }), { maxLength: 200 });

describe('a run of a plan, step by step', () => {
  test('any plan in any order of events: no more at once than may be, nothing before what it needs, nothing twice, and an end', () => {
    fc.assert(
      fc.property(nodesOf({ eventful: true }), fc.integer({ min: 1, max: 4 }), draws, (nodes, max, drawn) => {
        const { world, count } = follow(nodes, max, drawn);
        expect(count).toBeLessThan(2_000);
        const { state, settled } = world;
        expect([isDone(state), state.running, world.idle, state.schedule.blocked]).toEqual([true, 0, true, false]);
        // Without a stop only what waits for a person, and what needs it, is left.
        if (state.stop !== undefined || state.open.size === 0) expect(settled.size).toBe(nodes.length);
        for (const position of state.open) expect(settled).not.toContain(position);
      }),
      { numRuns: 500 },
    );
  });

  test('one at a time, where nothing is in the way: always the first in plan order that is ready', () => {
    fc.assert(
      fc.property(nodesOf({ eventful: false }), (nodes) => {
        const { world } = follow(nodes, 1, []);
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
  test('a run that breaks starts nothing, cancels what is under way, and is done when that has come back', () => {
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

  test('a node that halts the run ends what waits for people; one that failed for want of time aborts it', () => {
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

  test('one that runs alone waits until nothing runs, and lets nothing later go before it', () => {
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

  test('locks that come when nothing may start are let go of, and those of a node that ended meanwhile are nobody’s', () => {
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

  test('a call that the host goes on with by itself stays open, unless the run has stopped', () => {
    const state = plain([[]]);
    step(state, { type: 'next' });
    step(state, { type: 'prepared', position: 0, locks: ['x'], delayMs: 0 });
    step(state, { type: 'lock-taken', position: 0 });
    const lost = { type: 'lost', position: 0, thrown: undefined, elsewhere: true } as const;
    expect(step(state, lost)).toEqual([
      { type: 'release', position: 0, locks: ['x'] },
      { type: 'watch', position: 0 },
    ]);
    step(state, { type: 'heard', position: 0, isEnd: true });
    expect([state.open.size, isDone(state)]).toEqual([0, false]);
    step(state, { type: 'ended-elsewhere' });
    expect(isDone(state)).toBe(true);
  });
});
