// Plans are checked as a whole before anything runs: a valid plan is frozen and has a digest; an invalid one returns all its problems at once.
import assert from 'node:assert/strict';
import { defineTool } from '@holdfast/core';
import { checkPlan } from '@holdfast/orchestrator';
import { jsonSchema } from '@holdfast/schema/json';

const search = defineTool({
  name: 'search_news',
  description: 'Search the news.',
  effects: 'none',
  inputSchema: jsonSchema({ type: 'object', properties: { query: { type: 'string' } }, required: ['query'] }),
  outputSchema: jsonSchema({ type: 'object', properties: { count: { type: 'integer' }, text: { type: 'string' } } }),
  execute: () => ({ count: 1, text: 'Tulips are in flower.' }),
});
const summarise = defineTool({
  name: 'summarise',
  description: 'Summarise a text.',
  effects: 'none',
  inputSchema: jsonSchema({ type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }),
  execute: () => 'In short: tulips.',
});
const options = { tools: [search, summarise] };

// A planner's output: two independent searches, and a node that needs both.
const written = {
  status: 'success',
  nodes: [
    { id: 0, tool: 'search_news', inputs: { query: 'tulips' }, on_fail: 'continue' },
    { id: 1, tool: 'search_news', inputs: { query: 'roses' }, on_fail: 'continue' },
    { id: 2, tool: 'summarise', inputs: { text: '{{STEPS.0.text}}\n\n{{STEPS.1.text | default: "No roses."}}' } },
  ],
  final_output_node: 2,
};
const good = await checkPlan(written, options);
assert.equal(good.type, 'valid');
assert.deepEqual(good.checked.plan.nodes[2]?.depends_on, [0, 1]);

// The same plan written by another runtime has the same digest.
const nodes = written.nodes.map((node) => ({ ...node, _normalized_deps: [] }));
const other = await checkPlan(JSON.stringify({ nodes, final_output_node: 2 }), options);
const again = await checkPlan(good.checked.plan, options);
assert.equal(other.type === 'valid' && other.checked.digest, good.checked.digest);
assert.equal(again.type === 'valid' && again.checked.digest, good.checked.digest);

// Later changes of the source do not affect the plan.
written.nodes.length = 0;
assert.equal(good.checked.plan.nodes.length, 3);

// All problems at once, with paths that a model can follow.
const bad = await checkPlan(
  {
    nodes: [
      { id: 0, tool: 'search_news', inputs: { query: 7, top: 3 }, depends_on: [1] },
      { id: 1, tool: 'summarise', inputs: { text: { $from: 0, path: 'count' } } },
      { id: 2, tool: 'send_mail', retry: 50 },
    ],
  },
  options,
);
assert.equal(bad.type, 'invalid');
assert.deepEqual(
  bad.violations.map(({ code, reason = code, path }) => `${reason} ${path}`),
  [
    'plan.deps.cycle nodes[0].depends_on[0]',
    'input.unknown nodes[0].inputs.top',
    'plan.input.type nodes[0].inputs.query',
    'ref.type nodes[1].inputs.text',
    'plan.tool.unknown nodes[2].tool',
    'retry.limit nodes[2].retry',
    'final.missing final_output_node',
  ],
);
for (const { message } of bad.violations) console.log(message);
console.log('A good plan was frozen, and a bad one was refused as a whole.');
