import type { JsonObject, ModelRequest } from '@holdfast/core';
import { exportDspy, importDspy } from '@holdfast/dspy';
import { createModuleEngine, defineSignature, loadModules, toPredictor } from '@holdfast/modules';
import { scriptedModel } from '@holdfast/testing';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { filesOf, importAll, museumReact, readFixture, realReact, type SavedReact, written } from './test-dspy.ts';

function textOf(request: ModelRequest | undefined): string {
  return (request?.messages ?? []).map(({ text }) => text).join('\n');
}

function stepOf(tool: string, args: unknown): { readonly text: string } {
  return written({ next_thought: `I need ${tool}.`, next_tool_name: tool, next_tool_args: JSON.stringify(args) });
}

/** True of every ReAct that DSPy saved. */
function holdsFor({ text, signature, tools, course, shown, onlyExtracted }: SavedReact): void {
  const saved = JSON.parse(text) as Readonly<Record<string, JsonObject & { readonly signature: JsonObject }>>;

  test('it is imported with its tools, and says what is not shown', async () => {
    const { modules, report } = await importAll(text, { signature, tools });
    expect(modules).toMatchObject([
      {
        predictor_type: 'react',
        tool_enabled: true,
        tool_protocol: 'text',
        lists_tools: true,
        instruction: saved['react']?.signature['instructions'],
        extract: { instruction: saved['extract.predict']?.signature['instructions'] },
      },
    ]);
    expect(report.warnings).toMatchObject([
      { code: 'dspy.invalid', reason: 'demo_not_rendered', path: 'react.demos[1]' },
    ]);
    expect(report.versions['dspy']).toMatch(/^3\.0/);
    expect(report.models).toStrictEqual([]);
  });

  test('DSP-5: without its tools it is refused, with all that are missing', async () => {
    const refused = await importDspy(text, { signature });
    expect(refused).toStrictEqual({
      type: 'refused',
      problems: tools.map(({ name }) => ({
        code: 'dspy.invalid',
        reason: 'tool_unknown',
        path: 'react.signature.instructions',
        message: expect.stringContaining(`\`${name}\``),
      })),
    });
  });

  test('it runs by the protocol in which it was tuned, out of a module file', async () => {
    const { modules } = await importAll(text, { signature, tools });
    const { modules: loaded, diagnostics } = await loadModules(filesOf(modules), { signatures: [signature] });
    expect(diagnostics).toStrictEqual([]);
    const module = loaded.get(signature.name);
    if (module === undefined) throw new Error('The module was not loaded.');
    const model = scriptedModel([
      stepOf(course.tool, course.args),
      stepOf('finish', {}),
      written({ reasoning: 'The tool says so.', ...course.output }),
    ]);
    const predictor = toPredictor(module, { model, tools });
    if (!('run' in predictor)) throw new Error('It is not a react module.');
    const result = await predictor.run({ question: course.question });
    expect(result).toMatchObject({ reason: 'submit', output: course.output, reasoning: 'The tool says so.' });
    expect(result.calls).toMatchObject([{ name: course.tool, args: course.args, outcome: { kind: 'ok' } }]);

    const [first, second, last] = model.requests;
    expect(model.requests.map((request) => request.tools)).toStrictEqual([[], [], []]);
    // The instruction is used as it was tuned: the tools stand in it, and nothing is added.
    expect(first?.messages[0]?.text).toContain(saved['react']?.signature['instructions']);
    expect(textOf(first).split(`) ${course.tool}`)).toHaveLength(2);
    expect(textOf(first)).toContain(shown);
    expect(textOf(first)).not.toContain(onlyExtracted);
    expect(second?.messages.at(-1)?.text).toContain(
      [
        `[[ ## thought_0 ## ]]\nI need ${course.tool}.`,
        `[[ ## tool_name_0 ## ]]\n${course.tool}`,
        `[[ ## tool_args_0 ## ]]\n${JSON.stringify(course.args)}`,
        `[[ ## observation_0 ## ]]\n${course.found}`,
      ].join('\n\n'),
    );
    expect(last?.messages[0]?.text).toContain(saved['extract.predict']?.signature['instructions']);
    // The demo that lacks outputs comes first.
    expect(textOf(last).indexOf(onlyExtracted)).toBeGreaterThan(-1);
    expect(textOf(last).indexOf(onlyExtracted)).toBeLessThan(textOf(last).indexOf(shown));
  });

  test('export gives what DSPy saved, but for its notes and for fields of other predictors', async () => {
    const { modules, report } = await importAll(text, { signature, tools });
    const exported = JSON.parse(exportDspy(modules, { signatures: [signature] })) as typeof saved;
    const fields: Readonly<Record<string, readonly string[]>> = {
      react: ['question', 'trajectory', 'next_thought', 'next_tool_name', 'next_tool_args'],
      'extract.predict': ['question', 'trajectory', 'reasoning', ...Object.keys(course.output)],
    };
    expect(Object.keys(exported)).toStrictEqual(Object.keys(saved));
    expect(exported['metadata']).toStrictEqual(saved['metadata']);
    for (const [path, names] of Object.entries(fields)) {
      const demos = (saved[path]?.['demos'] ?? []) as readonly JsonObject[];
      const kept = demos.map((demo) => Object.fromEntries(Object.entries(demo).filter(([key]) => names.includes(key))));
      expect(exported[path]).toStrictEqual({ ...saved[path], demos: kept });
      const dropped = demos.flatMap((demo) => Object.keys(demo).filter((key) => !names.includes(key)));
      const said = report.ignored.filter((ignored) => ignored.path.startsWith(`${path}.`));
      expect(said.map((ignored) => ignored.path.split('.').at(-1))).toStrictEqual([...new Set(dropped)]);
    }
  });

  test('import, export and import give the same module', async () => {
    const { modules } = await importAll(text, { signature, tools });
    const again = await importAll(exportDspy(modules, { signatures: [signature] }), { signature, tools });
    const withoutDigest = (imported: typeof again): unknown =>
      imported.modules.map((module) => ({
        ...module,
        metadata: { ...(module.metadata['dspy'] as object), digest: '' },
      }));
    expect(withoutDigest(again)).toStrictEqual(withoutDigest({ ...again, modules }));
    expect(again.report.ignored).toStrictEqual([]);
  });
}

