import type { Outcome, Tool, ToolCallEndEvent } from '@holdfast/core';
import type { EndOfLife, Suspended } from '@holdfast/executor';
import { maskRecord } from '@holdfast/session';
import { type Stopped, traceNode } from './build-trace.ts';
import type { LockAnswer } from './lock-table.ts';
import { consequenceOf, hasEnded, type NodeClosing, toCallId, toLogEntry } from './node-facts.ts';
import type { NodeId, PlanNode } from './plan.ts';
import type { PlanState } from './plan-state.ts';
import { RateQueue } from './rate-queue.ts';
import type { SettledNode } from './resolve-inputs.ts';
import { type NodeEnd, type PreparedNode, prepareNode, toManner } from './run-node.ts';
import { blockedError, Schedule } from './schedule.ts';
import type { SharedLimits } from './shared-limits.ts';

export interface ConductOptions {
  readonly maxConcurrency: number;
  readonly lockTimeoutMs: number | undefined;
  readonly limits: SharedLimits;
  /** Has the calls under way stop. */
  readonly cancel: () => void;
  /** Places of nodes whose calls were begun, or wait for a person, since before. */
  readonly open: ReadonlySet<number>;
  /** The node that had to halt the run before. */
  readonly haltedBy: number | undefined;
}

/** How the nodes of a run ended. */
export interface Conducted {
  readonly stopped: Stopped;
}

/** Runs the nodes of a plan that have not ended, until all have, or what is left waits for people. Rejects when nothing is under way any more. */
export function conductPlan(state: PlanState, options: ConductOptions): Promise<Conducted> {
  return new Promise((resolve, reject) => new Conductor(state, options, { resolve, reject }).begin());
}

interface Settler {
  readonly resolve: (conducted: Conducted) => void;
  readonly reject: (error: unknown) => void;
}

/** A node that could start and has waited, and for how long it has waited for locks. */
interface Waiting {
  readonly prepared: PreparedNode;
  lockedOutMs: number;
}

class Conductor {
  readonly #state: PlanState;
  readonly #options: ConductOptions;
  readonly #settler: Settler;
  readonly #schedule: Schedule;
  readonly #rates: RateQueue;
  readonly #waiting = new Map<number, Waiting>();
  /** Places of nodes whose calls are open and not under way. */
  readonly #open: Set<number>;
  #running = 0;
  /** Of them, one beside which nothing else may run. */
  #alone = false;
  #waitingForLocks = 0;
  #stopped: Stopped;
  #endedBy: EndOfLife | undefined;
  #haltedBy: number | undefined;
  #broken: { readonly thrown: unknown } | undefined;
  #over = false;
  #pumping = false;
  #stopListening: () => void = () => undefined;

