import type { Effects, Json, JsonObject, Repeat, Tool } from '@holdfast/core';
import { type CheckedPlan, checkPlan } from '@holdfast/orchestrator';
import type { NodeId, OnFail } from '@holdfast/orchestrator/internal';
import { type ManualClock, manualClock } from '@holdfast/testing';
import fc from 'fast-check';
import { tool } from './test-run.ts';

/** A node of a random plan, and what its tool does. */
export interface RandomNode {
  readonly id: NodeId;
  readonly tool: 'read' | 'safe' | 'send';
  /** Places of nodes in the order in which they could run. */
  readonly needs: readonly number[];
  readonly refers: 'not' | 'value' | 'text' | 'default';
  readonly onFail: OnFail;
  readonly retry: number;
  /** 0: its tool answers at once. */
  readonly ms: number;
  /** As often as it is called it fails so many times first. */
  readonly failures: number;
  readonly lock: string | undefined;
}

export interface RandomPlan {
  readonly nodes: readonly RandomNode[];
  /** How the nodes stand in the plan. */
  readonly order: readonly number[];
}

interface Limits {
  readonly halts: boolean;
  readonly locks: boolean;
  readonly tools: readonly RandomNode['tool'][];
}

const allTools = ['read', 'safe', 'send'] as const;

export function randomPlan({
  halts = true,
  locks = true,
  tools = allTools,
}: Partial<Limits> = {}): fc.Arbitrary<RandomPlan> {
  const onFail = halts
    ? (['halt', 'continue', 'skip_dependents'] as const)
    : (['continue', 'skip_dependents'] as const);
  const node = fc.record({
    tool: fc.constantFrom(...tools),
    needs: fc.uniqueArray(fc.nat({ max: 20 }), { maxLength: 3 }),
    refers: fc.constantFrom('not', 'value', 'text', 'default'),
    onFail: fc.constantFrom(...onFail),
    retry: fc.constantFrom(0, 0, 1),
    ms: fc.nat({ max: 7 }),
    failures: fc.constantFrom(0, 0, 0, 1, 2),
    lock: locks ? fc.constantFrom(undefined, undefined, 'one', 'two') : fc.constant(undefined),
  });
  return fc.array(node, { minLength: 1, maxLength: 12 }).chain((list) =>
    fc.record({
      nodes: fc.constant(
        list.map((found, place): RandomNode => {
          const needs = place === 0 ? [] : [...new Set(found.needs.map((need) => need % place))];
          return { ...found, id: place % 3 === 0 ? `n${place}` : place, needs } as RandomNode;
        }),
      ),
      order: fc.shuffledSubarray(
        list.map((_, place) => place),
        { minLength: list.length },
      ),
    }),
  );
}

/** The world that a random plan runs in: what its tools have done, and how many of them are at it. */
export interface World {
  readonly clock: ManualClock;
  readonly tools: readonly Tool[];
  readonly checked: CheckedPlan;
  /** Node ids, as often as their tools were run. */
  readonly runs: NodeId[];
  running: number;
  most: number;
  /** Problems that should never occur. */
  readonly wrong: string[];
}

const effects: Readonly<Record<RandomNode['tool'], { readonly effects: Effects; readonly repeat: Repeat }>> = {
  read: { effects: 'none', repeat: 'safe' },
  safe: { effects: 'external', repeat: 'safe' },
  send: { effects: 'external', repeat: 'never' },
};

/** `msOf`: how long a node takes. */
export async function makeWorld(
  { nodes, order }: RandomPlan,
  msOf: (node: RandomNode) => number = ({ ms }) => ms,
): Promise<World> {
  const clock = manualClock();
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const calls = new Map<NodeId, number>();
  const held = new Set<string>();
  const runs: NodeId[] = [];
  const wrong: string[] = [];
  const work = async (
    input: JsonObject,
    { callId, signal }: { readonly callId: string; readonly signal: AbortSignal },
  ): Promise<Json> => {
    const node = byId.get(toId(callId));
    if (node === undefined) throw new Error(`There was no question about ${callId}.`);
    const count = (calls.get(node.id) ?? 0) + 1;
    calls.set(node.id, count);
    runs.push(node.id);
    world.running += 1;
    world.most = Math.max(world.most, world.running);
    if (node.lock !== undefined && held.has(node.lock)) wrong.push(`${node.id} runs beside who holds ${node.lock}`);
    if (node.lock !== undefined) held.add(node.lock);
    try {
      await wait(clock, msOf(node), signal);
      if (count <= node.failures) throw new Error(`${node.id} failed`);
      return { from: node.id, ...input };
    } finally {
      world.running -= 1;
      if (node.lock !== undefined) held.delete(node.lock);
    }
  };
  const tools = allTools.map((name) =>
    tool(name, (input, context) => work(input, context), {
      ...effects[name],
      locks: ({ y }) => (typeof y === 'string' ? [y] : []),
    }),
  );
  const plan = {
    nodes: order.map((place) => toJson(nodes, place)),
    final_output_node: nodes.at(-1)?.id ?? 0,
  };
  const found = await checkPlan(plan, { tools });
  // Two that write what one lock stands for have to have an order.
  if (found.type !== 'valid')
    return await makeWorld({ nodes: nodes.map((node) => ({ ...node, lock: undefined })), order }, msOf);
  const world: World = { clock, tools, checked: found.checked, runs, running: 0, most: 0, wrong };
  return world;
}

function toId(callId: string): NodeId {
  const id = callId.replace(/^plan_\d+_/, '');
  return /^\d+$/.test(id) ? Number(id) : id;
}

function toJson(nodes: readonly RandomNode[], place: number): JsonObject {
  const { id, tool: name, needs, refers, onFail, retry, lock } = nodes[place] as RandomNode;
  const ids = needs.map((need) => (nodes[need] as RandomNode).id);
  const x: Json = ids.map((from) => {
    if (refers === 'text') return `got {{STEPS.${from}.from}}`;
    return refers === 'default' ? { $from: from, path: 'from', default: 'none' } : { $from: from, path: 'from' };
  });
  return {
    id,
    tool: name,
    on_fail: onFail,
    retry,
    timeout: 1,
    depends_on: ids,
    inputs: { ...(refers === 'not' ? {} : { x }), ...(lock === undefined ? {} : { y: lock }) },
  };
}

async function wait(clock: ManualClock, ms: number, signal: AbortSignal): Promise<void> {
  if (ms === 0) return;
  await new Promise<void>((resolve, reject) => {
    const stop = clock.after(ms, resolve);
    signal.addEventListener('abort', () => {
      stop();
      reject(new Error('stopped'));
    });
  });
}
