import { defineTool, type SessionReader } from '@holdfast/core';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { showSections } from '../disclosure/show.ts';
import type { BindablePrompt } from '../render/types.ts';
import { markdownSection, type Section } from '../section/section.ts';
import { visibilitySlice } from '../section/visibility.ts';
import { createPrompt } from './prompt.ts';
import { testSession } from './test-session.ts';

/** The model's view of a prompt: its text, and after a rule the tools with their policies. */
function whole(prompt: BindablePrompt, session?: SessionReader): string {
  const { text, tools, policies } = prompt.render({ session });
  const lines = tools.map(({ name }) => {
    const keys = (policies.get(name) ?? []).map(({ key }) => key);
    return `- ${[name, ...keys].join(', ')}`;
  });
  return `${text}\n\n---\n\n${lines.length === 0 ? 'No tools.' : lines.join('\n')}\n`;
}

const golden = (name: string): string => `golden/${name}.md`;

const lookup = defineTool({
  name: 'lookup_entity',
  description: 'Fetch what is known of an entity.',
  inputSchema: v.object({ id: v.string(), related: v.optional(v.boolean(), false) }),
  outputSchema: v.object({ id: v.string(), url: v.string() }),
  effects: 'none',
  examples: [
    { description: 'A known entity', input: { id: 'E42' }, output: { id: 'E42', url: 'https://example.com/E42' } },
    {
      description: 'With those it has to do with,\nwhich takes longer',
      input: { id: 'E1', related: true },
      output: { id: 'E1', url: 'https://example.com/E1' },
    },
  ],
  execute: ({ id }) => ({ id, url: `https://example.com/${id}` }),
});
const note = defineTool({
  name: 'save_note',
  description: 'Save a note.',
  inputSchema: v.object({ text: v.string() }),
  outputSchema: v.object({ path: v.string() }),
  examples: [{ description: 'A short one', input: { text: 'E42 is a lamp.' }, output: { path: 'notes/1.md' } }],
  execute: () => ({ path: 'notes/1.md' }),
  renderResult: ({ path }) => `Saved as ${path}.\nNotes are never changed.`,
});

const task = {
  objective: 'Note what E42 is',
  steps: [
    {
      tool: 'lookup_entity',
      description: 'Find out what it is',
      input: { id: 'E42' },
      output: { id: 'E42', url: 'https://example.com/E42' },
    },
    {
      tool: 'save_note',
      description: 'Save that',
      input: { text: 'E42 is a lamp.' },
      output: { path: 'notes/1.md' },
    },
  ],
};

test('six levels and one more, with parameters of every kind', async () => {
  const titles = ['Seventh', 'Sixth', 'Fifth', 'Fourth', 'Third', 'Second'];
  const deep = titles.reduce<readonly Section[]>(
    (children, title) => [markdownSection({ title, template: `The ${title.toLowerCase()} level.`, children })],
    [],
  );
  const prompt = createPrompt({
    ns: 'golden',
    key: 'levels',
    sections: [
      markdownSection({
        title: 'First',
        template: `
          About $topic, since \${day}:
            - words: $words
            - limits: $limits
            - nothing: "$none"

          It costs $$5, or $5.
        `,
        params: v.object({
          topic: v.string(),
          day: v.date(),
          words: v.array(v.string()),
          limits: v.object({ bytes: v.number(), open: v.boolean() }),
          none: v.nullable(v.string()),
        }),
        children: deep,
      }),
      markdownSection({ title: 'Blank', template: '\n   \n' }),
      markdownSection({ title: 'Ünïcode & Signs!', template: 'Its key is made of its title.' }),
    ],
  }).bind({
    topic: 'entities',
    day: new Date(Date.UTC(2026, 0, 2)),
    words: ['one', 'two'],
    limits: { bytes: 10, open: true },
    none: null,
  });
  await expect(whole(prompt)).toMatchFileSnapshot(golden('six-levels'));
});

test('numbers stay when siblings are disabled', async () => {
  const off = (): boolean => false;
  const prompt = createPrompt({
    ns: 'golden',
    key: 'disabled',
    sections: [
      markdownSection({ title: 'Gone', template: 'gone', enabled: off, tools: [note] }),
      markdownSection({
        title: 'Here',
        template: 'Here.',
        children: [
          markdownSection({ title: 'One', template: 'The first child.' }),
          markdownSection({ title: 'Two', template: 'gone', enabled: off }),
          markdownSection({
            title: 'Three',
            template: 'The third child.',
            tools: [lookup],
            taskExamples: [{ ...task, outcome: 'Gone with the tool that it needs.' }],
          }),
        ],
      }),
      markdownSection({ title: 'Last', template: 'The third section.' }),
    ],
  });
  await expect(whole(prompt)).toMatchFileSnapshot(golden('disabled-siblings'));
});

test('summaries, closed, opened by one and all', async () => {
  const prompt = createPrompt({
    ns: 'golden',
    key: 'summaries',
    sections: [
      markdownSection({ title: 'Guidance', template: 'Open a section before you work on what it is about.' }),
      markdownSection({
        title: 'Entities',
        template: 'All about $topic.',
        summary: 'Finds $topic.',
        params: v.object({ topic: v.string() }),
        visibility: 'summary',
        tools: [lookup],
        children: [
          markdownSection({
            title: 'Notes',
            template: 'Notes are for people.',
            summary: 'Saves notes.',
            visibility: 'summary',
            tools: [note],
            taskExamples: [{ ...task, outcome: 'E42 is a lamp, and that is noted.' }],
          }),
        ],
      }),
      markdownSection({
        title: 'Glossary',
        template: 'An entity is a thing.',
        summary: 'What the words mean.',
        visibility: 'summary',
        children: [markdownSection({ title: 'More', template: 'A lamp is an entity.' })],
      }),
    ],
  }).bind({ topic: 'entities' });
  const session = testSession(visibilitySlice);
  await expect(whole(prompt, session)).toMatchFileSnapshot(golden('summaries-closed'));
  session.dispatch(showSections(prompt, ['entities'], 'full'));
  await expect(whole(prompt, session)).toMatchFileSnapshot(golden('summaries-one-open'));
  session.dispatch(showSections(prompt, ['entities.notes', 'glossary'], 'full'));
  await expect(whole(prompt, session)).toMatchFileSnapshot(golden('summaries-open'));
});

test('examples and an output', async () => {
  const prompt = createPrompt({
    ns: 'golden',
    key: 'output',
    output: v.object({
      answer: v.pipe(v.string(), v.description('What it is, in one sentence')),
      sources: v.optional(v.array(v.string()), []),
    }),
    sections: [
      markdownSection({
        title: 'Work',
        template: 'Answer from what the tools say.',
        tools: [lookup, note],
        taskExamples: [{ ...task, outcome: { answer: 'A lamp.', sources: ['notes/1.md'] } }],
      }),
    ],
  });
  await expect(whole(prompt)).toMatchFileSnapshot(golden('examples-and-output'));
});

test('a list as output, and nothing else', async () => {
  const prompt = createPrompt({
    ns: 'golden',
    key: 'list',
    output: v.array(v.object({ id: v.string() })),
    sections: [],
  });
  await expect(whole(prompt)).toMatchFileSnapshot(golden('list-output'));
});
