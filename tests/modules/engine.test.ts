import {
  definePolicy,
  defineTool,
  deny,
  type JsonObject,
  type Model,
  type ModelEvent,
  systemClock,
} from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import { answerApproval, createBudget } from '@holdfast/executor';
import {
  createModuleEngine,
  defineSignature,
  isModuleError,
  type LoadedModule,
  type ModuleEngine,
  memoryModules,
  type Prediction,
  type Signature,
  type ToolLoopResult,
} from '@holdfast/modules';
import { createSession } from '@holdfast/session';
import { scriptedModel } from '@holdfast/testing';
import * as v from 'valibot';
import { expect, expectTypeOf, test } from 'vitest';
import { describeEvent, question, startEngine, versionModel } from './test-engine.ts';
import { manifestText, moduleFiles, moduleText } from './test-module-texts.ts';

const asked = { question: 'which?' };
const answered = (answer: string): string => `[[ ## answer ## ]]\n${answer}\n\n[[ ## completed ## ]]`;
const calling = (call: object): string => `[[ ## tool_call ## ]]\n${JSON.stringify(call)}\n\n[[ ## completed ## ]]`;

const getGold = defineTool({
  name: 'get_gold',
  description: 'Counts gold.',
  effects: 'none',
  execute: () => ({ gold: 500 }),
});
const withTools = { 'a.json': moduleText('a', 1, { tool_enabled: true }), 'manifest.json': manifestText(['a']) };

async function rejection(
  running: Promise<unknown> | (() => Promise<unknown>),
): Promise<{ readonly code?: string; readonly message: string; readonly data?: unknown }> {
  try {
    await (typeof running === 'function' ? running() : running);
  } catch (thrown) {
    return thrown as Error;
  }
  throw new Error('It did not reject.');
}

test('MOD-8: modules by id and by tag, in the order of the manifest', async () => {
  const { engine } = await startEngine({
    'b.json': moduleText('b', 1),
    'a.json': moduleText('a', 2),
    'manifest.json': manifestText({ b: { tags: ['shop', 'talk'] }, a: { tags: ['talk'] } }),
  });
  expect(engine.moduleIds).toEqual(['b', 'a']);
  expect(engine.getModule('a')).toMatchObject({ path: 'a.json', tags: ['talk'], definition: { module_id: 'a' } });
  const idOf = ({ definition }: LoadedModule): string => definition.module_id;
  expect(engine.findByTag('talk').map(idOf)).toEqual(['b', 'a']);
  expect(engine.findByTag('shop').map(idOf)).toEqual(['b']);
  expect(engine.findByTag('none')).toEqual([]);
  for (const name of ['__proto__', 'constructor', 'toString', '']) {
    expect(engine.getModule(name)).toBeUndefined();
    expect(engine.findByTag(name)).toEqual([]);
    expect(await rejection(engine.invoke(name, asked))).toMatchObject({
      code: 'modules.file_failed',
      reason: 'not_found',
    });
  }
  // Of a caller without types.
  for (const id of [5, null, undefined, {}] as never[]) {
    expect(await rejection(engine.invoke(id, asked))).toMatchObject({
      code: 'modules.file_failed',
      reason: 'not_found',
    });
    expect(await rejection(engine.reloadModule(id))).toMatchObject({
      code: 'modules.file_failed',
      reason: 'not_found',
    });
  }
});

test('MOD-10: without a manifest there is an empty engine, and a warning', async () => {
  const { engine } = await startEngine({ 'a.json': moduleText('a', 1) });
  expect(engine.moduleIds).toEqual([]);
  expect(engine.diagnostics).toMatchObject([
    { severity: 'warning', code: 'modules.invalid', reason: 'manifest_missing' },
  ]);
  const { message } = await rejection(engine.invoke('a', asked));
  expect(message).toBe('Unknown module `a`: `memory` has no `manifest.json`, so no modules are loaded.');
});