  constructor(state: PlanState, options: ConductOptions, settler: Settler) {
    this.#state = state;
    this.#options = options;
    this.#settler = settler;
    this.#open = new Set(options.open);
    this.#schedule = new Schedule(state.positions.parents);
    this.#rates = new RateQueue(options.limits.rates, state.clock, (position) => {
      this.#schedule.putBack(position);
      this.#pump();
    });
  }

  begin(): void {
    for (const [position, known] of this.#state.facts.entries()) if (hasEnded(known)) this.#schedule.settle(position);
    const { haltedBy } = this.#options;
    if (haltedBy !== undefined) this.#stop('halted', { haltedBy });
    // Called at once where that has been.
    this.#stopListening = this.#state.caller.onEnd((endedBy) => this.#stop('aborted', { endedBy }));
    this.#pump();
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
    // To be asked each time: tools that keep the thread busy keep timers from firing, too.
    if (this.#state.caller.ended !== undefined && this.#stopped === undefined) {
      this.#stop('aborted', { endedBy: this.#state.caller.ended });
    }
    return this.#stopped === undefined && this.#broken === undefined;
  }

  /** False: nothing may start before this one. A node takes its place, its locks and its slot of the rate at one instant, or none of them. */
  #start(position: number): boolean {
    const known = this.#waiting.get(position);
    const prepared = known?.prepared ?? prepareNode(this.#state, position);
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
      this.#waitForRate(position, known ?? { prepared, lockedOutMs: 0 }, delayMs);
      return true;
    }
    if (locks !== undefined && locks.length > 0) {
      const waiting = known ?? { prepared, lockedOutMs: 0 };
      const asked = this.#acquire(position, locks, waiting);
      if (asked !== undefined) {
        void this.#waitForLocks(position, waiting, locks, asked);
        this.#rates.wakeNext(tool.name);
        return true;
      }
    }
    this.#call(position, prepared);
    return true;
  }

  #acquire(position: number, names: readonly string[], { lockedOutMs }: Waiting): Promise<LockAnswer> | undefined {
    const { lockTimeoutMs, limits } = this.#options;
    const { caller, clock } = this.#state;
    const timeoutMs = lockTimeoutMs === undefined ? undefined : Math.max(0, lockTimeoutMs - lockedOutMs);
    return limits.locks.acquire(names, this.#ownerOf(position), { onEnd: caller.onEnd, timeoutMs, clock });
  }

  #call(position: number, prepared: PreparedNode): void {
    const { caller, run, nodes, emit, clock } = this.#state;
    const { id } = nodes[position] as PlanNode;
    const callId = toCallId(run, id);
    const { tool, input, locks } = prepared;
    this.#waiting.delete(position);
    this.#rates.take(tool.name);
    this.#rates.wakeNext(tool.name);
    this.#alone = locks === undefined;
    this.#running += 1;
    emit?.({ type: 'node-start', node: id, callId, atMs: clock.now() });
    const manner = toManner(this.#state, position, tool, (event) => this.#noteEnd(position, event));
    const calling = this.#open.delete(position)
      ? caller.resume(callId, manner)
      : caller.execute({ id: callId, name: tool.name, arguments: input }, manner);
    calling.then(
      (outcome) => this.#called(position, outcome, locks),
      (thrown) => this.#failed(thrown, position, locks),
    );
  }

  #noteEnd(position: number, event: ToolCallEndEvent): void {
    this.#state.facts[position] = maskRecord(event, this.#state.caller.session.redactor);
  }

  #called(position: number, outcome: Outcome | Suspended, locks: readonly string[] | undefined): void {
    this.#leave(position, locks);
    try {
      if (outcome.kind === 'suspended') this.#suspend(position, outcome);
      else this.#settle(position, outcome);
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
    if (locks !== undefined && locks.length > 0) this.#options.limits.locks.release(this.#ownerOf(position), locks);
  }

  #suspend(position: number, { pending }: Suspended): void {
    const { facts, shown, caller, emit, clock } = this.#state;
    const [question] = pending;
    if (question === undefined) return;
    const { pending: masked } = maskRecord({ type: 'approval-request', pending: question }, caller.session.redactor);
    const suspended = { type: 'suspended', pending: masked, answered: false } as const;
    facts[position] = suspended;
    if (emit !== undefined) {
      const node = traceNode(shown[position] as PlanNode, suspended);
      emit({ type: 'node-end', node, atMs: clock.now() });
    }
    this.#open.add(position);
    if (this.#stopped !== undefined) this.#closeOpen();
  }

  #close(position: number, end: NodeEnd): void {
    const { run, nodes, caller, facts, clock } = this.#state;
    const { kind, code, message, because } = end;
    const { id } = nodes[position] as PlanNode;
    this.#waiting.delete(position);
    const closing: NodeClosing = {
      type: 'plan-node',
      plan: run,
      node: id,
      kind,
      code,
      message,
      because,
      atMs: clock.now(),
    };
    caller.session.record(toLogEntry(closing));
    facts[position] = maskRecord(closing, caller.session.redactor);
    this.#settle(position, { kind, message, value: null });
  }

  #settle(position: number, outcome: SettledNode): void {
    const { nodes, shown, facts, settled, emit, clock } = this.#state;
    const known = facts[position];
    settled[position] = outcome;
    this.#schedule.settle(position);
    emit?.({ type: 'node-end', node: traceNode(shown[position] as PlanNode, known), atMs: clock.now() });
    if (!hasEnded(known) || outcome.kind === 'ok') return;
    if (consequenceOf(known, (nodes[position] as PlanNode).on_fail) === 'halt')
      this.#stop('halted', { haltedBy: position });
  }

  #waitForRate(position: number, waiting: Waiting, delayMs: number): void {
    const { nodes, emit, clock } = this.#state;
    const { id, tool } = nodes[position] as PlanNode;
    const atMs = clock.now();
    emit?.({ type: 'node-wait', node: id, wait: { type: 'rate', untilMs: atMs + delayMs }, atMs });
    this.#waiting.set(position, waiting);
    this.#rates.add(position, tool, delayMs);
  }

  async #waitForLocks(
    position: number,
    waiting: Waiting,
    names: readonly string[],
    asked: Promise<LockAnswer>,
  ): Promise<void> {
    const { nodes, emit, clock } = this.#state;
    const sinceMs = clock.now();
    emit?.({
      type: 'node-wait',
      node: (nodes[position] as PlanNode).id,
      wait: { type: 'locks', names },
      atMs: sinceMs,
    });
    this.#waiting.set(position, waiting);
    this.#waitingForLocks += 1;
    const answer = await asked;
    this.#waitingForLocks -= 1;
    waiting.lockedOutMs += clock.now() - sinceMs;
    try {
      if (answer === 'granted') this.#goOnWithLocks(position, waiting.prepared, names);
      else if (answer === 'timed-out' && this.#stopped === undefined) this.#close(position, lockedOut(waiting, names));
    } catch (thrown) {
      this.#break(thrown);
    }
    this.#pump();
  }

  #goOnWithLocks(position: number, prepared: PreparedNode, names: readonly string[]): void {
    if (this.#mayStart() && this.#rates.delayMs(prepared.tool.name) === 0) {
      this.#call(position, prepared);
      return;
    }
    this.#options.limits.locks.release(this.#ownerOf(position), names);
    if (this.#stopped === undefined) this.#schedule.putBack(position);
  }

  #ownerOf(position: number): string {
    const { caller, run, nodes } = this.#state;
    return caller.keyOf(toCallId(run, (nodes[position] as PlanNode).id));
  }

  /** Nothing new starts from now on. */
  #stop(why: Stopped, { haltedBy, endedBy }: { readonly haltedBy?: number; readonly endedBy?: EndOfLife }): void {
    if (this.#stopped !== undefined || this.#broken !== undefined || this.#over) return;
    this.#stopped = why;
    this.#haltedBy = haltedBy;
    this.#endedBy = endedBy;
    this.#rates.clear();
    if (why === 'halted') this.#options.cancel();
    this.#closeOpen();
    this.#pump();
  }

  /** The log cannot be written, say: what is under way is waited for, and nothing else can be told. */
  #break(thrown: unknown): void {
    if (this.#broken !== undefined) return;
    this.#broken = { thrown };
    this.#rates.clear();
    this.#options.cancel();
  }

  /** Ends the calls that wait for people, or were begun by a process that has ended: the time of the run is over, and so is theirs. */
  #closeOpen(): void {
    const { caller, run, nodes, tools } = this.#state;
    for (const position of this.#open) {
      this.#open.delete(position);
      const { id, tool } = nodes[position] as PlanNode;
      const manner = toManner(this.#state, position, tools.get(tool) as Tool, (event) =>
        this.#noteEnd(position, event),
      );
      this.#running += 1;
      caller.resume(toCallId(run, id), manner).then(
        (outcome) => this.#called(position, outcome, undefined),
        (thrown) => this.#failed(thrown, position, undefined),
      );
    }
  }

  #endIfDone(): void {
    if (this.#over || this.#running > 0 || this.#waitingForLocks > 0) return;
    try {
      if (this.#broken === undefined && this.#stopped !== undefined) this.#closeRest();
    } catch (thrown) {
      this.#break(thrown);
    }
    if (this.#broken === undefined && this.#rates.size > 0) return;
    this.#over = true;
    this.#stopListening();
    const { resolve, reject } = this.#settler;
    const { nodes, facts } = this.#state;
    if (this.#broken !== undefined) reject(this.#broken.thrown);
    else if (this.#schedule.blocked)
      reject(blockedError(nodes.filter((_, at) => !hasEnded(facts[at])).map(({ id }) => id)));
    else resolve({ stopped: this.#stopped });
  }

  #closeRest(): void {
    const { nodes } = this.#state;
    const end = toRest(nodes[this.#haltedBy ?? -1]?.id, this.#endedBy);
    for (const position of nodes.keys()) if (!this.#schedule.isSettled(position)) this.#close(position, end);
  }
}

function lockedOut({ lockedOutMs }: Waiting, names: readonly string[]): NodeEnd {
  const locks = names.map((name) => `\`${name}\``).join(', ');
  const message = `Others held what it works on (${locks}) for ${lockedOutMs} ms, which is as long as a node may wait. Nothing was run.`;
  return { type: 'ended', kind: 'timed-out', code: 'lock.timeout', message, because: [] };
}

const ends = {
  aborted: 'The run was cancelled',
  deadline: 'The deadline of the run passed',
  budget: 'The time of the budget was used up',
} as const;

/** What nodes end as that had not begun when the run had to stop. */
function toRest(haltedBy: NodeId | undefined, endedBy: EndOfLife = 'aborted'): NodeEnd {
  if (haltedBy === undefined) {
    return {
      type: 'ended',
      kind: 'cancelled',
      code: 'plan.aborted',
      message: `${ends[endedBy]} before this node began.`,
      because: [],
    };
  }
  const message = `The run was halted, as \`${haltedBy}\` did not succeed.`;
  return { type: 'ended', kind: 'skipped', code: 'plan.halted', message, because: [haltedBy] };
}
