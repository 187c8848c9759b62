import { type CompletionChecker, defineSlice, defineTool, type FeedbackProvider, type Prompt } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { clearSections, showSections } from '../disclosure/show.ts';
import { renderOutputFormat } from '../output/format.ts';
import { partsOf } from '../render/types.ts';
import { markdownSection, type Section } from '../section/section.ts';
import { parseTemplate } from '../section/template.ts';
import { mapTree } from '../section/tree.ts';
import { visibilitySlice } from '../section/visibility.ts';
import { promptOf, tool } from './fixtures.ts';
import { createPrompt, type PromptDefinition, withTree } from './prompt.ts';
import { testSession } from './test-session.ts';

const define = <Output>(rest: Partial<PromptDefinition<readonly Section[], Output>>) =>
  createPrompt<readonly Section[], Output>({ ns: 'Tests', key: 'Prompt', sections: [], ...rest });

test('the name is for people, the id for what a session keeps', () => {
  expect(define({})).toMatchObject({ name: 'tests/prompt', id: 'tests/prompt' });
  expect(define({ name: ' Release notes ' })).toMatchObject({ name: 'Release notes', id: 'tests/prompt' });
  expect(define({ name: 'x' }).bind({})).toMatchObject({ name: 'x', id: 'tests/prompt' });
});

test.each(['', '  ', 'two\nlines', 'a\u0000', 'a\u2028b', 'x'.repeat(201)])(
  'the name %j is prompt.invalid: name.invalid',
  (name) => {
    expect(() => define({ name })).toThrow(expect.objectContaining({ code: 'prompt.invalid', reason: 'name.invalid' }));
  },
);

test('slices come from sections however deep, each once, and disabled ones too', () => {
  const [one, two] = ['one', 'two'].map((id) => defineSlice({ id, kind: 'value', initial: 0, reducers: {} }));
  if (one === undefined || two === undefined) throw new Error('there are two');
  const inner = markdownSection({ title: 'Inner', template: '', slices: [one, two], enabled: () => false });
  const outer = markdownSection({ title: 'Outer', template: '', slices: [one], children: [inner] });
  expect(promptOf(outer).slices).toEqual([one, two]);
});

test('tool names are those of all sections, whatever is enabled', () => {
  const inner = markdownSection({ title: 'Inner', template: '', tools: [tool('b')], enabled: () => false });
  expect([...promptOf(markdownSection({ title: 'A', template: '', tools: [tool('a')] }), inner).toolNames]).toEqual([
    'a',
    'b',
  ]);
});

const output = v.object({ answer: v.string() });

