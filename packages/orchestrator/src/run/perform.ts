import { type Clock, systemClock } from '@holdfast/core';
import { type Caller, isolateListener, openCaller } from '@holdfast/executor';
import { buildTrace, statusOf, type TraceHead, traceNode } from '../trace/build.ts';
import type { CheckedPlan } from '../check/plan.ts';
import { conductPlan } from './conduct.ts';
import { dropPlan, keepPlan } from './kept-plans.ts';
import type { NodeFacts } from '../trace/facts.ts';
import type { PlanEvent } from './plan-event.ts';
import { indexNodes } from '../plan/positions.ts';
import type { RunPlanOptions } from './options.ts';
import type { PlanStream } from './plan-run.ts';
import type { PlanState } from './state.ts';
import { rememberOutput } from './real-output.ts';
import type { SettledNode } from './inputs.ts';
import { type SharedLimits, shareLimits } from './shared-limits.ts';
import type { PlanTrace } from '../trace/trace.ts';

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
