import { defineTool } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import { expect, test } from 'vitest';
import { playModel } from '../predict/fixtures.ts';
import type { ReactPredictor } from '../react/react.ts';
import { isModuleError } from '../signature/problems.ts';
import { defineSignature } from '../signature/signature.ts';
import { loadModules } from './load-modules.ts';
import { memoryModules } from './source.ts';
import { fullModule, haggle, listModules, reactModule } from './test-files.ts';
import { toPredictor } from './to-predictor.ts';

const signatures = [haggle];
const input = { player_message: 'How much?' };

const inventory = defineTool({
  name: 'check_inventory',
  description: 'Lists the goods on the shelf.',
  inputSchema: jsonSchema({ type: 'object', properties: { item: { type: 'string' } } }),
  effects: 'none',
  repeat: 'safe',
  execute: () => 'a rope',
});

test('a module becomes a predictor of its type, with its tuned texts', async () => {
  const model = playModel('[[ ## reasoning ## ]]\nDear.\n[[ ## response ## ]]\nFour.\n[[ ## mood ## ]]\nkind');
  const predictor = toPredictor(fullModule, { signatures, model });
  expect(await predictor.invoke(input)).toMatchObject({
    output: { response: 'Four.', mood: 'kind' },
    reasoning: 'Dear.',
  });
  const asked = JSON.stringify(model.requests[0]?.messages);
  for (const text of ['Never go below half', 'How much is the rope?', 'Coins in the purse'])
    expect(asked).toContain(text);
  expect(predictor).toMatchObject({ predictorType: 'chain_of_thought', signature: haggle, model });
});

test('a loaded module needs no signatures', async () => {
  const { modules } = await loadModules(
    memoryModules(listModules([{ ...fullModule, predictor_type: 'predict', demos: [], descriptions: {} }])),
    {
      signatures,
    },
  );
  const loaded = modules.get(fullModule.module_id);
  if (loaded === undefined) throw new Error('not loaded');
  const model = playModel('{"response": "No.", "mood": "gruff"}');
  const predictor = toPredictor(loaded, { model });
  expect(predictor.program).toBe(loaded.program);
  expect(await predictor.invoke(input)).toMatchObject({ output: { response: 'No.', mood: 'gruff' } });
});

test('a react module calls its tools', async () => {
  const step = (thought: string, name: string, args: object): string =>
    `[[ ## next_thought ## ]]\n${thought}\n[[ ## next_tool_name ## ]]\n${name}\n[[ ## next_tool_args ## ]]\n${JSON.stringify(args)}`;
  const model = playModel(
    step('Look.', 'check_inventory', { item: 'rope' }),
    step('Done.', 'finish', {}),
    '[[ ## reasoning ## ]]\nThere.\n[[ ## response ## ]]\nHere.\n[[ ## mood ## ]]\nkind',
  );
  const predictor = toPredictor(reactModule, { signatures, model, tools: [inventory], maxIterations: 3 });
  expect(predictor.predictorType).toBe('react');
  // `predictorType` says so.
  const result = await (predictor as ReactPredictor).run(input);
  expect(result).toMatchObject({ output: { response: 'Here.', mood: 'kind' }, calls: [{ name: 'check_inventory' }] });
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('Answer from what was found out.');
});

test('the limit of a react module', async () => {
  const step =
    '[[ ## next_thought ## ]]\nLook.\n[[ ## next_tool_name ## ]]\ncheck_inventory\n[[ ## next_tool_args ## ]]\n{}';
  const model = playModel(step, '[[ ## reasoning ## ]]\nEnd.\n[[ ## response ## ]]\nHere.\n[[ ## mood ## ]]\nkind');
  await toPredictor(reactModule, { signatures, model, tools: [inventory], maxIterations: 1 }).invoke(input);
  expect(model.requests).toHaveLength(2);
});

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (thrown) {
    return thrown;
  }
  throw new Error('nothing was thrown');
}

test('an unregistered signature', () => {
  const thrown = thrownBy(() => toPredictor(fullModule, { model: playModel() }));
  expect(isModuleError(thrown)).toBe(true);
  expect(thrown).toMatchObject({
    code: 'modules.invalid',
    reason: 'signature_not_found',
    message: expect.stringContaining('None are'),
    data: { kind: 'SignatureNotFound', recoverable: false },
  });
});

test('a mismatched module is rejected with all problems', () => {
  const demos = [{ inputs: { nobody: 1 }, outputs: {} }];
  const signature = { inputs: [], outputs: [] };
  expect(
    thrownBy(() => toPredictor({ ...fullModule, demos, signature }, { model: playModel(), signatures })),
  ).toMatchObject({
    code: 'modules.invalid',
    reason: 'signature_mismatch',
    message: expect.stringContaining('There are 2 more'),
    data: { problems: [{ place: 'signature.inputs' }, { place: 'signature.outputs' }, { place: 'demos[0]' }] },
  });
  expect(thrownBy(() => toPredictor(fullModule, { model: playModel(), signatures: [haggle, haggle] }))).toMatchObject({
    code: 'modules.invalid',
    reason: 'signature_duplicate',
  });
});

test('a definition parsed by the caller is accepted or rejected like a file', async () => {
  const { demos: _, tool_enabled: __, metadata: ___, ...parsed } = { ...fullModule, predictor_type: 'predict' };
  const predictor = toPredictor(JSON.parse(JSON.stringify({ ...parsed, descriptions: null })), {
    signatures,
    model: playModel('{"response": "No.", "mood": "gruff"}'),
  });
  expect(await predictor.invoke(input)).toMatchObject({ output: { response: 'No.' } });
  const cyclic: Record<string, unknown> = { ...fullModule };
  cyclic['metadata'] = { version: '1', cyclic };
  const wrong = [
    null,
    5,
    {},
    { ...fullModule, predictor_type: 'constructor' },
    { ...fullModule, demos: [null] },
    cyclic,
  ];
  for (const definition of wrong) {
    const given = definition as unknown as typeof fullModule;
    const thrown = thrownBy(() => toPredictor(given, { model: playModel(), signatures }));
    expect(thrown).toMatchObject({ code: 'modules.invalid', reason: 'file' });
  }
});

test('the fields of a react step must not conflict with the signature', () => {
  const signature = defineSignature({
    name: 'npc.merchant',
    inputSchema: jsonSchema({ type: 'object', properties: { trajectory: { type: 'string' } } }),
    outputSchema: jsonSchema({ type: 'object', properties: { response: { type: 'string' } } }),
  });
  const { extract: _, ...definition } = { ...reactModule, demos: [] };
  expect(thrownBy(() => toPredictor(definition, { model: playModel(), signatures: [signature] }))).toMatchObject({
    code: 'modules.invalid',
    reason: 'signature',
  });
});

test('an instruction that lists the tools is used unchanged', async () => {
  const model = playModel('hm');
  const { tool_protocol: _, lists_tools: __, extract: ___, ...definition } = reactModule;
  const toldOf = (more: object): string => {
    const module = { ...definition, demos: [], instruction: 'Look.', tool_protocol: 'text' as const, ...more };
    return (toPredictor(module, { signatures, model, tools: [inventory] }) as ReactPredictor)
      .render(input)
      .map(({ text }) => text)
      .join();
  };
  expect(toldOf({})).toContain('check_inventory');
  expect(toldOf({ lists_tools: true })).not.toContain('check_inventory');
});
