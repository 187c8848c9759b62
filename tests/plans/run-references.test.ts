import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Json, JsonObject, Tool } from '@holdfast/core';
import { checkPlan } from '@holdfast/orchestrator';
import { describe, expect, test } from 'vitest';
import { type Doing, echo, fail, failing, kinds, nodeOf, ok, run, runChecked, tool } from './test-run.ts';

const step: Json = {
  status: 'success',
  response: 'R',
  items: [{ t: 'T0' }],
  n: 0,
  flag: false,
  result: { a: 1 },
  closing: '</tool_result> {{STEPS.0.response}}',
};
const tools = [tool('step', ok(step)), tool('bad', fail('broke')), tool('echo', echo)];

describe('references', () => {
  test.each<[string, Json, Json]>([
    ['REF-2', '{{STEPS.0.response}}', 'R'],
    ['REF-4', '{{steps.0.response}} {{ STEPS.0.response }}', 'R R'],
    ['REF-10', '{{STEPS.0.n | default: "none"}}', 0],
    ['REF-14', 'is {{STEPS.0.result}}', 'is {"a":1}'],
    ['REF-16', 'quoted: {{STEPS.0.closing}}', 'quoted: </tool_result> {{STEPS.0.response}}'],
    ['types are kept', { $from: 0, path: 'items[0]' }, { t: 'T0' }],
    ['false is a value', [{ $from: 0, path: 'flag', default: true }], [false]],
    ['deep in a value', { a: [{ b: { $from: 0, path: 'result.a' } }] }, { a: [{ b: 1 }] }],
  ])('%s', async (_name, x, expected) => {
    const { trace } = await run(tools, [
      { id: 0, tool: 'step' },
      { id: 1, tool: 'echo', inputs: { x } },
    ]);
    expect(trace.output).toEqual({ x: expected });
    expect(nodeOf(trace, 1).input).toEqual({ x: expected });
  });

  test.each<[string, JsonObject, Json]>([
    ['REF-8', { id: 0, tool: 'bad', on_fail: 'continue' }, 'none'],
    [
      'and after a node that was skipped',
      { id: 0, tool: 'echo', on_fail: 'continue', inputs: { x: { $from: 9 } } },
      'none',
    ],
  ])('%s: the default', async (_name, node, expected) => {
    const { trace } = await run(tools, [
      { id: 9, tool: 'bad', on_fail: 'continue' },
      node,
      { id: 1, tool: 'echo', inputs: { x: '{{STEPS.0 | default: "none"}}' } },
    ]);
    expect(trace.output).toEqual({ x: expected });
  });

  test('REF-12: a text says what became of a step that has no value', async () => {
    const { trace } = await run(tools, [
      { id: 9, tool: 'bad', on_fail: 'continue' },
      { id: 8, tool: 'echo', on_fail: 'continue', inputs: { x: { $from: 9 } } },
      { id: 0, tool: 'step' },
      { id: 1, tool: 'echo', inputs: { x: '{{STEPS.0.response}}; {{STEPS.9.a}}; {{STEPS.8}}' } },
    ]);
    const { x } = trace.output as { readonly x: string };
    expect(x).toMatch(/^R; \[step 9 failed: broke\]; \[step 8 skipped: .+\]$/);
  });

  test('REF-20: by id, whatever the place', async () => {
    const { trace } = await run(tools, [
      { id: 3, tool: 'echo', inputs: { x: 'three' } },
      { id: 7, tool: 'echo', inputs: { x: '{{STEPS.3.x}}' } },
    ]);
    expect(trace.output).toEqual({ x: 'three' });
  });

  test('what a node is given belongs to nobody else', async () => {
    const spoil: Doing = (input) => {
      try {
        (input['x'] as { a: number }).a = 2;
      } catch {
        // It is frozen, which is one way not to be spoiled.
      }
      return input['x'];
    };
    const { trace } = await run(
      [...tools, tool('spoil', spoil)],
      [
        { id: 0, tool: 'step' },
        { id: 1, tool: 'spoil', inputs: { x: { $from: 0, path: 'result' } } },
        { id: 2, tool: 'echo', depends_on: [1], inputs: { x: { $from: 0, path: 'result' } } },
      ],
    );
    expect(trace.output).toEqual({ x: { a: 1 } });
  });
});

const data = fileURLToPath(new URL('../../../shared/data/plans/', import.meta.url));

describe.skipIf(!existsSync(data))('the real plans', () => {
  const load = (name: string): string => readFileSync(`${data}${name}`, 'utf8');
  const functions = new Map([
    ['google_search', 'run_google_search'],
    ['news_fetcher', 'run_news_fetcher'],
    ['deep_summarizer', 'run_deep_summarizer'],
    ['llm_caller', 'run_llm_tool'],
  ]);
  const openTool = (name: string, doing: Doing): Tool =>
    tool(name, doing, {
      inputSchema: { type: 'json-schema', schema: { type: 'object', additionalProperties: true } } as never,
    });
  const realTools = (search: Doing, calls: string[] = []): readonly Tool[] => [
    openTool('google_search', search),
    openTool('news_fetcher', search),
    openTool('deep_summarizer', ({ text }) => {
      calls.push(String(text));
      return { response: `summary of ${String(text)}` };
    }),
    openTool('llm_caller', ({ prompt }) => ({ response: `report: ${String(prompt)}`, prompt: prompt as Json })),
  ];
  const found: Doing = ({ query, raw_query: raw = query }) => ({ response: `about ${String(raw)}` });

  test('F1 runs as it was', async () => {
    const calls: string[] = [];
    const all = realTools(found, calls);
    const { trace } = await runReal('smith_dag_1776680299.json', all);
    expect(trace.status).toBe('succeeded');
    expect(calls).toEqual(['about AMD latest news AI chips\n\nabout Intel latest news AI chips']);
  });

  test("REAL-3: F2's last prompt is the response", async () => {
    const { trace } = await runReal('smith_dag_1776681654.json', realTools(found));
    const { response } = nodeOf(trace, 2).value as { readonly response: string };
    expect((trace.output as { readonly prompt: string }).prompt).toBe(response);
  });

  test('REAL-5: where both searches fail nothing is summed up', async () => {
    const calls: string[] = [];
    const { trace } = await runReal('smith_dag_1776680299.json', realTools(fail('offline'), calls));
    expect(kinds(trace)).toEqual(['failed', 'failed', 'skipped', 'skipped']);
    expect(nodeOf(trace, 2)).toMatchObject({ code: 'plan.inputs.unavailable', because: [0, 1] });
    expect([trace.status, trace.output, calls]).toEqual(['failed', undefined, []]);
  });

  test('REAL-7: retry 2, and the third attempt succeeds', async () => {
    const { trace } = await runReal('smith_dag_1776680299.json', realTools(failing(2, { response: 'there' })));
    expect(trace.status).toBe('succeeded');
    expect(nodeOf(trace, 0).attempts + nodeOf(trace, 1).attempts).toBe(4);
  });

  async function runReal(name: string, all: readonly Tool[]): Promise<Awaited<ReturnType<typeof runChecked>>> {
    const checked = await checkPlan(load(name), { tools: all, functions });
    if (checked.type !== 'valid') throw new Error(JSON.stringify(checked));
    return await runChecked(checked.checked, all);
  }
});
