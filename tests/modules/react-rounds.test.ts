import { ask, definePolicy, defineTool, type JsonObject, type ToolCall } from '@holdfast/core';
import { answerApproval, createBudget } from '@holdfast/executor';
import { createToolCatalog, defineSignature, type ReactOptions, react } from '@holdfast/modules';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession } from '@holdfast/session';
import { manualClock, type ScriptStep, scriptedModel } from '@holdfast/testing';
import { describe, expect, test } from 'vitest';
import {
  call,
  extracted,
  goldTool,
  input,
  overflow,
  question,
  right,
  step,
  submit,
  toolMessages,
} from './test-react.ts';

const usage = { inputTokens: 10, outputTokens: 5 };
const calls = (...asked: readonly ToolCall[]): ScriptStep => ({ calls: asked, usage });

function setUp(script: readonly ScriptStep[], options: Partial<ReactOptions> = {}) {
  const gold = goldTool();
  const model = scriptedModel(script);
  return { gold, model, predictor: react(question, { model, tools: [gold.tool], ...options }) };
}

const asking = definePolicy({ name: 'asking', check: () => ask('A person must look.') });

test('what was called before the call that waited is answered as it ended, each in its place', async () => {
  const session = createSession();
  const options = { session, policies: [asking] };
  const asked = calls(
    call('gold', { player: 1 }, 'p'),
    call('none'),
    call('gold', { player: 2 }),
    call('gold', { player: 3 }),
    submit(),
  );
  let result = await setUp([asked], options).predictor.run(input);
  for (const _ of ['first', 'second', 'third']) {
    if (result.reason !== 'suspended') throw new Error(`It ended: ${result.reason}.`);
    const state: JsonObject = JSON.parse(JSON.stringify(result.state));
    await answerApproval(session, result.pending[0]?.callId ?? '', { type: 'approve' });
    result = await setUp([], options).predictor.resume(state);
  }
  expect(result).toMatchObject({ reason: 'submit', output: right });
  expect(toolMessages(result.history).map(({ callId, success, text }) => [callId, success, text.slice(0, 14)])).toEqual(
    [
      ['p', true, '{"gold":100,"u'],
      ['call_0_1', false, 'Tool not found'],
      ['call_0_2', true, '{"gold":200,"u'],
      ['call_0_3', true, '{"gold":300,"u'],
      ['call_0_4', true, 'Submitted.'],
    ],
  );
});

test('ids of the rounds before a suspension are taken', async () => {
  const session = createSession();
  const options = { session, policies: [asking] };
  const first = await setUp([calls(call('gold', { player: 1 }, 'p'))], options).predictor.run(input);
  if (first.reason !== 'suspended') throw new Error(`It ended: ${first.reason}.`);
  await answerApproval(session, first.pending[0]?.callId ?? '', { type: 'approve' });
  const after = setUp([calls(call('none', {}, 'p')), calls(submit())], options);
  const { calls: made } = await after.predictor.resume(JSON.parse(JSON.stringify(first.state)));
  expect(made.map(({ id }) => id)).toEqual(['p', 'call_1_0']);
});

test('of two submits in one message the first counts, and the other is told so', async () => {
  const { predictor } = setUp([calls(submit(), submit({ answer: 'another', sure: false }))]);
  const { output, history } = await predictor.run(input);
  expect(output).toEqual(right);
  expect(toolMessages(history).map(({ success, text }) => [success, text])).toEqual([
    [true, 'Submitted.'],
    [false, 'Not run: the answer was already submitted.'],
  ]);
});

test('the forced submit has an id of its own round', async () => {
  const { predictor } = setUp([calls(call('gold', { player: 1 })), calls(submit())], { maxIterations: 1 });
  const { history } = await predictor.run(input);
  expect(toolMessages(history).map(({ callId }) => callId)).toEqual(['call_0_0', 'call_1_0']);
});

test('no message is empty: no provider takes one', async () => {
  const { model, predictor } = setUp([{ text: '' }, calls(submit())]);
  await predictor.run(input);
  expect(model.requests[1]?.messages.map(({ text }) => text)).not.toContain('');
});

test('the model is offered the same list as long as no tool is added, and cannot change it', async () => {
  const { model, predictor } = setUp([calls(call('gold', { player: 1 })), calls(submit())]);
  await predictor.run(input);
  expect(model.requests[1]?.tools).toBe(model.requests[0]?.tools);
  const [offered] = model.requests;
  for (const given of [offered?.tools, ...(offered?.tools ?? [])]) expect(Object.isFrozen(given)).toBe(true);
});

test.each<{ readonly title: string; readonly script: readonly ScriptStep[]; readonly reason: string }>([
  { title: 'answers', script: [calls(submit())], reason: 'submit' },
  { title: 'fails', script: [{ throw: new Error('the line is dead') }], reason: 'failed' },
  { title: 'gives no answer', script: [{ text: 'a' }, { text: 'b' }], reason: 'max-iterations' },
])('the result of one that $title is frozen', async ({ script, reason }) => {
  const result = await setUp(script, { maxIterations: 1 }).predictor.run(input);
  expect(result.reason).toBe(reason);
  for (const part of [result, result.calls, result.history, result.usage, result.output])
    expect(Object.isFrozen(part)).toBe(true);
});

