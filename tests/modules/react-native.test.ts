import { ask, definePolicy, defineTool, type JsonObject, type ToolCall } from '@holdfast/core';
import { answerApproval, createBudget } from '@holdfast/executor';
import { createToolCatalog, type ReactOptions, react } from '@holdfast/modules';
import { createSession } from '@holdfast/session';
import { manualClock, type ScriptStep, scriptedModel } from '@holdfast/testing';
import { expect, test } from 'vitest';
import {
  boom,
  call,
  codeOf,
  goldTool,
  input,
  lastText,
  overflow,
  question,
  right,
  submit,
  toolMessages,
} from './test-react.ts';

const calls = (...asked: readonly ToolCall[]): ScriptStep => ({
  calls: asked,
  usage: { inputTokens: 10, outputTokens: 5 },
});

function setUp(script: readonly ScriptStep[], options: Partial<ReactOptions> = {}) {
  const gold = goldTool();
  const model = scriptedModel(script);
  const predictor = react(question, { model, tools: [gold.tool, boom], ...options });
  return { gold, model, predictor };
}

test('RCT-2: what a tool throws goes to the model without a stack and without a path', async () => {
  const { model, predictor } = setUp([calls(call('boom')), calls(submit())]);
  const { reason, history } = await predictor.run(input);
  expect(reason).toBe('submit');
  const [failed] = toolMessages(history);
  expect(failed).toMatchObject({ success: false, callId: 'call_0_0', name: 'boom' });
  expect(failed?.text).toContain('the vault at');
  expect(JSON.stringify(model.requests[1]?.messages)).not.toMatch(/keeper|vault\.ts|\.ts:12/);
});

test.each([
  { title: 'unknown argument', args: { player: 1, colour: 'red' }, names: 'colour' },
  { title: 'missing argument', args: {}, names: 'player' },
])('RCT-4: an $title is answered with its name', async ({ args, names }) => {
  const { gold, predictor } = setUp([calls(call('gold', args)), calls(submit())]);
  const { calls: made, history } = await predictor.run(input);
  expect(toolMessages(history)[0]).toMatchObject({ success: false, text: expect.stringContaining(names) });
  expect(made[0]?.outcome?.kind).toBe('invalid');
  expect(gold.runs).toEqual([]);
});

test('RCT-6: arguments that are not JSON are answered, and the loop continues', async () => {
  const { gold, predictor } = setUp([
    calls(call('gold', '{"player": ')),
    calls(call('gold', '{"player":1}')),
    calls(submit()),
  ]);
  const { reason, calls: made } = await predictor.run(input);
  expect(reason).toBe('submit');
  expect(made.map(({ outcome }) => outcome?.reason)).toEqual(['malformed', undefined]);
  expect(gold.runs).toHaveLength(1);
});

test('RCT-8: a submit at once ends the loop without a call', async () => {
  const { model, predictor } = setUp([calls(submit())]);
  const result = await predictor.run(input);
  expect(result).toMatchObject({ reason: 'submit', output: right, calls: [], iterations: 1, requests: 1 });
  expect(result.usage).toEqual({ inputTokens: 10, outputTokens: 5 });
  expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['boom', 'gold', 'submit']);
  expect(model.requests[0]?.tools[2]?.inputSchema).toMatchObject({ required: ['answer', 'sure'] });
});

test('RCT-10: two calls in one turn have ids, results in order, and a flag where one failed', async () => {
  const { model, predictor } = setUp([calls(call('gold', { player: 1 }), call('boom')), calls(submit())]);
  const { reason, calls: made, history, usage } = await predictor.run(input);
  expect(reason).toBe('submit');
  expect(made.map(({ id }) => id)).toEqual(['call_0_0', 'call_0_1']);
  expect(toolMessages(model.requests[1]?.messages ?? []).map(({ callId, success }) => [callId, success])).toEqual([
    ['call_0_0', true],
    ['call_0_1', false],
  ]);
  expect(toolMessages(history)).toHaveLength(3);
  expect(usage).toEqual({ inputTokens: 20, outputTokens: 10 });
});