test('without a manifest, as in a folder that is not the one that was meant, `strict` makes no engine', async () => {
  const { code, message } = await rejection(startEngine({ 'a.json': moduleText('a', 1) }, { strict: true }));
  expect(code).toBe('modules.file_failed');
  expect(message).toBe('Cannot load `memory`: `memory` has no `manifest.json`, so no modules are loaded.');
});

test('where the manifest cannot be read, or lists nothing, that is why there is no module', async () => {
  const tell = async (manifest: string): Promise<string> => {
    const { engine } = await startEngine({ 'manifest.json': manifest });
    return (await rejection(engine.invoke('a', asked))).message;
  };
  expect(await tell('{')).toMatch(/^Unknown module `a`: `manifest.json`: Cannot read the file: /);
  const empty = 'Unknown module `a`. The manifest must list it. No listed module could be loaded.';
  expect(await tell('{ "version": "1.0", "modules": {} }')).toBe(empty);
  expect(await tell('{ "version": "1.0", "modules": {}, "more": 1 }')).toBe(empty);
});

const oneBroken = {
  ...moduleFiles(['a', 'b', 'c']),
  'b.json': moduleText('b', 1, { demos: [{ inputs: 1 }], more: 1 }),
};

test('MOD-12: of three modules one is broken: the other two load, and it is reported', async () => {
  const { engine, ask } = await startEngine(oneBroken);
  expect(engine.moduleIds).toEqual(['a', 'c']);
  expect([await ask('a'), await ask('c')]).toEqual(['1', '1']);
  expect(new Set(engine.diagnostics.map(({ moduleId }) => moduleId))).toEqual(new Set(['b']));
  const { code, message, data } = await rejection(ask('b'));
  expect({ code, data }).toMatchObject({
    code: 'modules.file_failed',
    data: { reason: 'not_found', kind: 'ModuleNotFound', moduleId: 'b' },
  });
  expect(message).toBe(`Cannot load \`b\`: \`b.json\`: ${engine.diagnostics[0]?.message}`);
});

test('MOD-12: with `strict` it makes no engine, and all that is wrong is told', async () => {
  const { engine } = await startEngine(oneBroken);
  const { code, message, data } = await rejection(startEngine(oneBroken, { strict: true }));
  expect(code).toBe('modules.file_failed');
  expect(message).toContain('Cannot load `memory`: `b.json`: ');
  expect(data).toEqual({ reason: 'load_failed', diagnostics: engine.diagnostics });
  expect(engine.diagnostics.length).toBeGreaterThan(1);
  expect(() => JSON.stringify(data)).not.toThrow();
});

test('LOOP-26: an unknown module, with the names that are nearly the same', async () => {
  const { engine } = await startEngine(moduleFiles(['npc.merchant', 'npc.guard']));
  for (const running of [
    () => engine.invoke('npc.merchnt', asked),
    () => engine.invokeWithTools('npc.merchnt', asked),
    () => engine.resume('npc.merchnt', {}),
    () => engine.reloadModule('npc.merchnt'),
  ]) {
    const thrown = await rejection(running);
    expect(isModuleError(thrown)).toBe(true);
    expect(thrown).toMatchObject({
      code: 'modules.file_failed',
      reason: 'not_found',
      message: 'Unknown module `npc.merchnt`. Did you mean `npc.merchant`?',
      data: { kind: 'ModuleNotFound', recoverable: false, moduleId: 'npc.merchnt', nearest: ['npc.merchant'] },
    });
  }
  const { message } = await rejection(engine.invoke(`${'x'.repeat(1_000)}\n`, asked));
  expect(message.length).toBeLessThan(300);
});

