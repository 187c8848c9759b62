import type { Model } from '@holdfast/core';
import { loadModules, type ModuleDefinition, memoryModules, type Signature, toPredictor } from '@holdfast/modules';
import { stringifyModule } from '@holdfast/modules/internal';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exportDspy } from './export.ts';
import { placeholder } from './fields.ts';
import { randomPrograms } from './test-programs.ts';
import { answer, importOk, loadLikeDspy, readFixture, savedPrograms, tools } from './test-states.ts';

const own: ModuleDefinition = {
  module_id: 'desk',
  predictor_type: 'predict',
  signature_name: 'museum.answer',
  demos: [],
  tool_enabled: false,
  metadata: { version: '1.0.0' },
};

function withoutDigest(module: ModuleDefinition): unknown {
  const { dspy, ...metadata } = module.metadata;
  return { ...module, metadata, dspy: { ...(dspy as object), digest: '' } };
}

/** The prompt for an input without fields. */
async function show(module: ModuleDefinition, signature: Signature): Promise<string> {
  let asked = '';
  const model: Model = {
    id: 'test:asked',
    stream({ messages }) {
      asked = JSON.stringify(messages);
      throw new Error('no answer');
    },
  };
  await expect(toPredictor(module, { signatures: [signature], model }).invoke({})).rejects.toThrow('no answer');
  return asked;
}

describe('round trips', () => {
  test('a DSPy file without notes is exported byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(randomPrograms(), async ({ text, signatures, tools }) => {
        const { modules } = await importOk(text, { signatures, tools });
        expect(exportDspy(modules, { signatures: Object.values(signatures) })).toBe(text);
      }),
      { numRuns: 30 },
    );
  });

  test('DSPy loads the instructions, fields and demos of the file, even via module files', async () => {
    await fc.assert(
      fc.asyncProperty(randomPrograms(), async ({ text, signatures, predictors, tools }) => {
        const { modules } = await importOk(text, { signatures, tools });
        const files = modules.map((module) => [`${module.module_id}.json`, stringifyModule(module)] as const);
        const listed = modules.map(({ module_id: id }) => [id, { path: `${id}.json`, hash: null, tags: [] }] as const);
        const manifest = JSON.stringify({ version: '1.0', modules: Object.fromEntries(listed) });
        const source = memoryModules({ 'manifest.json': manifest, ...Object.fromEntries(files) });
        const loaded = await loadModules(source, { signatures: Object.values(signatures) });
        expect(loaded.diagnostics).toStrictEqual([]);
        const definitions = [...loaded.modules.values()].map(({ definition }) => definition);
        const exported = exportDspy(definitions, { signatures: Object.values(signatures) });
        expect(loadLikeDspy(exported, predictors)).toStrictEqual(loadLikeDspy(text, predictors));
      }),
      { numRuns: 30 },
    );
  });

  test('import, export and import give the same definitions, with or without field descriptions', async () => {
    await fc.assert(
      fc.asyncProperty(randomPrograms({ described: true }), async ({ text, signatures, tools }) => {
        const { modules } = await importOk(text, { signatures, tools });
        const exported = exportDspy(modules, { signatures: Object.values(signatures) });
        const again = await importOk(exported, { signatures, tools });
        expect(again.modules.map(withoutDigest)).toStrictEqual(modules.map(withoutDigest));
        expect(exportDspy(again.modules, { signatures: Object.values(signatures) })).toBe(exported);
      }),
      { numRuns: 30 },
    );
  });

  test('every imported module renders the same bytes for the same input', async () => {
    await fc.assert(
      fc.asyncProperty(randomPrograms(), async ({ text, signatures, tools }) => {
        const { modules } = await importOk(text, { signatures, tools });
        const byName = new Map(Object.values(signatures).map((signature) => [signature.name, signature]));
        for (const module of modules) {
          const signature = byName.get(module.signature_name);
          if (signature === undefined || module.predictor_type === 'react') continue;
          const shown = await show(module, signature);
          expect(shown).toContain('[[ ## completed ## ]]');
          expect(await show(module, signature)).toBe(shown);
        }
      }),
      { numRuns: 50 },
    );
  });

  test.each(['predict', 'chain-of-thought', 'react', 'program'])(
    '%s: DSPy gets back what it saved, except its notes',
    async (name) => {
      const { signatures, predictors } = savedPrograms.get(name) ?? { signatures: {}, predictors: {} };
      const { modules } = await importOk(readFixture(name), { signatures, tools });
      const exported = loadLikeDspy(exportDspy(modules, { signatures: Object.values(signatures) }), predictors);
      expect(exported.size).toBe(Object.keys(predictors).length);
      for (const [path, saved] of loadLikeDspy(readFixture(name), predictors)) {
        const fields = predictors[path] ?? [];
        // Drops notes of DSPy and fields of other predictors.
        const demos = saved.demos.map((demo) =>
          Object.fromEntries(Object.entries(demo).filter(([key]) => fields.includes(key))),
        );
        expect(exported.get(path)).toStrictEqual({ ...saved, demos });
      }
    },
  );
});