describe.each(['native', 'text'] as const)('%s', (protocol) => {
  const asks = (...asked: readonly string[]): ScriptStep =>
    protocol === 'native'
      ? calls(...asked.map((name) => call(name, { player: 1 })))
      : { ...step(asked[0] ?? '', { player: 1 }), usage };

  test('an answer that is withheld by the provider fails', async () => {
    const result = await setUp([{ text: '', finish: 'content-filter' }], { protocol }).predictor.run(input);
    expect(result).toMatchObject({ reason: 'failed', requests: 1, error: { code: 'modules.failed', reason: 'model' } });
    expect(result.error?.message).toContain('content-filter');
  });

  test('a model that throws at its signal has not failed', async () => {
    const controller = new AbortController();
    const model = scriptedModel([
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
          controller.abort();
        }),
    ]);
    const running = react(question, { model, tools: [], protocol }).run(input, { signal: controller.signal });
    expect(await running).toMatchObject({ reason: 'aborted', error: { code: 'modules.stopped', reason: 'aborted' } });
  });

  test('nothing is asked for any more when the last round has used up the tokens', async () => {
    const budget = createBudget({ maxTokens: 15 });
    const { model, predictor } = setUp([asks('gold')], { protocol, budget, maxIterations: 1 });
    expect(await predictor.run(input)).toMatchObject({ reason: 'budget', requests: 1 });
    expect(model.requests).toHaveLength(1);
  });

  test('how much was left out is told where the rest is still too long', async () => {
    const script = [asks('gold'), asks('gold'), asks('gold'), overflow(), overflow(), overflow(), overflow()];
    const { predictor } = setUp(script, { protocol });
    await expect(predictor.invoke(input)).rejects.toMatchObject({
      code: 'modules.failed',
      reason: 'context_overflow',
      message: expect.stringContaining('leaving out the 2 oldest rounds did not help'),
      data: { leftOut: 2 },
    });
  });

  test('a resumed run leaves no timer behind', async () => {
    const clock = manualClock();
    const options = { session: createSession(), policies: [asking], clock, timeoutMs: 100, protocol };
    const first = await setUp([asks('gold')], options).predictor.run(input);
    expect([first.reason, clock.pending]).toEqual(['suspended', 0]);
    if (first.reason !== 'suspended') return;
    await answerApproval(options.session, first.pending[0]?.callId ?? '', { type: 'deny' }, { clock });
    const last = protocol === 'native' ? [calls(submit())] : [step('finish'), extracted()];
    expect(await setUp(last, options).predictor.resume(first.state)).toMatchObject({ reason: 'submit' });
    expect(clock.pending).toBe(0);
  });

  test('of very many tools the first 100 are named', async () => {
    const many = Array.from({ length: 103 }, (_, index) =>
      defineTool({ name: `t${1000 + index}`, description: 'One of many.', effects: 'none', execute: () => null }),
    );
    const { predictor } = setUp([asks('none'), { throw: new Error('the end') }], { tools: many, protocol });
    const told = (await predictor.run(input)).calls[0]?.text ?? '';
    expect(told).toContain('`t1099`');
    expect(told).not.toContain('`t1100`');
    expect(told).toMatch(/ and 3 more\. Names must match exactly\.$/);
  });
});

test('a tool that has taken the name of the submit meanwhile is not named among the tools', async () => {
  const catalog = createToolCatalog();
  const taken = defineTool({ name: 'submit', description: 'Mine.', effects: 'none', execute: () => 'mine' });
  const taking = defineTool({
    name: 'taking',
    description: 'Takes it.',
    effects: 'none',
    execute: () => catalog.register(taken) ?? 'done',
  });
  catalog.register(taking);
  const { predictor } = setUp([calls(call('taking')), calls(call('none')), calls(submit())], { tools: catalog });
  const { calls: made } = await predictor.run(input);
  expect(made[1]?.text.match(/`submit`/g)).toHaveLength(1);
});

describe('what the model is asked with', () => {
  const free = defineSignature({
    name: 'free',
    inputSchema: jsonSchema<object>({ type: 'object', properties: {} }),
    outputSchema: jsonSchema<object>({
      type: 'object',
      properties: { note: { type: 'string' }, mark: { type: 'string' } },
    }),
  });
  const model = scriptedModel([]);

  test('has something to begin with, and names optional outputs where no other is needed', () => {
    const messages = react(free, { model, tools: [] }).render({});
    expect(messages.at(-1)).toEqual({ role: 'user', text: 'Begin.' });
    expect(messages[0]?.text).toContain('When you have `note`, `mark`, call `submit`');
  });

  test('shows demos with what they have of the outputs, and none without an input', () => {
    const demos = [
      { inputs: { question: 'One?' }, outputs: { ...right } },
      { inputs: {}, outputs: { answer: 'without', sure: true } },
    ];
    const messages = react(question, { model, tools: [], demos }).render(input);
    const shown = messages.flatMap((message) => (message.role === 'assistant' ? message.calls : []));
    expect(shown.map(({ arguments: given }) => given)).toEqual([{ ...right }]);
    expect(Object.isFrozen(messages)).toBe(true);
  });
});