test('a module that was not loaded is reported with the reason for its refusal, not with its other notes', async () => {
  const declared = { inputs: [{ name: 'question', field_type: 'poem' }], outputs: [{ name: 'answer' }] };
  const { engine } = await startEngine({
    ...moduleFiles(['a']),
    'a.json': moduleText('a', 1, { signature: declared, demos: [{ inputs: { riddle: 1 }, outputs: { answer: 'x' } }] }),
  });
  expect(engine.diagnostics.map(({ severity, ...kind }) => `${severity} ${describeCode(kind)}`)).toEqual([
    'error modules.invalid: demo',
    'warning modules.invalid: field_type_unknown',
  ]);
  expect(await rejection(engine.invoke('a', asked))).toMatchObject({
    code: 'modules.file_failed',
    reason: 'not_found',
    message: `Cannot load \`a\`: \`a.json\`: ${engine.diagnostics[0]?.message}`,
    data: { problems: ['modules.invalid: demo'] },
  });
});

test('a module whose signature is not registered is a diagnostic, and a typed error when it is invoked', async () => {
  const { engine } = await startEngine({
    ...moduleFiles(['a']),
    'b.json': moduleText('b', 1, { signature_name: 'riddle' }),
    'manifest.json': manifestText(['a', 'b']),
  });
  expect(engine.diagnostics).toMatchObject([
    { code: 'modules.invalid', reason: 'signature_not_found', moduleId: 'b', severity: 'error' },
  ]);
  const thrown = await rejection(engine.invoke('b', asked));
  expect(isModuleError(thrown)).toBe(true);
  expect(thrown).toMatchObject({
    code: 'modules.invalid',
    reason: 'signature_not_found',
    data: { kind: 'SignatureNotFound', recoverable: false, moduleId: 'b' },
  });
  expect(thrown.message).toContain('`riddle`');
});

test('a module without `tool_enabled` is not run with tools', async () => {
  const { engine } = await startEngine(moduleFiles(['a']), { tools: [getGold] });
  for (const running of [() => engine.invokeWithTools('a', asked), () => engine.resume('a', {})]) {
    expect(await rejection(running)).toMatchObject({
      code: 'modules.invalid',
      reason: 'tools_not_enabled',
      message: '`a` is not enabled for tools. Set `tool_enabled` in `a.json`, or use `invoke`.',
      data: { kind: 'ToolsNotEnabled', recoverable: false, moduleId: 'a' },
    });
  }
});

test('two signatures of one name make no engine', async () => {
  const source = memoryModules({});
  expect(
    await rejection(createModuleEngine({ source, signatures: [question, { ...question }], model: versionModel() })),
  ).toMatchObject({ code: 'modules.invalid', reason: 'signature_duplicate' });
});

test('MOD-18: one module is reloaded by its id, without the others', async () => {
  const { engine, source, ask } = await startEngine(moduleFiles(['a', 'b']));
  source.write('a.json', moduleText('a', 2));
  source.write('b.json', moduleText('b', 2));
  expect((await engine.reloadModule('a')).map(describeEvent)).toEqual(['module-changed a']);
  expect([await ask('a'), await ask('b')]).toEqual(['2', '1']);
  expect((await engine.reloadAll()).map(describeEvent)).toEqual(['module-skipped a', 'module-changed b']);
  expect([await ask('a'), await ask('b')]).toEqual(['2', '2']);
  source.write('a.json', 'not JSON');
  expect((await engine.reloadModule('a')).map(describeEvent)).toEqual(['module-failed a modules.invalid: file (kept)']);
  expect(await ask('a')).toBe('2');
  source.remove('a.json');
  expect((await engine.reloadModule('a')).map(describeEvent)).toEqual(['module-removed a']);
  expect(await rejection(ask('a'))).toMatchObject({ code: 'modules.file_failed', reason: 'not_found' });
  // It is listed, and may come back.
  expect((await engine.reloadModule('a')).map(describeEvent)).toEqual([
    'module-failed a modules.invalid: file_missing',
  ]);
  source.write('manifest.json', manifestText(['b']));
  expect((await engine.reloadModule('a')).map(describeEvent)).toEqual([]);
  expect(await rejection(engine.reloadModule('a'))).toMatchObject({ code: 'modules.file_failed', reason: 'not_found' });
});

