import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineTool, type JsonObject, type Tool } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import type { Doing } from './test-run.ts';

/** A tool of a registry in the older format: what is known of it without its code. */
interface Registered {
  readonly name: string;
  readonly function: string;
  readonly dangerous: boolean;
  readonly parameters: JsonObject;
}

/** Two plans that are alike but for their searches and the last prompt, and the registry that they were made against. */
export interface Plans {
  readonly registry: readonly Registered[];
  /** Its last prompt is a sentence with a reference in it. */
  readonly comparison: string;
  /** Its last prompt is a reference. */
  readonly news: string;
}

const data = fileURLToPath(new URL('../../../shared/data/plans/', import.meta.url));

/** Plans that a planner really made; they come with the repository's sources only where these are worked on. */
export const realPlans: Plans | undefined = existsSync(data)
  ? {
      registry: (JSON.parse(readFileSync(`${data}registry.json`, 'utf8')) as { readonly tools: Registered[] }).tools,
      comparison: readFileSync(`${data}smith_dag_1776680299.json`, 'utf8'),
      news: readFileSync(`${data}smith_dag_1776681654.json`, 'utf8'),
    }
  : undefined;

const search = {
  name: 'page_search',
  function: 'run_page_search',
  dangerous: false,
  parameters: {
    type: 'object',
    properties: {
      query: { type: 'string' },
      num_results: { type: 'integer', default: 10, minimum: 1, maximum: 20 },
      fetch_webpages: { type: 'boolean', default: true },
    },
    required: ['query'],
  },
};
const headlines = {
  name: 'headlines',
  function: 'run_headlines',
  dangerous: false,
  parameters: {
    type: 'object',
    properties: {
      articles: { type: 'array', items: { type: 'object' } },
      raw_query: { type: 'string', default: '' },
      top_n: { type: 'integer', default: 5, minimum: 1, maximum: 20 },
      fetch_body: { type: 'boolean', default: true },
    },
    required: [],
  },
};
const digest = {
  name: 'digest_texts',
  function: 'run_digest',
  dangerous: false,
  parameters: {
    type: 'object',
    properties: { text: { type: 'string' }, query: { type: 'string' } },
    required: ['text', 'query'],
  },
};
const writer = {
  name: 'writer',
  function: 'run_writer',
  dangerous: false,
  parameters: {
    type: 'object',
    properties: { prompt: { type: 'string' }, model: { type: 'string', default: 'default' } },
    required: ['prompt'],
  },
};

/** A plan as planners of older days wrote them. */
function olderPlan(searches: readonly JsonObject[], prompt: JsonObject): string {
  const node = (id: number, thought: string, rest: JsonObject, needs: readonly number[], onFail: string) => ({
    id,
    thought,
    ...rest,
    depends_on: needs,
    retry: 2,
    on_fail: onFail,
    timeout: 45,
    _normalized_deps: needs,
  });
  const text = '{{STEPS.0.response}}\n\n{{STEPS.1.response}}';
  return JSON.stringify({
    status: 'success',
    nodes: [
      ...searches.map((inputs, id) => node(id, `Look for ${id}`, inputs, [], 'continue')),
      node(
        2,
        'Put both together',
        { tool: 'digest_texts', function: 'run_digest', inputs: { text, query: 'Compare tulips and roses' } },
        [0, 1],
        'halt',
      ),
      node(3, 'Tell', { tool: 'writer', function: 'run_writer', inputs: prompt }, [2], 'halt'),
    ],
    final_output_node: 3,
  });
}

const flowers = ['tulips in May', 'roses in June'];

/** The same shapes in words of our own. */
export const ownPlans: Plans = {
  registry: [writer, headlines, search, digest],
  comparison: olderPlan(
    flowers.map((query) => ({
      tool: 'page_search',
      function: 'run_page_search',
      inputs: { query, num_results: 5, fetch_webpages: true },
    })),
    { prompt: 'From this: {{STEPS.2.response}}, write a page about both', model: 'default' },
  ),
  news: olderPlan(
    flowers.map((raw_query) => ({
      tool: 'headlines',
      function: 'run_headlines',
      inputs: { raw_query, top_n: 5, fetch_body: true },
    })),
    { prompt: '{{STEPS.2.response}}' },
  ),
};

export const functionsOf = ({ registry }: Plans): ReadonlyMap<string, string> =>
  new Map(registry.map((tool) => [tool.name, tool.function]));

/** One tool for each of the registry, of which those of the plan do what is said. */
export function standIns({ registry }: Plans, doings: ReadonlyMap<string, Doing>): readonly Tool[] {
  return registry.map(({ name, dangerous, parameters }) =>
    defineTool<JsonObject, unknown>({
      name,
      description: `Stands in for ${name}.`,
      effects: 'none',
      dangerous,
      inputSchema: jsonSchema(parameters) as never,
      execute: (input, context) => {
        const doing = doings.get(name);
        if (doing === undefined) throw new Error(`The plan has no use for ${name}.`);
        return doing(input, context);
      },
    }),
  );
}
