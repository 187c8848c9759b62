import type { Outcome } from '@holdfast/core';
import type { EndOfLife, Suspended } from '@holdfast/executor';
import type { LockAnswer } from './lock-table.ts';
import { cutOff, halted, lockedOut, type NodeEnd, PlanLedger } from './plan-ledger.ts';
import type { ConductOptions, PlanState, Stop } from './plan-state.ts';
import { RateQueue } from './rate-queue.ts';
import { NodeManners, type PreparedNode, prepareNode } from './run-node.ts';
import { blockedError, Schedule } from './schedule.ts';

/**
 * Runs the nodes of a plan that have not ended, until all have, or what is left waits for people. Rejects when nothing is under way any
 * more.
 */
export function conductPlan(state: PlanState, options: ConductOptions): Promise<Stop | undefined> {
  return new Conductor(state, options).conduct();
}

/** A node that could start and has waited, and for how long it has waited for locks. */
interface Waiting {
  readonly prepared: PreparedNode;
  lockedOutMs: number;
}

class Conductor {
  readonly #state: PlanState;
  readonly #options: ConductOptions;
  readonly #end: PromiseWithResolvers<Stop | undefined> = Promise.withResolvers();
  readonly #ledger: PlanLedger;
  readonly #manners: NodeManners;
  readonly #schedule: Schedule;
  readonly #rates: RateQueue;
  readonly #waiting = new Map<number, Waiting>();
  /** Places of nodes whose calls are open and not under way. */
  readonly #open: Set<number>;
  #running = 0;
  #alone = false;
  #waitingForLocks = 0;
  #stop: Stop | undefined;
  #broken: { readonly thrown: unknown } | undefined;
  #over = false;
  #pumping = false;
  #stopListening: () => void = () => undefined;

