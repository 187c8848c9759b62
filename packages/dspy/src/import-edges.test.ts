import { describeCode } from '@holdfast/core/internal';
import { describe, expect, test } from 'vitest';
import type { DspyProblem } from './findings.ts';
import { quote, quoteAll } from './findings.ts';
import { answer, fileOf, guide, importOk, problemsOf, signatureOf, stateOf, toolNamed } from './test-states.ts';

const codesOf = (problems: readonly DspyProblem[]): readonly string[] => problems.map(describeCode);
const thinking = stateOf({ fields: ['question', 'reasoning', 'answer'] });
const stepOf = (instructions: string): object =>
  stateOf({ fields: ['question', 'trajectory', 'next_thought', 'next_tool_name', 'next_tool_args'], instructions });
const extraction = stateOf({ fields: ['question', 'trajectory', 'reasoning', 'room'] });
const rustOf = (predictors: object): string => JSON.stringify({ predictors });

describe('the type of a module', () => {
  test.each([
    { path: 'predict', kind: 'chain_of_thought' },
    { path: 'hop.predict', kind: 'chain_of_thought' },
  ])('with reasoning, `$path` is a $kind', async ({ path, kind }) => {
    const { modules } = await importOk(fileOf({ [path]: thinking }), { signature: answer });
    expect(modules.map(({ predictor_type: type }) => type)).toEqual([kind]);
  });

  test('a predictor with another name is not a chain of thought, and has too many fields', async () => {
    expect(codesOf(await problemsOf(fileOf({ hop: thinking }), { signature: answer }))).toEqual([
      'dspy.invalid: fields_mismatch',
    ]);
  });

  test('that of the Rust port is inferred from the name of its predictor, unless the signature has reasoning', async () => {
    const text = rustOf({ 'hop.predictor': { demos: [] } });
    const kindOf = async (signature: typeof answer): Promise<unknown> =>
      (await importOk(text, { signature })).modules[0]?.predictor_type;
    expect(await kindOf(answer)).toBe('chain_of_thought');
    expect(await kindOf(signatureOf('question -> reasoning, answer'))).toBe('predict');
  });

  test('a predictor of the Rust port needs no demos', async () => {
    const { modules } = await importOk(rustOf({ hop: {} }), { signature: answer });
    expect(modules[0]?.demos).toEqual([]);
  });

  test('a predictor may be called `predictors`', async () => {
    const { modules, report } = await importOk(fileOf({ predictors: stateOf() }), { signature: answer });
    expect([modules.length, report.format]).toEqual([1, 'dspy']);
  });

  test('a predictor with a trajectory but no calls is not half of a ReAct', async () => {
    const state = stateOf({ fields: ['trajectory', 'answer'] });
    const { modules } = await importOk(fileOf({ react: state }), { signature: signatureOf('trajectory -> answer') });
    expect(modules.map(({ predictor_type: type }) => type)).toEqual(['predict']);
  });

  test('a single signature belongs to the program itself if extra predictors are skipped', async () => {
    const state = fileOf({ other: stateOf(), predict: stateOf() });
    const { modules, report } = await importOk(state, { signature: answer, allowExtra: true });
    expect(modules.map(({ metadata }) => metadata['dspy'])).toMatchObject([{ path: 'predict' }]);
    expect(report.warnings).toMatchObject([{ code: 'dspy.invalid', reason: 'predictor_extra', path: 'other' }]);
  });
});

describe('each problem is reported once', () => {
  const broken = { ...stateOf(), signature: {} };

  test('for an unreadable half of a ReAct', async () => {
    const state = fileOf({ 'deep.react': stepOf('Go on.'), 'deep.extract.predict': broken });
    const problems = await problemsOf(state, { signatures: { deep: guide } });
    expect(problems).toMatchObject([{ code: 'dspy.invalid', reason: 'state', path: 'deep.extract.predict.signature' }]);
  });

  test('for both halves', async () => {
    const state = fileOf({ 'deep.react': broken, 'deep.extract.predict': broken });
    const problems = await problemsOf(state, { signatures: { deep: guide } });
    expect(codesOf(problems)).toEqual(['dspy.invalid: state', 'dspy.invalid: state']);
  });

  test('for a long path that is not a predictor', async () => {
    expect(
      codesOf(await problemsOf(fileOf({ a: stateOf(), ['x'.repeat(300)]: 3 }), { signatures: { a: answer } })),
    ).toEqual(['dspy.invalid: too_large']);
  });

  test('for a tool that is listed twice', async () => {
    const listed = '(1) gone. It takes arguments {}.\n(2) gone. It takes arguments {}.';
    const state = fileOf({ react: stepOf(listed), 'extract.predict': extraction });
    expect(codesOf(await problemsOf(state, { signature: guide }))).toEqual(['dspy.invalid: tool_unknown']);
  });

  test('for an instruction without tools, if there are none', async () => {
    const state = fileOf({ react: stepOf('Go on.'), 'extract.predict': extraction });
    const { report } = await importOk(state, { signature: guide });
    expect(codesOf(report.warnings)).toEqual(['dspy.invalid: tools_unlisted']);
    const { report: other } = await importOk(state, { signature: guide, tools: [toolNamed('look_up')] });
    expect(codesOf(other.warnings)).toEqual(['dspy.invalid: tools_unlisted']);
  });
});

