import { defineTool, type JsonObject, type StandardSchema } from '@holdfast/core';
import { expect, test } from 'vitest';
import { brief, check, planOf, testTool, testTools, violationsOf } from './test-plans.ts';

const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);
const chain = (length: number): JsonObject =>
  planOf(...Array.from({ length }, (_, id) => ({ id, tool: 'a', ...(id === 0 ? {} : { depends_on: [id - 1] }) })));
/** A plan of two nodes, each with the given fields. */
const pair = (first: JsonObject, second: JsonObject): JsonObject => planOf({ id: 0, ...first }, { id: 1, ...second });

interface BadPlan {
  readonly what: string;
  readonly plan: unknown;
  readonly found: readonly string[];
}

const shapes: readonly BadPlan[] = [
  { what: 'a list (VAL-1)', plan: [1, 2], found: ['plan.not_object'] },
  { what: 'null', plan: null, found: ['plan.not_object'] },
  { what: 'text that is not JSON', plan: '{"nodes": [', found: ['plan.invalid: json.invalid'] },
  { what: 'empty text', plan: '', found: ['plan.invalid: json.invalid'] },
  {
    what: 'doubly encoded JSON',
    plan: JSON.stringify(JSON.stringify(planOf({ id: 0, tool: 'a' }))),
    found: ['plan.not_object'],
  },
  { what: 'a duplicate key in the text', plan: '{"nodes": [], "nodes": []}', found: ['plan.invalid: json.invalid'] },
  { what: '`__proto__` in the text', plan: '{"nodes": [], "__proto__": {}}', found: ['plan.invalid: json.invalid'] },
  { what: 'excessive nesting', plan: { nodes: nested(100) }, found: ['plan.invalid: json.limit'] },
  { what: 'a function as value', plan: { nodes: () => [] }, found: ['plan.invalid: json.invalid'] },
  {
    what: 'an unknown status',
    plan: { ...planOf({ id: 0, tool: 'a' }), status: 'ok' },
    found: ['plan.invalid: status.unknown status'],
  },
  { what: 'an error without a reason', plan: { status: 'error' }, found: ['plan.invalid: error.missing error'] },
  {
    what: 'an error with an empty reason',
    plan: { status: 'error', error: '  ' },
    found: ['plan.invalid: error.missing error'],
  },
  {
    what: 'a later version',
    plan: { ...planOf({ id: 0, tool: 'a' }), version: 2 },
    found: ['plan.invalid: version.unknown version'],
  },
  {
    what: 'an unknown key',
    plan: { ...planOf({ id: 0, tool: 'a' }), final: 0 },
    found: ['plan.invalid: key.unknown final'],
  },
  {
    what: 'nodes and steps',
    plan: { ...planOf({ id: 0, tool: 'a' }), steps: [] },
    found: ['plan.invalid: key.unknown steps'],
  },
  {
    what: 'no nodes (VAL-3)',
    plan: { final_output_node: 0 },
    found: ['plan.nodes.empty nodes', 'plan.invalid: final.unknown final_output_node'],
  },
  {
    what: 'an empty list of nodes',
    plan: { nodes: [], final_output_node: 0 },
    found: ['plan.nodes.empty nodes', 'plan.invalid: final.unknown final_output_node'],
  },
  {
    what: 'nodes that are not a list',
    plan: { nodes: {}, final_output_node: 0 },
    found: ['plan.invalid: nodes.type nodes', 'plan.invalid: final.unknown final_output_node'],
  },
  { what: 'too many nodes', plan: chain(10_001), found: ['plan.invalid: nodes.limit nodes'] },
  { what: 'too long a chain', plan: chain(1_001), found: ['plan.invalid: depth.limit nodes[1000].depends_on'] },
  {
    what: 'no final node',
    plan: { nodes: [{ id: 0, tool: 'a' }] },
    found: ['plan.invalid: final.missing final_output_node'],
  },
  {
    what: 'a final node that is not an id',
    plan: { nodes: [{ id: 0, tool: 'a' }], final_output_node: '0' },
    found: ['plan.invalid: final.type final_output_node'],
  },
  {
    what: 'an unknown final node',
    plan: { nodes: [{ id: 0, tool: 'a' }], final_output_node: 1 },
    found: ['plan.invalid: final.unknown final_output_node'],
  },
];

