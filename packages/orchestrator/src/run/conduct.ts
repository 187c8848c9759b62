import type { Outcome } from '@holdfast/core';
import type { Suspended } from '@holdfast/executor';
import { RateQueue } from '../limits/rates.ts';
import { cutOff, halted, lockedOut, type NodeEnd, PlanLedger } from './ledger.ts';
import { LockQueue } from './lock-queue.ts';
import { NodeManners, type PreparedNode, prepareNode } from './node.ts';
import { isElsewhere, type OpenCallChange, OpenCalls } from './open-calls.ts';
import { blockedError } from './schedule.ts';
import type { ConductOptions, PlanState, Stop } from './state.ts';
import { isDone, mayStart, type RunState, startState, step } from './step.ts';
import type { StepCommand, StepEvent } from './step-types.ts';

/**
 * Runs all nodes of a plan that have not ended, until every node has ended or the rest wait for approval. Rejects only once nothing is
 * running.
 */
export function conductPlan(state: PlanState, options: ConductOptions): Promise<Stop | undefined> {
  return new Conductor(state, options).conduct();
}

/** Executes the commands of `step` and feeds it the resulting events. */
class Conductor {
  readonly #plan: PlanState;
  readonly #options: ConductOptions;
  readonly #state: RunState;
  readonly #end: PromiseWithResolvers<Stop | undefined> = Promise.withResolvers();
  readonly #ledger: PlanLedger;
  readonly #manners: NodeManners;
  readonly #rates: RateQueue;
  readonly #open: OpenCalls;
  readonly #locks: LockQueue;
  /** Nodes whose calls have neither returned nor ended. */
  readonly #prepared = new Map<number, PreparedNode>();
  #over = false;
  #inTurn = false;
  #stopListening: () => void = () => undefined;