describe('limits', () => {
  const demo = { question: 'q', answer: 'a' };

  test('accepts at most 1,000 demos and 200 predictors', async () => {
    const withDemos = (length: number): string => fileOf(stateOf({ demos: Array.from({ length }, () => demo) }));
    expect((await importOk(withDemos(1_000), { signature: answer })).modules[0]?.demos).toHaveLength(1_000);
    expect(codesOf(await problemsOf(withDemos(1_001), { signature: answer }))).toEqual(['dspy.invalid: too_large']);
    const states = (length: number): Record<string, object> =>
      Object.fromEntries(Array.from({ length }, (_, index) => [`p${index}`, stateOf()]));
    const named = (length: number) => ({
      signatures: Object.fromEntries(Object.keys(states(length)).map((path) => [path, answer])),
    });
    expect((await importOk(fileOf(states(200)), named(200))).modules).toHaveLength(200);
    expect(codesOf(await problemsOf(fileOf(states(201)), named(200)))).toContain('dspy.invalid: too_large');
  });

  test('a long path gives a valid id', async () => {
    const path = `a${'b'.repeat(198)}`;
    const { modules } = await importOk(fileOf({ [path]: stateOf() }), { signatures: { [path]: answer } });
    expect(modules[0]?.module_id).toBe(path.slice(0, 120));
  });

  test.each([
    { path: "d['k'].x", id: 'd-k.x' },
    { path: 'hop[0]', id: 'hop-0' },
    { path: '__a', id: 'a' },
  ])('$path gives the id $id', async ({ path, id }) => {
    const { modules } = await importOk(fileOf({ [path]: stateOf() }), { signatures: { [path]: answer } });
    expect(modules[0]?.module_id).toBe(id);
  });

  test('long keys are cut', async () => {
    const key = 'k'.repeat(10_000);
    const { report } = await importOk(fileOf(stateOf({ demos: [{ ...demo, [key]: 1 }] })), { signature: answer });
    expect(report.ignored).toEqual([{ path: `demos[].${key.slice(0, 100)}`, count: 1 }]);
  });

  test('rejections are frozen, like imports', async () => {
    for (const text of ['', '[]', fileOf({ other: 3 })]) {
      const problems = await problemsOf(text, { signature: answer });
      expect([Object.isFrozen(problems), problems.every((problem) => Object.isFrozen(problem))]).toEqual([true, true]);
    }
    const { modules, report } = await importOk(fileOf(stateOf()), { signature: answer });
    for (const part of [modules, modules[0], report]) expect(Object.isFrozen(part)).toBe(true);
  });

  test.each(['30.0.1', '2.6.0', `3.${'0'.repeat(60)}`])('version %s is not DSPy 3', async (version) => {
    const { report } = await importOk(fileOf(stateOf(), version), { signature: answer });
    expect(codesOf(report.warnings)).toEqual(['dspy.invalid: version_other']);
  });

  test('a pickle in base64 is also detected after spaces', async () => {
    const pickled = `  ${Buffer.from([0x80, 4, 0x95, 1, 2, 3, 4, 5, 6]).toString('base64')}`;
    expect(codesOf(await problemsOf(pickled, { signature: answer }))).toEqual(['dspy.invalid: pickle']);
  });
});

test('quoted text of a file contains no backticks, and at most twenty items are listed', () => {
  expect(quote('a `b`')).toBe("`a 'b'`");
  const names = (length: number): string[] => Array.from({ length }, (_, index) => `${index}`);
  expect(quoteAll(names(20))).not.toContain('more');
  expect(quoteAll(names(21))).toMatch(/`19` and 1 more$/);
});
