import { defineTool } from '@holdfast/core';
import { type CheckedPlan, checkPlan } from '@holdfast/orchestrator';
import { jsonSchema } from '@holdfast/schema/json';
import { expect, test } from 'vitest';
import { createColors } from '../terminal/colors.ts';
import { measureColumns } from '../terminal/text.ts';
import { describeAsks, describePlanNodes, describeViolations, describeWarnings, formatInputTree } from './view.ts';

const style = { colors: createColors(false), columns: 100 };
const anything = jsonSchema({ type: 'object', additionalProperties: true });
const tools = ['search', 'write_report'].map((name) =>
  defineTool({ name, description: 'Acts.', effects: 'none', inputSchema: anything, execute: () => 1 }),
);

async function check(nodes: readonly object[]): Promise<CheckedPlan> {
  const last = nodes.at(-1) as { readonly id: string };
  const found = await checkPlan({ nodes, final_output_node: last.id }, { tools });
  if (found.type !== 'valid') return expect.fail(JSON.stringify(found));
  return found.checked;
}

const plan = [
  { id: 'news', tool: 'search', inputs: { query: 'tulips', top: 5 }, retry: 2, on_fail: 'continue' },
  {
    id: 'report',
    tool: 'write_report',
    inputs: {
      heading: 'On "tulips", {{STEPS.news.count | default: "no"}} results',
      lines: { $from: 'news', path: 'titles', default: [] },
      all: { parts: ['{{STEPS.news}}', 1] },
    },
    on_fail: 'skip_dependents',
    metadata: { purpose: 'What the reader gets' },
  },
];

test('a plan as a table: dependencies, purpose and inputs of each node, with references', async () => {
  expect(describePlanNodes(await check(plan), style)).toEqual([
    'node    tool          needs  on fail          purpose and inputs',
    'news    search               continue         query: "tulips"',
    '                                              top: 5',
    '                                              up to 2 retries',
    'report  write_report  news   skip dependents  What the reader gets',
    '                                              heading: "On \\"tulips\\", <news.count, else "no">',
    '                                              results"',
    '                                              lines: <news.titles, else []>',
    '                                              all: {"parts": [<news>, 1]}',
    '                                              result of the plan',
  ]);
});

test('on a narrow terminal the cells are stacked', async () => {
  const lines = describePlanNodes(await check(plan), { ...style, columns: 40 });
  expect(lines.slice(0, 5)).toEqual([
    'news',
    '  tool: search, on fail: continue',
    '  query: "tulips"',
    '  top: 5',
    '  up to 2 retries',
  ]);
  for (const line of lines) expect(measureColumns(line)).toBeLessThanOrEqual(40);
});

test('long inputs, many inputs and many nodes are cut, with a note', async () => {
  const inputs = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`key${at}`, at]));
  const one = await check([{ id: 'a', tool: 'search', inputs: { ...inputs, text: 'x'.repeat(1000) } }]);
  expect(describePlanNodes(one, style).join('\n')).toContain('… and 9 more inputs');
  const long = await check([{ id: 'a', tool: 'search', inputs: { text: '\u0007x'.repeat(500) } }]);
  expect(describePlanNodes(long, style).join('').length).toBeLessThan(1000);
  expect(describePlanNodes(long, style).join('')).not.toContain('\u0007');
  const many = Array.from({ length: 250 }, (_, id) => ({
    id,
    tool: 'search',
    depends_on: [...Array(Math.min(id, 5)).keys()],
  }));
  const lines = describePlanNodes(await check(many), style);
  expect(lines.at(-1)).toBe('… and 50 more nodes; use `--json`');
  expect(lines.find((line) => line.startsWith('9 '))).toContain('0, 1, 2 and 2 more');
});

test.each([
  { reference: { from: 'a', path: [] }, text: '<a>' },
  { reference: { from: 3, path: ['b', 0, 'a key'] }, text: '<3.b[0]["a key"]>' },
  { reference: { from: 'a', path: ['b'], default: null }, text: '<a.b, else null>' },
  { reference: { from: 'a', path: ['__proto__'], default: { x: 1 } }, text: '<a.__proto__, else {"x":1}>' },
] as const)('a reference reads $text', ({ reference, text }) => {
  expect(formatInputTree({ type: 'reference', reference })).toBe(text);
});

test('violations are a table with code, path and message', () => {
  const violations = [
    { code: 'plan.input.type', path: 'nodes[0].inputs.top', node: 0, message: 'It must be \x1b[1ma number.' },
    { code: 'plan.invalid', reason: 'final.missing', path: '', message: 'There is none.' },
  ];
  expect(describeViolations(violations, style)).toEqual([
    'code                         where                problem',
    'plan.input.type              nodes[0].inputs.top  It must be \\x1b[1ma number.',
    'plan.invalid: final.missing  plan                 There is none.',
  ]);
});

test('nodes that need approval, and warnings', () => {
  expect(describeAsks([], style)).toEqual([]);
  expect(describeWarnings([], style)).toEqual([]);
  const ask = { node: 'wipe', tool: 'delete_files', reasons: ['It is dangerous.'], dangerous: true };
  expect(describeAsks([ask], style)).toEqual([
    '',
    'This node needs approval:',
    '  ? wipe  delete_files  dangerous  It is dangerous.',
  ]);
  const many = describeAsks(
    Array.from({ length: 25 }, (_, node) => ({ ...ask, node })),
    style,
  );
  expect(many.at(-1)).toBe('  … and 5 more');
  expect(
    describeWarnings(
      [{ code: 'plan.invalid', reason: 'node.unused', path: 'nodes[1]', message: 'No node needs it.' }],
      style,
    ),
  ).toEqual(['', 'Warnings:', '  nodes[1]: No node needs it. (plan.invalid: node.unused)']);
});
