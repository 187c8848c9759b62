import { defineTool } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { type CheckedPlan, checkPlan, runPlan } from '@holdfast/orchestrator';
import { createSession } from '@holdfast/session';
import { auto } from 'async';
import { readCatalogVersion } from 'holdfast-packed-tests/stranger';
import { PGraph } from 'p-graph';
import { type Against, compare, type Extent, everything, limitRounds, type Row, type Subject } from '../compare.ts';
import type { FigureReport, Report } from '../report.ts';

const sizes = [100, 1_000, 10_000];
/** The plan size of the design's goal. */
const goalSize = 10_000;
/** Independent nodes per layer. */
const width = 20;
const concurrency = 10;
const waitingNodes = 1_000;
const waitingConcurrency = 100;
const waitMs = 10;

const nothing = defineTool({ name: 'nothing', description: 'Does nothing.', effects: 'none', execute: () => null });
const waiting = defineTool({ name: 'wait', description: 'Waits.', effects: 'none', execute: async () => waitAWhile() });

/** Measures running a node that does nothing, and the parallelism of nodes that only wait. */
export async function measurePlanRuns(extent: Extent = everything): Promise<readonly Report[]> {
  const measured = sizes.filter((size) => size <= extent.largest);
  const versions = { async: await readCatalogVersion('async'), 'p-graph': await readCatalogVersion('p-graph') };
  const subjects: Subject[] = [];
  for (const size of measured) {
    const plan = await checkLayers(size);
    subjects.push(inDegrees(size), bareCalls(size), planRun(plan, size, measured[0] ?? size), ...graphRunners(size));
  }
  const rows = await compare(subjects, limitRounds({ rounds: 15, warmUpRounds: 5 }, extent));
  const wide = await measureWaiting(extent);
  return [
    {
      name: 'orchestrator: running a plan, a node that does nothing',
      notes: [
        `Layers of ${width} nodes that each wait for two of the layer before; ${concurrency} at a time.`,
        'in-degree: a hand-written scheduler that counts what each node still waits for, over functions that do nothing: no check, no log.',
        'bare calls: `executeToolCall`, one after another. Peers run functions that do nothing, without a check, a log or a trace.',
      ],
      versions,
      rows,
    },
    toOwnParts(rows, measured),
    {
      name: `orchestrator: ${waitingNodes} nodes that wait ${waitMs} ms, ${waitingConcurrency} at a time`,
      notes: ['ideal: as many timers, begun together in groups, awaited by nobody but the next group.'],
      versions,
      rows: wide,
    },
  ];
}

/** Measures running a plan minus its calls, against a bare scheduler. */
function toOwnParts(rows: readonly Row[], measured: readonly number[]): FigureReport {
  const median = (name: string): number => rows.find((row) => row.name === name)?.nsPerOperation.median ?? Number.NaN;
  const figures = measured.map((size) => {
    const own = median(`runPlan, ${size} nodes`) - median(`bare calls, ${size} nodes`);
    const value = Math.round((own / median(`in-degree, ${size} nodes`)) * 100) / 100;
    return { name: `${size} nodes`, value, unit: 'x', ...(size === goalSize ? { goal: 6 } : {}) };
  });
  return { name: 'orchestrator: what runPlan adds to its calls, against the in-degree scheduler', figures };
}

async function measureWaiting(extent: Extent): Promise<readonly Row[]> {
  const nodes = Math.min(waitingNodes, extent.largest);
  const plan = await checkWaiting(nodes);
  const ids = Array.from({ length: nodes }, (_, id) => String(id));
  const against: readonly Against[] = [{ name: 'ideal' }];
  return compare(
    [
      { name: 'ideal', operations: 1, prepare: () => async () => waitInGroups(nodes) },
      {
        name: 'runPlan',
        operations: 1,
        against: [{ name: 'ideal', goal: 1.2 }],
        prepare: () => async () => {
          const options = { tools: [waiting], session: createSession(), maxConcurrency: waitingConcurrency };
          const { status } = await runPlan(plan, options);
          if (status !== 'succeeded') throw new Error(`the plan has ${status}`);
        },
      },
      {
        name: 'p-graph',
        operations: 1,
        against,
        prepare: () => async () => {
          const graph = new PGraph(Object.fromEntries(ids.map((id) => [id, { run: waitAWhile }])), []);
          await graph.run({ concurrency: waitingConcurrency });
        },
      },
      {
        name: 'async.auto',
        operations: 1,
        against,
        prepare: () => async () => {
          await auto(Object.fromEntries(ids.map((id) => [id, async () => waitAWhile()])), waitingConcurrency);
        },
      },
    ],
    limitRounds({ rounds: 10, warmUpRounds: 2 }, extent),
  );
}

async function waitInGroups(nodes: number): Promise<void> {
  for (let begun = 0; begun < nodes; begun += waitingConcurrency) {
    await Promise.all(Array.from({ length: Math.min(waitingConcurrency, nodes - begun) }, waitAWhile));
  }
}