/** Plans with a single node. Paths are relative to the node. */
const nodes: readonly { readonly what: string; readonly node: unknown; readonly found: readonly string[] }[] = [
  { what: 'a list (VAL-5)', node: [], found: ['plan.node.type'] },
  { what: 'null', node: null, found: ['plan.node.type'] },
  { what: 'no id', node: { tool: 'a' }, found: ['plan.invalid: node.id.missing .id'] },
  ...[
    true,
    -1,
    1.5,
    '',
    '0',
    '__proto__',
    'constructor',
    'toString',
    'a.b',
    'ａ',
    'x'.repeat(65),
    null,
    [0],
    2 ** 53,
  ].map((id) => ({
    what: `the id ${JSON.stringify(id).slice(0, 20)} (VAL-7, VAL-9, G2)`,
    node: { id, tool: 'a' },
    found: ['plan.invalid: node.id.invalid .id'],
  })),
  { what: 'no tool (VAL-13)', node: { id: 0 }, found: ['plan.node.tool.missing .tool'] },
  { what: 'a tool without a name', node: { id: 0, tool: '' }, found: ['plan.node.tool.missing .tool'] },
  { what: 'a tool that is not a name', node: { id: 0, tool: ['a'] }, found: ['plan.invalid: node.tool.type .tool'] },
  { what: 'another letter case (VAL-15)', node: { id: 0, tool: 'Q' }, found: ['plan.tool.unknown .tool'] },
  {
    what: 'a property name of JavaScript objects as tool',
    node: { id: 0, tool: 'constructor' },
    found: ['plan.tool.unknown .tool'],
  },
  {
    what: 'a tool without `execute`',
    node: { id: 0, tool: 'declared' },
    found: ['plan.invalid: tool.not_executable .tool'],
  },
  {
    what: 'the function of another tool',
    node: { id: 0, tool: 'a', function: 'run_b' },
    found: ['plan.invalid: function.unknown .function'],
  },
  {
    what: 'a function for a tool without one',
    node: { id: 0, tool: 'b', function: 'run_b' },
    found: ['plan.invalid: function.unknown .function'],
  },
  {
    what: 'a function that is not a name',
    node: { id: 0, tool: 'a', function: 1 },
    found: ['plan.invalid: function.type .function'],
  },
  {
    what: 'an unknown key',
    node: { id: 0, tool: 'a', dependsOn: [] },
    found: ['plan.invalid: key.unknown .dependsOn'],
  },
  { what: 'args for inputs', node: { id: 0, tool: 'a', args: {} }, found: ['plan.invalid: key.unknown .args'] },
  {
    what: 'a thought and a purpose',
    node: { id: 0, tool: 'a', thought: 'x', metadata: { purpose: 'y' } },
    found: ['plan.invalid: key.twice .thought'],
  },
  {
    what: 'a thought that is not a text',
    node: { id: 0, tool: 'a', thought: 1 },
    found: ['plan.invalid: metadata.type .thought'],
  },
  {
    what: 'a purpose that is not a text',
    node: { id: 0, tool: 'a', metadata: { purpose: 1 } },
    found: ['plan.invalid: metadata.type .metadata.purpose'],
  },
  {
    what: 'metadata that is not an object',
    node: { id: 0, tool: 'a', metadata: 'x' },
    found: ['plan.invalid: metadata.type .metadata'],
  },
  { what: 'inputs as a list (VAL-17)', node: { id: 0, tool: 'a', inputs: [1] }, found: ['plan.inputs.type .inputs'] },
  { what: 'inputs that are null', node: { id: 0, tool: 'a', inputs: null }, found: ['plan.inputs.type .inputs'] },
  {
    what: 'inputs that are a reference',
    node: { id: 0, tool: 'a', inputs: { $from: 0 } },
    found: ['plan.inputs.type .inputs'],
  },
  {
    what: 'an unknown `on_fail`',
    node: { id: 0, tool: 'a', on_fail: 'abort' },
    found: ['plan.invalid: on_fail.unknown .on_fail'],
  },
  { what: 'too many retries', node: { id: 0, tool: 'a', retry: 11 }, found: ['plan.invalid: retry.limit .retry'] },
  { what: 'a negative retry', node: { id: 0, tool: 'a', retry: -1 }, found: ['plan.invalid: retry.limit .retry'] },
  { what: 'half a retry', node: { id: 0, tool: 'a', retry: 0.5 }, found: ['plan.invalid: retry.limit .retry'] },
  {
    what: 'too long a timeout',
    node: { id: 0, tool: 'a', timeout: 3_601 },
    found: ['plan.invalid: timeout.limit .timeout'],
  },
  {
    what: 'a timeout of zero',
    node: { id: 0, tool: 'a', timeout: 0 },
    found: ['plan.invalid: timeout.limit .timeout'],
  },
  {
    what: 'dependencies that are not a list',
    node: { id: 0, tool: 'a', depends_on: 0 },
    found: ['plan.invalid: deps.type .depends_on'],
  },
  {
    what: 'an id as text (VAL-27)',
    node: { id: 0, tool: 'a', depends_on: ['0'] },
    found: ['plan.invalid: deps.type .depends_on[0]'],
  },
  {
    what: 'true as dependency (VAL-33)',
    node: { id: 0, tool: 'a', depends_on: [true] },
    found: ['plan.invalid: deps.type .depends_on[0]'],
  },
  {
    what: 'an unknown dependency (G2)',
    node: { id: 0, tool: 'a', depends_on: [7] },
    found: ['plan.invalid: deps.unknown .depends_on[0]'],
  },
  {
    what: 'itself as dependency (VAL-29)',
    node: { id: 0, tool: 'a', depends_on: [0] },
    found: ['plan.deps.cycle .depends_on[0]'],
  },
  {
    what: 'its own result',
    node: { id: 0, tool: 'a', inputs: { x: { $from: 0 } } },
    found: ['plan.deps.cycle .inputs.x'],
  },
  { what: 'a missing input (VAL-19)', node: { id: 0, tool: 'q' }, found: ['plan.input.missing .inputs.q'] },
  {
    what: 'null as input (VAL-21)',
    node: { id: 0, tool: 'q', inputs: { q: null } },
    found: ['plan.input.type .inputs.q'],
  },
  {
    what: 'a list for a text (VAL-45)',
    node: { id: 0, tool: 'q', inputs: { q: ['a'] } },
    found: ['plan.input.type .inputs.q'],
  },
  {
    what: 'a number out of range',
    node: { id: 0, tool: 'q', inputs: { q: 'x', n: 21 } },
    found: ['plan.input.type .inputs.n'],
  },
  {
    what: 'a word that is not in the enum',
    node: { id: 0, tool: 'q', inputs: { q: 'x', mode: 'slow' } },
    found: ['plan.input.type .inputs.mode'],
  },
  {
    what: 'an unknown input',
    node: { id: 0, tool: 'q', inputs: { q: 'x', k: 1 } },
    found: ['plan.invalid: input.unknown .inputs.k'],
  },
  {
    what: 'an input for a tool without inputs',
    node: { id: 0, tool: 'p', inputs: { k: 1 } },
    found: ['plan.invalid: input.unknown .inputs.k'],
  },
  {
    what: 'too few inputs, one of them required',
    node: { id: 0, tool: 'counted', inputs: {} },
    found: ['plan.input.missing .inputs.a'],
  },
  {
    what: 'too many inputs, one of them unknown',
    node: { id: 0, tool: 'counted', inputs: { a: 'x', d: 1 } },
    found: ['plan.invalid: input.unknown .inputs.d'],
  },
  {
    what: 'several at once',
    node: { id: 0, tool: 'q', inputs: { n: 0, k: 1 } },
    found: ['plan.invalid: input.unknown .inputs.k', 'plan.input.missing .inputs.q', 'plan.input.type .inputs.n'],
  },
  {
    what: 'a nested missing input',
    node: { id: 0, tool: 'shape', inputs: { box: { height: 2 } } },
    found: ['plan.input.missing .inputs.box.width'],
  },
  {
    what: 'a nested unknown input',
    node: { id: 0, tool: 'shape', inputs: { box: { width: 1, depth: 2 }, map: { a: 1, b: 'x' } } },
    found: [
      'plan.invalid: input.unknown .inputs.box.depth',
      'plan.input.type .inputs.map',
      'plan.input.type .inputs.map.b',
    ],
  },
  {
    what: 'a missing input behind a $ref',
    node: { id: 0, tool: 'shape', inputs: { shared: {} } },
    found: ['plan.input.missing .inputs.shared.on'],
  },
  {
    what: 'an unknown reference (VAL-41)',
    node: { id: 0, tool: 'a', inputs: { x: 'See {{STEPS.9.x}}.' } },
    found: ['plan.ref.unknown .inputs.x'],
  },
  {
    what: 'an unknown $from',
    node: { id: 0, tool: 'a', inputs: { x: [{ $from: 9 }] } },
    found: ['plan.ref.unknown .inputs.x[0]'],
  },
  {
    what: '$from a text of digits',
    node: { id: 0, tool: 'a', inputs: { x: { $from: '0' } } },
    found: ['plan.invalid: ref.invalid .inputs.x'],
  },
  {
    what: '$from with more keys',
    node: { id: 0, tool: 'a', inputs: { x: { $from: 0, as: 'text' } } },
    found: ['plan.invalid: ref.invalid .inputs.x'],
  },
  {
    what: '$from with a path that is not a text',
    node: { id: 0, tool: 'a', inputs: { x: { $from: 0, path: [0] } } },
    found: ['plan.invalid: ref.invalid .inputs.x'],
  },
  {
    what: '$from with an invalid path',
    node: { id: 0, tool: 'a', inputs: { x: { $from: 0, path: 'a..b' } } },
    found: ['plan.invalid: ref.invalid .inputs.x'],
  },
  {
    what: 'a reference in a default',
    node: { id: 0, tool: 'a', inputs: { x: { $from: 1, default: [{ $from: 1 }] } } },
    found: ['plan.invalid: ref.invalid .inputs.x'],
  },
  {
    what: 'an invalid text reference',
    node: { id: 0, tool: 'a', inputs: { x: '{{STEPS}} and {{ steps.0.}}' } },
    found: ['plan.invalid: ref.invalid .inputs.x', 'plan.invalid: ref.invalid .inputs.x'],
  },
];