test('RCT-12: a submit that lacks an output is answered, and the next one counts', async () => {
  const { model, predictor } = setUp([calls(submit({ answer: '100' })), calls(submit())]);
  const result = await predictor.run(input);
  expect(result).toMatchObject({ reason: 'submit', output: right, requests: 2 });
  expect(model.requests).toHaveLength(2);
  expect(toolMessages(model.requests[1]?.messages ?? [])[0]).toMatchObject({
    name: 'submit',
    success: false,
    text: expect.stringContaining('`sure`'),
  });
});

test('RCT-14: where the forced submit fails too, there is no answer, and the history is kept', async () => {
  const { model, predictor } = setUp(
    [calls(call('gold', { player: 1 })), calls(submit({ answer: 'maybe', sure: 'perhaps' }))],
    {
      maxIterations: 1,
    },
  );
  const result = await predictor.run(input);
  expect(result).toMatchObject({
    reason: 'max-iterations',
    output: { answer: 'maybe' },
    error: { code: 'modules.stopped', reason: 'max_iterations', recoverable: false },
    iterations: 1,
    requests: 2,
  });
  expect(model.requests[1]?.tools.map(({ name }) => name)).toEqual(['submit']);
  expect(lastText(model.requests[1])).toContain('submit');
  expect(toolMessages(result.history).map(({ name, success }) => [name, success])).toEqual([
    ['gold', true],
    ['submit', false],
  ]);
});

test('the forced submit is a reason of its own', async () => {
  const { predictor } = setUp([calls(call('gold', { player: 1 })), calls(call('gold', { player: 2 }), submit())], {
    maxIterations: 1,
  });
  const result = await predictor.run(input);
  expect(result).toMatchObject({ reason: 'forced-submit', output: right });
  // Nothing else was offered, so nothing else is run.
  expect(result.calls.map(({ outcome }) => outcome?.kind)).toEqual(['ok', undefined]);
});

test('RCT-16: the oldest round is left out, at most three times for one request', async () => {
  const rounds = Array.from({ length: 5 }, (_, index) => calls(call('gold', { player: index + 1 })));
  const { model, predictor } = setUp([...rounds, overflow(), overflow(), calls(submit())]);
  const result = await predictor.run(input);
  expect(result).toMatchObject({ reason: 'submit', iterations: 6, requests: 8 });
  const shown = model.requests.slice(5).map(({ messages }) => toolMessages(messages).map(({ callId }) => callId));
  expect(shown).toEqual([
    ['call_0_0', 'call_1_0', 'call_2_0', 'call_3_0', 'call_4_0'],
    ['call_1_0', 'call_2_0', 'call_3_0', 'call_4_0'],
    ['call_2_0', 'call_3_0', 'call_4_0'],
  ]);
  // Text left out for the model is not lost.
  expect(toolMessages(result.history)).toHaveLength(6);
});

test.each([
  { rounds: 5, requests: 9 },
  { rounds: 2, requests: 4 },
  { rounds: 0, requests: 1 },
])('RCT-16: with $rounds rounds that stay too long the error is typed', async ({ rounds, requests }) => {
  const said = Array.from({ length: rounds }, () => calls(call('gold', { player: 1 })));
  const { model, predictor } = setUp([...said, overflow(), overflow(), overflow(), overflow()]);
  const result = await predictor.run(input);
  expect(result).toMatchObject({
    reason: 'failed',
    error: { code: 'modules.failed', reason: 'context_overflow' },
  });
  expect(model.requests).toHaveLength(requests);
});

test.each(['Gold', 'GOLD', 'gold_', 'go-ld', 'Submit', 'constructor', '__proto__'])(
  'RCT-18: `%s` is not a tool, and the model gets the names',
  async (name) => {
    const { gold, predictor } = setUp([calls(call(name, { player: 1, ...right })), calls(submit())]);
    const { history, reason } = await predictor.run(input);
    expect(reason).toBe('submit');
    const [told] = toolMessages(history);
    expect(told).toMatchObject({ name, success: false });
    expect(told?.text).toContain(`Tool not found: ${name}`);
    for (const known of ['boom', 'gold', 'submit']) expect(told?.text).toContain(`\`${known}\``);
    expect(gold.runs).toEqual([]);
  },
);