describe('exports for DSPy', () => {
  test('modules of our own, with defaults of the signature', () => {
    const module = { ...own, demos: [{ inputs: { question: 'Q' }, outputs: { answer: 'A' } }] };
    const loaded = loadLikeDspy(exportDspy([module], { signatures: [answer] }), { '': ['question', 'answer'] });
    expect(loaded.get('')).toStrictEqual({
      instructions: answer.instruction,
      fields: [
        { name: 'question', prefix: 'Question:', description: placeholder('question') },
        { name: 'answer', prefix: 'Answer:', description: placeholder('answer') },
      ],
      demos: [{ question: 'Q', answer: 'A' }],
      keys: ['traces', 'train', 'demos', 'signature', 'lm'],
    });
  });

  test('a chain of thought is a program with the predictor `predict`', () => {
    const text = exportDspy([{ ...own, predictor_type: 'chain_of_thought' }], { signatures: [answer] });
    expect([...loadLikeDspy(text, { predict: ['question', 'reasoning', 'answer'] }).keys()]).toStrictEqual(['predict']);
  });

  test('tuned descriptions replace those of the schema', async () => {
    const { modules } = await importOk(readFixture('predict'), { signature: answer });
    expect(exportDspy(modules, { signatures: [answer] })).toContain('"description": "one short sentence"');
  });

  test('versions unknown to DSPy are left out', () => {
    const versions = { dspy: '3.0.0', numpy: '2', python: 3 };
    const module = { ...own, metadata: { version: '1', dspy: { dependency_versions: versions } } };
    const written = JSON.parse(exportDspy([module], { signatures: [answer] }));
    expect(written.metadata).toEqual({ dependency_versions: { dspy: '3.0.0' } });
  });

  test('the first module with versions decides', () => {
    const saved = (path: string, dspy?: string): ModuleDefinition => ({
      ...own,
      metadata: { version: '1', dspy: { path, ...(dspy === undefined ? {} : { dependency_versions: { dspy } }) } },
    });
    const text = exportDspy([saved('a'), saved('b', '3.0.1'), saved('c', '3.0.2')], { signatures: [answer] });
    expect(JSON.parse(text).metadata).toEqual({ dependency_versions: { dspy: '3.0.1' } });
  });
});

describe('modules that cannot be exported', () => {
  const at = (path: unknown): ModuleDefinition => ({
    ...own,
    metadata: { version: '1', dspy: { path: path as string } },
  });
  const unknownField = { ...own, demos: [{ inputs: { question: 'Q' }, outputs: { reasoning: 'R' } }] };
  const swapped = { ...own, demos: [{ inputs: { answer: 'A' }, outputs: {} }] };
  const native: ModuleDefinition = { ...own, predictor_type: 'react', tool_enabled: true, instruction: 'Use tools.' };

  test.each<{ what: string; modules: readonly ModuleDefinition[]; says: string }>([
    { what: 'none', modules: [], says: 'No module to export' },
    { what: 'a missing signature', modules: [{ ...own, signature_name: 'other' }], says: '`other`' },
    { what: 'several without paths', modules: [own, own], says: 'metadata.dspy.path' },
    { what: 'several, of which one is the program', modules: [at(''), at('a')], says: 'metadata.dspy.path' },
    { what: 'two at one path', modules: [at('a'), at('a')], says: '`a`' },
    { what: 'a path that is not text', modules: [at(3)], says: 'metadata.dspy.path' },
    { what: 'the path of the metadata', modules: [at('metadata')], says: 'metadata.dspy.path' },
    { what: 'a path of an object property', modules: [at('__proto__')], says: 'metadata.dspy.path' },
    { what: 'a path that is too long', modules: [at('x'.repeat(501))], says: 'metadata.dspy.path' },
    { what: 'a path that is not a name', modules: [at('[0]')], says: 'metadata.dspy.path' },
    { what: 'a demo with a field that the predictor does not have', modules: [unknownField], says: '`reasoning`' },
    { what: 'a demo with an output among the inputs', modules: [swapped], says: '`answer`' },
    { what: 'a ReAct that does not list its tools', modules: [native], says: 'lists_tools' },
    {
      what: 'a ReAct without an instruction',
      modules: [{ ...own, predictor_type: 'react', lists_tools: true }],
      says: 'lists_tools',
    },
  ])('$what', ({ modules, says }) => {
    expect(() => exportDspy(modules, { signatures: [answer] })).toThrow(
      expect.objectContaining({ code: 'dspy.invalid', reason: 'export', message: expect.stringContaining(says) }),
    );
  });
});