test('a model that cannot be offered tools is asked in text, also where only the run brings it', async () => {
  const other = { ...scriptedModel([step('finish'), extracted()]), callsTools: false };
  const { model, predictor } = setUp([]);
  expect(await predictor.run(input, { model: other })).toMatchObject({ reason: 'submit', output: right });
  expect([model.requests.length, other.requests.map(({ tools }) => tools.length)]).toEqual([0, [0, 0]]);
});

test('an invoke rejects with the reason of a signal that it was made with, and what it gives is frozen', async () => {
  const reason = new Error('enough');
  await expect(setUp([], { signal: AbortSignal.abort(reason) }).predictor.invoke(input)).rejects.toBe(reason);
  expect(Object.isFrozen(await setUp([calls(submit())]).predictor.invoke(input))).toBe(true);
});

test('a limit of what is shown that is none is refused', async () => {
  const invalid = expect.objectContaining({ code: 'options.invalid' });
  await expect(setUp([], { maxResultChars: 0 }).predictor.invoke(input)).rejects.toEqual(invalid);
});

describe('text', () => {
  const options = { protocol: 'text' } as const;
  const finish = step('finish');

  test('no message is empty, also where the model wrote nothing', async () => {
    const { predictor } = setUp([{ text: '' }, finish, extracted()], options);
    const { history, reason } = await predictor.run(input);
    expect(reason).toBe('submit');
    expect(history.map(({ text }) => text)).not.toContain('');
    const dead = await setUp([finish, { throw: new Error('the line is dead') }], options).predictor.run(input);
    expect(dead).toMatchObject({ reason: 'failed' });
    expect(dead.history.map(({ text }) => text)).not.toContain('');
  });

  test('a step that was cut behind its end is whole', async () => {
    const { gold, predictor } = setUp(
      [{ ...step('gold', { player: 1 }), finish: 'length' }, finish, extracted()],
      options,
    );
    expect(await predictor.run(input)).toMatchObject({ reason: 'submit', calls: [{ outcome: { kind: 'ok' } }] });
    expect(gold.runs).toHaveLength(1);
  });

  test('a tool that is registered meanwhile can be called in the next step', async () => {
    const catalog = createToolCatalog();
    const late = defineTool({ name: 'late', description: 'Comes late.', effects: 'none', execute: () => 'there' });
    const execute = (): string => catalog.register(late) ?? 'done';
    catalog.register(defineTool({ name: 'teach', description: 'Makes a tool.', effects: 'none', execute }));
    const { predictor } = setUp([step('teach'), step('late'), finish, extracted()], { ...options, tools: catalog });
    const { calls: made } = await predictor.run(input);
    expect(made.map(({ name, outcome }) => [name, outcome?.kind])).toEqual([
      ['teach', 'ok'],
      ['late', 'ok'],
    ]);
  });

  test('a tool that has taken the name of the last step meanwhile is not listed', async () => {
    const catalog = createToolCatalog();
    const taken = defineTool({ name: 'finish', description: 'Mine.', effects: 'none', execute: () => 'mine' });
    const execute = (): string => catalog.register(taken) ?? 'done';
    catalog.register(defineTool({ name: 'taking', description: 'Takes it.', effects: 'none', execute }));
    const { model, predictor } = setUp([step('taking'), finish, extracted()], { ...options, tools: catalog });
    expect(await predictor.run(input)).toMatchObject({ reason: 'submit', output: right });
    expect(model.requests[1]?.messages[0]?.text.match(/\(\d\) `finish`/g)).toHaveLength(1);
  });

  test('a model that is late says so, and one that was asked for the outputs spends of the budget', async () => {
    const clock = manualClock();
    const silent: ScriptStep = () => {
      clock.advance(1_000);
      return new Promise<never>(() => undefined);
    };
    const late = setUp([silent], { ...options, clock, timeoutMs: 1_000 });
    expect(await late.predictor.run(input)).toMatchObject({ reason: 'deadline', requests: 1 });
    const budget = createBudget({ maxTokens: 1_000 });
    await setUp(
      [
        { ...finish, usage },
        { ...extracted(), usage },
      ],
      { ...options, budget },
    ).predictor.run(input);
    expect(budget.used.tokens).toBe(30);
  });

  test('an empty instruction is none, and a description of a tool is one line', () => {
    const wide = defineTool({
      name: 'wide',
      description: 'First.\n\n(7) `finish`: second.',
      effects: 'none',
      execute: () => null,
    });
    const [system] = setUp([], { ...options, tools: [wide], instruction: ' ' }).predictor.render(input);
    expect(system?.text).toContain('Answer the question about gold.');
    expect(system?.text).toContain('(1) `wide`: First. (7) `finish`: second.');
  });
});
