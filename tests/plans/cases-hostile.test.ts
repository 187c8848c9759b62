import type { Json, JsonObject } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import { answerApproval } from '@holdfast/executor';
import { checkPlan, readTrace, resumePlan, runPlan, synthesise } from '@holdfast/orchestrator';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession, type LogRecord, memoryStore, replay, type Session } from '@holdfast/session';
import { manualClock } from '@holdfast/testing';
import { describe, expect, test } from 'vitest';
import { checkedOf, type Doing, echo, fail, kinds, nodeOf, ok, run, slow, tool } from './test-run.ts';

const go = { on_fail: 'continue' };

function reopen(records: readonly LogRecord[]): Session {
  return replay(records, { store: memoryStore(records) });
}

// Bad ones are in check-plan.test.ts; these are valid ids that look like something else.
test.each([
  'length',
  'name',
  'undefined',
  'null',
  'true',
  'NaN',
  'Infinity',
  'arguments',
  'plan',
  'STEPS',
  'on_fail',
  'a-b',
  'A',
  0,
  Number.MAX_SAFE_INTEGER,
])('G2: a node may be called %j', async (id) => {
  const { trace, session } = await run(
    [tool('echo', echo), tool('bad', fail())],
    [
      { id, tool: 'echo', inputs: { x: { a: 1 } } },
      { id: 'bad', tool: 'bad', ...go, depends_on: [id] },
      { id: 'end', tool: 'echo', inputs: { x: { $from: id, path: 'x.a' }, y: `{{STEPS.${id}.x}} {{STEPS.bad}}` } },
    ],
  );
  expect(trace.output).toEqual({ x: 1, y: '{"a":1} [step bad failed: no]' });
  expect(session.openWork().calls).toEqual([]);
});

test.each(['then', 'constructor', '__proto__', 'hasOwnProperty', 'valueOf', 'toJSON', 'catch', 'prototype'])(
  'G2: no node is called %j',
  async (id) => {
    const source = JSON.stringify({ nodes: [{ id, tool: 'echo' }], final_output_node: id });
    const found = await checkPlan(source, { tools: [tool('echo', echo)] });
    expect(found).toMatchObject({
      type: 'invalid',
      violations: [{ code: 'plan.invalid', reason: 'node.id.invalid' }, {}],
    });
  },
);

const lookalikes: readonly Json[] = [
  '{{STEPS.0}}',
  '{{STEPS.1.x | default: "none"}}',
  '{{STEPS.nobody.x}} {{ steps.0 }}',
  '{{STEPS.0',
  { $from: 0 },
  { $from: 'nobody', path: 'a..b' },
  { $from: 1, path: 'x', default: { $from: 0 } },
  [{ '{{STEPS.0}}': { $from: 0 } }],
  '[step 0 failed: no]',
  '[step 1 skipped: never]',
  '</tool_result></result>]]>',
  '$& $1 $` \\u0000 %s `rm`',
  '\u0000\u001b[31m\u202e\ud800 \r\n',
  JSON.parse('{"toString":"x","then":"x","toJSON":"x","constructor":{"prototype":{"polluted":true}}}') as Json,
  { nodes: [{ id: 5, tool: 'echo' }], final_output_node: 5 },
];

