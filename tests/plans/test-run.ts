import {
  defineTool,
  type Json,
  type JsonObject,
  type Tool,
  type ToolContext,
  type ToolDefinition,
} from '@holdfast/core';
import {
  type CheckedPlan,
  type CheckPlanOptions,
  checkPlan,
  type NodeTrace,
  type PlanEvent,
  type PlanTrace,
  type RunPlanOptions,
  readTrace,
  runPlan,
} from '@holdfast/orchestrator';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession, type Session } from '@holdfast/session';
import { type ManualClock, manualClock } from '@holdfast/testing';
import { expect } from 'vitest';

/** The action of a test's tool. */
export type Doing = (input: JsonObject, context: ToolContext) => unknown;

export const ok =
  (value: Json = null): Doing =>
  () =>
    value;
export const echo: Doing = (input) => input;
export const fail =
  (message = 'no'): Doing =>
  () => {
    throw new Error(message);
  };
/** Fails as often, then succeeds. */
export const failing = (times: number, value: Json = null): Doing => {
  let left = times;
  return () => {
    left -= 1;
    if (left >= 0) throw new Error(`not yet: ${left}`);
    return value;
  };
};

const any = jsonSchema({ type: 'object', properties: { x: {}, y: {} } });

/** A tool that may be given `x` and `y`, whatever they are. Reads only, unless it is told otherwise. */
export function tool(name: string, execute: Doing, options: Partial<ToolDefinition<JsonObject, unknown>> = {}): Tool {
  return defineTool<JsonObject, unknown>({
    name,
    description: `Does ${name}.`,
    effects: 'none',
    inputSchema: any as never,
    execute: (input, context) => execute(input, context) as Json,
    ...options,
  });
}

/** Answers after so much time of the test's own clock; stops when it is told to. */
export function slow(clock: ManualClock, ms: number, value: Json = null): Doing {
  return (_input, { signal }) =>
    new Promise((resolve, reject) => {
      const stop = clock.after(ms, () => resolve(value));
      signal.addEventListener('abort', () => {
        stop();
        reject(new Error('stopped'));
      });
    });
}

export async function checkedOf(nodes: readonly JsonObject[], options: CheckPlanOptions): Promise<CheckedPlan> {
  const found = await checkPlan({ nodes, final_output_node: nodes.at(-1)?.['id'] ?? 0 }, options);
  if (found.type !== 'valid') throw new Error(`The plan is ${found.type}: ${JSON.stringify(found)}`);
  return found.checked;
}

export interface Ran {
  readonly trace: PlanTrace;
  readonly events: readonly PlanEvent[];
  readonly session: Session;
}

type Options = Partial<RunPlanOptions> & { readonly clock?: ManualClock };

/** Runs nodes, the last of which is the final one, while time goes on; what holds of every run is checked. */
export async function run(tools: readonly Tool[], nodes: readonly JsonObject[], options: Options = {}): Promise<Ran> {
  return await runChecked(await checkedOf(nodes, { tools }), tools, options);
}

export async function runChecked(plan: CheckedPlan, tools: readonly Tool[], options: Options = {}): Promise<Ran> {
  // Later answers come in real time.
  const { clock = manualClock(Date.now()), ...rest } = options;
  const session = (rest.session as Session | undefined) ?? createSession({ id: 's', clock });
  const events: PlanEvent[] = [];
  const running = runPlan(plan, {
    random: () => 1,
    ...rest,
    tools,
    session,
    clock,
    onEvent: (event) => events.push(event),
  });
  const trace = await passTime(clock, running.result);
  checkRun(trace, events, session);
  return { trace, events, session };
}

/** Lets time go on, a millisecond after the other, until `done` has settled. */
export async function passTime<Value>(clock: ManualClock, done: Promise<Value>): Promise<Value> {
  let settled = false;
  const settle = (): void => {
    settled = true;
  };
  void done.then(settle, settle);
  // By the machine's own time: a digest takes as long as it takes.
  const giveUpAtMs = Date.now() + 60_000;
  for (let step = 0; !settled; step += 1) {
    if (Date.now() > giveUpAtMs) throw new Error('It does not end.');
    await macrotask();
    if (!settled) clock.advance(step < 2_000 ? 1 : 100);
  }
  return await done;
}

export function macrotask(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** True of every run, however it ends. */
export function checkRun(trace: PlanTrace, events: readonly PlanEvent[], session: Session): void {
  expect(readTrace(session.records(), trace.run)).toEqual(trace);
  expect(trace.nodes.map(({ node }) => node)).toEqual(trace.plan.nodes.map(({ id }) => id));
  expect(events.at(0)?.type).toMatch(/^plan-(start|resume)$/);
  expect(events.filter(({ type }) => type === 'plan-end')).toHaveLength(1);
  expect(events.at(-1)).toMatchObject({ type: 'plan-end', trace });
  const started = events.flatMap((event) => (event.type === 'node-start' ? [event.node] : []));
  const ended = events.flatMap((event) => (event.type === 'node-end' ? [event.node] : []));
  const calls = events.flatMap((event) => (event.type === 'tool-call-end' && !event.parentId ? [event.callId] : []));
  expect(new Set(started).size).toBe(started.length);
  expect(new Set(calls).size).toBe(calls.length);
  const last = new Map(ended.map((node) => [node.node, node]));
  for (const node of trace.nodes) {
    if (node.kind !== 'waiting' && last.has(node.node)) expect(last.get(node.node)).toEqual(node);
  }
  if (events[0]?.type !== 'plan-start') return;
  // Exactly one for each that ended, and none for one that never could.
  const over = trace.nodes.filter(({ kind }) => kind !== 'waiting');
  const final = ended.filter(({ kind }) => kind !== 'suspended').map(({ node }) => node);
  expect(new Set(final).size).toBe(final.length);
  expect([...last.keys()].sort()).toEqual(over.map(({ node }) => node).sort());
  expect(calls.sort()).toEqual(
    trace.nodes.flatMap(({ callId, kind }) => (callId !== undefined && kind !== 'suspended' ? [callId] : [])).sort(),
  );
}

/** The parts of a trace that are the same for the same results. */
export function untimed(trace: PlanTrace): PlanTrace {
  const noTimes = { startedAtMs: undefined, endedAtMs: undefined, durationMs: undefined };
  const nodes = trace.nodes.map((node) => ({
    ...node,
    ...noTimes,
    retries: node.retries.map((retry) => ({ ...retry, atMs: 0 })),
  }));
  return { ...trace, nodes, startedAtMs: 0, endedAtMs: 0 };
}

/** `[ok, failed]` of all nodes, in plan order. */
export function kinds({ nodes }: PlanTrace): readonly string[] {
  return nodes.map(({ kind }) => kind);
}

export function nodeOf({ nodes }: PlanTrace, id: number | string): NodeTrace {
  const found = nodes.find(({ node }) => node === id);
  if (found === undefined) throw new Error(`There is no node ${id}.`);
  return found;
}
