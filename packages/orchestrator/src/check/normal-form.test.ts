import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { compileSchema } from '@holdfast/schema';
import { jsonSchema } from '@holdfast/schema/json';
import { expect, test } from 'vitest';
import { checkPlan, planSchema, readPlan } from '../index.ts';
import { check, digestOf, planOf, testTool, testTools, violationsOf } from './test-plans.ts';

const present = {
  version: 1,
  status: 'success',
  nodes: [
    {
      id: 0,
      tool: 'a',
      function: 'run_a',
      inputs: { x: 1 },
      depends_on: [],
      retry: 0,
      timeout: 60,
      on_fail: 'halt',
      metadata: {},
    },
    {
      id: 1,
      tool: 'b',
      function: 'b',
      inputs: { x: { $from: 0, path: 'a.b[0]' }, y: 'See {{STEPS.0.a["b c"] | default: "none"}}.' },
      depends_on: [0],
      retry: 2,
      timeout: 45,
      on_fail: 'continue',
      metadata: { purpose: 'Look' },
    },
  ],
  final_output_node: 1,
};
const [first, second] = present.nodes;

test('a plan in normal form is read unchanged', async () => {
  const found = await check(present);
  expect(found).toMatchObject({ type: 'valid', checked: { plan: present }, warnings: [] });
  expect(readPlan(JSON.stringify(present))).toEqual({ type: 'plan', plan: present, warnings: [] });
});

test.each([
  { what: 'as text', plan: JSON.stringify(present, null, 2) },
  { what: 'without a version and a status', plan: { nodes: present.nodes, final_output_node: 1 } },
  {
    what: 'without a function',
    plan: { ...present, nodes: present.nodes.map((node) => drop({ ...node, function: undefined })) },
  },
  { what: 'with defaults left out', plan: { ...present, nodes: [{ id: 0, tool: 'a', inputs: { x: 1 } }, second] } },
  {
    what: 'with the dependency only in the reference',
    plan: { ...present, nodes: [first, drop({ ...second, depends_on: undefined })] },
  },
  { what: 'with a duplicate dependency', plan: { ...present, nodes: [first, { ...second, depends_on: [0, 0] }] } },
  { what: 'with keys in another order', plan: Object.fromEntries(Object.entries(present).reverse()) },
  {
    what: 'with a thought',
    plan: { ...present, nodes: [first, drop({ ...second, metadata: undefined, thought: 'Look' })] },
  },
  {
    what: 'with private keys',
    plan: { ...present, _hash: 'x', nodes: [first, { ...second, _normalized_deps: [0], __proto_: 1 }] },
  },
  {
    what: 'with another spelling of a text reference',
    plan: {
      ...present,
      nodes: [
        first,
        {
          ...second,
          inputs: { x: { path: 'a["b"].0', $from: 0 }, y: 'See {{ steps[0]["a"]["b c"]|default:"none" }}.' },
        },
      ],
    },
  },
  {
    what: 'with a negative zero',
    plan: JSON.stringify(present).replaceAll('"id":0', '"id":-0').replaceAll('[0]', '[-0]').replace('b[-0]', 'b[0]'),
  },
])('equal plans have equal digests: $what', async ({ plan }) => {
  expect(await digestOf(plan)).toBe(await digestOf(present));
});

test.each([
  { what: 'another order of the nodes', plan: { ...present, nodes: [second, first] } },
  { what: 'another number of retries', plan: { ...present, nodes: [{ ...first, retry: 1 }, second] } },
  { what: 'another purpose', plan: { ...present, nodes: [first, { ...second, metadata: { purpose: 'See' } }] } },
  { what: 'another final node', plan: { ...present, final_output_node: 0 } },
  {
    what: 'a text in place of a value',
    plan: { ...present, nodes: [first, { ...second, inputs: { x: '{{STEPS.0.a.b[0]}}', y: second?.inputs.y } }] },
  },
])('different plans have different digests: $what', async ({ plan }) => {
  expect(await digestOf(drop(plan))).not.toBe(await digestOf(present));
});

test('dependencies are in plan order, even on later nodes', async () => {
  const plan = {
    nodes: [
      { id: 'last', tool: 'a', depends_on: ['z', 'a'], inputs: { x: ['{{STEPS.m.x}}', { $from: 'z' }] } },
      { id: 'z', tool: 'a' },
      { id: 'm', tool: 'a' },
      { id: 'a', tool: 'a' },
    ],
    final_output_node: 'last',
  };
  expect(await check(plan)).toMatchObject({
    checked: { plan: { nodes: [{ depends_on: ['z', 'm', 'a'] }, {}, {}, {}] } },
  });
});

test('a checked plan is frozen and shares nothing with its source (VAL-51)', async () => {
  const source = structuredClone(present);
  const found = await check(source);
  if (found.type !== 'valid') throw new Error('Expected a valid plan.');
  source.nodes.splice(0, 1);
  Object.assign(source.nodes[0]?.inputs ?? {}, { x: 'other' });
  expect(found.checked.plan).toEqual(present);
  const isFrozen = (value: unknown): boolean =>
    typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozen));
  expect(isFrozen(found)).toBe(true);
  expect(await digestOf(found.checked.plan)).toBe(found.checked.digest);
});