  constructor(state: PlanState, options: ConductOptions) {
    this.#state = state;
    this.#options = options;
    this.#ledger = new PlanLedger(state);
    this.#manners = new NodeManners(state, (position, event) => this.#ledger.noteCall(position, event));
    this.#open = new Set(options.open);
    this.#schedule = new Schedule(state.positions.edges);
    this.#rates = new RateQueue(options.limits.rates, state.clock, (position) => {
      this.#schedule.putBack(position);
      this.#pump();
    });
  }

  conduct(): Promise<Stop | undefined> {
    this.#pumping = true;
    for (const position of this.#options.ended) this.#settled(position);
    this.#pumping = false;
    // Told at once where that has been.
    this.#stopListening = this.#state.caller.onEnd((by) => this.#abort(by));
    this.#pump();
    return this.#end.promise;
  }

  /** Starts what can start, and ends the run when nothing goes on any more. */
  #pump(): void {
    if (this.#pumping || this.#over) return;
    this.#pumping = true;
    try {
      while (this.#mayStart()) {
        const position = this.#schedule.next();
        if (position === undefined || !this.#start(position)) break;
      }
    } catch (thrown) {
      this.#break(thrown);
    }
    this.#pumping = false;
    this.#endIfDone();
  }

  #mayStart(): boolean {
    if (this.#running >= this.#options.maxConcurrency || this.#alone) return false;
    if (this.#stop !== undefined || this.#broken !== undefined) return false;
    // To be asked each time: tools that keep the thread busy keep timers from firing, too.
    const { ended } = this.#state.caller;
    if (ended === undefined) return true;
    this.#abort(ended);
    return false;
  }

  /**
   * Answers false when nothing may start before this one. A node takes its place, its locks and its slot of the rate at one instant,
   * and holds none of them while it waits for another.
   */
  #start(position: number): boolean {
    const known = this.#waiting.size === 0 ? undefined : this.#waiting.get(position);
    const prepared = known?.prepared ?? prepareNode(this.#state, position, this.#open.has(position));
    if (prepared.type === 'ended') {
      this.#close(position, prepared);
      return true;
    }
    const { tool, locks } = prepared;
    if (locks === undefined && this.#running > 0) {
      this.#schedule.putBack(position);
      return false;
    }
    const waiting = known ?? { prepared, lockedOutMs: 0 };
    const delayMs = this.#rates.delayMs(tool.name);
    if (delayMs > 0) {
      this.#waitForRate(position, waiting, delayMs);
      return true;
    }
    const asked = locks === undefined || locks.length === 0 ? undefined : this.#acquire(position, locks, waiting);
    if (asked === undefined) this.#call(position, prepared);
    else {
      void this.#waitForLocks(position, waiting, asked);
      this.#rates.wakeNext(tool.name);
    }
    return true;
  }

  #call(position: number, { tool, input, locks }: PreparedNode): void {
    const { caller } = this.#state;
    this.#running += 1;
    this.#alone = locks === undefined;
    this.#waiting.delete(position);
    const isOpen = this.#open.delete(position);
    this.#rates.take(tool.name);
    this.#ledger.noteStart(position);
    const callId = this.#ledger.callIdOf(position);
    const manner = this.#manners.mannerOf(position, callId);
    this.#await(
      isOpen
        ? caller.resume(callId, manner)
        : caller.execute({ id: callId, name: tool.name, arguments: input }, manner),
      position,
      locks,
    );
    this.#rates.wakeNext(tool.name);
  }

  #await(calling: Promise<Outcome | Suspended>, position: number, locks: readonly string[] | undefined): void {
    calling.then(
      (outcome) => this.#called(position, outcome, locks),
      (thrown) => this.#failed(thrown, position, locks),
    );
  }

  #called(position: number, outcome: Outcome | Suspended, locks: readonly string[] | undefined): void {
    this.#leave(position, locks);
    try {
      if (outcome.kind === 'suspended') {
        this.#ledger.noteSuspended(position, outcome);
        this.#open.add(position);
        if (this.#stop !== undefined) this.#closeOpen();
      } else {
        this.#ledger.settle(position, outcome);
        this.#settled(position);
      }
    } catch (thrown) {
      this.#break(thrown);
    }
    this.#pump();
  }

  #failed(thrown: unknown, position: number, locks: readonly string[] | undefined): void {
    this.#leave(position, locks);
    this.#break(thrown);
    this.#pump();
  }

  #leave(position: number, locks: readonly string[] | undefined): void {
    this.#running -= 1;
    this.#alone = false;
    if (locks !== undefined && locks.length > 0)
      this.#options.limits.locks.release(this.#ledger.keyOf(position), locks);
  }

  #close(position: number, end: NodeEnd): void {
    this.#waiting.delete(position);
    this.#ledger.close(position, end);
    this.#settled(position);
  }

  #settled(position: number): void {
    this.#schedule.settle(position);
    if (this.#ledger.noteConsequence(position) === 'halt') this.#halt(position);
  }

  #waitForRate(position: number, waiting: Waiting, delayMs: number): void {
    this.#ledger.noteWait(position, { type: 'rate', untilMs: this.#state.clock.now() + delayMs });
    this.#waiting.set(position, waiting);
    this.#rates.add(position, waiting.prepared.tool.name, delayMs);
  }

  #acquire(position: number, names: readonly string[], { lockedOutMs }: Waiting): Promise<LockAnswer> | undefined {
    const { lockTimeoutMs, limits } = this.#options;
    const { caller, clock } = this.#state;
    const timeoutMs = lockTimeoutMs === undefined ? undefined : Math.max(0, lockTimeoutMs - lockedOutMs);
    return limits.locks.acquire(names, this.#ledger.keyOf(position), { onEnd: caller.onEnd, timeoutMs, clock });
  }

  async #waitForLocks(position: number, waiting: Waiting, asked: Promise<LockAnswer>): Promise<void> {
    const { clock } = this.#state;
    const { prepared } = waiting;
    const names = prepared.locks ?? [];
    const sinceMs = clock.now();
    this.#ledger.noteWait(position, { type: 'locks', names });
    this.#waiting.set(position, waiting);
    this.#waitingForLocks += 1;
    const answer = await asked;
    this.#waitingForLocks -= 1;
    waiting.lockedOutMs += clock.now() - sinceMs;
    try {
      if (answer === 'granted') this.#goOnWithLocks(position, prepared, names);
      else if (answer === 'timed-out' && this.#stop === undefined)
        this.#close(position, lockedOut(names, waiting.lockedOutMs));
    } catch (thrown) {
      this.#break(thrown);
    }
    this.#pump();
  }

  #goOnWithLocks(position: number, prepared: PreparedNode, names: readonly string[]): void {
    if (this.#mayStart() && this.#rates.delayMs(prepared.tool.name) === 0) this.#call(position, prepared);
    else {
      // Others can go on with them meanwhile.
      this.#options.limits.locks.release(this.#ledger.keyOf(position), names);
      this.#schedule.putBack(position);
    }
  }

  /** The node at `by` has failed: nothing new starts, and what is under way is cancelled. */
  #halt(by: number): void {
    if (!this.#stopBy({ type: 'halted', by })) return;
    this.#options.cancel();
    this.#closeOpen();
    this.#pump();
  }

  /** The time of all calls is over. */
  #abort(by: EndOfLife): void {
    if (!this.#stopBy({ type: 'aborted', by })) return;
    this.#closeOpen();
    this.#pump();
  }

  #stopBy(stop: Stop): boolean {
    if (this.#stop !== undefined || this.#broken !== undefined || this.#over) return false;
    this.#stop = stop;
    this.#rates.clear();
    return true;
  }

  /** The log cannot be written, say: what is under way is waited for, and nothing else can be told. */
  #break(thrown: unknown): void {
    if (this.#broken !== undefined) return;
    this.#broken = { thrown };
    this.#rates.clear();
    this.#options.cancel();
  }

  /** Ends the calls that wait for people, or were begun by a process that has ended: their time is over, too. */
  #closeOpen(): void {
    const { caller } = this.#state;
    for (const position of this.#open) {
      this.#open.delete(position);
      this.#running += 1;
      const callId = this.#ledger.callIdOf(position);
      this.#await(caller.resume(callId, this.#manners.mannerOf(position, callId)), position, undefined);
    }
  }

  #endIfDone(): void {
    if (this.#over || this.#running > 0 || this.#waitingForLocks > 0) return;
    try {
      if (this.#broken === undefined && this.#stop !== undefined) this.#closeRest(this.#stop);
    } catch (thrown) {
      this.#break(thrown);
    }
    if (this.#broken === undefined && this.#rates.size > 0) return;
    this.#over = true;
    this.#stopListening();
    if (this.#broken !== undefined) this.#end.reject(this.#broken.thrown);
    else if (this.#schedule.blocked) {
      const blocked = this.#state.nodes.filter((_, at) => !this.#schedule.isSettled(at));
      this.#end.reject(blockedError(blocked.map(({ id }) => id)));
    } else this.#end.resolve(this.#stop);
  }

  #closeRest(stop: Stop): void {
    const end = stop.type === 'halted' ? halted(this.#ledger.nodeAt(stop.by).id) : cutOff(stop.by);
    for (const position of this.#state.nodes.keys()) {
      if (!this.#schedule.isSettled(position)) this.#close(position, end);
    }
  }
}