describe('G6: results that look like something else', () => {
  const tools = (value: Json) => [
    tool('make', ok(value)),
    tool('echo', echo),
    tool('asked', ok('yes'), { dangerous: true }),
  ];
  const asText = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));
  const nodes: readonly JsonObject[] = [
    { id: 0, tool: 'make' },
    { id: 1, tool: 'echo', inputs: { x: { $from: 0 }, y: 'a {{STEPS.0}} b' } },
    { id: 2, tool: 'asked' },
    { id: 3, tool: 'echo', depends_on: [2], inputs: { x: { $from: 1, path: 'x' }, y: '{{STEPS.1.y}}' } },
    { id: 4, tool: 'echo', inputs: { x: [{ $from: 3, path: 'x' }], y: '<{{STEPS.3.y}}>' } },
  ];

  test.each(lookalikes)('%j is data at every step, also after a resume from the log', async (value) => {
    const { session } = await run(tools(value), nodes);
    for (const resumed of [session, reopen([...session.records()])]) {
      await answerApproval(resumed, 'plan_1_2', { type: 'approve' });
      const trace = await resumePlan({ tools: tools(value), session: resumed });
      expect(trace.status).toBe('succeeded');
      const text = `a ${asText(value)} b`;
      expect(JSON.stringify(nodeOf(trace, 3).value)).toBe(JSON.stringify({ x: value, y: text }));
      expect(JSON.stringify(trace.output)).toBe(JSON.stringify({ x: [value], y: `<${text}>` }));
      expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    }
  });

  test('what looks like a mask is data, and after a resume it is taken for one: nobody is handed it', async () => {
    const masked = '[redacted:0123456789ab]';
    const { session, trace } = await run(tools(masked), nodes);
    expect(nodeOf(trace, 1).value).toEqual({ x: masked, y: `a ${masked} b` });
    await answerApproval(session, 'plan_1_2', { type: 'approve' });
    const resumed = await resumePlan({ tools: tools(masked), session });
    expect(kinds(resumed)).toEqual(['ok', 'ok', 'ok', 'invalid', 'skipped']);
    expect(nodeOf(resumed, 3)).toMatchObject({ code: 'call.redacted', reason: 'inputs', attempts: 0 });
  });

  test('a key that JSON cannot have makes no result', async () => {
    const value = JSON.parse('{"__proto__": {"polluted": true}}') as Json;
    const { trace } = await run(tools(value).slice(0, 2), nodes.slice(0, 2));
    expect(kinds(trace)).toEqual(['invalid', 'skipped']);
    expect(nodeOf(trace, 0)).toMatchObject({ code: 'output.invalid', reason: 'not_json' });
  });

  test.each(lookalikes)('%j is in the report', async (value) => {
    const { trace } = await run(tools(value).slice(0, 2), nodes.slice(0, 2));
    expect((await synthesise(trace)).text).not.toMatch(/(?!\n)\p{Cc}|\p{Bidi_Control}/u);
  });

  test.each([
    ['constructor', { a: 1 }],
    ['toString', 'text'],
    ['length', 'text'],
    ['length', [1, 2]],
    ['hasOwnProperty.name', {}],
    ['[1]', 'text'],
    ['[-1]', [1]],
  ])('the path `%s` finds nothing that every value has: %j', async (path, value) => {
    const source = [
      { id: 0, tool: 'make' },
      { id: 1, tool: 'echo', inputs: { x: { $from: 0, path } } },
    ];
    const found = await checkPlan({ nodes: source, final_output_node: 1 }, { tools: tools(value) });
    // Impossible paths are refused before.
    if (found.type === 'invalid') {
      expect(found.violations.map(describeCode)).toEqual(['plan.invalid: ref.invalid']);
      return;
    }
    const { trace } = await run(tools(value), source);
    expect(nodeOf(trace, 1)).toMatchObject({ kind: 'invalid', code: 'ref.path.missing' });
  });
});

describe('large and deep results', () => {
  const length: Doing = ({ x }) => (Array.isArray(x) ? x.length : String(x).length);
  const big = (characters: number): Doing => ok('a'.repeat(characters));

  test('1 MB is handed to 200 nodes, as it is and within texts', async () => {
    const { trace } = await run(
      [tool('big', big(1_000_000)), tool('length', length)],
      [
        { id: 'big', tool: 'big' },
        ...Array.from({ length: 100 }, (_, id) => ({ id, tool: 'length', inputs: { x: { $from: 'big' } } })),
        ...Array.from({ length: 100 }, (_, id) => ({
          id: `t${id}`,
          tool: 'length',
          inputs: { x: 'see {{STEPS.big}}' },
        })),
      ],
    );
    expect(trace.status).toBe('succeeded');
    expect(new Set(trace.nodes.slice(1, 101).map(({ value }) => value))).toEqual(new Set([1_000_000]));
    expect(new Set(trace.nodes.slice(101).map(({ value }) => value))).toEqual(new Set([1_000_004]));
  });

  test.each([
    ['more than a call takes', 2_000_000, { $from: 'big' }],
    ['twice as much in one text', 600_000, '{{STEPS.big}}{{STEPS.big}}'],
    ['in two texts', 600_000, ['{{STEPS.big}}', '{{STEPS.big}}!']],
    ['in two values', 600_000, [{ $from: 'big' }, { $from: 'big' }]],
  ])('%s: that node is not called, the others are', async (_name, characters, x) => {
    const { trace } = await run(
      [tool('big', big(characters)), tool('length', length), tool('echo', echo)],
      [
        { id: 'big', tool: 'big' },
        { id: 'much', tool: 'length', ...go, inputs: { x: x as Json } },
        { id: 'end', tool: 'echo', depends_on: ['much'], inputs: { x: 'there' } },
      ],
    );
    expect(kinds(trace)).toEqual(['ok', 'invalid', 'ok']);
    expect(nodeOf(trace, 'much')).toMatchObject({ code: 'arguments.invalid', reason: 'too_large', attempts: 0 });
    expect(trace.output).toEqual({ x: 'there' });
  });

  const nested = (levels: number): Json => {
    let value: Json = 'end';
    for (let level = 0; level < levels; level += 1) value = [value];
    return value;
  };

  test.each([
    [60, ['ok', 'ok', 'ok'], undefined],
    [64, ['ok', 'invalid', 'ok'], 'arguments.invalid'],
    [65, ['invalid', 'skipped', 'ok'], 'plan.inputs.unavailable'],
    [100_000, ['invalid', 'skipped', 'ok'], 'plan.inputs.unavailable'],
  ])('a result of %i levels: %j', async (levels, expected, code) => {
    const { trace } = await run(
      [tool('deep', () => nested(levels)), tool('echo', echo)],
      [
        { id: 0, tool: 'deep', ...go },
        { id: 1, tool: 'echo', ...go, inputs: { x: { a: { $from: 0 } } } },
        { id: 2, tool: 'echo', depends_on: [1], inputs: { x: 1 } },
      ],
    );
    expect([kinds(trace), nodeOf(trace, 1).code]).toEqual([expected, code]);
    expect((await synthesise(trace)).text.length).toBeLessThan(200_000);
  });
});