test('readPlan checks only the format', () => {
  const plan = {
    nodes: [{ id: 0, tool: 'nobody', depends_on: [7], inputs: { x: { $from: 9 } }, retry: 99 }],
    final_output_node: 5,
  };
  expect(readPlan(plan)).toMatchObject({ type: 'plan', plan: { nodes: [{ depends_on: [7, 9] }] } });
  expect(readPlan({ status: 'error', error: 'No tool fits.' })).toEqual({ type: 'declined', error: 'No tool fits.' });
  expect(readPlan({ nodes: [{ id: 0 }] })).toMatchObject({
    type: 'invalid',
    violations: [{ code: 'plan.node.tool.missing' }, { code: 'plan.invalid', reason: 'final.missing' }],
  });
  expect(readPlan('[1]')).toMatchObject({ type: 'invalid', violations: [{ code: 'plan.not_object' }] });
});

const schema = compileSchema(jsonSchema(planSchema));

test.each([
  { what: 'the normal form', plan: present, good: true },
  { what: 'a plan without defaults', plan: planOf({ id: 'x', tool: 'a' }), good: true },
  { what: 'a declined request', plan: { status: 'error', error: 'No tool fits.' }, good: true },
  { what: 'no nodes', plan: { nodes: [], final_output_node: 0 }, good: false },
  { what: 'a missing final node', plan: { nodes: [{ id: 0, tool: 'a' }] }, good: false },
  { what: 'an unknown key', plan: planOf({ id: 0, tool: 'a', dependsOn: [] }), good: false },
  { what: 'an older name', plan: { steps: [{ id: 0, tool: 'a' }], final_output_node: 0 }, good: false },
  { what: 'a text of digits as id', plan: planOf({ id: '0', tool: 'a' }), good: false },
  { what: 'a later version', plan: { ...present, version: 2 }, good: false },
])('the JSON Schema accepts $what: $good', async ({ plan, good }) => {
  expect(schema.validate(plan).ok).toBe(good);
  // The schema accepts no less than the reader and, older forms aside, rejects the same plans.
  if (good) expect(readPlan(plan).type).not.toBe('invalid');
});

test('reads two plans in the format of an older planner', async () => {
  const node = { depends_on: [], retry: 2, on_fail: 'continue', timeout: 45, _normalized_deps: [] };
  const search = (id: number, query: string) => ({
    id,
    thought: `Find ${query}`,
    tool: 'search',
    function: 'run_search',
    inputs: { query, top: 5 },
    ...node,
  });
  const summary = {
    ...node,
    id: 2,
    thought: 'Put both together',
    tool: 'summarise',
    function: 'run_summary',
    inputs: { text: '{{STEPS.0.response}}\n\n{{STEPS.1.response}}', query: 'Compare' },
    depends_on: [0, 1],
    on_fail: 'halt',
    _normalized_deps: [0, 1],
  };
  const last = {
    ...node,
    id: 3,
    thought: 'Tell',
    tool: 'llm_caller',
    inputs: { prompt: '{{STEPS.2.response}}' },
    depends_on: [2],
    on_fail: 'halt',
  };
  const plan = {
    status: 'success',
    nodes: [search(0, 'tulips'), search(1, 'roses'), summary, last],
    final_output_node: 3,
  };
  const text = { type: 'string' };
  const tools = [
    ...testTools,
    testTool('search', {
      input: { type: 'object', properties: { query: text, top: { type: 'integer' } }, required: ['query'] },
    }),
    testTool('summarise', {
      input: { type: 'object', properties: { text, query: text }, required: ['text', 'query'] },
    }),
  ];
  const functions = new Map([
    ['search', 'run_search'],
    ['summarise', 'run_summary'],
  ]);
  expect(await check(plan, { tools, functions })).toMatchObject({ type: 'valid', warnings: [] });
  const fewer = tools.filter(({ name }) => name !== 'summarise');
  expect(await violationsOf(plan, { tools: fewer, functions })).toEqual(['plan.tool.unknown nodes[2].tool']);
});

const data = fileURLToPath(new URL('../../../../../shared/data/plans/', import.meta.url));

/** The tools of a registry in its own format, without code. */
function readRegistry() {
  const { tools } = JSON.parse(readFileSync(`${data}registry.json`, 'utf8'));
  return {
    tools: tools.map((tool: { name: string; parameters: object }) =>
      testTool(tool.name, { input: JSON.parse(JSON.stringify(tool.parameters)) }),
    ),
    functions: new Map<string, string>(
      tools.map((tool: { name: string; function: string }) => [tool.name, tool.function]),
    ),
  };
}

// The files are available only in some checkouts.
test.skipIf(!existsSync(data)).each(['smith_dag_1776680299.json', 'smith_dag_1776681654.json'])(
  'the real plan %s is valid with its own registry (REAL-1, REAL-9)',
  async (file) => {
    const { tools, functions } = readRegistry();
    const source = readFileSync(`${data}${file}`, 'utf8');
    const found = await checkPlan(source, { tools, functions });
    expect(found).toMatchObject({ type: 'valid', warnings: [] });
    if (found.type !== 'valid') return;
    expect(await digestOf(found.checked.plan, { tools, functions })).toBe(found.checked.digest);
    expect(schema.validate(found.checked.plan)).toMatchObject({ ok: true });
    expect(found.checked.inputs[3]).toMatchObject({
      members: [['prompt', { type: 'text', keepsType: false }], ...(file.includes('0299') ? [['model', {}]] : [])],
    });
    const fewer = tools.filter(({ name }: { name: string }) => name !== 'deep_summarizer');
    expect(await violationsOf(source, { tools: fewer, functions })).toEqual(['plan.tool.unknown nodes[2].tool']);
  },
);

/** Drops members that are `undefined`, as JSON does. */
function drop<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value));
}