test('MOD-20: runs see one version from their beginning to their end, whatever is reloaded meanwhile', async () => {
  const goOn: (() => void)[] = [];
  const model = versionModel(() => new Promise((resolve) => goOn.push(resolve)));
  const { engine, source, ask } = await startEngine(moduleFiles(['a']), { model });
  const running: Promise<string>[] = [];
  for (let version = 1; version <= 20; version += 1) {
    running.push(ask('a'), ask('a'));
    source.write('a.json', version % 5 === 0 ? '{' : moduleText('a', version + 1));
    await Promise.all([engine.reloadAll(), engine.reloadModule('a')]);
  }
  source.write('manifest.json', manifestText([]));
  await engine.reloadAll();
  expect(engine.moduleIds).toEqual([]);
  for (const resolve of goOn.reverse()) resolve();
  const versions = Array.from({ length: 20 }, (_, index) => `${index % 5 === 0 && index > 0 ? index : index + 1}`);
  expect(await Promise.all(running)).toEqual(versions.flatMap((version) => [version, version]));
});

test('MOD-20: a loop keeps its version for all of its rounds', async () => {
  const requests: string[] = [];
  const file = (version: number): string => moduleText('a', version, { tool_enabled: true });
  const source = memoryModules({ ...withTools, 'a.json': file(1) });
  let engine: ModuleEngine | undefined;
  const update = defineTool({
    name: 'update',
    description: 'Changes the module that is running.',
    async execute() {
      source.write('a.json', file(2));
      await engine?.reloadAll();
      return { version: engine?.getModule('a')?.definition.instruction ?? null };
    },
  });
  const model: Model = {
    id: 'test:model',
    async *stream({ messages }): AsyncGenerator<ModelEvent> {
      requests.push(/Version (\d)/.exec(messages[0]?.role === 'system' ? messages[0].text : '')?.[1] ?? '');
      yield {
        type: 'text-delta',
        text: requests.length === 1 ? calling({ name: 'update', args: {} }) : answered('done'),
      };
      yield { type: 'finish', reason: 'stop' };
    },
  };
  engine = await createModuleEngine({ source, signatures: [question], model, tools: [update], grants: ['update'] });
  const result = await engine.invokeWithTools('a', asked);
  expect(result).toMatchObject({ reason: 'completed', output: { answer: 'done' } });
  expect(result.calls.map(({ outcome }) => outcome?.kind)).toEqual(['ok']);
  expect(requests).toEqual(['1', '1']);
  await engine.invokeWithTools('a', asked);
  expect(requests).toEqual(['1', '1', '2']);
});

test('several callers at once: hundreds of runs and reloads', async () => {
  const ids = Array.from({ length: 20 }, (_, index) => `m${index}`);
  const { engine, source, ask } = await startEngine(moduleFiles(ids));
  const running: Promise<unknown>[] = [];
  for (let round = 2; round < 12; round += 1) {
    for (const id of ids) {
      running.push(ask(id));
      source.write(`${id}.json`, moduleText(id, round));
    }
    running.push(engine.reloadAll(), engine.reloadModule('m1'));
  }
  await Promise.all(running);
  expect(await Promise.all(ids.map(ask))).toEqual(ids.map(() => '11'));
});

test('LOOP-34: a tool that is registered while another one runs is offered from the next round on', async () => {
  let engine: ModuleEngine | undefined;
  const learn = defineTool({
    name: 'learn',
    description: 'Learns another one.',
    execute() {
      engine?.registerTool(getGold);
      return 'learned';
    },
  });
  const model = scriptedModel([
    { text: calling({ name: 'learn' }) },
    { text: calling({ name: 'get_gold' }) },
    { text: answered('500') },
  ]);
  ({ engine } = await startEngine(withTools, { model, tools: [learn], grants: ['learn'] }));
  const result = await engine.invokeWithTools('a', asked);
  expect(result).toMatchObject({ reason: 'completed', output: { answer: '500' }, iterations: 3 });
  expect(result.calls.map(({ name, outcome }) => `${name} ${outcome?.kind}`)).toEqual(['learn ok', 'get_gold ok']);
  const offers = model.requests.map(({ messages }) => JSON.stringify(messages.at(-1)).includes('Counts gold.'));
  expect(offers).toEqual([false, true, true]);
  expect(() => engine?.registerTool(getGold)).toThrow(
    expect.objectContaining({ code: 'modules.invalid', reason: 'tool_duplicate' }),
  );
  expect(engine.catalog.get('get_gold')).toBe(getGold);
});

