import { defineTool, type JsonObject } from '@holdfast/core';
import { digestJson } from '@holdfast/core/internal';
import { checkPlan } from '@holdfast/orchestrator';
import { jsonSchema } from '@holdfast/schema/json';
import { compare, type Extent, everything, limitRounds, type Subject } from '../compare.ts';
import type { Report } from '../report.ts';
import { measurePlanRuns } from './run.ts';

const sizes = [100, 1_000, 10_000];
/** Independent nodes per layer. */
const width = 20;

const schema = jsonSchema({
  type: 'object',
  properties: { text: { type: 'string' }, count: { type: 'integer', minimum: 0 } },
  required: ['text'],
});
const tools = [
  defineTool({
    name: 'work',
    description: 'Works.',
    effects: 'none',
    inputSchema: schema,
    outputSchema: schema,
    execute: () => ({ text: 'done' }),
  }),
];

/** Measures checking and running a plan per node, at three sizes: the same if they are linear. */
export async function measureOrchestrator(extent: Extent = everything): Promise<readonly Report[]> {
  return [await measureChecking(extent), ...(await measurePlanRuns(extent))];
}

async function measureChecking(extent: Extent): Promise<Report> {
  const subjects = sizes.filter((size) => size <= extent.largest).flatMap((size) => [floor(size), checking(size)]);
  return {
    name: 'orchestrator: checking a plan, a node',
    notes: [
      `Layers of ${width} nodes that each wait for two of the layer before, and refer to one of them in a text and to one by value.`,
      'floor: the text of the plan parsed, and the digest of what it holds; what no check can do without.',
    ],
    rows: await compare(subjects, limitRounds({ rounds: 15, warmUpRounds: 5 }, extent)),
  };
}

function floor(size: number): Subject {
  const text = writePlan(size);
  return {
    name: `floor, ${size} nodes`,
    operations: size,
    prepare: () => async () => {
      const digest = await digestJson(JSON.parse(text));
      if (digest.length !== 64) throw new Error('the digest is invalid');
    },
  };
}

function checking(size: number): Subject {
  const text = writePlan(size);
  return {
    name: `checkPlan, ${size} nodes`,
    operations: size,
    against: [
      { name: `floor, ${size} nodes` },
      ...(size === sizes[0] ? [] : [{ name: `checkPlan, ${sizes[0]} nodes` }]),
    ],
    prepare: () => async () => {
      const { type } = await checkPlan(text, { tools });
      if (type !== 'valid') throw new Error(`the plan is ${type}`);
    },
  };
}

function writePlan(size: number): string {
  const nodes = Array.from({ length: size }, (_, id): JsonObject => {
    if (id < width) return { id, tool: 'work', inputs: { text: `Node ${id}`, count: id } };
    const above = id - width;
    const beside = above - (above % width) + ((above + 1) % width);
    const inputs = { text: `After {{STEPS.${above}.text}}`, count: { $from: beside, path: 'count', default: 0 } };
    return { id, tool: 'work', inputs, depends_on: [above], retry: 1, on_fail: 'continue' };
  });
  return JSON.stringify({ status: 'success', nodes, final_output_node: size - 1 });
}