test('RCT-20: a value below the minimum does not reach the tool; place and message reach the model', async () => {
  const { gold, predictor } = setUp([calls(call('gold', { player: 0 })), calls(submit())]);
  const { history } = await predictor.run(input);
  expect(toolMessages(history)[0]?.text).toContain('`player`: players are numbered from 1');
  expect(gold.runs).toEqual([]);
});

test('a submit waits for the calls before it, and those behind it are not run', async () => {
  const asked = calls(call('gold', { player: 1 }), submit(), call('gold', { player: 2 }), submit());
  const { gold, predictor } = setUp([asked]);
  const { reason, output, history, calls: made } = await predictor.run(input);
  expect({ reason, output }).toEqual({ reason: 'submit', output: right });
  expect(gold.runs).toHaveLength(1);
  expect(made.map(({ id, outcome }) => [id, outcome?.kind])).toEqual([
    ['call_0_0', 'ok'],
    ['call_0_2', undefined],
  ]);
  expect(toolMessages(history).map(({ callId, success, text }) => [callId, success, text.slice(0, 8)])).toEqual([
    ['call_0_0', true, expect.anything()],
    ['call_0_1', true, 'Submitte'],
    ['call_0_2', false, 'Not run:'],
    ['call_0_3', false, 'Not run:'],
  ]);
});

test('a dangerous call behind a submit withholds no answer; one behind a submit that was refused is asked about', async () => {
  const policies = [definePolicy({ name: 'ask', check: () => ask('Why?') })];
  const behind = call('gold', { player: 1 });
  expect(await setUp([calls(submit(), behind)], { policies }).predictor.run(input)).toMatchObject({
    reason: 'submit',
    output: right,
  });
  const refused = setUp([calls(submit({ answer: '100' }), behind)], { policies });
  expect(await refused.predictor.run(input)).toMatchObject({ reason: 'suspended' });
});

test('a message without a call is answered, and counts', async () => {
  const { model, predictor } = setUp([{ text: 'It is 100.' }, calls(submit())], { maxIterations: 2 });
  expect(await predictor.run(input)).toMatchObject({ reason: 'submit', iterations: 2 });
  expect(model.requests[1]?.messages.at(-1)).toMatchObject({ role: 'user', text: expect.stringContaining('submit') });
});

test('ids of the provider and its metadata go back as they came; an id that is taken is replaced', async () => {
  const given = { type: 'finish', reason: 'tool-calls', providerMetadata: { thinking: 'x' } } as const;
  const gold = goldTool();
  const turns: readonly (readonly ToolCall[])[] = [
    [call('gold', { player: 1 }, 'a'), call('gold', { player: 3 }, 'call_1_0')],
    [call('gold', { player: 4 }), call('gold', { player: 5 }, 'a')],
    [submit()],
  ];
  const asked: unknown[] = [];
  const model = {
    id: 'test:ids',
    async *stream({ messages }: { readonly messages: readonly unknown[] }) {
      asked.push([...messages]);
      for (const one of turns[asked.length - 1] ?? []) yield { type: 'tool-call' as const, ...one };
      yield given;
    },
  };
  const { calls: made, history } = await react(question, { model, tools: [gold.tool] }).run(input);
  const ids = made.map(({ id }) => id);
  expect(ids.slice(0, 2)).toEqual(['a', 'call_1_0']);
  expect(new Set(ids).size).toBe(4);
  const assistants = history.filter((message) => message.role === 'assistant');
  expect(assistants.map(({ providerMetadata }) => providerMetadata)).toEqual(Array(3).fill({ thinking: 'x' }));
  expect(assistants.flatMap((message) => message.calls.map(({ id }) => id))).toEqual(
    toolMessages(history).map(({ callId }) => callId),
  );
});