test('invokeWithTools takes the limit of the engine, and says how it ended', async () => {
  const turns = Array.from({ length: 3 }, () => ({ text: calling({ name: 'get_gold' }) }));
  const { engine } = await startEngine(withTools, { model: scriptedModel(turns), tools: [getGold], maxIterations: 3 });
  const result = await engine.invokeWithTools('a', asked);
  expect(result).toMatchObject({
    reason: 'max-iterations',
    iterations: 3,
    error: { code: 'modules.stopped', reason: 'max_iterations' },
  });
});

const sell = defineTool({ name: 'sell', description: 'Sells.', dangerous: true, execute: () => 'sold' });
const selling = (): Model => scriptedModel([{ text: calling({ name: 'sell' }) }, { text: answered('sold') }]);

test('what a run brings is in force in place of what the engine has', async () => {
  const own = createSession();
  const { engine } = await startEngine(withTools, { tools: [sell], session: own, unattended: true });
  const denied = await engine.invokeWithTools('a', asked, { model: selling() });
  expect(denied.calls.map(({ outcome }) => outcome?.kind)).toEqual(['denied']);
  const before = own.snapshot().seq;
  const session = createSession();
  const approved = await engine.invokeWithTools('a', asked, {
    model: selling(),
    session,
    unattended: false,
    approve: () => ({ type: 'approve' }),
  });
  expect(approved.calls.map(({ outcome }) => outcome?.kind)).toEqual(['ok']);
  expect(own.snapshot().seq).toBe(before);
  expect(session.snapshot().seq).toBeGreaterThan(1);
});

test('policies, time and events of a run are its own, or else those of the engine', async () => {
  const script = (): Model => scriptedModel([{ text: calling({ name: 'get_gold' }) }, { text: answered('500') }]);
  const never = definePolicy({ name: 'never', check: () => deny('Not here.') });
  const seen: string[] = [];
  const { engine } = await startEngine(withTools, {
    tools: [getGold],
    policies: [never],
    onEvent: ({ type }) => seen.push(`engine ${type}`),
  });
  const kindsOf = ({ calls }: ToolLoopResult): unknown => calls.map(({ outcome }) => outcome?.kind);
  expect(kindsOf(await engine.invokeWithTools('a', asked, { model: script() }))).toEqual(['denied']);
  const onEvent = ({ type }: { readonly type: string }): unknown => seen.push(`run ${type}`);
  const run = await engine.invokeWithTools('a', asked, { model: script(), policies: [], onEvent });
  expect(kindsOf(run)).toEqual(['ok']);
  expect(new Set(seen.map((one) => one.split(' ')[0]))).toEqual(new Set(['engine', 'run']));
  expect(seen.findIndex((one) => one.startsWith('run'))).toBe(
    seen.findLastIndex((one) => one.startsWith('engine')) + 1,
  );
});

test('a run that waits for a person resumes with its state, and with the version in force then', async () => {
  const session = createSession();
  const model = selling();
  const file = (version: number): string => moduleText('a', version, { tool_enabled: true });
  const { engine, source } = await startEngine(
    { ...withTools, 'a.json': file(1) },
    {
      tools: [sell],
      session,
      model,
      clock: systemClock,
    },
  );
  const suspended = await engine.invokeWithTools('a', asked);
  if (suspended.reason !== 'suspended') throw new Error(suspended.reason);
  source.write('a.json', file(2));
  await engine.reloadAll();
  for (const { callId } of suspended.pending) await answerApproval(session, callId, { type: 'approve' });
  const state: JsonObject = JSON.parse(JSON.stringify(suspended.state));
  const result = await engine.resume('a', state, { signature: question });
  expect(result).toMatchObject({ reason: 'completed', output: { answer: 'sold' } });
  expectTypeOf(result).toEqualTypeOf<ToolLoopResult<{ answer: string }>>();
});

