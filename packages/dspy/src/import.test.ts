import { createHash } from 'node:crypto';
import { describeCode } from '@holdfast/core/internal';
import { defineSignature, loadModules, memoryModules } from '@holdfast/modules';
import { stringifyModule } from '@holdfast/modules/internal';
import { jsonSchema } from '@holdfast/schema/json';
import { describe, expect, test } from 'vitest';
import { placeholder } from './fields.ts';
import type { DspyProblem } from './findings.ts';
import { importDspy } from './import.ts';
import {
  answer,
  fileOf,
  guide,
  importOk,
  problemsOf,
  readFixture,
  rooms,
  savedPrograms,
  signatureOf,
  stateOf,
  toolNamed,
  tools,
} from './test-states.ts';

const text = { type: 'string' };
const codesOf = (problems: readonly DspyProblem[]): readonly string[] => problems.map(describeCode);

function hashOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

describe('files saved by DSPy', () => {
  test('DSP-1: a Predict that was saved alone gives its instruction, demos and descriptions', async () => {
    const { modules, report } = await importOk(readFixture('predict'), { signature: answer });
    expect(modules).toStrictEqual([
      {
        module_id: 'museum.answer',
        predictor_type: 'predict',
        signature_name: 'museum.answer',
        signature: {
          inputs: [{ name: 'question', field_type: 'string' }],
          outputs: [{ name: 'answer', field_type: 'string' }],
        },
        instruction: 'Answer the visitor of the museum in one short sentence.',
        descriptions: { answer: 'one short sentence' },
        demos: [
          { inputs: { question: 'When do you open on Sunday?' }, outputs: { answer: 'We open at eleven on Sundays.' } },
          { inputs: { question: 'Is the tower room warm?' }, outputs: { answer: 'No, bring a coat.' } },
        ],
        tool_enabled: false,
        metadata: {
          version: '1.0.0',
          dspy: {
            path: '',
            digest: hashOf(readFixture('predict')),
            dependency_versions: { python: '3.12', dspy: '3.0.4', cloudpickle: '3.1' },
          },
        },
      },
    ]);
    expect(report).toMatchObject({ format: 'dspy', warnings: [], versions: { dspy: '3.0.4' } });
    expect(Object.isFrozen(modules[0]?.demos[0]?.inputs)).toBe(true);
  });

  test('a chain of thought gives demos with reasoning, and values of any type', async () => {
    const { modules, report } = await importOk(readFixture('chain-of-thought'), { signature: rooms });
    expect(modules[0]).toMatchObject({
      predictor_type: 'chain_of_thought',
      instruction: "Say which of the museum's rooms suits the visitor best, and how sure you are.",
      tool_enabled: false,
      metadata: { dspy: { path: '', prefixes: { reasoning: "Reasoning: Let's think step by step in order to" } } },
    });
    expect(modules[0]?.demos).toStrictEqual([
      {
        inputs: { visitor: 'A child who likes ships', rooms: ['Harbour', 'Coins'] },
        outputs: { reasoning: 'Ships are shown in the Harbour room.', room: 'Harbour', certainty: 0.9 },
      },
      {
        inputs: { visitor: 'A collector of money', rooms: ['Harbour', 'Coins'] },
        outputs: { room: 'Coins', certainty: 1 },
      },
    ]);
    expect(report.warnings).toStrictEqual([]);
  });

  test('a ReAct gives one module with both of its steps', async () => {
    const { modules, report } = await importOk(readFixture('react'), { signature: guide, tools });
    expect(modules).toHaveLength(1);
    const [module] = modules;
    expect(module).toMatchObject({
      predictor_type: 'react',
      tool_enabled: true,
      tool_protocol: 'text',
      lists_tools: true,
      metadata: { dspy: { path: '' } },
    });
    expect(module?.instruction).toContain('(2) list_rooms. It takes arguments {}.');
    expect(module?.extract?.instruction).toBe('Tell the visitor the room by what was found out.');
    expect(module?.demos[0]).toMatchObject({
      inputs: { question: 'Where is the astrolabe?', trajectory: expect.stringContaining('[[ ## observation_0 ## ]]') },
      outputs: { next_thought: 'It is in the Tower.', next_tool_name: 'finish', next_tool_args: {} },
    });
    expect(module?.extract?.demos?.map(({ inputs, outputs }) => [Object.keys(inputs), outputs])).toStrictEqual([
      [['question', 'trajectory'], { reasoning: 'The catalogue says Tower.', room: 'Tower' }],
      [['question'], { room: 'Coins' }],
    ]);
    expect(report.ignored).toStrictEqual([
      { path: 'react.demos[].augmented', count: 1 },
      { path: 'react.demos[].room', count: 1 },
      { path: 'react.demos[].dspy_uuid', count: 1 },
      { path: 'react.demos[].dspy_split', count: 1 },
      { path: 'extract.predict.demos[].augmented', count: 1 },
      { path: 'extract.predict.demos[].dspy_uuid', count: 1 },
      { path: 'extract.predict.demos[].dspy_split', count: 1 },
    ]);
  });

  const ofProgram = savedPrograms.get('program')?.signatures ?? {};

  test('DSP-3: the five paths of a program are grouped into its four modules', async () => {
    const { modules } = await importOk(readFixture('program'), { signatures: ofProgram, tools });
    expect(
      modules.map((module) => [
        module.module_id,
        module.predictor_type,
        module.signature_name,
        module.metadata['dspy'],
      ]),
    ).toStrictEqual([
      ['hop-0', 'predict', 'museum.first', expect.objectContaining({ path: 'hop[0]' })],
      ['hop-1', 'chain_of_thought', 'museum.second', expect.objectContaining({ path: 'hop[1]' })],
      ['d-k', 'predict', 'museum.sort', expect.objectContaining({ path: "d['k']" })],
      ['deep', 'react', 'museum.guide', expect.objectContaining({ path: 'deep' })],
    ]);
  });

  test('modules are also known by the paths of their predictors, and ids have the given prefix', async () => {
    const { 'hop[1]': second, deep, ...others } = ofProgram;
    const signatures = { ...others, 'hop[1].predict': second ?? guide, 'deep.react': deep ?? guide };
    const { modules } = await importOk(readFixture('program'), { signatures, tools, moduleId: 'museum' });
    expect(modules.map(({ module_id: id }) => id)).toStrictEqual([
      'museum.hop-0',
      'museum.hop-1',
      'museum.d-k',
      'museum.deep',
    ]);
  });

  test('ids are unique and valid, even if paths have no valid characters', async () => {
    const paths = ["d['?']", "d['!']", '_a', 'a', 'ä'];
    const text = fileOf(Object.fromEntries(paths.map((path) => [path, stateOf()])));
    const { modules } = await importOk(text, { signatures: Object.fromEntries(paths.map((path) => [path, answer])) });
    expect(modules.map(({ module_id: id }) => id)).toStrictEqual(['d', 'd-2', 'a', 'a-2', 'museum.answer']);
  });

  test('a single signature belongs to the only module, whatever its path', async () => {
    const { modules } = await importOk(fileOf({ 'guide.answer': stateOf() }), { signature: answer, moduleId: 'desk' });
    expect(modules).toMatchObject([{ module_id: 'desk', metadata: { dspy: { path: 'guide.answer' } } }]);
  });

  test('a Predict with the name `predict` is not a chain of thought', async () => {
    const { modules } = await importOk(fileOf({ predict: stateOf() }), { signature: answer });
    expect(modules).toMatchObject([{ predictor_type: 'predict', metadata: { dspy: { path: 'predict' } } }]);
  });

  test('a signature with its own field `reasoning` gets no second one', async () => {
    const own = signatureOf('question -> reasoning, answer');
    const text = fileOf({ predict: stateOf({ fields: ['question', 'reasoning', 'answer'] }) });
    expect((await importOk(text, { signature: own })).modules).toMatchObject([{ predictor_type: 'predict' }]);
  });

  test('predictors named `react` and `extract` are not a ReAct if each has its own signature', async () => {
    const text = fileOf({
      react: stateOf(),
      'extract.predict': stateOf({ fields: ['question', 'reasoning', 'answer'] }),
    });
    const { modules } = await importOk(text, { signatures: { react: answer, extract: answer } });
    expect(modules.map((module) => module.predictor_type)).toStrictEqual(['predict', 'chain_of_thought']);
  });

  test('DSP-25: a state of the Rust port loads; a null instruction means that of the signature', async () => {
    const signatures = { answerer: answer, 'inner.drafter': answer };
    const { modules, report } = await importOk(readFixture('dspy-rs'), { signatures });
    expect(report.format).toBe('dspy-rs');
    expect(modules.map(({ instruction, demos }) => ({ instruction, demos }))).toStrictEqual([
      {
        instruction: 'Answer the visitor in one short sentence.',
        demos: [{ inputs: { question: 'Is there a café?' }, outputs: { answer: 'Yes, beside the Harbour room.' } }],
      },
      { instruction: undefined, demos: [] },
    ]);
    expect(await problemsOf(readFixture('dspy-rs'), { signatures: { answerer: answer } })).toMatchObject([
      { code: 'dspy.invalid', reason: 'predictor_extra', path: 'inner.drafter' },
    ]);
  });

  test('demos with reasoning identify a chain of thought of the Rust port', async () => {
    const demos = [{ question: 'Q', reasoning: 'R', answer: 'A' }];
    const { modules } = await importOk(JSON.stringify({ predictors: { qa: { demos } } }), { signature: answer });
    expect(modules).toMatchObject([{ predictor_type: 'chain_of_thought', demos: [{ outputs: { reasoning: 'R' } }] }]);
  });

  test('bytes give the same result as text', async () => {
    const text = readFixture('react');
    expect(await importDspy(new TextEncoder().encode(text), { signature: guide, tools })).toStrictEqual(
      await importDspy(text, { signature: guide, tools }),
    );
  });

  test.each(['predict', 'chain-of-thought', 'react'])(
    'the modules imported from %s load from module files',
    async (name) => {
      const signatures = [answer, rooms, guide];
      const signature = { predict: answer, 'chain-of-thought': rooms, react: guide }[name] ?? guide;
      const { modules } = await importOk(readFixture(name), { signature, tools });
      const [module] = modules;
      if (module === undefined) throw new Error('Nothing was imported.');
      const text = stringifyModule(module);
      const manifest = {
        version: '1.0',
        modules: { [module.module_id]: { path: 'a.json', hash: hashOf(text), tags: [] } },
      };
      const loaded = await loadModules(memoryModules({ 'manifest.json': JSON.stringify(manifest), 'a.json': text }), {
        signatures,
      });
      expect(loaded.diagnostics).toStrictEqual([]);
      expect(loaded.modules.get(module.module_id)?.definition).toStrictEqual(module);
    },
  );
});

