import type { Json, JsonObject } from '@holdfast/core';
import { describe, expect, test } from 'vitest';
import { type Doing, echo, fail, nodeOf, ok, run, tool } from './test-run.ts';

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
        // Frozen, so no call can change it.
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