const reactFiles = {
  'a.json': moduleText('a', 1, { predictor_type: 'react', tool_enabled: true }),
  'manifest.json': manifestText(['a']),
};
const submit = { calls: [{ id: '1', name: 'submit', arguments: { answer: '500' } }] };

test('a `react` module is run by invoke, and by invokeWithTools, with the tools of the engine', async () => {
  const script = (): Model => scriptedModel([{ calls: [{ id: '0', name: 'get_gold', arguments: {} }] }, submit]);
  const { engine } = await startEngine(reactFiles, { tools: [getGold] });
  expect(await engine.invoke('a', asked, { model: script() })).toMatchObject({ output: { answer: '500' } });
  const result = await engine.invokeWithTools('a', asked, { model: script() });
  expect(result).toMatchObject({ reason: 'submit', output: { answer: '500' } });
  expect(result.calls.map(({ name }) => name)).toEqual(['get_gold']);
});

test('a `react` module takes the limit of the engine, and rejects without an answer', async () => {
  const turns = Array.from({ length: 3 }, (_, index) => ({
    calls: [{ id: `${index}`, name: 'get_gold', arguments: {} }],
  }));
  const model = scriptedModel(turns);
  const { engine } = await startEngine(reactFiles, { tools: [getGold], model, maxIterations: 2 });
  expect(await rejection(engine.invoke('a', asked))).toMatchObject({
    code: 'modules.stopped',
    reason: 'max_iterations',
  });
  // Two rounds, and the one request for the answer.
  expect(model.requests.length).toBe(3);
});

test('a limit that is none makes no engine', async () => {
  for (const maxIterations of [0, 1.5, Number.NaN])
    expect(await rejection(startEngine(withTools, { maxIterations }))).toMatchObject({ code: 'options.invalid' });
});

const silent: Model = {
  id: 'test:silent',
  stream: () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) }),
};

test.each([
  { kind: 'predict', files: moduleFiles(['a']) },
  { kind: 'react', files: reactFiles },
])(
  'time, tokens and the signal end an invoke of type $kind, those of the run before those of the engine',
  async ({ files }) => {
    const { engine, clock } = await startEngine(files, { model: silent, timeoutMs: 1_000 });
    const outcomes = [
      rejection(engine.invoke('a', asked)),
      rejection(engine.invoke('a', asked, { timeoutMs: 400 })),
      rejection(engine.invoke('a', asked, { signal: AbortSignal.abort(new Error('of the run')) })),
    ];
    clock.advance(400);
    expect(await outcomes[1]).toMatchObject({ code: 'modules.stopped', reason: 'deadline' });
    expect(await outcomes[2]).toMatchObject({ message: 'of the run' });
    clock.advance(600);
    expect(await outcomes[0]).toMatchObject({ code: 'modules.stopped', reason: 'deadline' });
    expect(clock.pending).toBe(0);
    const controller = new AbortController();
    const ofEngine = await startEngine(files, { model: silent, signal: controller.signal });
    const aborted = [
      rejection(ofEngine.engine.invoke('a', asked)),
      rejection(ofEngine.engine.invoke('a', asked, { timeoutMs: 1_000 })),
    ];
    controller.abort(new Error('of the engine'));
    for (const one of aborted) expect(await one).toMatchObject({ message: 'of the engine' });
  },
);