describe('rejected files', () => {
  test('DSP-5: a ReAct whose instruction lists a tool that is not registered', async () => {
    const problems = await problemsOf(readFixture('react'), { signature: guide, tools: [toolNamed('list_rooms')] });
    expect(problems).toMatchObject([
      { code: 'dspy.invalid', reason: 'tool_unknown', path: 'react.signature.instructions' },
    ]);
    expect(problems[0]?.message).toContain('`look_up`');
    expect(codesOf(await problemsOf(readFixture('react'), { signature: guide }))).toStrictEqual([
      'dspy.invalid: tool_unknown',
      'dspy.invalid: tool_unknown',
    ]);
  });

  test('a demo that calls a tool that is not registered', async () => {
    const text = readFixture('react').replace('"next_tool_name": "finish"', '"next_tool_name": "fly"');
    expect(await problemsOf(text, { signature: guide, tools })).toMatchObject([
      { code: 'dspy.invalid', reason: 'tool_unknown', path: 'react.demos[0].next_tool_name' },
    ]);
  });

  test('DSP-7: an extra predictor, a warning with an option', async () => {
    const text = fileOf({ first: stateOf(), second: stateOf() });
    expect(await problemsOf(text, { signatures: { first: answer } })).toMatchObject([
      { code: 'dspy.invalid', reason: 'predictor_extra', path: 'second' },
    ]);
    const { modules, report } = await importOk(text, { signatures: { first: answer }, allowExtra: true });
    expect(modules).toHaveLength(1);
    expect(report.warnings).toMatchObject([{ code: 'dspy.invalid', reason: 'predictor_extra', path: 'second' }]);
  });

  test('parameters that are not a predictor, such as a retriever, which the option also skips', async () => {
    const text = fileOf({ retrieve: { k: 3 }, answer: stateOf() });
    for (const options of [{ signature: answer }, { signatures: { answer } }]) {
      expect(await problemsOf(text, options)).toMatchObject([
        { code: 'dspy.invalid', reason: 'state', path: 'retrieve' },
      ]);
      const { modules, report } = await importOk(text, { ...options, allowExtra: true });
      expect(modules).toHaveLength(1);
      expect(report.warnings).toMatchObject([{ code: 'dspy.invalid', reason: 'predictor_extra', path: 'retrieve' }]);
    }
    expect(await problemsOf(text, { signatures: { answer, retrieve: answer }, allowExtra: true })).toMatchObject([
      { code: 'dspy.invalid', reason: 'state', path: 'retrieve' },
    ]);
    expect(await problemsOf(fileOf({ retrieve: { k: 3 } }), { signature: answer, allowExtra: true })).toMatchObject([
      { code: 'dspy.invalid', reason: 'predictor_missing' },
    ]);
  });

  test('a missing predictor', async () => {
    const problems = await problemsOf(fileOf({ first: stateOf() }), { signatures: { first: answer, second: answer } });
    expect(problems).toMatchObject([{ code: 'dspy.invalid', reason: 'predictor_missing', path: 'second' }]);
    expect(problems[0]?.message).toContain('`first`');
  });

  test('two signatures for one predictor', async () => {
    const text = fileOf({ 'hop.predict': stateOf({ fields: ['question', 'reasoning', 'answer'] }) });
    expect(await problemsOf(text, { signatures: { hop: answer, 'hop.predict': answer } })).toMatchObject([
      {
        code: 'dspy.invalid',
        reason: 'predictor_missing',
        path: 'hop',
        message: expect.stringContaining('already has another signature'),
      },
    ]);
  });

  test('several predictors for one signature', async () => {
    const text = fileOf({ first: stateOf(), second: stateOf() });
    const codes = ['dspy.invalid: predictor_extra', 'dspy.invalid: predictor_extra', 'dspy.invalid: predictor_missing'];
    expect(codesOf(await problemsOf(text, { signature: answer }))).toStrictEqual(codes);
    expect(await problemsOf(text, { signature: answer, allowExtra: true })).toMatchObject([
      {
        code: 'dspy.invalid',
        reason: 'predictor_missing',
        message:
          'The signature is for a program with one predictor, but the file does not match: it has several predictors; pass `signatures` by path.',
      },
    ]);
  });

  test.each([
    { what: 'the step', kept: 'extract.predict', missing: 'react' },
    { what: 'the extraction', kept: 'react', missing: 'extract.predict' },
  ])('a ReAct without $what', async ({ kept, missing }) => {
    const whole = JSON.parse(readFixture('react')) as Record<string, unknown>;
    const text = fileOf({ [kept]: whole[kept] });
    expect(await problemsOf(text, { signature: guide, tools })).toMatchObject([
      { code: 'dspy.invalid', reason: 'predictor_missing', path: missing },
    ]);
  });

  test.each([
    { what: 'fewer', fields: ['question'] },
    { what: 'more', fields: ['question', 'context', 'answer'] },
  ])('DSP-9: one field $what than the signature has', async ({ fields }) => {
    for (const text of [fileOf(stateOf({ fields })), fileOf({ predict: stateOf({ fields }) })]) {
      const problems = await problemsOf(text, { signature: answer });
      expect(codesOf(problems)).toStrictEqual(['dspy.invalid: fields_mismatch']);
      expect(problems[0]?.message).toContain('`Question:`');
    }
  });

  test('DSP-11: fields with other names, reported with the prefixes of the file', async () => {
    const text = fileOf(stateOf({ fields: ['question', 'context', 'answer'] }));
    const problems = await problemsOf(text, { signature: signatureOf('a, b -> c') });
    expect(codesOf(problems)).toStrictEqual([
      'dspy.invalid: field_other',
      'dspy.invalid: field_other',
      'dspy.invalid: field_other',
    ]);
    expect(problems[0]?.message).toContain('`Question:`, `Context:`, `Answer:`');
  });

  test.each([
    { what: 'by its prefix', written: { prefix: 'Context:', description: 'what is known' } },
    { what: 'by its description', written: { prefix: 'ASKED>', description: placeholder('context') } },
    { what: 'by a prefix that names it', written: { prefix: 'context', description: placeholder('question') } },
    {
      what: 'by a prefix of its name and the description of another',
      written: { prefix: 'Question:', description: placeholder('context') },
    },
  ])('a field that is a different one $what', async ({ written }) => {
    const text = fileOf(stateOf({ fields: [written, 'context', 'answer'] }));
    expect(await problemsOf(text, { signature: signatureOf('question, context -> answer') })).toMatchObject([
      { code: 'dspy.invalid', reason: 'field_other', path: 'signature.fields[0]' },
    ]);
  });

  test('two swapped fields', async () => {
    const text = fileOf(stateOf({ fields: ['context', 'question', 'answer'] }));
    const problems = await problemsOf(text, { signature: signatureOf('question, context -> answer') });
    expect(problems.map(({ path }) => path)).toStrictEqual(['signature.fields[0]', 'signature.fields[1]']);
  });

  test('DSP-17: demo values with types that the schema does not allow', async () => {
    const demos = [
      { visitor: 'V', rooms: 'Harbour', room: 'Harbour', certainty: 0.5 },
      { visitor: 'V', rooms: ['Harbour'], room: 3, certainty: 7 },
    ];
    const text = fileOf(stateOf({ fields: ['visitor', 'rooms', 'room', 'certainty'], demos }));
    expect(await problemsOf(text, { signature: rooms })).toMatchObject([
      { code: 'dspy.invalid', reason: 'demo_invalid', path: 'demos[0].rooms' },
      { code: 'dspy.invalid', reason: 'demo_invalid', path: 'demos[1].room' },
      { code: 'dspy.invalid', reason: 'demo_invalid', path: 'demos[1].certainty' },
    ]);
  });

  test('a demo that only the whole schema rejects', async () => {
    const number = { type: 'number' };
    const signature = defineSignature({
      name: 'range',
      inputSchema: jsonSchema({ type: 'object', properties: { of: text }, required: ['of'] }),
      outputSchema: jsonSchema({
        type: 'object',
        properties: { low: number, high: number },
        required: ['low', 'high'],
        not: { properties: { low: { const: 2 }, high: { const: 1 } } },
      }),
    });
    const file = fileOf(stateOf({ fields: ['of', 'low', 'high'], demos: [{ of: 'T', low: 2, high: 1 }] }));
    expect(await problemsOf(file, { signature })).toMatchObject([
      { code: 'dspy.invalid', reason: 'demo_invalid', path: 'demos[0]' },
    ]);
  });

  test.each([{ demos: ['a'] }, { demos: [null] }, { demos: [[1]] }])(
    'demos that are not objects: $demos',
    async ({ demos }) => {
      expect(await problemsOf(fileOf(stateOf({ demos })), { signature: answer })).toMatchObject([
        { code: 'dspy.invalid', reason: 'demo_invalid', path: 'demos[0]' },
      ]);
    },
  );

  test.each([
    { key: 'signature_instructions', value: 'Answer.' },
    { key: 'extended_signature', value: { instructions: '', fields: [] } },
    { key: 'extended_signature_instructions', value: 'Think.' },
  ])('DSP-21: the old format with `$key`', async ({ key, value }) => {
    for (const text of [fileOf({ ...stateOf(), [key]: value }), fileOf({ qa: { ...stateOf(), [key]: value } })]) {
      const problems = await problemsOf(text, { signature: answer });
      expect(codesOf(problems)).toStrictEqual(['dspy.invalid: format_old']);
      expect(problems[0]?.message).toContain(`DSPy 2.5 and earlier (\`${key}\`)`);
    }
  });

  test('the old format without a signature', async () => {
    const old = {
      lm: null,
      traces: [],
      train: [],
      demos: [],
      signature_instructions: 'I',
      signature_prefix: 'Answer:',
    };
    expect(codesOf(await problemsOf(JSON.stringify(old), { signature: answer }))).toStrictEqual([
      'dspy.invalid: format_old',
    ]);
  });

  test('DSP-23: 50 MB, rejected by length alone', async () => {
    expect(codesOf(await problemsOf('['.repeat(50_000_000), { signature: answer }))).toStrictEqual([
      'dspy.invalid: too_large',
    ]);
    expect(codesOf(await problemsOf(new Uint8Array(50_000_000), { signature: answer }))).toStrictEqual([
      'dspy.invalid: too_large',
    ]);
  });

  test('DSP-23: 100,000 demos, and 300 predictors', async () => {
    const demos = Array.from({ length: 100_000 }, (_, index) => ({ question: `${index}`, answer: 'A' }));
    expect(await problemsOf(fileOf(stateOf({ demos })), { signature: answer })).toMatchObject([
      { code: 'dspy.invalid', reason: 'too_large', path: 'demos' },
    ]);
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`p[${index}]`, stateOf()]));
    expect(codesOf(await problemsOf(fileOf(many), { signatures: { 'p[0]': answer } }))).toStrictEqual([
      'dspy.invalid: too_large',
    ]);
  });

  test('DSP-23: a long path, a long instruction, and content too large for a module file', async () => {
    const path = 'p'.repeat(201);
    const instructions = 'i'.repeat(200_001);
    const texts = [
      fileOf({ [path]: stateOf() }),
      fileOf(stateOf({ instructions })),
      JSON.stringify({ predictors: { qa: { demos: [], instruction_override: instructions } } }),
    ];
    for (const text of texts) {
      expect(codesOf(await problemsOf(text, { signature: answer }))).toStrictEqual(['dspy.invalid: too_large']);
    }
    const long = fileOf(stateOf({ demos: [{ question: 'x'.repeat(9_000_000), answer: 'A' }] }));
    expect(codesOf(await problemsOf(long, { signature: answer }))).toStrictEqual(['modules.invalid: too_large']);
  });

  test('DSP-23: tens of thousands of unknown keys, in a state and in demos', async () => {
    const keys = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, 0]));
    const demos = [{ question: 'Q', answer: 'A', ...keys }];
    const { report } = await importOk(fileOf({ ...stateOf({ demos }), ...keys }), { signature: answer });
    expect(report.ignored).toHaveLength(1_001);
    expect(report.ignored.reduce((sum, { count }) => sum + count, 0)).toBe(40_000);
    expect(report.warnings).toHaveLength(21);
  });

  test.each([
    { what: 'not JSON', text: '{' },
    { what: 'nothing', text: '' },
    { what: 'a list', text: '[]' },
    { what: 'a text', text: '"state"' },
    { what: 'an empty object', text: '{}' },
    { what: 'only DSPy metadata', text: fileOf({}) },
    { what: 'an invalid predictor', text: '{"qa": {"demos": "many"}}' },
    { what: 'a predictor that is a number', text: '{"qa": 3}' },
    { what: 'demos that are not a list', text: fileOf({ ...stateOf(), demos: {} }) },
    {
      what: 'fields without prefixes',
      text: fileOf({ ...stateOf(), signature: { instructions: 'I', fields: [{}, {}] } }),
    },
    {
      what: 'instructions that are not text',
      text: fileOf({ ...stateOf(), signature: { instructions: 3, fields: [] } }),
    },
    { what: 'no signature', text: fileOf({ ...stateOf(), signature: null }) },
    { what: 'a duplicate key', text: '{"demos": [], "demos": []}' },
    { what: 'a key `__proto__`', text: '{"__proto__": {"demos": []}}' },
    { what: 'nesting', text: `{"demos": ${'['.repeat(100)}${']'.repeat(100)}}` },
    { what: 'an infinite number', text: '{"demos": [1e999]}' },
    { what: 'an invalid predictor of the Rust port', text: '{"predictors": {"qa": []}}' },
    {
      what: 'an instruction of the Rust port that is not text',
      text: '{"predictors": {"qa": {"instruction_override": 3}}}',
    },
  ])('$what', async ({ text }) => {
    const codes = new Set(codesOf(await problemsOf(text, { signature: answer })));
    expect(codes).toContain('dspy.invalid: state');
  });

  test('all problems are reported at once, and nothing is imported', async () => {
    const text = fileOf({
      first: stateOf({ fields: ['answer', 'question'], demos: [{ question: 3 }] }),
      second: stateOf({ fields: ['question'] }),
      third: { ...stateOf(), extended_signature: {} },
      fourth: stateOf(),
    });
    const signatures = { first: answer, second: answer, third: answer, fifth: answer };
    const imported = await importDspy(text, { signatures });
    expect(imported.type).toBe('refused');
    expect(codesOf(await problemsOf(text, { signatures }))).toStrictEqual([
      'dspy.invalid: format_old',
      'dspy.invalid: predictor_extra',
      'dspy.invalid: predictor_missing',
      'dspy.invalid: field_other',
      'dspy.invalid: field_other',
      'dspy.invalid: demo_invalid',
      'dspy.invalid: fields_mismatch',
    ]);
  });

  test('a signature with an input named like the field that a chain of thought adds', async () => {
    const text = fileOf({ predict: stateOf({ fields: ['reasoning', 'reasoning', 'answer'] }) });
    const problems = await problemsOf(text, { signature: signatureOf('reasoning -> answer') });
    expect(codesOf(problems)).toStrictEqual(['modules.invalid: signature']);
  });

  test('an invalid id throws', async () => {
    await expect(importDspy(readFixture('predict'), { signature: answer, moduleId: '../x' })).rejects.toMatchObject({
      code: 'options.invalid',
    });
  });
});

