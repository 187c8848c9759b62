import type { Outcome } from '@holdfast/core';
import type { EndOfLife, Suspended } from '@holdfast/executor';
import { LockQueue } from './lock-queue.ts';
import type { LockAnswer } from './lock-table.ts';
import { isElsewhere, OpenCalls } from './open-calls.ts';
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

class Conductor {
  readonly #state: PlanState;
  readonly #options: ConductOptions;
  readonly #end: PromiseWithResolvers<Stop | undefined> = Promise.withResolvers();
  readonly #ledger: PlanLedger;
  readonly #manners: NodeManners;
  readonly #schedule: Schedule;
  readonly #rates: RateQueue;
  readonly #open: OpenCalls;
  readonly #locks: LockQueue;
  readonly #waiting = new Map<number, PreparedNode>();
  #running = 0;
  /** One beside which nothing else may run has it. */
  #alone = false;
  /** What comes back in a turn of its own: calls, locks that are waited for. */
  #awaited = 0;
  #stop: Stop | undefined;
  #broken: { readonly thrown: unknown } | undefined;
  #over = false;
  #inTurn = false;
  #stopListening: () => void = () => undefined;

  constructor(state: PlanState, options: ConductOptions) {
    this.#state = state;
    this.#options = options;
    this.#ledger = new PlanLedger(state);
    this.#manners = new NodeManners(state, (position, event) => this.#ledger.noteCall(position, event));
    this.#open = new OpenCalls(state, {
      onAnswer: (position, digest) => this.#heard(() => this.#goOn(position, digest)),
      onEnd: (position, event) =>
        this.#heard(() => {
          this.#ledger.noteForeign(position, event);
          this.#settled(position);
        }),
    });
    this.#schedule = new Schedule(state.positions.edges);
    this.#locks = new LockQueue(state, options, (position, answer) => {
      this.#turn(() => this.#answered(position, answer));
    });
    this.#rates = new RateQueue(options.limits.rates, state.clock, (position) => {
      this.#turn(() => this.#schedule.putBack(position));
    });
  }

  conduct(): Promise<Stop | undefined> {
    this.#turn(() => {
      for (const position of this.#options.open) this.#open.add(position);
      for (const position of this.#options.ended) this.#settled(position);
      // Told at once where that has been.
      this.#stopListening = this.#state.caller.onEnd((by) => this.#abort(by));
    });
    return this.#end.promise;
  }

  /**
   * Does one thing, starts what can start then, and ends the run when nothing goes on any more. Whoever is told of it and acts at once,
   * say by cancelling the run, acts within the turn: no run ends in the middle of one.
   */
  #turn(act: () => void): void {
    if (this.#over) return;
    const isOuter = !this.#inTurn;
    this.#inTurn = true;
    try {
      act();
      if (isOuter) this.#startReady();
      if (isOuter) this.#closeRest();
    } catch (thrown) {
      this.#break(thrown);
    }
    if (!isOuter) return;
    this.#endIfDone();
    this.#inTurn = false;
  }

  #startReady(): void {
    while (this.#mayStart()) {
      const position = this.#schedule.next();
      if (position === undefined || !this.#start(position)) return;
    }
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
    const prepared = known ?? prepareNode(this.#state, position, this.#open.has(position));
    if (prepared.type === 'ended') {
      this.#close(position, prepared);
      return true;
    }
    const { tool, locks } = prepared;
    if (locks === undefined && this.#running > 0) {
      this.#schedule.putBack(position);
      return false;
    }
    const delayMs = this.#rates.delayMs(tool.name);
    if (delayMs > 0) {
      this.#waiting.set(position, prepared);
      this.#rates.add(position, tool.name, delayMs);
      this.#ledger.noteWait(position, { type: 'rate', untilMs: this.#state.clock.now() + delayMs });
    } else if (locks === undefined || this.#locks.take(position, locks)) this.#call(position, prepared);
    else {
      this.#awaited += 1;
      this.#waiting.set(position, prepared);
      this.#ledger.noteWait(position, { type: 'locks', names: locks });
      this.#rates.wakeNext(tool.name);
    }
    return true;
  }

  #call(position: number, { tool, input, locks }: PreparedNode): void {
    const { caller } = this.#state;
    this.#running += 1;
    this.#alone = locks === undefined;
    this.#waiting.delete(position);
    this.#rates.take(tool.name);
    const isOpen = this.#open.take(position);
    const callId = this.#ledger.callIdOf(position);
    const manner = this.#manners.mannerOf(position, callId);
    this.#ledger.noteStart(position);
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
    this.#awaited += 1;
    calling.then(
      (outcome) => this.#turn(() => this.#called(position, outcome, locks)),
      (thrown) => this.#turn(() => this.#failed(thrown, position, locks)),
    );
  }

  #called(position: number, outcome: Outcome | Suspended, locks: readonly string[] | undefined): void {
    this.#leave(position, locks);
    if (outcome.kind !== 'suspended') {
      this.#ledger.settle(position, outcome);
      this.#settled(position);
      return;
    }
    this.#open.add(position);
    this.#ledger.noteSuspended(position, outcome);
    if (this.#stop !== undefined) this.#closeOpen();
    else this.#open.check(position);
  }

  #failed(thrown: unknown, position: number, locks: readonly string[] | undefined): void {
    this.#leave(position, locks);
    if (!isElsewhere(thrown)) this.#break(thrown);
    else if (this.#stop === undefined) this.#open.add(position);
  }

  #leave(position: number, locks: readonly string[] | undefined): void {
    this.#awaited -= 1;
    this.#running -= 1;
    this.#alone = false;
    if (locks !== undefined) this.#locks.release(position, locks);
  }

  /** Whoever has written it to the log is in the middle of what it does. */
  #heard(act: () => void): void {
    this.#awaited += 1;
    void Promise.resolve().then(() =>
      this.#turn(() => {
        this.#awaited -= 1;
        act();
      }),
    );
  }

  /** A question was answered. A call that has not been gone on with finds the answer by itself. */
  #goOn(position: number, digest: string): void {
    this.#ledger.noteAnswer(position, digest);
    if (this.#open.has(position) && this.#schedule.isUnderWay(position)) this.#schedule.putBack(position);
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

  /** The node has waited for its locks. */
  #answered(position: number, answer: LockAnswer): void {
    this.#awaited -= 1;
    const prepared = this.#waiting.get(position);
    if (prepared === undefined || answer === 'ended') return;
    const { tool, locks = [] } = prepared;
    if (answer === 'timed-out') {
      if (this.#stop === undefined) this.#close(position, lockedOut(locks, this.#locks.waitedMs(position)));
    } else if (this.#mayStart() && this.#rates.delayMs(tool.name) === 0) this.#call(position, prepared);
    else {
      // Others can go on with them meanwhile.
      this.#locks.release(position, locks);
      this.#schedule.putBack(position);
    }
  }

  /** The node at `by` has failed: nothing new starts, and what is under way is cancelled. */
  #halt(by: number): void {
    const { ended } = this.#state.caller;
    // It failed when its time was over, which a tool that keeps the thread busy keeps timers from telling.
    if (ended !== undefined) this.#abort(ended);
    if (!this.#stopBy({ type: 'halted', by })) return;
    this.#options.cancel();
    this.#closeOpen();
  }

  /** The time of all calls is over. */
  #abort(by: EndOfLife): void {
    this.#turn(() => {
      if (this.#stopBy({ type: 'aborted', by })) this.#closeOpen();
    });
  }

  #stopBy(stop: Stop): boolean {
    if (this.#stop !== undefined || this.#broken !== undefined) return false;
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
    for (const position of this.#open.takeAll()) {
      this.#running += 1;
      const callId = this.#ledger.callIdOf(position);
      const manner = this.#manners.mannerOf(position, callId);
      this.#await(this.#state.caller.resume(callId, manner), position, undefined);
    }
  }

  #endIfDone(): void {
    if (this.#awaited > 0 || this.#rates.size > 0) return;
    this.#over = true;
    this.#stopListening();
    this.#open.release();
    if (this.#broken !== undefined) this.#end.reject(this.#broken.thrown);
    else if (!this.#schedule.blocked) this.#end.resolve(this.#stop);
    else this.#end.reject(blockedError(this.#state.nodes.filter((_, at) => !this.#schedule.isSettled(at))));
  }

  #closeRest(): void {
    const stop = this.#stop;
    if (stop === undefined || this.#broken !== undefined || this.#awaited > 0) return;
    const end = stop.type === 'halted' ? halted(this.#ledger.nodeAt(stop.by).id) : cutOff(stop.by);
    for (const position of this.#state.nodes.keys()) {
      if (!this.#schedule.isSettled(position)) this.#close(position, end);
    }
  }
}
