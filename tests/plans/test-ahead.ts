import { defineTool, type Json, type JsonObject, type Policy, type Tool } from '@holdfast/core';
import { fileTools } from '@holdfast/filesystem';
import { type CheckPlanOptions, checkPlan } from '@holdfast/orchestrator';
import { jsonSchema } from '@holdfast/schema/json';

const working = (name: string, more: Partial<Pick<Tool, 'dangerous'>> = {}): Tool =>
  defineTool({ name, description: `Does ${name}.`, effects: 'none', ...more, execute: () => 7 });

/** The tools of the plans here. Each returns 7, but for those that work on files. */
export const tools: readonly Tool[] = [
  working('test'),
  working('build'),
  working('deploy'),
  working('wipe', { dangerous: true }),
  defineTool({
    name: 'pay',
    description: 'Pays.',
    effects: 'none',
    inputSchema: jsonSchema({
      type: 'object',
      properties: { euros: { type: 'integer' } },
      required: ['euros'],
    }),
    execute: () => 7,
  }),
  ...fileTools().filter(({ name }) => name === 'read_file' || name === 'write_file'),
];

export interface Step {
  readonly id: number;
  readonly tool: string;
  readonly inputs?: JsonObject;
  readonly depends_on?: readonly number[];
}

export const step = (id: number, tool: string, ...after: readonly number[]): Step => ({ id, tool, depends_on: after });
export const pay = (id: number, euros: Json, ...after: readonly number[]): Step => ({
  ...step(id, 'pay', ...after),
  inputs: { euros },
});
export const write = (id: number, path: Json, ...after: readonly number[]): Step => ({
  ...step(id, 'write_file', ...after),
  inputs: { path, content: 'x' },
});

/** The ids of nodes that are surely denied, and of those that will ask. */
export async function foretell(
  steps: readonly Step[],
  policies: readonly Policy[],
  options: Partial<CheckPlanOptions> = {},
): Promise<{ readonly denied: readonly unknown[]; readonly asks: readonly unknown[] }> {
  const found = await checkPlan(
    { nodes: steps as never, final_output_node: steps[0]?.id ?? 0 },
    { tools, policies, ...options },
  );
  if (found.type === 'valid') return { denied: [], asks: found.asks.map(({ node }) => node) };
  if (found.type === 'declined') throw new Error(found.error);
  const others = found.violations.filter(({ code }) => code !== 'plan.policy.denied');
  if (others.length > 0) throw new Error(JSON.stringify(others));
  return { denied: [...new Set(found.violations.map(({ node }) => node))], asks: [] };
}
