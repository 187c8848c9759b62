import type { Json } from '@holdfast/core';
import { unprintable } from '@holdfast/core/internal';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { playModel } from '../predict/fixtures.ts';
import type { ModuleDefinition } from './definition.ts';
import type { LoadedModule } from './load-module.ts';
import { loadModules } from './load-modules.ts';
import { parseManifest } from './manifest.ts';
import { parseModule, stringifyModule } from './module-file.ts';
import { memoryModules } from './source.ts';
import { fullModule, haggle, listModules, reactModule } from './test-files.ts';
import { toPredictor } from './to-predictor.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom('', '[[ ## mood ## ]]', '__proto__', '{x}'),
);
// Excludes -0, which no file holds, and `__proto__` as a key, which none may hold.
const json = fc
  .jsonValue({ maxDepth: 3 })
  .map((value) => JSON.stringify(value))
  .filter((written) => !written.includes('__proto__'))
  .map((written) => JSON.parse(written) as Json);
const key = text.filter((one) => one !== '__proto__');
const metadata = fc
  .dictionary(key, json, { maxKeys: 4 })
  .chain((more) =>
    fc.record({ version: fc.string({ minLength: 1, maxLength: 20 }) }).map(({ version }) => ({ ...more, version })),
  );

const inputs = fc.record({ player_message: text, gold: fc.nat() }, { requiredKeys: [] });
const outputs = fc.record(
  {
    response: text,
    mood: fc.constantFrom('gruff', 'kind'),
    offers: fc.array(fc.record({ item: text }), { maxLength: 2 }),
  },
  { requiredKeys: [] },
);
const demos = fc.array(fc.record({ inputs, outputs }), { maxLength: 4 });
const tuning = { instruction: text, demos, descriptions: fc.record({ gold: text, mood: text }, { requiredKeys: [] }) };

const shared = {
  module_id: fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,20}$/),
  signature_name: fc.constant('npc.merchant'),
  demos,
  metadata,
};
const definitions: fc.Arbitrary<ModuleDefinition> = fc.oneof(
  fc.record(
    {
      ...shared,
      ...tuning,
      predictor_type: fc.constantFrom('predict', 'chain_of_thought'),
      tool_enabled: fc.boolean(),
    },
    { requiredKeys: ['module_id', 'signature_name', 'demos', 'metadata', 'predictor_type', 'tool_enabled'] },
  ),
  fc.record(
    {
      ...shared,
      ...tuning,
      predictor_type: fc.constant('react'),
      tool_enabled: fc.constant(true),
      tool_protocol: fc.constantFrom('native', 'text'),
      lists_tools: fc.boolean(),
      extract: fc.record(tuning, { requiredKeys: [] }),
    },
    { requiredKeys: ['module_id', 'signature_name', 'demos', 'metadata', 'predictor_type', 'tool_enabled'] },
  ),
) as fc.Arbitrary<ModuleDefinition>;

const input = { player_message: 'How much is the rope?', gold: 3 };

/** The messages for a model, checked to be the same bytes each time. */
function render(module: LoadedModule): string {
  const make = (): string => JSON.stringify(toPredictor(module, { model: playModel() }).render(input));
  const first = make();
  expect(make()).toBe(first);
  expect(first).toContain('How much is the rope?');
  return first;
}

test('a written module is read back unchanged', async () => {
  await fc.assert(
    fc.asyncProperty(definitions, async (definition) => {
      const written = stringifyModule(definition);
      const parsing = parseModule(written);
      expect(parsing).toEqual({ type: 'module', definition });
      if (parsing.type === 'module') expect(stringifyModule(parsing.definition)).toBe(written);
    }),
  );
});

test('every module that loads can be rendered', async () => {
  await fc.assert(
    fc.asyncProperty(definitions, async (definition) => {
      const { modules, diagnostics } = await loadModules(memoryModules(listModules([definition])), {
        signatures: [haggle],
      });
      expect(diagnostics).toEqual([]);
      for (const module of modules.values()) render(module);
      expect(modules.size).toBe(1);
    }),
  );
});