/** Plans with several nodes. */
const graphs: readonly BadPlan[] = [
  {
    what: 'a duplicate id (G2)',
    plan: pair({ tool: 'a' }, { tool: 'a', id: 0 }),
    found: ['plan.invalid: node.duplicate nodes[1].id'],
  },
  {
    what: 'a cycle of two (VAL-31)',
    plan: pair({ tool: 'a', depends_on: [1] }, { tool: 'a', depends_on: [0] }),
    found: ['plan.deps.cycle nodes[0].depends_on[0]'],
  },
  {
    what: 'a cycle by a reference',
    plan: pair({ tool: 'a', inputs: { x: { $from: 1 } } }, { tool: 'a', depends_on: [0] }),
    found: ['plan.deps.cycle nodes[0].inputs.x'],
  },
  {
    what: 'a path that the output does not have',
    plan: pair({ tool: 'typed' }, { tool: 'a', inputs: { x: '{{STEPS.0.nope}}' } }),
    found: ['plan.invalid: ref.path nodes[1].inputs.x'],
  },
  {
    what: 'a path into a text',
    plan: pair({ tool: 'typed' }, { tool: 'a', inputs: { x: { $from: 0, path: 'text.length' } } }),
    found: ['plan.invalid: ref.path nodes[1].inputs.x'],
  },
  {
    what: 'a key into a list',
    plan: pair({ tool: 'typed' }, { tool: 'a', inputs: { x: { $from: 0, path: 'items.t' } } }),
    found: ['plan.invalid: ref.path nodes[1].inputs.x'],
  },
  {
    what: 'a path that no possible object has',
    plan: pair({ tool: 'typed' }, { tool: 'a', inputs: { x: { $from: 0, path: 'nullable.b' } } }),
    found: ['plan.invalid: ref.path nodes[1].inputs.x'],
  },
  {
    what: 'too many inputs next to a reference',
    plan: pair({ tool: 'typed' }, { tool: 'counted', inputs: { a: { $from: 0, path: 'text' }, b: 'x' } }),
    found: ['plan.input.type nodes[1].inputs'],
  },
  {
    what: 'an index beyond the end of a list',
    plan: pair({ tool: 'typed' }, { tool: 'a', inputs: { x: { $from: 0, path: 'items[5]' } } }),
    found: ['plan.invalid: ref.path nodes[1].inputs.x'],
  },
  {
    what: 'a number for a text',
    plan: pair({ tool: 'typed' }, { tool: 'q', inputs: { q: { $from: 0, path: 'count' } } }),
    found: ['plan.invalid: ref.type nodes[1].inputs.q'],
  },
  {
    what: 'a text for a number',
    plan: pair({ tool: 'typed' }, { tool: 'q', inputs: { q: 'x', n: '{{STEPS.0.text}}' } }),
    found: ['plan.invalid: ref.type nodes[1].inputs.n'],
  },
  {
    what: 'a default of the wrong type',
    plan: pair({ tool: 'typed' }, { tool: 'q', inputs: { q: { $from: 0, path: 'text', default: 1 } } }),
    found: ['plan.invalid: ref.default nodes[1].inputs.q'],
  },
  {
    what: 'a text around a reference for a number',
    plan: pair({ tool: 'typed' }, { tool: 'q', inputs: { q: 'x', n: '{{STEPS.0.count}}0' } }),
    found: ['plan.input.type nodes[1].inputs.n'],
  },
  {
    what: 'a missing input next to a reference',
    plan: pair({ tool: 'typed' }, { tool: 'q', inputs: { n: { $from: 0, path: 'count' }, k: 1 } }),
    found: ['plan.invalid: input.unknown nodes[1].inputs.k', 'plan.input.missing nodes[1].inputs.q'],
  },
  {
    what: 'a wrong input next to a reference',
    plan: pair(
      { tool: 'typed' },
      { tool: 'shape', inputs: { box: { width: { $from: 0, path: 'count' }, height: 'x' } } },
    ),
    found: ['plan.input.type nodes[1].inputs.box.height'],
  },
  {
    what: 'a wrong item next to a reference',
    plan: pair({ tool: 'typed' }, { tool: 'shape', inputs: { sizes: [{ $from: 0, path: 'count' }, 'x'] } }),
    found: ['plan.input.type nodes[1].inputs.sizes', 'plan.input.type nodes[1].inputs.sizes[1]'],
  },
  {
    what: 'too short a list with a reference',
    plan: pair({ tool: 'typed' }, { tool: 'shape', inputs: { sizes: [{ $from: 0, path: 'count' }] } }),
    found: ['plan.input.type nodes[1].inputs.sizes'],
  },
  {
    what: 'a shared lock without an order',
    plan: pair({ tool: 'write', inputs: { name: 'db' } }, { tool: 'write', inputs: { name: 'db' } }),
    found: ['plan.invalid: locks.unordered nodes[1]'],
  },
  {
    what: 'three faults at once (VAL-39)',
    plan: { nodes: [{ id: 0, tool: 'nope', depends_on: [5] }] },
    found: [
      'plan.invalid: deps.unknown nodes[0].depends_on[0]',
      'plan.tool.unknown nodes[0].tool',
      'plan.invalid: final.missing final_output_node',
    ],
  },
];