test('an output is at the end of the text and comes with the rendering', () => {
  const section = markdownSection({ title: 'A', template: 'a' });
  const rendered = define({ sections: [section], output, maxCorrections: 2 }).render();
  if (rendered.output === undefined) throw new Error('no output');
  expect(rendered.text).toBe(`## 1. A (a)\n\na\n\n${renderOutputFormat(rendered.output)}`);
  expect(rendered.output.maxCorrections).toBe(2);
  expect(rendered.output.parse('{"answer":"yes"}')).toEqual({ ok: true, value: { answer: 'yes' } });
  expect(define({ output }).render()).toMatchObject({
    text: expect.stringMatching(/^## Response format/),
    output: { maxCorrections: 1 },
  });
  expect(Object.hasOwn(define({}).render(), 'output')).toBe(false);
});

const provider: FeedbackProvider = { name: 'nudge', triggers: [], provide: () => 'go on' };
const checker: CompletionChecker = { name: 'done', check: () => ({ complete: true }) };

test('feedback and completion come with the rendering, checked when the prompt is made', () => {
  const rendered = define({ feedback: [provider], completion: checker, maxReturns: 5 }).render();
  expect(rendered.feedback).toMatchObject([{ name: provider.name, triggers: provider.triggers }]);
  expect(rendered.completion).toMatchObject({ checker: { name: checker.name }, maxReturns: 5 });
  expect(define({ completion: checker }).render().completion?.maxReturns).toBe(3);
  expect(Object.keys(define({}).render())).not.toEqual(expect.arrayContaining(['feedback']));
  expect(Object.keys(define({}).render())).not.toEqual(expect.arrayContaining(['completion']));
});

test.each<[string, Partial<PromptDefinition<readonly Section[]>>]>([
  ['prompt.invalid: feedback', { feedback: [provider, provider] }],
  ['prompt.invalid: completion', { completion: { ...checker, name: '' } }],
  ['prompt.invalid: completion', { completion: checker, maxReturns: -1 }],
  ['options.invalid', { output, maxCorrections: -1 }],
  ['prompt.invalid: output.schema', { output: v.string() }],
])('%s is told when the prompt is made', (code, rest) => {
  expect(() => define(rest)).toThrow(expect.toSatisfy((error: { code: string }) => describeCode(error) === code));
});

test('a schema is compiled once and a binding reads it once, whatever is bound, opened and rendered', () => {
  const counts = { compiled: 0, read: 0 };
  const standard = {
    version: 1 as const,
    vendor: 'counting',
    validate(value: unknown) {
      counts.read += 1;
      return { value };
    },
    jsonSchema: {
      input() {
        counts.compiled += 1;
        return { type: 'object', properties: { word: { type: 'string' } } };
      },
    },
  };
  const params = { '~standard': standard };
  const prompt = promptOf(
    markdownSection({ title: 'A', template: 'all of $word', params, summary: 'On $word.', visibility: 'summary' }),
  );
  const session = testSession(visibilitySlice);
  for (const word of ['one', 'two']) {
    const bound = prompt.bind({ word } as object);
    expect(bound.render({ session }).text).toContain(`On ${word}.`);
    session.dispatch(showSections(prompt, ['a'], 'full'));
    expect(bound.render({ session }).text).toContain(`all of ${word}`);
    session.dispatch(clearSections(prompt));
    expect(bound.render({ session }).text).toContain(`On ${word}.`);
  }
  expect(counts).toEqual({ compiled: 1, read: 2 });
});

test('a prompt that was not made here is prompt.invalid: foreign', () => {
  const foreign: Prompt = { name: 'foreign', render: () => promptOf().render() };
  for (const act of [() => partsOf(foreign), () => showSections(foreign, [], 'full'), () => clearSections(foreign)]) {
    expect(act).toThrow(expect.objectContaining({ code: 'prompt.invalid', reason: 'foreign' }));
  }
});

test('with another tree a prompt keeps what is bound, and the first one stays as it was', () => {
  const params = v.object({ word: v.string() });
  const prompt = promptOf(
    markdownSection({
      title: 'A',
      template: 'one $word',
      params,
      children: [markdownSection({ title: 'B', template: 'two' })],
    }),
  ).bind({ word: 'w' });
  const tree = mapTree(partsOf(prompt).tree, (node) => ({
    ...node,
    template: parseTemplate(`other ${node.path}`, { names: node.params.keys, place: 'here' }),
  }));
  const other = withTree(prompt, tree);
  expect(other.render().text).toBe('## 1. A (a)\n\nother a\n\n### 1.1. B (a.b)\n\nother a.b');
  expect(prompt.render().text).toBe('## 1. A (a)\n\none w\n\n### 1.1. B (a.b)\n\ntwo');
  expect(partsOf(other.bind({ word: 'x' })).tree).toBe(tree);
});

test('declarations are there where a tree says other than its tools do', () => {
  const search = defineTool({ name: 'search', description: 'Search.', inputSchema: v.object({ q: v.string() }) });
  const prompt = promptOf(markdownSection({ title: 'A', template: '', tools: [search, tool('t')] }));
  expect(Object.hasOwn(prompt.render(), 'declarations')).toBe(false);
  const declaration = { name: 'search', description: 'Find.', inputSchema: { type: 'object' } };
  const tree = mapTree(partsOf(prompt).tree, (node) => ({
    ...node,
    tools: node.tools.map((own) => (own.tool === search ? { ...own, declaration, overridden: true } : own)),
  }));
  expect([...(withTree(prompt, tree).render().declarations ?? [])]).toEqual([['search', declaration]]);
});