/** Replaces, removes or adds something within a value. */
function mutate(value: Json, steps: readonly number[], put: Json): Json {
  const [step = 0, ...rest] = steps;
  if (typeof value !== 'object' || value === null || rest.length === 0) return put;
  if (Array.isArray(value)) {
    const items: readonly Json[] = value;
    if (items.length === 0) return [put];
    return items.map((item, index) => (index === step % items.length ? mutate(item, rest, put) : item));
  }
  const entries = Object.entries(value);
  const at = step % (entries.length + 2);
  if (at === entries.length) return Object.fromEntries([...entries, [String(put).slice(0, 20), put]]);
  if (at > entries.length) return Object.fromEntries(entries.slice(1));
  return Object.fromEntries(
    entries.map(([name, inner], index) => [name, index === at ? mutate(inner, rest, put) : inner]),
  );
}

const asJson = (value: object): Json => JSON.parse(JSON.stringify(value)) as Json;
const places = fc.array(fc.nat({ max: 12 }), { minLength: 2, maxLength: 6 });
const puts = fc.oneof(
  json,
  fc.constantFrom<Json>(null, 'react', 'text', true, [], {}, 'player_message', '../x', 1e308),
);
const mutatedModule = fc
  .tuple(fc.constantFrom(fullModule, reactModule), fc.array(fc.tuple(places, puts), { minLength: 1, maxLength: 2 }))
  .map(([module, changes]) =>
    JSON.stringify(changes.reduce<Json>((value, [steps, put]) => mutate(value, steps, put), asJson(module))),
  );
const editedText = (original: string) =>
  fc
    .array(
      fc.tuple(
        fc.nat(),
        fc.nat({ max: 3 }),
        fc.oneof(text, fc.constantFrom('{', '}', '"', ',', ':', '\\u0000', '1e999')),
      ),
      { minLength: 1, maxLength: 2 },
    )
    .map((edits) =>
      edits.reduce((result, [at, removed, added]) => {
        const start = at % (result.length + 1);
        return result.slice(0, start) + added + result.slice(start + removed);
      }, original),
    );

async function checkFiles(files: Readonly<Record<string, string>>): Promise<number> {
  const { modules, diagnostics } = await loadModules(memoryModules(files), { signatures: [haggle] });
  for (const module of modules.values()) render(module);
  if (modules.size === 0) expect(diagnostics.length).toBeGreaterThan(0);
  for (const { code, message, place } of diagnostics) {
    expect(code).toMatch(/^(modules|schema)\.[a-z_]+$/);
    expect(`${message}${place}`).not.toMatch(new RegExp(unprintable().source, 'u'));
    expect(message.length).toBeLessThan(3000);
  }
  return modules.size;
}

test('any mutation of a valid module file gives a module or a diagnostic', async () => {
  let taken = 0;
  let refused = 0;
  const original = stringifyModule(fullModule);
  await fc.assert(
    fc.asyncProperty(
      fc.oneof({ weight: 5, arbitrary: mutatedModule }, { weight: 5, arbitrary: editedText(original) }, text),
      async (content) => {
        const ids = [fullModule.module_id, reactModule.module_id];
        const modules = Object.fromEntries(ids.map((id) => [id, { path: 'm.json' }]));
        const size = await checkFiles({
          'm.json': content,
          'manifest.json': JSON.stringify({ version: '1.0', modules }),
        });
        if (size > 0) taken += 1;
        else refused += 1;
      },
    ),
    { numRuns: 80 },
  );
  // Both cases occurred.
  expect(Math.min(taken, refused)).toBeGreaterThan(0);
});

test('any mutation of a valid manifest is read or reported', async () => {
  const files = listModules([fullModule, reactModule]);
  const original = files['manifest.json'] ?? '';
  const mutated = fc
    .tuple(places, puts)
    .map(([steps, put]) => JSON.stringify(mutate(JSON.parse(original) as Json, steps, put)));
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(fc.oneof(mutated, editedText(original), text), async (content) => {
      expect(() => parseManifest(content)).not.toThrow();
      const { modules, diagnostics } = await loadModules(memoryModules({ ...files, 'manifest.json': content }), {
        signatures: [haggle],
      });
      expect(modules.size > 0 || diagnostics.length > 0 || /"modules":\s*\{\s*\}/.test(content)).toBe(true);
      taken += modules.size;
    }),
    { numRuns: 50 },
  );
  expect(taken).toBeGreaterThan(0);
});
