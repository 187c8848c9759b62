import { defineTool } from '@holdfast/core';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { promptOf, tool } from '../prompt/fixtures.ts';
import { createPrompt } from '../prompt/prompt.ts';
import { markdownSection, type TaskExample } from './section.ts';

const lookup = defineTool({
  name: 'lookup',
  description: 'Look an id up.',
  inputSchema: v.object({ id: v.string(), deep: v.optional(v.boolean(), false) }),
  outputSchema: v.object({ url: v.string() }),
  execute: ({ id }) => ({ url: id }),
});
const save = defineTool({
  name: 'save',
  description: 'Save a note.',
  outputSchema: v.object({ path: v.string() }),
  execute: () => ({ path: 'x' }),
  renderResult: ({ path }) => `Saved:\n${path}`,
});

const found = { tool: 'lookup', description: 'Look it up', input: { id: 'E42' }, output: { url: 'https://x.test' } };
const saved = { tool: 'save', description: 'Save\nit', input: {}, output: { path: 'notes/e42' } };
const example: TaskExample = { objective: ' Note E42 ', steps: [found, saved], outcome: 'It is noted. ' };

const sectionOf = (taskExamples: readonly TaskExample[]) =>
  markdownSection({ title: 'Work', template: 'Body.', tools: [lookup], taskExamples });
const rest = markdownSection({ title: 'Rest', template: '', tools: [save] });

test('a task is shown from its objective to its outcome, outputs as results look', () => {
  expect(promptOf(sectionOf([example]), rest).render().text).toBe(
    [
      '## 1. Work (work)',
      'Body.',
      'Example of a task: Note E42',
      [
        '1. Look it up',
        '   - tool: `lookup`',
        '   - input: {"id":"E42"}',
        '   - output: {"url":"https://x.test"}',
        '2. Save',
        '   it',
        '   - tool: `save`',
        '   - input: {}',
        '   - output: Saved:',
        '     notes/e42',
      ].join('\n'),
      'Outcome: It is noted.',
      '## 2. Rest (rest)',
    ].join('\n\n'),
  );
});

test('it is there only while all its tools are offered', () => {
  let on = true;
  const optional = markdownSection({ title: 'Rest', template: '', tools: [save], enabled: () => on });
  const alone = { objective: 'Alone', steps: [found], outcome: 'Found.' };
  const prompt = promptOf(sectionOf([example, alone]), optional);
  expect(prompt.render().text).toContain('Note E42');
  on = false;
  expect(prompt.render().text).not.toContain('Note E42');
  expect(prompt.render().text).toContain('Alone');
});

const output = v.object({ answer: v.string(), score: v.optional(v.number(), 0) });
const promptWith = (outcome: TaskExample['outcome'], schema: v.GenericSchema = output) =>
  createPrompt({
    ns: 'tests',
    key: 'output',
    output: schema,
    sections: [sectionOf([{ objective: 'O', steps: [found], outcome }])],
  });

test('where the prompt declares an output, the outcome is one, as a model writes it', () => {
  expect(promptWith({ answer: 'yes' }).render().text).toContain('Outcome: {"answer":"yes"}');
  expect(promptWith([{ answer: 'yes' }], v.array(output)).render().text).toContain(
    'Outcome: {"items":[{"answer":"yes"}]}',
  );
});

test.each([
  ['a text', 'yes'],
  ['an output of another type', { answer: 1 }],
  ['one with an undeclared key', { answer: 'yes', extra: true }],
  ['a list where one is asked for', [{ answer: 'yes' }]],
  ['null', null],
])('with an output, %s as outcome is prompt.invalid: example', (_title, outcome) => {
  expect(() => promptWith(outcome)).toThrow(
    expect.objectContaining({
      code: 'prompt.invalid',
      reason: 'example',
      message: expect.stringContaining('its outcome'),
    }),
  );
});

const step = (change: object): TaskExample => ({ ...example, steps: [saved, { ...found, ...change }] });
test.each<{ title: string; wrong: TaskExample; names: string }>([
  { title: 'C27: an outcome that is not text', wrong: { ...example, outcome: { a: 1 } }, names: 'no `output`' },
  { title: 'an empty outcome', wrong: { ...example, outcome: ' ' }, names: 'its outcome' },
  { title: 'no objective', wrong: { ...example, objective: ' ' }, names: '`objective`' },
  { title: 'an objective of 501 characters', wrong: { ...example, objective: 'x'.repeat(501) }, names: '`objective`' },
  { title: 'no steps', wrong: { ...example, steps: [] }, names: '`steps`' },
  {
    title: 'a tool that no section offers',
    wrong: step({ tool: 'nope' }),
    names: 'step 2: no section offers `nope`; there are: ',
  },
  { title: 'a tool that every object has', wrong: step({ tool: 'constructor' }), names: '`constructor`' },
  { title: 'the tool of a prompt itself', wrong: step({ tool: 'open_sections' }), names: '`open_sections`' },
  { title: 'an input of another type', wrong: step({ input: { id: 1 } }), names: 'step 2: its input: `id`' },
  { title: 'an undeclared key', wrong: step({ input: { id: 'a', x: 1 } }), names: '`x`' },
  { title: 'an output of another type', wrong: step({ output: { url: 1 } }), names: 'step 2: its output: `url`' },
  {
    title: 'an output that is not JSON',
    wrong: step({ tool: 'plain', input: {}, output: 1n }),
    names: '`steps[1].output`',
  },
  { title: 'an output that cannot be rendered', wrong: step({ tool: 'faulty', input: {} }), names: '`renderResult`' },
  {
    title: 'an output that renders to no text',
    wrong: step({ tool: 'mute', input: {} }),
    names: 'did not return a string',
  },
  { title: 'no description', wrong: step({ description: '' }), names: '`steps[1].description`' },
  {
    title: 'a description of 201 characters',
    wrong: step({ description: 'x'.repeat(201) }),
    names: '`steps[1].description`',
  },
])('$title is prompt.invalid: example', ({ wrong, names }) => {
  const faulty = defineTool({
    name: 'faulty',
    description: 'Fails.',
    renderResult() {
      throw new Error('cannot');
    },
  });
  // The cast stands for a host that is written without types.
  const mute = defineTool({
    name: 'mute',
    description: 'Says nothing.',
    renderResult: () => undefined as unknown as string,
  });
  const others = markdownSection({ title: 'Others', template: '', tools: [tool('plain'), faulty, mute] });
  expect(() =>
    promptOf(rest, others, markdownSection({ title: 'Top', template: '', children: [sectionOf([wrong])] })),
  ).toThrow(
    expect.objectContaining({
      code: 'prompt.invalid',
      message: expect.stringContaining(names),
      data: { reason: 'example', section: 'top.work' },
    }),
  );
});

test('what came as JSON from elsewhere is held to the same shape', () => {
  const wrong = [
    null,
    'text',
    [],
    {},
    { ...example, steps: {} },
    { ...example, note: 1 },
    step({ tool: 1 }),
    step({ extra: 1 }),
  ];
  for (const given of wrong) {
    // The cast stands for a file of overrides.
    expect(() => promptOf(sectionOf([given as TaskExample]), rest)).toThrow(
      expect.objectContaining({ code: 'prompt.invalid', reason: 'example' }),
    );
  }
});

test('500 characters of objective and 200 of a description are fine', () => {
  const long = { ...example, objective: 'x'.repeat(500), steps: [{ ...found, description: 'y'.repeat(200) }] };
  expect(promptOf(sectionOf([long])).render().text).toContain('y'.repeat(200));
});
