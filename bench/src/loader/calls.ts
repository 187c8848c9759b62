import type { Tool, ToolContext } from '@holdfast/core';
import { type Isolation, type LoadedTools, loadTools } from '@holdfast/loader';
import { describeIsolation } from '@holdfast/loader/internal';
import { type Against, compare, type Extent, everything, limitRounds, type Subject } from '../compare.ts';
import type { TimeReport } from '../report.ts';
import { type BareCalls, bareFunction, startBareProcess, startBareWorker } from './bare-calls.ts';
import { createToolProject } from './project.ts';

/** A tier, and the baseline of its calls. */
interface Tier {
  readonly isolation: Isolation;
  readonly bare: string;
  readonly start: () => BareCalls;
  /** Of a warm call. */
  readonly goal?: number;
}

const input = { text: 'nothing of this kind' };
/** Warm calls in one sample. */
const operations = 200;

/** Measures calls in each available tier: a tool's first call, and later ones. */
export async function measureCalls(extent: Extent = everything): Promise<readonly TimeReport[]> {
  const bareProcess = { bare: 'bare process', start: startBareProcess };
  const hasSandbox = (await describeIsolation()).some(({ tier, available }) => tier === 'sandbox' && available);
  const tiers: readonly Tier[] = [
    { isolation: 'in-process', bare: 'bare function', start: () => bareFunction },
    { isolation: 'worker', bare: 'bare thread', start: startBareWorker },
    { isolation: 'subprocess', ...bareProcess, goal: 3 },
    ...(hasSandbox ? [{ isolation: 'sandbox' as const, ...bareProcess }] : []),
  ];
  return [await measureWarmCalls(tiers, extent), await measureFirstCalls(tiers, extent)];
}

async function measureWarmCalls(tiers: readonly Tier[], extent: Extent): Promise<TimeReport> {
  using project = createToolProject(1);
  const calls = Math.min(operations, extent.largest);
  const bare = new Map<string, BareCalls>();
  for (const tier of tiers) if (!bare.has(tier.bare)) bare.set(tier.bare, tier.start());
  const loaded = new Map<Isolation, LoadedTools>();
  for (const { isolation } of tiers) loaded.set(isolation, await loadTools(project.plugins, { isolation }));
  try {
    const rows = await compare(
      [
        ...[...bare].map(([name, { call }]) => calling(name, calls, () => call(input))),
        ...tiers.map((tier) => {
          const [tool] = loaded.get(tier.isolation)?.tools ?? [];
          return calling(tier.isolation, calls, () => callTool(tool), [toAgainst(tier, tier.goal)]);
        }),
      ],
      limitRounds({ rounds: 40, warmUpRounds: 10 }, extent),
    );
    const notes = [
      'A tool called again. bare function: called and waited for. bare thread, bare process: one line of JSON there and one back,',
      'over the port or socket of the kind that the tier has.',
    ];
    return { name: 'loader: a warm call', notes, rows };
  } finally {
    await Promise.all([...bare.values(), ...loaded.values()].map((one) => one.close()));
  }
}

async function measureFirstCalls(tiers: readonly Tier[], extent: Extent): Promise<TimeReport> {
  const { rounds, warmUpRounds } = limitRounds({ rounds: 12, warmUpRounds: 2 }, extent);
  using project = createToolProject(rounds + warmUpRounds);
  const loaded = new Map<Isolation, LoadedTools>();
  for (const { isolation } of tiers) {
    // Without a kept process every call is a first one. In this process every tool is called once.
    loaded.set(isolation, await loadTools(project.plugins, { isolation, processes: { callsPerProcess: 1 } }));
  }
  const bare = new Map(tiers.map(({ bare: name, start }) => [name, start]));
  try {
    const rows = await compare(
      [
        ...[...bare].map(([name, start]): Subject => {
          return {
            name,
            operations: 1,
            prepare: () => async () => {
              const started = start();
              await started.call(input);
              await started.close();
            },
          };
        }),
        ...tiers.map((tier): Subject => {
          const tools = [...(loaded.get(tier.isolation)?.tools ?? [])];
          return {
            name: tier.isolation,
            operations: 1,
            against: [toAgainst(tier)],
            prepare: () => {
              const tool = tools.pop();
              return () => callTool(tool);
            },
          };
        }),
      ],
      { rounds, warmUpRounds },
    );
    const notes = [
      'A tool called for the first time: verified, imported, its process or thread started. bare: started, one line there and one back.',
    ];
    return { name: 'loader: a first call', notes, rows };
  } finally {
    await Promise.all([...loaded.values()].map((one) => one.close()));
  }
}

function toAgainst({ bare }: Tier, goal?: number): Against {
  return { name: bare, ...(goal === undefined ? {} : { goal }) };
}

function calling(name: string, calls: number, call: () => Promise<unknown>, against: readonly Against[] = []): Subject {
  return {
    name,
    operations: calls,
    against,
    prepare: () => async () => {
      for (let count = 0; count < calls; count += 1) await call();
    },
  };
}

async function callTool(tool: Tool | undefined): Promise<void> {
  const result: unknown = await tool?.execute?.(input, context);
  if (JSON.stringify(result) !== expected) throw new Error(`the tool answered ${JSON.stringify(result)}`);
}

const expected = JSON.stringify({ ...input, count: 0, found: [] });

// The only parts that the tool and its tier use.
const context = Object.freeze({
  callId: 'call-1',
  idempotencyKey: 'key-1',
  signal: new AbortController().signal,
  deadline: { atMs: Number.POSITIVE_INFINITY, remainingMs: () => Number.POSITIVE_INFINITY },
  filesystem: undefined,
  begin: async () => undefined,
}) as unknown as ToolContext;