describe(`a ReAct ${museumReact.name}`, () => {
  holdsFor(museumReact);
});

// ../shared/data/dspy-saved-program.json
describe.skipIf(realReact === undefined)('a ReAct that DSPy saved', () => {
  holdsFor(realReact ?? museumReact);
});

describe('values of a Valibot schema', () => {
  const rooms = defineSignature({
    name: 'museum.rooms',
    inputSchema: v.object({ visitor: v.string(), rooms: v.array(v.string()) }),
    outputSchema: v.object({ room: v.picklist(['Harbour', 'Coins']), certainty: v.pipe(v.number(), v.maxValue(1)) }),
  });

  test('that fit are taken over', async () => {
    const { modules } = await importAll(readFixture('chain-of-thought'), { signature: rooms });
    expect(modules[0]?.demos[0]?.outputs).toMatchObject({ room: 'Harbour', certainty: 0.9 });
  });

  test.each([
    { what: 'no number', from: '0.9', to: '"high"', path: 'predict.demos[0].certainty' },
    { what: 'above the maximum', from: '0.9', to: '2', path: 'predict.demos[0].certainty' },
    {
      what: 'none of the existing ones',
      from: '"room": "Coins"',
      to: '"room": "Attic"',
      path: 'predict.demos[1].room',
    },
  ])('DSP-17: a value that is $what refuses the file', async ({ from, to, path }) => {
    const refused = await importDspy(readFixture('chain-of-thought').replace(from, to), { signature: rooms });
    expect(refused).toMatchObject({
      type: 'refused',
      problems: [{ code: 'dspy.invalid', reason: 'demo_invalid', path }],
    });
  });
});

test('a program of several modules is served by an engine, each module as it was tuned', async () => {
  const text = v.object({ question: v.string() });
  const first = defineSignature({
    name: 'museum.first',
    inputSchema: text,
    outputSchema: v.object({ query: v.string() }),
  });
  const second = defineSignature({
    name: 'museum.second',
    inputSchema: v.object({ question: v.string(), found: v.string() }),
    outputSchema: v.object({ query: v.string() }),
  });
  const sort = defineSignature({
    name: 'museum.sort',
    inputSchema: text,
    outputSchema: v.object({ department: v.string() }),
  });
  const { signature: guide, tools } = museumReact;
  const signatures = { 'hop[0]': first, 'hop[1]': second, "d['k']": sort, deep: guide };
  const { modules } = await importAll(readFixture('program'), { signatures, tools });
  const model = scriptedModel([
    written({ query: 'oldest globe' }),
    written({ reasoning: 'The year is missing.', query: 'globe 1492' }),
    stepOf('finish', {}),
    written({ reasoning: 'It is known.', room: 'Tower' }),
  ]);
  const engine = await createModuleEngine({
    source: filesOf(modules),
    signatures: Object.values(signatures),
    model,
    tools,
  });
  expect(engine.diagnostics).toStrictEqual([]);
  expect(engine.moduleIds).toStrictEqual(['hop-0', 'hop-1', 'd-k', 'deep']);
  expect(await engine.invoke('hop-0', { question: 'Which globe is the oldest?' })).toMatchObject({
    output: { query: 'oldest globe' },
  });
  expect(await engine.invoke('hop-1', { question: 'Q', found: 'a globe' })).toMatchObject({
    output: { query: 'globe 1492' },
    reasoning: 'The year is missing.',
  });
  expect(await engine.invokeWithTools('deep', { question: 'Where is it?' })).toMatchObject({
    output: { room: 'Tower' },
  });
  expect(textOf(model.requests[0])).toContain('Write a query for the catalogue.');
  expect(textOf(model.requests[0])).toContain('Where is the oldest map?');
});
