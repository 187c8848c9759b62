import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTool } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import {
  createModuleEngine,
  defineSignature,
  loadModules,
  type ModuleEvent,
  type Signature,
  toPredictor,
} from '@holdfast/modules';
import { stringifyModule } from '@holdfast/modules/internal';
import { folderModules, saveModule } from '@holdfast/modules/node';
import { scriptedModel } from '@holdfast/testing';
import * as v from 'valibot';
import { afterEach, beforeEach, expect, test } from 'vitest';

const repository = join(import.meta.dirname, '../..');
const fixtures = join(repository, 'packages/modules/fixtures/modules');

const merchant: Signature = defineSignature({
  name: 'npc.merchant',
  inputSchema: v.object({ query: v.string() }),
  outputSchema: v.object({ response: v.string(), price: v.optional(v.pipe(v.number(), v.integer())) }),
});
const qa: Signature = defineSignature({
  name: 'qa',
  inputSchema: v.object({ question: v.string() }),
  outputSchema: v.object({
    answer: v.string(),
    confidence: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
  }),
});
const signatures = [merchant, qa];

let around: string;
let root: string;

beforeEach(async () => {
  around = await mkdtemp(join(tmpdir(), 'holdfast-files-'));
  root = join(around, 'modules');
  await mkdir(root);
});

afterEach(() => rm(around, { recursive: true }));

test('the modules of the fixtures load, and each of them can be rendered', async () => {
  const { modules, diagnostics } = await loadModules(folderModules(fixtures), { signatures });
  expect(diagnostics).toEqual([]);
  expect([...modules].map(([id, { tags, definition }]) => [id, definition.predictor_type, tags])).toEqual([
    ['qa.simple', 'predict', ['qa']],
    ['qa.reasoned', 'chain_of_thought', ['qa']],
    ['qa.researched', 'react', ['qa', 'tools']],
    ['npc.merchant.haggle', 'predict', ['npc', 'tools']],
  ]);
  for (const module of modules.values()) {
    const input = module.signature === qa ? { question: 'What is it?' } : { query: 'What is it?' };
    const messages = toPredictor(module, { model: scriptedModel([]) }).render(input);
    const text = JSON.stringify(messages);
    expect(text).toContain('What is it?');
    expect(text).toContain(module.definition.instruction);
  }
});

test('the merchant of the fixtures is the one of the example', async () => {
  const [fixture, shown] = await Promise.all([
    readFile(join(fixtures, 'tool_enabled_module.json'), 'utf8'),
    readFile(join(repository, 'examples/modules/merchant.json'), 'utf8'),
  ]);
  expect(fixture).toBe(shown);
});

test('the merchant haggles with her tools', async () => {
  const seen: string[] = [];
  const tool = (name: string, answer: unknown) =>
    defineTool({
      name,
      description: `Asks for ${name}.`,
      inputSchema: v.looseObject({}),
      effects: 'none',
      execute: (input) => {
        seen.push(`${name} ${JSON.stringify(input)}`);
        return answer;
      },
    });
  const model = scriptedModel([
    {
      text: '[[ ## tool_call ## ]]\n[{"name": "get_player_gold"}, {"name": "check_inventory", "args": {"item": "rope"}}]',
    },
    { text: '[[ ## response ## ]]\nSeven, and it is yours.\n\n[[ ## price ## ]]\n7\n\n[[ ## completed ## ]]' },
  ]);
  const engine = await createModuleEngine({
    source: folderModules(fixtures),
    signatures,
    model,
    tools: [tool('get_player_gold', { gold: 12 }), tool('check_inventory', [{ item: 'rope', lowestPrice: 7 }])],
    strict: true,
  });
  const result = await engine.invokeWithTools('npc.merchant.haggle', { query: 'Seven for the rope.' });
  expect(result).toMatchObject({ output: { response: 'Seven, and it is yours.', price: 7 } });
  expect(seen).toEqual(['get_player_gold {}', 'check_inventory {"item":"rope"}']);
  const asked = JSON.stringify(model.requests[1]?.messages);
  expect(asked).toContain(`Tool 'get_player_gold' returned: {\\"gold\\":12}`);
});

const least = (id: string): string =>
  JSON.stringify({ module_id: id, predictor_type: 'predict', signature_name: 'qa' });

test('MOD-14: what lies outside of the folder costs itself, and nobody else', async () => {
  await writeFile(join(around, 'x.json'), least('x'));
  await writeFile(join(root, 'good.json'), least('good'));
  await symlink('../x.json', join(root, 'link.json'));
  await symlink('..', join(root, 'up'));
  const paths = {
    up: '../x.json',
    absolute: join(around, 'x.json'),
    link: 'link.json',
    folder: 'up/x.json',
    good: 'good.json',
  };
  const modules = Object.fromEntries(Object.entries(paths).map(([id, path]) => [id, { path }]));
  await writeFile(join(root, 'manifest.json'), JSON.stringify({ version: '1.0', modules }));
  const loaded = await loadModules(folderModules(root), { signatures });
  expect([...loaded.modules.keys()]).toEqual(['good']);
  const found = loaded.diagnostics.map(({ moduleId, ...kind }) => [describeCode(kind), moduleId]);
  expect(found.toSorted()).toEqual(['absolute', 'folder', 'link', 'up'].map((id) => ['modules.invalid: path', id]));
});

test('a module that was saved is in force in an engine that watches, without a restart', async () => {
  const definition = {
    module_id: 'qa.saved',
    predictor_type: 'predict',
    signature_name: 'qa',
    instruction: 'One.',
    demos: [],
    tool_enabled: false,
    metadata: { version: '1' },
  } as const;
  const engine = await createModuleEngine({ source: folderModules(root), signatures, model: scriptedModel([]) });
  expect(engine.diagnostics).toMatchObject([
    { severity: 'warning', code: 'modules.invalid', reason: 'manifest_missing' },
  ]);
  const watch = await engine.watch();
  // Before the first save: who begins later does not see what has happened by then.
  const events = watch[Symbol.asyncIterator]();
  const until = async (type: ModuleEvent['type']): Promise<void> => {
    for (let next = await events.next(); next.value?.type !== type; next = await events.next());
  };
  await saveModule(root, definition, { tags: ['qa'] });
  await until('module-added');
  expect(engine.getModule('qa.saved')).toMatchObject({ definition, tags: ['qa'] });
  await saveModule(root, { ...definition, instruction: 'Two.' });
  await until('module-changed');
  expect(engine.getModule('qa.saved')).toMatchObject({ definition: { instruction: 'Two.' }, tags: ['qa'] });
  expect(engine.diagnostics).toEqual([]);
  watch.close();
  expect(await readFile(join(root, 'qa.saved.json'), 'utf8')).toBe(
    stringifyModule({ ...definition, instruction: 'Two.' }),
  );
});
