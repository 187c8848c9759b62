import type { Outcome } from '@holdfast/core';
import type { Suspended } from '@holdfast/executor';
import fc from 'fast-check';
import { toEdges } from '../plan/positions.ts';
import { isDone, mayStart, type RunState, startState, step } from './step.ts';
import type { StepCommand, StepEvent } from './step-types.ts';

/** The behavior of a node. Everything else is drawn at random during the run. */
export interface Node {
  readonly parents: readonly number[];
  /** Preparing it results in no call. */
  readonly closes: boolean;
  readonly locks: readonly string[] | undefined;
  readonly halts: boolean;
  readonly isOpen: boolean;
}

export const outcome: Outcome = {
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
export const nodesOf = (rest: { readonly eventful: boolean }): fc.Arbitrary<readonly Node[]> => {
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

/** A world without time: pending events occur in the order that `draw` picks. */
export class World {
  readonly state: RunState;
  /** Violated invariants. */
  readonly wrong: string[] = [];
  readonly started: number[] = [];
  readonly settled: Set<number> = new Set();
  readonly underWay: Set<number> = new Set();
  readonly #nodes: readonly Node[];
  readonly #draw: (below: number) => number;
  readonly #owners = new Map<string, number>();
  /** Events that may occur next, each once. */
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

  /** Performs one pending event; false if there are none. */
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
          // Clearing the rates removes its timer.
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
      case 'check-end':
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

  #check(holds: boolean, what: string): void {
    if (!holds) this.wrong.push(what);
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
      this.#check(this.#owners.get(name) === position, `${position} releases a lock that it does not hold`);
      this.#owners.delete(name);
    }
  }

  #call(position: number): void {
    const { parents, locks } = this.#nodeAt(position);
    const { stop, broken, maxConcurrency } = this.state;
    const others = [...this.underWay].map((other) => this.#nodeAt(other).locks);
    this.#check(stop === undefined && broken === undefined, `${position} starts after a stop`);
    this.#check(!this.settled.has(position) && !this.underWay.has(position), `${position} starts twice`);
    this.#check(
      parents.every((parent) => this.settled.has(parent)),
      `${position} starts before its dependencies`,
    );
    this.#check(others.length < maxConcurrency, `${position} exceeds the concurrency limit`);
    this.#check(!others.includes(undefined), `${position} starts beside a node that runs alone`);
    this.#check(locks !== undefined || others.length === 0, `${position} does not run alone`);
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

  /** Answers or ends an open call, at random. */
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
    this.#check(!this.settled.has(position), `${position} settles twice`);
    this.settled.add(position);
    this.tell({ type: 'settled', position, consequence, ended: undefined });
  }
}

export interface Course {
  readonly world: World;
  /** The number of events that occurred. */
  readonly count: number;
}

export function follow(nodes: readonly Node[], maxConcurrency: number, draws: readonly number[]): Course {
  let drawn = 0;
  // When the draws are used up, everything else takes its normal course.
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