function waitAWhile(): Promise<null> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(null), waitMs);
  });
}

function inDegrees(size: number): Subject {
  const needs = layers(size);
  return {
    name: `in-degree, ${size} nodes`,
    operations: size,
    prepare: () => async () => {
      if ((await runByDegrees(needs)) !== size) throw new Error('the floor left nodes behind');
    },
  };
}

/** A minimal scheduler; returns the number of nodes it ran. */
async function runByDegrees(needs: readonly (readonly number[])[]): Promise<number> {
  const open = needs.map((own) => own.length);
  const dependents: number[][] = needs.map(() => []);
  for (const [node, own] of needs.entries()) for (const need of own) dependents[need]?.push(node);
  const ready = open.flatMap((count, node) => (count === 0 ? [node] : []));
  let next = 0;
  let done = 0;
  const work = async (): Promise<void> => {
    for (let node = ready[next]; node !== undefined; node = ready[next]) {
      next += 1;
      await doNothing();
      done += 1;
      for (const dependent of dependents[node] ?? []) {
        open[dependent] = (open[dependent] ?? 0) - 1;
        if (open[dependent] === 0) ready.push(dependent);
      }
    }
  };
  // A worker without a ready node stops; the longest-running one finds the next.
  while (done < needs.length) await Promise.all(Array.from({ length: concurrency }, work));
  return done;
}

async function doNothing(): Promise<null> {
  return null;
}

function bareCalls(size: number): Subject {
  return {
    name: `bare calls, ${size} nodes`,
    operations: size,
    prepare: () => {
      const options = { tools: [nothing], session: createSession() };
      return async () => {
        for (let id = 0; id < size; id += 1) {
          const { kind } = await executeToolCall({ id: `call_${id}`, name: 'nothing', arguments: {} }, options);
          if (kind !== 'ok') throw new Error(`a call ended ${kind}`);
        }
      };
    },
  };
}

function planRun(plan: CheckedPlan, size: number, smallest: number): Subject {
  const name = `runPlan, ${size} nodes`;
  return {
    name,
    operations: size,
    against: [
      { name: `bare calls, ${size} nodes`, ...(size === goalSize ? { goal: 1.2 } : {}) },
      { name: `in-degree, ${size} nodes` },
      ...(size === smallest ? [] : [{ name: `runPlan, ${smallest} nodes` }]),
    ],
    prepare: () => {
      const options = { tools: [nothing], session: createSession(), maxConcurrency: concurrency };
      return async () => {
        const { status } = await runPlan(plan, options);
        if (status !== 'succeeded') throw new Error(`the plan has ${status}`);
      };
    },
  };
}

function graphRunners(size: number): readonly Subject[] {
  const needs = layers(size);
  const against = [{ name: `in-degree, ${size} nodes` }];
  const edges = needs.flatMap((own, node) => own.map((need): [string, string] => [String(need), String(node)]));
  const graph: Subject = {
    name: `p-graph, ${size} nodes`,
    operations: size,
    against,
    prepare: () => async () => {
      const graph = new PGraph(Object.fromEntries(needs.map((_, node) => [node, { run: doNothing }])), edges);
      await graph.run({ concurrency });
    },
  };
  // Its cost per node grows with the graph: seconds for the largest.
  if (size > 1_000) return [graph];
  return [
    graph,
    {
      name: `async.auto, ${size} nodes`,
      operations: size,
      against,
      prepare: () => async () => {
        const tasks = needs.map((own, node): [string, AutoTask] => [
          `n${node}`,
          [...own.map((need) => `n${need}`), doNothing],
        ]);
        await auto(Object.fromEntries(tasks), concurrency);
      },
    },
  ];
}

/** Names of those before it, and then the function. */
type AutoTask = (string | (() => Promise<null>))[];

/** The dependencies of each node. */
function layers(size: number): readonly (readonly number[])[] {
  return Array.from({ length: size }, (_, node) => {
    if (node < width) return [];
    const above = node - width;
    return [above, above - (above % width) + ((above + 1) % width)];
  });
}

async function checkLayers(size: number): Promise<CheckedPlan> {
  const nodes = layers(size).map((needs, id) => ({ id, tool: 'nothing', depends_on: needs }));
  return checkNodes(nodes);
}

async function checkWaiting(size: number): Promise<CheckedPlan> {
  return checkNodes(Array.from({ length: size }, (_, id) => ({ id, tool: 'wait' })));
}

async function checkNodes(nodes: readonly { readonly id: number }[]): Promise<CheckedPlan> {
  const found = await checkPlan({ nodes, final_output_node: nodes.length - 1 }, { tools: [nothing, waiting] });
  if (found.type !== 'valid') throw new Error(`the plan is ${found.type}`);
  return found.checked;
}
