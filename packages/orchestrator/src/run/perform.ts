import { type Clock, type Json, systemClock } from '@holdfast/core';
import { type Caller, EventStream, isolateListener, openCaller } from '@holdfast/executor';
import type { CheckedPlan } from '../check/plan.ts';
import { type SharedLimits, shareLimits } from '../limits/shared-limits.ts';
import { indexNodes } from '../plan/positions.ts';
import { buildTrace, statusOf, type TraceHead, traceNode } from '../trace/build.ts';
import type { NodeFacts } from '../trace/facts.ts';
import type { PlanTrace } from '../trace/trace.ts';
import { dropPlan, keepPlan } from './claims.ts';
import { conductPlan } from './conduct.ts';
import type { SettledNode } from './inputs.ts';
import type { RunPlanOptions } from './options.ts';
import type { PlanEvent, PlanState } from './state.ts';

/** A run whose records say that it goes on, and what is known of its nodes. */
export interface BegunPlan {
  readonly type: 'plan-start' | 'plan-resume';
  /** As the log has it, with masks. */
  readonly head: Omit<TraceHead, 'status' | 'endedAtMs'>;
  readonly facts: (NodeFacts | undefined)[];
  readonly settled: (SettledNode | undefined)[];
  readonly masked: Set<number>;
  readonly open: ReadonlySet<number>;
  /** In the order in which they did. */
  readonly ended: readonly number[];
}

interface Performing {
  readonly checked: CheckedPlan;
  readonly options: RunPlanOptions;
  readonly stream: PlanStream;
  /** Records that the run goes on: nothing is wrong with its options. */
  readonly begin: (caller: Caller, clock: Clock) => BegunPlan;
}

/** Runs what is left of a plan. */
export async function performPlan({ checked, options, stream, begin }: Performing): Promise<PlanTrace> {
  const { onEvent, signal, clock = systemClock, random = Math.random, maxConcurrency = 10, ...shared } = options;
  const controller = new AbortController();
  let over = false;
  const listener = toListener(onEvent, stream);
  const tell = listener && ((event: PlanEvent): unknown => (over ? undefined : listener(event)));
  const caller = openCaller({
    ...shared,
    clock,
    signal: controller.signal,
    ...(tell === undefined ? {} : { onEvent: tell }),
  });
  const stopForwarding = forwardAbort(signal, controller);
  let limits: SharedLimits | undefined;
  try {
    await caller.ready;
    const { session } = caller;
    const { type, head, ...known } = begin(caller, clock);
    const { run, sessionId, digest } = head;
    limits = shareLimits(caller, run, { locks: options.locks, rateLimits: options.rateLimits, clock });
    const positions = indexNodes(checked.plan);
    const state: PlanState = {
      run,
      checked,
      nodes: checked.plan.nodes,
      shown: head.plan.nodes,
      positions,
      tools: new Map(options.tools.map((tool) => [tool.name, tool])),
      caller,
      clock,
      random,
      facts: known.facts,
      settled: known.settled,
      settledOf: (id) => known.settled[positions.byId.get(id) ?? -1],
      skips: new Set(),
      masked: known.masked,
      emit: tell && isolateListener(tell, session),
    };
    const { emit, facts } = state;
    if (emit !== undefined) {
      const nodes = state.shown.map((node, position) => traceNode(node, facts[position]));
      emit({ type, sessionId, run, digest, nodes, atMs: clock.now() });
    }
    const stop = await conductPlan(state, {
      maxConcurrency,
      lockTimeoutMs: options.lockTimeoutMs,
      limits,
      cancel: () => controller.abort(),
      open: known.open,
      ended: known.ended,
    });
    const status = statusOf(checked.plan, facts, stop?.type);
    const endedAtMs = clock.now();
    session.record({ type: 'plan-end', plan: run, status, atMs: endedAtMs });
    if (status === 'suspended') keepPlan(session, run, { checked, settled: state.settled });
    else dropPlan(session, run);
    const synced = session.sync();
    if (synced !== undefined) await synced;
    const trace = buildTrace({ ...head, status, endedAtMs }, facts);
    rememberOutput(trace, state.settled[state.positions.byId.get(checked.plan.final_output_node) ?? -1]?.value);
    emit?.({ type: 'plan-end', trace, atMs: endedAtMs });
    return trace;
  } finally {
    // Nothing is told after the end, whatever a tool that did not stop still does.
    over = true;
    limits?.release();
    stopForwarding();
    caller.dispose();
  }
}

/** Whoever iterates, and the host's listener; `undefined`: events need not be made. */
function toListener(
  onEvent: ((event: PlanEvent) => unknown) | undefined,
  stream: PlanStream,
): ((event: PlanEvent) => unknown) | undefined {
  if (!stream.observed) return onEvent;
  return (event) => {
    stream.push(event);
    // Handed on: an asynchronous listener answers with a promise.
    return onEvent?.(event);
  };
}

/** Who made `signal` ends the run by it, and the run itself by `controller`. */
function forwardAbort(signal: AbortSignal | undefined, controller: AbortController): () => void {
  const abort = (): void => controller.abort(signal?.reason);
  if (signal?.aborted === true) abort();
  else signal?.addEventListener('abort', abort);
  return () => signal?.removeEventListener('abort', abort);
}

const outputs = new WeakMap<PlanTrace, Json>();

/** Traces are masked where the session has a redactor; tools that go on with what a plan came to need it as it is. */
function rememberOutput(trace: PlanTrace, value: Json | undefined): void {
  if (trace.output !== undefined && value !== undefined) outputs.set(trace, value);
}

/** The value of the final node without masks, where it succeeded and `trace` is what its run has answered. */
export function realOutputOf(trace: PlanTrace): Json | undefined {
  return outputs.get(trace) ?? trace.output;
}

/**
 * A run of a plan under way: iterate it for its events, and await it, or `result`, for its trace. Who stops iterating does not stop the
 * run; a signal does.
 */
export interface PlanRun extends AsyncIterable<PlanEvent>, PromiseLike<PlanTrace> {
  /** A plan that fails is a trace, too: this rejects only where nothing could be run, or the log cannot be written. */
  readonly result: Promise<PlanTrace>;
}

/** Takes the events of a run. */
export type PlanStream = EventStream<PlanEvent>;

/** Begins `run` after the current microtask, and lets it tell what happens: an iteration begun at once misses nothing. */
export function startPlanRun(run: (stream: PlanStream) => Promise<PlanTrace>): PlanRun {
  const stream: PlanStream = new EventStream<PlanEvent>();
  const result = Promise.resolve().then(() => runObserved(run, stream));
  // Who only iterates gets the error there; the same promise must not also end as an unhandled rejection.
  void Promise.allSettled([result]);
  return {
    result,
    // biome-ignore lint/suspicious/noThenProperty: a run is awaited for its trace.
    then: (onFulfilled, onRejected) => result.then(onFulfilled, onRejected),
    [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator](),
  };
}

async function runObserved(run: (stream: PlanStream) => Promise<PlanTrace>, stream: PlanStream): Promise<PlanTrace> {
  try {
    const trace = await run(stream);
    stream.end();
    return trace;
  } catch (error) {
    stream.end({ error });
    throw error;
  }
}
