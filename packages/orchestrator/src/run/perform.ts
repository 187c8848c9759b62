import { type Clock, type Json, systemClock } from '@holdfast/core';
import { type Caller, openCaller } from '@holdfast/executor';
import { EventStream, isolateListener } from '@holdfast/executor/internal';
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

/** A run whose start is recorded, with the facts of its nodes. */
export interface BegunPlan {
  readonly type: 'plan-start' | 'plan-resume';
  /** Masked, as in the log. */
  readonly head: Omit<TraceHead, 'status' | 'endedAtMs'>;
  readonly facts: (NodeFacts | undefined)[];
  readonly settled: (SettledNode | undefined)[];
  readonly masked: Set<number>;
  readonly open: ReadonlySet<number>;
  /** In the order in which they ended. */
  readonly ended: readonly number[];
}

interface Performing {
  readonly checked: CheckedPlan;
  readonly options: RunPlanOptions;
  readonly stream: PlanStream;
  /** Records that the run starts or resumes. Called once the options are valid. */
  readonly begin: (caller: Caller, clock: Clock) => BegunPlan;
}

/** Runs the nodes that have not ended. */
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
    // No events after the end, even if a tool keeps running.
    over = true;
    limits?.release();
    stopForwarding();
    caller.dispose();
  }
}

/** Combines the iterator and the host's listener; `undefined` if there is neither, so that no events are created. */
function toListener(
  onEvent: ((event: PlanEvent) => unknown) | undefined,
  stream: PlanStream,
): ((event: PlanEvent) => unknown) | undefined {
  if (!stream.observed) return onEvent;
  return (event) => {
    stream.push(event);
    // Return the promise of an asynchronous listener.
    return onEvent?.(event);
  };
}

/** Forwards the caller's `signal` to `controller`, with which the run aborts itself. */
function forwardAbort(signal: AbortSignal | undefined, controller: AbortController): () => void {
  const abort = (): void => controller.abort(signal?.reason);
  if (signal?.aborted === true) abort();
  else signal?.addEventListener('abort', abort);
  return () => signal?.removeEventListener('abort', abort);
}

const outputs = new WeakMap<PlanTrace, Json>();

/** Traces are masked if the session has a redactor. Tools that use the output of a plan need it unmasked. */
function rememberOutput(trace: PlanTrace, value: Json | undefined): void {
  if (trace.output !== undefined && value !== undefined) outputs.set(trace, value);
}

/** The unmasked value of the final node, if it succeeded and `trace` is the result of its run. */
export function realOutputOf(trace: PlanTrace): Json | undefined {
  return outputs.get(trace) ?? trace.output;
}

/**
 * A running plan: iterate it for its events, and await it or `result` for its trace. Ending the iteration does not stop the run; a signal
 * does.
 */
export interface PlanRun extends AsyncIterable<PlanEvent>, PromiseLike<PlanTrace> {
  /** The trace, even if the plan fails. Rejects only if the run cannot start or the log cannot be written. */
  readonly result: Promise<PlanTrace>;
}

/** The event stream of a run. */
export type PlanStream = EventStream<PlanEvent>;

/** Starts `run` after the current microtask, so that an iteration started immediately misses no event. */
export function startPlanRun(run: (stream: PlanStream) => Promise<PlanTrace>): PlanRun {
  const stream: PlanStream = new EventStream<PlanEvent>();
  const result = Promise.resolve().then(() => runObserved(run, stream));
  // An iterator also receives the error; `result` must not cause an unhandled rejection as well.
  void Promise.allSettled([result]);
  return {
    result,
    // biome-ignore lint/suspicious/noThenProperty: awaiting a run gives its trace.
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