test('calls of a message that was cut are not run, and it does not count as an answer', async () => {
  const { gold, predictor } = setUp([
    { calls: [call('gold', { player: 1 }), submit()], finish: 'length' },
    calls(submit()),
  ]);
  const { reason, requests, calls: made } = await predictor.run(input);
  expect({ reason, requests }).toEqual({ reason: 'submit', requests: 2 });
  expect(made[0]?.outcome).toBeUndefined();
  expect(gold.runs).toEqual([]);
});

test('a tool that is registered meanwhile is offered in the next round', async () => {
  const catalog = createToolCatalog();
  const late = defineTool({ name: 'late', description: 'Comes late.', effects: 'none', execute: () => 'there' });
  catalog.register(
    defineTool({
      name: 'teach',
      description: 'Makes a tool.',
      effects: 'none',
      execute: () => {
        catalog.register(late);
        return 'done';
      },
    }),
  );
  const { model, predictor } = setUp([calls(call('teach')), calls(call('late')), calls(submit())], { tools: catalog });
  const { calls: made } = await predictor.run(input);
  expect(model.requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([
    ['teach', 'submit'],
    ['late', 'teach', 'submit'],
    ['late', 'teach', 'submit'],
  ]);
  expect(made.map(({ outcome }) => outcome?.kind)).toEqual(['ok', 'ok']);
});

test('a tool that is called as the submit is, is refused', async () => {
  const taken = defineTool({ name: 'submit', description: 'Mine.', effects: 'none', execute: () => null });
  expect(() => setUp([], { tools: [taken] })).toThrow(
    expect.objectContaining({ code: 'modules.invalid', reason: 'tool_reserved' }),
  );
  const catalog = createToolCatalog();
  const { predictor } = setUp([], { tools: catalog });
  catalog.register(taken);
  expect(await codeOf(predictor.run(input))).toBe('modules.invalid: tool_reserved');
});

test('what the model throws ends the run, and invoke rejects with it', async () => {
  const thrown = new Error('the line is dead');
  const script: ScriptStep[] = [calls(call('gold', { player: 1 })), { throw: thrown }];
  expect(await setUp(script).predictor.run(input)).toMatchObject({
    reason: 'failed',
    error: { code: 'modules.failed', reason: 'model', recoverable: true, kind: 'ModelFailed' },
    calls: [{ id: 'call_0_0' }],
  });
  await expect(setUp(script).predictor.invoke(input)).rejects.toMatchObject({
    code: 'modules.failed',
    reason: 'model',
    cause: thrown,
  });
});

test('invoke gives the prediction, and rejects where there is no answer', async () => {
  const prediction = await setUp([calls(call('gold', { player: 1 })), calls(submit())]).predictor.invoke(input);
  expect(prediction).toEqual({ output: right, usage: { inputTokens: 20, outputTokens: 10 }, requests: 2 });
  const never = setUp([{ text: '' }, { text: '' }], { maxIterations: 1 }).predictor;
  expect(await codeOf(never.invoke(input))).toBe('modules.stopped: max_iterations');
});

test('an aborted signal ends the run with what was reached, and rejects an invoke with its reason', async () => {
  const controller = new AbortController();
  const reason = new Error('enough');
  const stop: ScriptStep = () => {
    controller.abort(reason);
    return { calls: [call('gold', { player: 1 })] };
  };
  const first = calls(call('gold', { player: 1 }));
  const { gold, predictor } = setUp([first, stop]);
  const result = await predictor.run(input, { signal: controller.signal });
  expect(result).toMatchObject({ reason: 'aborted', calls: [{ id: 'call_0_0' }] });
  expect(gold.runs).toHaveLength(1);
  const again = setUp([first]);
  await expect(again.predictor.invoke(input, { signal: controller.signal })).rejects.toBe(reason);
  expect(again.model.requests).toHaveLength(0);
});

test('time that is over ends the run, also while the model says nothing', async () => {
  const clock = manualClock();
  const silent: ScriptStep = () => {
    clock.advance(1_000);
    return new Promise<never>(() => undefined);
  };
  const { predictor } = setUp([calls(call('gold', { player: 1 })), silent], { clock, timeoutMs: 1_000 });
  expect(await predictor.run(input)).toMatchObject({ reason: 'deadline', iterations: 2 });
});

test.each([
  { title: 'tokens', budget: createBudget({ maxTokens: 20 }), ran: 1, requests: 2 },
  { title: 'calls', budget: createBudget({ maxCalls: 1 }), ran: 1, requests: 2 },
])('a budget of $title ends the run', async ({ budget, ran, requests }) => {
  const again = calls(call('gold', { player: 1 }));
  const { gold, model, predictor } = setUp([again, again, again, again], { budget });
  const result = await predictor.run(input);
  expect(result.reason).toBe('budget');
  expect(gold.runs).toHaveLength(ran);
  expect(model.requests).toHaveLength(requests);
});

test('no more than 16 calls of a message are run', async () => {
  const many = Array.from({ length: 18 }, (_, index) => call('gold', { player: index + 1 }));
  const { gold, predictor } = setUp([calls(...many, submit())]);
  const { reason, calls: made, history } = await predictor.run(input);
  expect(reason).toBe('submit');
  expect(gold.runs).toHaveLength(16);
  expect(made.map(({ outcome }) => outcome === undefined)).toEqual([...Array(16).fill(false), true, true]);
  expect(toolMessages(history)).toHaveLength(19);
});

test('a result is cut to what the model may be shown; the log has all of it', async () => {
  const big = defineTool({ name: 'big', description: 'Much.', effects: 'none', execute: () => 'x'.repeat(1_000_000) });
  const { predictor } = setUp([calls(call('big')), calls(submit())], { tools: [big], maxResultChars: 1_000 });
  const { history, calls: made } = await predictor.run(input);
  expect(toolMessages(history)[0]?.text.length).toBeLessThan(1_200);
  expect(made[0]?.outcome?.rendered.length).toBeGreaterThan(1_000_000);
});

test('a call that a person has to answer for suspends the run, which goes on in order afterwards', async () => {
  const session = createSession();
  const asking = definePolicy({ name: 'asking', check: () => ask('A person must look.') });
  const script = [
    calls(call('gold', { player: 1 }, 'p'), call('gold', { player: 2 }), submit()),
    calls(call('gold', { player: 3 })),
  ];
  const options = { session, policies: [asking] };
  const before = setUp(script, options);
  const suspended = await before.predictor.run(input);
  expect(suspended).toMatchObject({
    reason: 'suspended',
    calls: [
      { id: 'p', text: 'Waiting for approval.' },
      { id: 'call_0_1', text: 'Waiting for an earlier call.' },
    ],
    iterations: 1,
    requests: 1,
  });
  if (suspended.reason !== 'suspended') return;
  expect(before.gold.runs).toEqual([]);
  // JSON: it may have been kept anywhere.
  let state: JsonObject = JSON.parse(JSON.stringify(suspended.state));
  await answerApproval(session, suspended.pending[0]?.callId ?? '', { type: 'approve' });

  const after = setUp([], options);
  const again = await after.predictor.resume(state);
  expect(again).toMatchObject({
    reason: 'suspended',
    calls: [{ id: 'p', outcome: { kind: 'ok' } }, { id: 'call_0_1' }],
  });
  if (again.reason !== 'suspended') return;
  state = JSON.parse(JSON.stringify(again.state));
  await answerApproval(session, again.pending[0]?.callId ?? '', { type: 'deny' });
  const done = await after.predictor.resume(state);
  expect(done).toMatchObject({ reason: 'submit', output: right, iterations: 1, requests: 1 });
  expect(done.calls.map(({ id, outcome }) => [id, outcome?.kind])).toEqual([
    ['p', 'ok'],
    ['call_0_1', 'denied'],
  ]);
  expect(after.gold.runs.map(({ player }) => player)).toEqual([1]);
});

test.each([{}, { type: 'else' }, { type: 'react', rounds: 3 }])('%j is not a state to resume from', async (state) => {
  expect(await codeOf(setUp([]).predictor.resume(state))).toBe('modules.invalid: state');
});

test.each([0, -1, 1.5, Number.NaN])('a limit of %d is refused', (maxIterations) => {
  expect(() => setUp([], { maxIterations })).toThrow(expect.objectContaining({ code: 'options.invalid' }));
});

test('the same input gives the same bytes, and a wrong one is refused', async () => {
  const { predictor } = setUp([]);
  expect(JSON.stringify(predictor.render(input))).toBe(JSON.stringify(setUp([]).predictor.render(input)));
  // @ts-expect-error: the input is wrong.
  expect(await codeOf(predictor.run({ query: 1 }))).toBe('modules.invalid: input');
});

const circle: { self?: unknown } = {};
circle.self = circle;

test.each<[title: string, hostile: object]>([
  ['no name', { arguments: {} }],
  ['a name that is not text', { name: 7, arguments: {} }],
  ['an id that is not text', { id: {}, name: 'gold', arguments: {} }],
  ['a circle', { name: 'gold', arguments: circle }],
  ['a value that is not JSON', { name: 'gold', arguments: { player: 1n, call: () => 1 } }],
  [
    'a property that throws',
    { name: 'gold', arguments: Object.defineProperty({}, 'player', { enumerable: true, get: fail }) },
  ],
  ['no arguments', { name: 'gold' }],
  ['null', { name: 'gold', arguments: null }],
  ['a list', { name: 'gold', arguments: [1] }],
  ['deep nesting', { name: 'gold', arguments: `{"player":${'['.repeat(200)}${']'.repeat(200)}}` }],
  ['two million characters', { name: 'gold', arguments: `"${'x'.repeat(2_000_000)}"` }],
])('a call with %s is answered, and the loop goes on', async (_, hostile) => {
  const { gold, model, predictor } = setUp([{ calls: [hostile as ToolCall] }, calls(submit())]);
  const { reason, calls: made, history } = await predictor.run(input);
  expect(reason).toBe('submit');
  expect(made).toHaveLength(1);
  expect(made[0]?.outcome?.kind).toMatch(/^(invalid|unknown-tool)$/);
  expect(toolMessages(history)[0]).toMatchObject({ callId: 'call_0_0', success: false });
  expect(gold.runs).toEqual([]);
  // It goes back to a provider.
  expect(() => JSON.stringify(model.requests[1]?.messages)).not.toThrow();
});

function fail(): never {
  throw new Error('not to be read');
}

test('a tool that takes the name of the submit meanwhile is not offered', async () => {
  const taken = defineTool({ name: 'submit', description: 'Mine.', effects: 'none', execute: () => 'mine' });
  const catalog = createToolCatalog();
  const taking = defineTool({
    name: 'taking',
    description: 'Takes it.',
    effects: 'none',
    execute: () => catalog.register(taken) ?? 'done',
  });
  catalog.register(taking);
  const { model, predictor } = setUp([calls(call('taking')), calls(submit())], { tools: catalog });
  expect(await predictor.run(input)).toMatchObject({ reason: 'submit', output: right });
  expect(model.requests[1]?.tools.map(({ name }) => name)).toEqual(['taking', 'submit']);
});

test('render gives what the model is asked with first', async () => {
  const { model, predictor } = setUp([calls(submit())], { demos: [{ inputs: input, outputs: { ...right } }] });
  await predictor.run(input);
  expect(model.requests[0]?.messages).toEqual(predictor.render(input));
});

test('complete demos are shown as submits, others not', () => {
  const { predictor } = setUp([], {
    demos: [
      { inputs: { question: 'One?' }, outputs: { ...right } },
      { inputs: { question: 'Two?' }, outputs: { answer: '2' } },
    ],
  });
  const [system, user, assistant, told, last] = predictor.render(input);
  expect(system?.text).toContain('Answer the question about gold.');
  expect(user?.text).toContain('One?');
  expect(assistant).toMatchObject({ role: 'assistant', calls: [{ name: 'submit', arguments: right }] });
  expect(told).toMatchObject({ role: 'tool', success: true });
  expect(last).toMatchObject({ role: 'user', text: expect.stringContaining('How much?') });
});