describe('reports', () => {
  test('DSP-13: a custom prefix has no effect', async () => {
    const fields = [{ prefix: 'QUERY>', description: placeholder('question') }, 'answer'];
    const { modules, report } = await importOk(fileOf(stateOf({ fields })), { signature: answer });
    expect(report.warnings).toMatchObject([
      { code: 'dspy.invalid', reason: 'prefix_custom', path: 'signature.fields[0]' },
    ]);
    expect(modules[0]?.metadata['dspy']).toMatchObject({ prefixes: { question: 'QUERY>' } });
  });

  test.each([
    { prefix: 'QUERY>', description: 'what is asked' },
    { prefix: 'Final Question:', description: 'what is asked' },
    { prefix: 'Text:', description: placeholder('question') },
    { prefix: 'Here is what is asked:', description: '' },
  ])('$prefix with $description is accepted as `question`', async (written) => {
    const { report } = await importOk(fileOf(stateOf({ fields: [written, 'answer'] })), { signature: answer });
    expect(codesOf(report.warnings)).toStrictEqual(['dspy.invalid: prefix_custom']);
  });

  test('DSP-15: a demo without any output of the predictor is kept, with a warning that it is not shown', async () => {
    const { modules, report } = await importOk(readFixture('react'), { signature: guide, tools });
    expect(report.warnings).toMatchObject([
      { code: 'dspy.invalid', reason: 'demo_not_rendered', path: 'react.demos[1]' },
    ]);
    expect(modules[0]?.demos[1]).toStrictEqual({ inputs: { question: 'Where are the coins?' }, outputs: {} });
  });

  test('a demo without any input of the predictor also gives a warning', async () => {
    const { report } = await importOk(fileOf(stateOf({ demos: [{ answer: 'A' }] })), { signature: answer });
    expect(report.warnings).toMatchObject([{ code: 'dspy.invalid', reason: 'demo_not_rendered', path: 'demos[0]' }]);
  });

  test('a null that the field does not allow is a missing field', async () => {
    const { modules, report } = await importOk(fileOf(stateOf({ demos: [{ question: 'Q', answer: null }] })), {
      signature: answer,
    });
    expect(modules[0]?.demos).toStrictEqual([{ inputs: { question: 'Q' }, outputs: {} }]);
    expect(report.ignored).toStrictEqual([{ path: 'demos[].answer', count: 1 }]);
  });

  test('DSP-19: an unknown key is ignored with a warning', async () => {
    const { report } = await importOk(fileOf({ ...stateOf(), config: { n: 3 } }), { signature: answer });
    expect(report.warnings).toMatchObject([{ code: 'dspy.invalid', reason: 'key_ignored', path: 'config' }]);
    expect(report.ignored).toStrictEqual([{ path: 'config', count: 1 }]);
  });

  test('traces and training data are left out', async () => {
    const { report } = await importOk(fileOf({ qa: { ...stateOf(), traces: [1], train: [{}] } }), {
      signature: answer,
    });
    expect(report).toMatchObject({ warnings: [], ignored: [{ path: 'qa.traces' }, { path: 'qa.train' }] });
  });

  test('only settings of an LM that are not secret are reported, and none is used', async () => {
    const lm = {
      model: 'openai/gpt-4o-mini',
      temperature: 0.2,
      max_tokens: 400,
      model_type: 'chat',
      api_key: 'sk-secret',
      api_base: 'https://user:pass@host',
      extra_headers: { authorization: 'Bearer secret' },
      top_p: { nested: 'secret' },
      reasoning_effort: 'x'.repeat(300),
    };
    const imported = await importOk(fileOf({ qa: { ...stateOf(), lm } }), { signature: answer });
    expect(imported.report.models).toStrictEqual([
      {
        path: 'qa',
        settings: { model: 'openai/gpt-4o-mini', temperature: 0.2, max_tokens: 400, model_type: 'chat' },
        leftOut: 5,
      },
    ]);
    expect(JSON.stringify(imported)).not.toMatch(/secret|pass@host/);
  });

  test.each([
    { what: 'another version', text: fileOf(stateOf(), '2.6.27'), message: '2.6.27' },
    { what: 'no version', text: JSON.stringify(stateOf()), message: 'does not say' },
  ])('$what', async ({ text, message }) => {
    const { report } = await importOk(text, { signature: answer });
    expect(report.warnings).toMatchObject([
      { code: 'dspy.invalid', reason: 'version_other', message: expect.stringContaining(message) },
    ]);
  });

  test('a ReAct whose instruction lists no or not all tools', async () => {
    const written = JSON.parse(readFixture('react')) as { react: { signature: { instructions: string } } };
    written.react.signature.instructions = 'Work in steps with look_up and list_rooms.';
    const unlisted = await importOk(JSON.stringify(written), { signature: guide, tools });
    expect(codesOf(unlisted.report.warnings)).toContain('dspy.invalid: tools_unlisted');
    const more = await importOk(readFixture('react'), { signature: guide, tools: [...tools, toolNamed('third')] });
    expect(more.report.warnings).toContainEqual(
      expect.objectContaining({
        code: 'dspy.invalid',
        reason: 'tools_unlisted',
        message: expect.stringContaining('`third`'),
      }),
    );
  });

  test('text of a file is shown on one line and cut', async () => {
    const path = `x\u001b[2J\n${'y'.repeat(500)}`;
    const [problem] = await problemsOf(fileOf({ [path]: stateOf(), other: stateOf() }), {
      signatures: { other: answer },
    });
    expect(problem?.message).toContain('`x\\x1b[2J\\nyyy');
    expect(problem?.message.length).toBeLessThan(400);
  });
});