const table: readonly BadPlan[] = [
  ...shapes,
  ...nodes.map(({ what, node, found }) => ({
    what: `a node with ${what}`,
    plan: { nodes: [node], final_output_node: 0 },
    found: found.map((line) => line.replace(/ (?=\.)|$/, ' nodes[0]')),
  })),
  ...graphs,
];

test('the table of bad plans has at least 60', () => {
  expect(table.length).toBeGreaterThanOrEqual(60);
});

// Without a valid node id, no final node is valid.
const consequence = 'plan.invalid: final.unknown final_output_node';

test.each(table)('refused: $what', async ({ plan, found }) => {
  const violations = await violationsOf(plan);
  const isNameless = found.some((line) => /^plan\.(?:node\.type|invalid: node\.id)/.test(line));
  expect(violations).toEqual(isNameless ? [...found, consequence] : found);
  // The same plan as JSON text is rejected in the same way.
  if (typeof plan === 'object' && !found.includes('plan.invalid: json.invalid')) {
    expect(await violationsOf(JSON.stringify(plan))).toEqual(violations);
  }
});

test('every violation has a message, and the node if it is known', async () => {
  for (const { plan } of table) {
    const found = await check(plan);
    if (found.type !== 'invalid') throw new Error('Expected an invalid plan.');
    for (const { message, node, path } of found.violations) {
      expect(message).toMatch(/^.{10,1000}$/su);
      if (node !== undefined) expect(path).toMatch(/^(?:nodes|steps)\[/);
    }
  }
});

test('a cycle lists its nodes, and each separate cycle is reported', async () => {
  const nodes = [
    { id: 'e', tool: 'a', depends_on: ['d', 'x'] },
    { id: 'b', tool: 'a', depends_on: ['d'] },
    { id: 'c', tool: 'a', depends_on: ['b'] },
    { id: 'd', tool: 'a', depends_on: ['c', 'b'] },
    { id: 'x', tool: 'a', depends_on: ['y'] },
    { id: 'y', tool: 'a', inputs: { x: '{{STEPS.x}}' } },
  ];
  const found = await check({ nodes, final_output_node: 'e' });
  expect(found).toMatchObject({
    type: 'invalid',
    violations: [
      { code: 'plan.deps.cycle', path: 'nodes[1].depends_on[0]', message: expect.stringContaining('`b`, `d`, `b`.') },
      { code: 'plan.deps.cycle', path: 'nodes[4].depends_on[0]', message: expect.stringContaining('`x`, `y`, `x`.') },
    ],
  });
});

test.each([
  {
    what: 'an unused node (VAL-35)',
    nodes: [
      { id: 0, tool: 'a' },
      { id: 1, tool: 'b' },
    ],
    found: ['plan.invalid: node.unused nodes[0]'],
  },
  {
    what: 'numbers that are not numbers (VAL-37)',
    nodes: [{ id: 1, tool: 'a', retry: 'x', timeout: '5' }],
    found: ['plan.invalid: number.default nodes[0].retry', 'plan.invalid: number.default nodes[0].timeout'],
  },
  {
    what: 'a duplicate dependency',
    nodes: [
      { id: 0, tool: 'a' },
      { id: 1, tool: 'b', depends_on: [0, 0] },
    ],
    found: ['plan.invalid: deps.duplicate nodes[1].depends_on[1]'],
  },
  {
    what: 'a retry of a tool that is not safe to repeat',
    nodes: [{ id: 1, tool: 'write', retry: 1, inputs: { name: 'x' } }],
    found: ['plan.invalid: retry.ignored nodes[0].retry'],
  },
  {
    what: 'locks that throw',
    nodes: [{ id: 1, tool: 'write', inputs: { name: 'throw' } }],
    found: ['plan.invalid: locks.failed nodes[0]'],
  },
  {
    what: 'locks that are not names',
    nodes: [{ id: 1, tool: 'garbled', inputs: { name: 'x' } }],
    found: ['plan.invalid: locks.failed nodes[0]'],
  },
])('accepted with a warning: $what', async ({ nodes, found }) => {
  const checked = await check({ nodes, final_output_node: 1 });
  expect(checked.type).toBe('valid');
  if (checked.type === 'valid') expect(brief(checked.warnings)).toEqual(found);
});

test('the warning about unknown locks has the reason', async () => {
  const checked = await check(planOf({ id: 1, tool: 'write', inputs: { name: 'throw' } }));
  if (checked.type !== 'valid') throw new Error(`The plan is ${checked.type}.`);
  expect(checked.warnings[0]?.message).toContain('`locks` threw: no locks');
});

test.each([
  {
    what: 'ids that are not positions (VAL-11, REF-20)',
    nodes: [
      { id: 3, tool: 'a' },
      { id: 7, tool: 'q', inputs: { q: '{{STEPS.3.response}}' } },
    ],
  },
  {
    what: 'a reference whose type is known only at run time (VAL-23)',
    nodes: [
      { id: 0, tool: 'a' },
      { id: 1, tool: 'q', inputs: { q: { $from: 0 }, n: { $from: 0, path: 'n' } } },
    ],
  },
  { what: 'no inputs where none are needed (VAL-25)', nodes: [{ id: 0, tool: 'p', inputs: {} }] },
  {
    what: 'a reference to a grandparent (VAL-43)',
    nodes: [
      { id: 0, tool: 'a' },
      { id: 1, tool: 'a', depends_on: [0] },
      { id: 2, tool: 'a', depends_on: [1], inputs: { x: { $from: 0 } } },
    ],
  },
  {
    what: 'nodes in any order',
    nodes: [
      { id: 1, tool: 'a', inputs: { x: '{{STEPS.0}}' } },
      { id: 0, tool: 'a' },
      { id: 2, tool: 'a', depends_on: [1] },
    ],
  },
  {
    what: 'a path that depends on the value',
    nodes: [
      { id: 0, tool: 'typed' },
      { id: 1, tool: 'q', inputs: { q: { $from: 0, path: 'open.a[2].b' }, n: { $from: 0, path: 'count' } } },
    ],
  },
  {
    what: 'references under keys of `patternProperties`',
    nodes: [
      { id: 0, tool: 'typed' },
      { id: 1, tool: 'shape', inputs: { patterns: { n: { $from: 0, path: 'count' }, n1: 1 } } },
    ],
  },
  {
    what: 'a path into a value of several possible types',
    nodes: [
      { id: 0, tool: 'typed' },
      { id: 1, tool: 'q', inputs: { q: { $from: 0, path: 'nullable.a' }, n: { $from: 0, path: 'mixed[0]' } } },
    ],
  },
  {
    what: 'a value that may have the right type',
    nodes: [
      { id: 0, tool: 'typed' },
      { id: 1, tool: 'q', inputs: { q: { $from: 0, path: 'maybe' } } },
    ],
  },
  {
    what: 'a wrong path with a default (REF-6)',
    nodes: [
      { id: 0, tool: 'typed' },
      { id: 1, tool: 'q', inputs: { q: '{{STEPS.0.nope | default: "none"}}' } },
    ],
  },
  {
    what: 'references in a list with unique items',
    nodes: [
      { id: 0, tool: 'typed' },
      {
        id: 1,
        tool: 'shape',
        inputs: {
          sizes: [
            { $from: 0, path: 'count' },
            { $from: 0, path: 'count' },
          ],
        },
      },
    ],
  },
  {
    what: 'a reference below a `oneOf`',
    nodes: [
      { id: 0, tool: 'typed' },
      {
        id: 1,
        tool: 'shape',
        inputs: { either: { $from: 0, path: 'maybe' }, shared: { on: { $from: 0, path: 'open.on' } } },
      },
    ],
  },
  {
    what: 'a shared lock in an indirect order',
    nodes: [
      { id: 0, tool: 'write', inputs: { name: 'db' } },
      { id: 1, tool: 'a', depends_on: [0] },
      { id: 2, tool: 'write', depends_on: [1], inputs: { name: 'db' } },
    ],
  },
  {
    what: 'a lock shared with a node that only reads',
    nodes: [
      { id: 0, tool: 'read', inputs: { name: 'db' } },
      { id: 1, tool: 'write', inputs: { name: 'db' } },
      { id: 2, tool: 'a', depends_on: [0, 1] },
    ],
  },
  {
    what: 'two different locks without an order',
    nodes: [
      { id: 0, tool: 'write', inputs: { name: 'db' } },
      { id: 1, tool: 'write', inputs: { name: 'log' } },
      { id: 2, tool: 'a', depends_on: [0, 1] },
    ],
  },
  {
    what: 'a reference in an input that decides the lock',
    nodes: [
      { id: 0, tool: 'write', inputs: { name: 'db' } },
      { id: 3, tool: 'typed' },
      { id: 1, tool: 'write', inputs: { name: { $from: 3, path: 'text' } } },
      { id: 2, tool: 'a', depends_on: [0, 1] },
    ],
  },
])('accepted without a warning: $what', async ({ nodes }) => {
  expect(await check(planOf(...nodes))).toMatchObject({ type: 'valid', warnings: [] });
});

test('a declined request is not an error', async () => {
  expect(await check({ status: 'error', error: 'There is no tool for mail.', nodes: 'ignored' })).toEqual({
    type: 'declined',
    error: 'There is no tool for mail.',
  });
});

test('the host sets the limits', async () => {
  const limits = { maxNodes: 3, maxDepth: 2, maxRetry: 1, maxTimeoutSeconds: 5 };
  expect(await violationsOf(chain(4), { limits })).toEqual(['plan.invalid: nodes.limit nodes']);
  expect(await violationsOf(planOf({ id: 0, tool: 'a', retry: 2, timeout: 6 }), { limits })).toEqual([
    'plan.invalid: retry.limit nodes[0].retry',
    'plan.invalid: timeout.limit nodes[0].timeout',
  ]);
  const deep = { id: 2, tool: 'a', timeout: 5, depends_on: [1] };
  const nodes = [{ id: 0, tool: 'a', timeout: 5 }, { id: 1, tool: 'a', timeout: 5, depends_on: [0] }, deep];
  expect(await violationsOf(planOf(...nodes), { limits })).toEqual(['plan.invalid: depth.limit nodes[2].depends_on']);
  expect(
    await violationsOf(planOf({ id: 0, tool: 'a', timeout: 5_000 }), { limits: { maxTimeoutSeconds: 9_000 } }),
  ).toEqual([]);
});

test.each([
  { maxNodes: 0 },
  { maxRetry: -1 },
  { maxDepth: 1.5 },
  { maxTimeoutSeconds: Number.NaN },
  { nodes: 1 } as object,
])('invalid limits throw: %j', async (limits) => {
  await expect(check(planOf({ id: 0, tool: 'a' }), { limits })).rejects.toMatchObject({ code: 'options.invalid' });
});

test('two tools with the same name throw', async () => {
  const tools = [...testTools, testTool('a')];
  await expect(check(planOf({ id: 0, tool: 'a' }), { tools })).rejects.toMatchObject({
    code: 'tool.invalid',
    reason: 'name.duplicate',
  });
});

test('beyond a thousand, violations are only counted', async () => {
  const nodes = Array.from({ length: 1_500 }, () => null);
  const found = await check({ nodes, final_output_node: 0 });
  if (found.type !== 'invalid') throw new Error('Expected an invalid plan.');
  expect(found.violations).toHaveLength(1_001);
  expect(found.violations.at(-1)).toEqual({
    code: 'plan.invalid',
    reason: 'violations.more',
    path: '',
    message: '501 more problems are not listed.',
  });
});

test('inputs are validated by a Standard Schema itself, or by its JSON Schema if they hold references', async () => {
  const schema: StandardSchema<{ word: string; n: number }> & {
    readonly '~standard': { readonly jsonSchema: object };
  } = {
    '~standard': {
      version: 1,
      vendor: 'own',
      validate: (value) => {
        const { word } = value as { readonly word?: unknown };
        // JSON Schema cannot express this.
        if (word === 'level') return { issues: [{ message: 'No palindromes.', path: ['word'] }] };
        return typeof word === 'string'
          ? { value: value as { word: string; n: number } }
          : { issues: [{ message: 'No.' }] };
      },
      jsonSchema: {
        input: () => ({
          type: 'object',
          properties: { word: { type: 'string' }, n: { type: 'number' } },
          required: ['word'],
        }),
      },
    },
  };
  const tools = [
    ...testTools,
    defineTool({ name: 'own', description: 'Own.', inputSchema: schema, execute: () => null }),
  ];
  const plan = (inputs: JsonObject) => planOf({ id: 0, tool: 'typed' }, { id: 1, tool: 'own', inputs });
  expect(await violationsOf(plan({ word: 'level' }), { tools })).toEqual(['plan.input.type nodes[1].inputs.word']);
  expect(await violationsOf(plan({}), { tools })).toEqual(['plan.input.missing nodes[1].inputs.word']);
  expect(await violationsOf(plan({ word: 1, n: { $from: 0, path: 'text' } }), { tools })).toEqual([
    'plan.invalid: ref.type nodes[1].inputs.n',
    'plan.input.type nodes[1].inputs.word',
  ]);
  expect(await violationsOf(plan({ word: '{{STEPS.0.text}}', n: 1 }), { tools })).toEqual([]);
});

test('a schema that cannot be partly opened is left to the call', async () => {
  const input: JsonObject = {
    type: 'object',
    properties: {
      one: { type: 'object', properties: { inner: { type: 'string' } } },
      two: { $ref: '#/properties/one/properties/inner' },
    },
  };
  const choice: JsonObject = { type: 'object', anyOf: [{ properties: { one: {}, two: { type: 'string' } } }] };
  const tools = [...testTools, testTool('knotted', { input }), testTool('choice', { input: choice })];
  const knotted = (tool: string) =>
    planOf({ id: 0, tool: 'a' }, { id: 1, tool, inputs: { one: { $from: 0 }, two: 1 } });
  expect(await violationsOf(knotted('knotted'), { tools })).toEqual([]);
  expect(await violationsOf(knotted('choice'), { tools })).toEqual([]);
});

test.each([
  ['lines', 'there is no `lines`; known keys: `count`, `text`, `items`, `open`, `maybe`, `nullable`, `mixed`.'],
  ['nullable.b', 'there is no `b`; known keys: `a`.'],
  ['items[5]', 'there is no `5`.'],
  ['items.t', 'the value before `t` has the type array.'],
])('for the path %s, the message says where it ends and which keys exist', async (path, problem) => {
  const found = await check(planOf({ id: 0, tool: 'typed' }, { id: 1, tool: 'a', inputs: { x: { $from: 0, path } } }));
  expect(found).toMatchObject({
    violations: [{ code: 'plan.invalid', reason: 'ref.path', message: expect.stringContaining(problem) }],
  });
});