test('an invoke spends from its budget, also for an answer that is none, and is refused when nothing is left', async () => {
  const usage = { inputTokens: 6, outputTokens: 4 };
  const budget = createBudget({ maxTokens: 35 });
  const good = { text: answered('yes'), usage };
  const bad = { text: 'hm', usage };
  const model = scriptedModel([good, bad, bad, good, good]);
  const { engine } = await startEngine(moduleFiles(['a']), { model, budget });
  expect(await engine.invoke('a', asked)).toMatchObject({ output: { answer: 'yes' }, usage, requests: 1 });
  expect(await rejection(engine.invoke('a', asked))).toMatchObject({ code: 'modules.output_unparsable' });
  expect(budget.used.tokens).toBe(30);
  // It takes more than remained, which nobody could know before.
  expect(await engine.invoke('a', asked)).toMatchObject({ output: { answer: 'yes' } });
  expect(await rejection(engine.invoke('a', asked))).toMatchObject({ code: 'modules.stopped', reason: 'budget' });
  expect(await engine.invoke('a', asked, { budget: createBudget({ maxTokens: 10 }) })).toMatchObject({ requests: 1 });
  expect(model.requests.length).toBe(5);
});

test('a correction is not asked for when nothing of the budget is left', async () => {
  const model = scriptedModel([{ text: 'hm', usage: { inputTokens: 10, outputTokens: 0 } }]);
  const { engine } = await startEngine(moduleFiles(['a']), { model, budget: createBudget({ maxTokens: 10 }) });
  expect(await rejection(engine.invoke('a', asked))).toMatchObject({ code: 'modules.stopped', reason: 'budget' });
});

test('what is wrong with an input or a model is told as of a predictor, also within limits', async () => {
  for (const limits of [{}, { timeoutMs: 1_000 }]) {
    const { engine } = await startEngine(moduleFiles(['a']), {
      model: scriptedModel([{ throw: new Error('no line') }]),
    });
    expect(await rejection(engine.invoke('a', { question: 1 }, limits))).toMatchObject({
      code: 'modules.invalid',
      reason: 'input',
    });
    expect(await rejection(engine.invoke('a', asked, limits))).toMatchObject({
      code: 'modules.failed',
      reason: 'model',
      cause: { message: 'no line' },
    });
  }
});

test('a signature types input and output, and has to be that of the module', async () => {
  const { engine } = await startEngine(moduleFiles(['a']));
  const prediction = await engine.invoke('a', asked, { signature: question });
  expectTypeOf(prediction).toEqualTypeOf<Prediction<{ answer: string }>>();
  const untyped = { invoke: () => engine.invoke('a', asked), run: () => engine.invokeWithTools('a', asked) };
  expectTypeOf(untyped.invoke).returns.resolves.toEqualTypeOf<Prediction<JsonObject>>();
  expectTypeOf(untyped.run).returns.resolves.toEqualTypeOf<ToolLoopResult<JsonObject>>();
  // @ts-expect-error: `question` is text.
  expect(await rejection(engine.invoke('a', { question: 1 }, { signature: question }))).toMatchObject({
    code: 'modules.invalid',
    reason: 'input',
  });
  const twin: Signature<{ question: string }, { answer: string }> = { ...question };
  for (const run of [
    () => engine.invoke('a', asked, { signature: twin }),
    () => engine.invokeWithTools('a', asked, { signature: twin }),
    () => engine.resume('a', {}, { signature: twin }),
  ])
    expect(await rejection(run)).toMatchObject({
      code: 'modules.invalid',
      reason: 'signature_mismatch',
      data: { moduleId: 'a' },
    });
});

test('an input that has a default may be left out', async () => {
  const greeting = defineSignature({
    name: 'greeting',
    inputSchema: v.object({ name: v.optional(v.string(), 'you') }),
    outputSchema: v.object({ answer: v.string() }),
  });
  const model = scriptedModel([{ text: answered('Hello.') }]);
  const { engine } = await startEngine(
    { ...moduleFiles(['a']), 'a.json': moduleText('a', 1, { signature_name: 'greeting' }) },
    { signatures: [greeting], model },
  );
  expect(await engine.invoke('a', {}, { signature: greeting })).toMatchObject({ output: { answer: 'Hello.' } });
  expect(model.requests[0]?.messages.at(-1)?.text).toContain('you');
});