  constructor(plan: PlanState, options: ConductOptions) {
    this.#plan = plan;
    this.#options = options;
    this.#state = startState(plan.positions.edges, options.maxConcurrency);
    this.#ledger = new PlanLedger(plan);
    this.#manners = new NodeManners(plan, (position, event) => this.#ledger.noteCall(position, event));
    this.#rates = new RateQueue(options.limits.rates, plan.clock, (position) =>
      this.#tell({ type: 'woken', position }),
    );
    this.#locks = new LockQueue(plan, options, (position, locks, answer) => {
      this.#tell({ type: 'lock-answered', position, locks, answer });
    });
    this.#open = new OpenCalls(plan, this.#state.open, (position, change) => this.#heard(position, change));
  }

  conduct(): Promise<Stop | undefined> {
    this.#turn(() => {
      for (const position of this.#options.open) this.#step({ type: 'opened', position });
      for (const position of this.#options.ended) this.#settled(position);
      // Called back immediately if the end has passed.
      this.#stopListening = this.#plan.caller.onEnd((by) => this.#tell({ type: 'over', by }));
    });
    return this.#end.promise;
  }

  /**
   * Performs one action, starts the nodes that can start, and ends the run when nothing is active. Listeners may re-enter (for example to
   * cancel); the run never ends in the middle of a turn.
   */
  #turn(act: () => void): void {
    if (this.#over) return;
    const isOuter = !this.#inTurn;
    this.#inTurn = true;
    try {
      act();
      if (isOuter) this.#startReady();
      if (isOuter && this.#state.stop !== undefined) this.#step({ type: 'rest' });
    } catch (thrown) {
      this.#step({ type: 'broken', thrown });
    }
    if (!isOuter) return;
    if (isDone(this.#state)) this.#finish();
    this.#inTurn = false;
  }

  #startReady(): void {
    while (mayStart(this.#state)) {
      // Checked each time: a tool that blocks the thread also delays timers.
      const { ended } = this.#plan.caller;
      if (!this.#step(ended === undefined ? { type: 'next' } : { type: 'over', by: ended })) return;
    }
  }

  #finish(): void {
    const { broken, schedule, stop } = this.#state;
    this.#over = true;
    this.#stopListening();
    this.#open.release();
    if (broken !== undefined) this.#end.reject(broken.thrown);
    else if (!schedule.blocked) this.#end.resolve(stop);
    else this.#end.reject(blockedError(this.#plan.nodes.filter((_, at) => !schedule.isSettled(at))));
  }

  /** Handles an event from outside of the current turn. */
  #tell(event: StepEvent): void {
    this.#turn(() => this.#step(event));
  }

  /** True if the event led to any command. */
  #step(event: StepEvent): boolean {
    const commands = step(this.#state, event);
    for (const command of commands) this.#perform(command);
    return commands.length > 0;
  }

  #perform(command: StepCommand): void {
    switch (command.type) {
      case 'prepare':
        this.#prepare(command.position);
        return;
      case 'lock': {
        const { position, locks } = command;
        if (this.#locks.take(position, locks)) this.#step({ type: 'lock-taken', position });
        else this.#awaitLocks(position, locks);
        return;
      }
      case 'release':
        this.#locks.release(command.position, command.locks);
        return;
      case 'look': {
        const { position } = command;
        this.#step({ type: 'looked', position, delayMs: this.#delayOf(position), ended: this.#plan.caller.ended });
        return;
      }
      case 'wait-rate': {
        const { position, delayMs } = command;
        this.#rates.add(position, this.#preparedAt(position).tool.name, delayMs);
        this.#ledger.noteWait(position, { type: 'rate', untilMs: this.#plan.clock.now() + delayMs });
        return;
      }
      case 'clear-rates':
        this.#rates.clear();
        return;
      case 'call':
        this.#begin(command.position, command.isOpen);
        return;
      case 'end-open':
        this.#await(command.position, this.#resume(command.position));
        return;
      case 'settle':
        this.#ledger.settle(command.position, command.outcome);
        this.#settled(command.position);
        return;
      case 'close':
        this.#close(command.position, this.#endBy(command));
        return;
      case 'watch':
        this.#open.watch(command.position);
        return;
      case 'note-open':
        this.#ledger.noteSuspended(command.position, command.suspended);
        this.#step({ type: 'suspended', position: command.position });
        return;
      case 'check-open':
        this.#open.check(command.position);
        return;
      case 'check-end':
        this.#open.checkEnd(command.position);
        return;
      case 'cancel':
        this.#options.cancel();
        return;
      default:
        command satisfies never;
    }
  }

  #prepare(position: number): void {
    const known = this.#prepared.get(position);
    const prepared = known ?? prepareNode(this.#plan, position, this.#state.open.has(position));
    if (prepared.type === 'ended') {
      this.#close(position, prepared);
      return;
    }
    this.#prepared.set(position, prepared);
    this.#step({ type: 'prepared', position, locks: prepared.locks, delayMs: this.#delayOf(position) });
  }

  #preparedAt(position: number): PreparedNode {
    return this.#prepared.get(position) as PreparedNode;
  }

  #delayOf(position: number): number {
    return this.#rates.delayMs(this.#preparedAt(position).tool.name);
  }

  #awaitLocks(position: number, locks: readonly string[]): void {
    this.#step({ type: 'lock-awaited', position });
    this.#ledger.noteWait(position, { type: 'locks', names: locks });
    this.#rates.wakeNext(this.#preparedAt(position).tool.name);
  }

  #begin(position: number, isOpen: boolean): void {
    const { name } = this.#preparedAt(position).tool;
    let calling: Promise<Outcome | Suspended>;
    try {
      this.#rates.take(name);
      this.#ledger.noteStart(position);
      calling = isOpen ? this.#resume(position) : this.#call(position);
    } catch (thrown) {
      calling = Promise.reject(thrown);
    }
    this.#await(position, calling);
    this.#rates.wakeNext(name);
  }

  #call(position: number): Promise<Outcome | Suspended> {
    const { tool, input } = this.#preparedAt(position);
    const id = this.#ledger.callIdOf(position);
    const manner = this.#manners.mannerOf(position, id);
    return this.#plan.caller.execute({ id, name: tool.name, arguments: input }, manner);
  }

  #resume(position: number): Promise<Outcome | Suspended> {
    const callId = this.#ledger.callIdOf(position);
    return this.#plan.caller.resume(callId, this.#manners.mannerOf(position, callId));
  }

  #await(position: number, calling: Promise<Outcome | Suspended>): void {
    calling.then(
      (outcome) => this.#cameBack({ type: 'returned', position, outcome }),
      (thrown) => this.#cameBack({ type: 'lost', position, thrown, elsewhere: isElsewhere(thrown) }),
    );
  }

  #cameBack(event: Extract<StepEvent, { readonly type: 'returned' | 'lost' }>): void {
    this.#prepared.delete(event.position);
    this.#tell(event);
  }

  #close(position: number, end: NodeEnd): void {
    this.#prepared.delete(position);
    this.#ledger.close(position, end);
    this.#settled(position);
  }

  #endBy({ position, why }: Extract<StepCommand, { readonly type: 'close' }>): NodeEnd {
    if (why.type === 'halted') return halted(this.#ledger.nodeAt(why.by).id);
    if (why.type === 'aborted') return cutOff(why.by);
    return lockedOut(why.locks, this.#locks.waitedMs(position));
  }

  #settled(position: number): void {
    const consequence = this.#ledger.noteConsequence(position);
    const ended = consequence === 'halt' ? this.#plan.caller.ended : undefined;
    this.#step({ type: 'settled', position, consequence, ended });
  }

  /** Called from the middle of writing to the log, so the change is handled in a later turn. */
  #heard(position: number, change: OpenCallChange): void {
    this.#step({ type: 'heard', position, isEnd: change.type === 'end' });
    void Promise.resolve().then(() =>
      this.#turn(() => {
        if (change.type === 'answer') {
          this.#ledger.noteAnswer(position, change.digest);
          this.#step({ type: 'answered', position });
          return;
        }
        this.#step({ type: 'ended-elsewhere' });
        this.#ledger.noteForeign(position, change.event);
        this.#settled(position);
      }),
    );
  }
}