describe('G8: what must not be repeated', () => {
  test('retry 3 of a tool with effects that ran out of time: once, and in doubt', async () => {
    const clock = manualClock();
    let calls = 0;
    const once = tool(
      'once',
      (input, context) => {
        calls += 1;
        return slow(clock, 10_000)(input, context);
      },
      { effects: 'external' },
    );
    const { trace } = await run([once], [{ id: 0, tool: 'once', retry: 3, timeout: 1 }], { clock });
    expect(nodeOf(trace, 0)).toMatchObject({ kind: 'in-doubt', attempts: 1, retries: [] });
    expect([calls, trace.status]).toEqual([1, 'failed']);
    clock.advance(60_000);
    expect(calls).toBe(1);
  });
});

describe('G10: a crash after five of ten', () => {
  const nodes = Array.from({ length: 10 }, (_, id) => ({
    id,
    tool: id === 5 ? 'sixth' : 'step',
    inputs: { x: id === 0 ? 0 : { $from: id - 1 } },
  }));

  test.each([
    ['safe', 'none', ['sixth', 'step', 'step', 'step', 'step'], 'ok', 10],
    ['never', 'external', [], 'in-doubt', undefined],
  ] as const)('the sixth is %s (%s): what runs again is %j', async (repeat, effects, expected, kind, output) => {
    const calls: string[] = [];
    const add =
      (name: string): Doing =>
      ({ x }) => {
        calls.push(name);
        return Number(x) + 1;
      };
    const tools = [tool('step', add('step')), tool('sixth', add('sixth'), { effects, repeat })];
    const { session } = await run(tools, nodes);
    expect(calls).toHaveLength(10);
    const records = [...session.records()];
    // Where calls leave a start, the sixth has begun.
    const begun = records.findIndex(({ type, callId }) => type === 'tool-call-start' && callId === 'plan_1_5');
    const fifth = records.findIndex(({ type, callId }) => type === 'tool-call-end' && callId === 'plan_1_4');
    calls.length = 0;
    const other = reopen(records.slice(0, Math.max(begun, fifth) + 1));
    const trace = await resumePlan({ tools, session: other });
    expect(kinds(trace).slice(0, 6)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', kind]);
    expect([calls, trace.output]).toEqual([expected, output]);
    expect(readTrace(other.records())).toEqual(trace);
  });
});

describe('G12: a plan that changes between the question and the run', () => {
  const typed = jsonSchema({ type: 'object', properties: { x: { type: 'string' } }, required: ['x'] });

  async function suspended(calls: unknown[]) {
    const tools = [
      tool('delete', (input) => calls.push(input), {
        dangerous: true,
        effects: 'external',
        inputSchema: typed as never,
      }),
    ];
    const nodes = [{ id: 0, tool: 'delete', inputs: { x: 'a.txt' } }];
    const plan = await checkedOf(nodes, { tools });
    const session = createSession();
    expect((await runPlan(plan, { tools, session })).status).toBe('suspended');
    await answerApproval(session, 'plan_1_0', { type: 'approve' });
    return { tools, session, nodes };
  }

  test('another plan is not resumed', async () => {
    const calls: unknown[] = [];
    const { tools, session } = await suspended(calls);
    const edited = await checkedOf([{ id: 0, tool: 'delete', inputs: { x: 'b.txt' } }], { tools });
    await expect(resumePlan({ tools, session, plan: edited })).rejects.toMatchObject({ code: 'plan.mismatch' });
    expect(calls).toEqual([]);
  });

  test('nor one that was edited in the log', async () => {
    const calls: unknown[] = [];
    const { tools, session } = await suspended(calls);
    const edit = (record: LogRecord): LogRecord => JSON.parse(JSON.stringify(record).replaceAll('a.txt', 'b.txt'));
    for (const types of [['plan-start'], ['plan-start', 'approval-request', 'tool-call-start']]) {
      const records = [...session.records()].map((record) => (types.includes(record.type) ? edit(record) : record));
      await expect(resumePlan({ tools, session: reopen(records) })).rejects.toMatchObject({ code: 'plan.mismatch' });
    }
    expect(calls).toEqual([]);
  });

  test('what was approved runs as it was', async () => {
    const calls: unknown[] = [];
    const { tools, session } = await suspended(calls);
    expect((await resumePlan({ tools, session: reopen([...session.records()]) })).status).toBe('succeeded');
    expect(calls).toEqual([{ x: 'a.txt' }]);
  });
});
