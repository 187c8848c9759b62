import { defineTool, type Json, type Tool } from '@holdfast/core';
import { ReadOnlyMap } from '@holdfast/core/internal';
import { jsonSchema } from '@holdfast/schema/json';
import * as v from 'valibot';
import { expect, expectTypeOf, test } from 'vitest';
import { policy } from '../prompt/fixtures.ts';
import { createPrompt } from '../prompt/prompt.ts';
import { markdownSection } from '../section/section.ts';
import { hashOverridden, type OverrideDocument } from './document.ts';
import { loadOverrides, saveOverrides, seedOverrides } from './override.ts';
import { memoryOverrides, type OverrideStore } from './store.ts';

const search = defineTool({
  name: 'search',
  description: 'Finds documents.',
  inputSchema: v.object({
    q: v.pipe(v.string(), v.description('Query text')),
    limit: v.optional(v.number(), 10),
  }),
  outputSchema: v.object({ found: v.number() }),
  examples: [{ description: 'One word', input: { q: 'tea' }, output: { found: 2 } }],
  execute: () => ({ found: 0 }),
});
const imported = defineTool({
  name: 'imported',
  description: 'Länger, aus einem Server.',
  origin: { kind: 'mcp', source: 'server' },
});
const fixed = defineTool({ name: 'fixed', description: 'Says what it says.', acceptsOverrides: false });

const guard = policy('guard');

const searchExamples = [{ description: 'One word', input: { q: 'tea' }, output: { found: 2 } }];

function createExample() {
  return createPrompt({
    ns: 'tests/over',
    key: 'prompt',
    sections: [
      markdownSection({
        title: 'Guide',
        template: `
          Greet $name.
            Be kind.
        `,
        params: v.object({ name: v.string() }),
        summary: 'How to greet $name.',
        tools: [search],
        policies: [guard],
        taskExamples: [
          {
            objective: 'Find tea',
            steps: [{ tool: 'search', description: 'Look', input: { q: 'tea' }, output: { found: 2 } }],
            outcome: 'Two.',
          },
        ],
        children: [markdownSection({ title: 'Detail', template: 'In detail.', tools: [imported] })],
      }),
      markdownSection({ title: 'Locked', template: 'Stays.', summary: 'S.', acceptsOverrides: false, tools: [fixed] }),
      markdownSection({ title: 'Computed', template: 'Text.', summary: 'Short.', visibility: () => 'full' }),
    ],
  });
}

const ref = { ns: 'tests/over', key: 'prompt', tag: 'latest' };
const head = { version: 1, ...ref } as const;

/** The hash of what stands in `document` now. */
const text = async (replaced: string | null, own: string) => ({ hash: await hashOverridden(replaced), text: own });
const value = async <Value>(replaced: Json, own: Value) => ({ hash: await hashOverridden(replaced), value: own });

async function storeOf(document: Json): Promise<OverrideStore> {
  const store = memoryOverrides();
  await store.write(ref, JSON.stringify(document));
  return store;
}

async function load(document: object) {
  const prompt = createExample();
  // Any value is JSON once written.
  const loaded = await loadOverrides(prompt, { store: await storeOf(document as Json) });
  return { ...loaded, changed: loaded.prompt !== prompt, rendered: loaded.prompt.bind({ name: 'Ada' }).render() };
}

const body = 'Greet $name.\n  Be kind.';
const original = createExample().bind({ name: 'Ada' }).render();

test('a body is replaced; heading, numbers and tools stay', async () => {
  const { rendered, applied, stale, unknown, invalid } = await load({
    ...head,
    sections: { guide: { body: await text(body, 'Say hello to $name, for $$5.') } },
  });
  expect(rendered.text).toBe(original.text.replace('Greet Ada.\n  Be kind.', 'Say hello to Ada, for $5.'));
  expect(rendered.tools).toEqual(original.tools);
  expect(rendered.policies).toEqual(original.policies);
  expect(rendered.declarations).toBeUndefined();
  expect({ stale, unknown, invalid }).toEqual({ stale: [], unknown: [], invalid: [] });
  expect(applied).toEqual([
    {
      section: 'guide',
      part: 'body',
      current: body,
      hash: await hashOverridden(body),
      override: 'Say hello to $name, for $$5.',
      edited: true,
    },
  ]);
});

test('a tool’s texts are told to the model, in declarations, parameters and examples; the tool stays', async () => {
  const { rendered, invalid } = await load({
    ...head,
    tools: {
      search: {
        description: await text('Finds documents.', '  Finds pages.  '),
        parameters: { q: await text('Query text', 'Words to look for'), limit: await text(null, 'How many') },
        examples: await value(
          [{ description: 'One word', input: { q: 'tea' }, output: { found: 2 } }],
          [{ description: 'Two words', input: { q: 'green tea' }, output: { found: 1 } }],
        ),
      },
    },
  });
  expect(invalid).toEqual([]);
  expect(rendered.tools[0]).toBe(search);
  expect([...(rendered.declarations ?? [])]).toEqual([
    [
      'search',
      {
        name: 'search',
        description: 'Finds pages.',
        inputSchema: expect.objectContaining({
          properties: {
            q: { type: 'string', description: 'Words to look for' },
            limit: { type: 'number', default: 10, description: 'How many' },
          },
          required: ['q'],
          additionalProperties: false,
        }),
      },
    ],
  ]);
  expect(Object.isFrozen(rendered.declarations?.get('search')?.inputSchema['properties'])).toBe(true);
  expect(rendered.toolParamDescriptions.get('search')).toEqual(
    new ReadOnlyMap([
      ['q', { type: 'string', description: 'Words to look for' }],
      ['limit', { type: 'number', default: 10, description: 'How many' }],
    ]),
  );
  expect(rendered.text).toContain('- Two words\n  - input: {"q":"green tea"}\n  - output: {"found":1}');
  expect(rendered.text).not.toContain('One word');
});

test('a summary and `visibility` "summary" both take effect, also where there was no summary', async () => {
  const given = await load({
    ...head,
    sections: {
      guide: { visibility: await value('full', 'summary'), summary: await text('How to greet $name.', 'Hi $name.') },
    },
  });
  expect(given.rendered.text).toContain('## 1. Guide (guide)\n\nHi Ada.');
  expect(given.rendered.text).not.toContain('Be kind');
  expect(given.rendered.tools.map(({ name }) => name)).toEqual(['fixed', 'open_sections']);

  const added = await load({
    ...head,
    sections: { 'guide.detail': { visibility: await value('full', 'summary'), summary: await text(null, 'Short.') } },
  });
  expect(added.invalid).toEqual([]);
  expect(added.rendered.text).toContain('### 1.1. Detail (guide.detail)\n\nShort.');
  expect(added.rendered.tools.map(({ name }) => name)).toEqual(['search', 'fixed', 'open_sections']);
});

test('task examples are replaced', async () => {
  const [example] = createExampleTasks();
  const { rendered, invalid } = await load({
    ...head,
    sections: {
      guide: { taskExamples: await value([example], [{ ...example, objective: 'Find coffee' }]) },
      'guide.detail': { taskExamples: await value(null, [{ ...example, objective: 'Find milk' }]) },
    },
  });
  expect(invalid).toEqual([]);
  expect(rendered.text).toContain('Find coffee');
  expect(rendered.text).toContain('Find milk');
  expect(rendered.text).not.toContain('Find tea');
});

function createExampleTasks() {
  const step = { tool: 'search', description: 'Look', input: { q: 'tea' }, output: { found: 2 } };
  return [{ objective: 'Find tea', steps: [step], outcome: 'Two.' }] as const;
}

test('examples may be taken away', async () => {
  const { rendered } = await load({
    ...head,
    tools: { search: { examples: await value(searchExamples, []) } },
    sections: { guide: { taskExamples: await value(createExampleTasks(), []) } },
  });
  expect(rendered.text).not.toContain('xample');
});

test('what is pinned to another text is stale and left out', async () => {
  const { changed, applied, stale } = await load({
    ...head,
    sections: {
      guide: { body: await text('An older text.', 'New.'), summary: await text(null, 'New.') },
      'guide.detail': { summary: await text('There was one.', 'New.') },
    },
    tools: { search: { description: await text('Found documents.', 'Found documents.') } },
  });
  expect({ changed, applied }).toEqual({ changed: false, applied: [] });
  expect(stale.map(({ section, tool, part, edited, why }) => ({ at: section ?? tool, part, edited, why }))).toEqual([
    { at: 'guide', part: 'body', edited: true, why: 'the prompt says something else there now' },
    { at: 'guide', part: 'summary', edited: true, why: 'the prompt has something there now' },
    { at: 'guide.detail', part: 'summary', edited: true, why: 'the prompt has nothing there any more' },
    // Seeded and never edited: nothing is lost.
    { at: 'search', part: 'description', edited: false, why: 'the prompt says something else there now' },
  ]);
  expect(stale[0]).toMatchObject({ current: body, hash: await hashOverridden(body), override: 'New.' });
});

test('what the prompt does not have, or has locked, is unknown', async () => {
  const entry = await text('Stays.', 'x');
  const { changed, unknown } = await load({
    ...head,
    sections: {
      gone: { body: entry },
      constructor: { body: entry },
      locked: { body: entry, summary: await text('S.', 'x'), visibility: await value('full', 'summary') },
      computed: { visibility: await value('full', 'summary') },
    },
    tools: {
      gone: { description: entry },
      open_sections: { description: entry },
      toString: { description: entry },
      fixed: { description: await text('Says what it says.', 'x') },
      search: { parameters: { gone: entry, toString: entry, hasOwnProperty: await text(null, 'x') } },
    },
  });
  expect(changed).toBe(false);
  expect(unknown.map(({ section, tool, part, why }) => `${section ?? tool} ${part}: ${why}`)).toEqual([
    'gone body: the prompt has no such section',
    'constructor body: the prompt has no such section',
    'locked body: the section accepts no overrides',
    'locked summary: the section accepts no overrides',
    'locked visibility: the section accepts no overrides',
    'computed visibility: a function of the prompt decides it',
    'gone description: the prompt has no such tool',
    'open_sections description: the prompt has no such tool',
    'toString description: the prompt has no such tool',
    'fixed description: the tool accepts no overrides',
    'search parameters.gone: the tool has no such parameter',
    'search parameters.toString: the tool has no such parameter',
    'search parameters.hasOwnProperty: the tool has no such parameter',
  ]);
});

const example = { description: 'x', input: { q: 'x' }, output: { found: 1 } };
const task = createExampleTasks()[0];

interface Unfit {
  readonly part: string;
  /** Or a `value`. */
  readonly text?: string;
  readonly value?: unknown;
  readonly why: string;
}

const summary = 'How to greet $name.';
const replaced: Readonly<Record<string, Json>> = {
  body,
  summary,
  visibility: 'full',
  taskExamples: createExampleTasks(),
  description: 'Finds documents.',
  examples: searchExamples,
};

test.each<Unfit>([
  {
    part: 'body',
    text: 'Greet $gone.',
    why: 'The placeholder `$gone` in section `guide` is not one of its parameters',
  },
  { part: 'body', text: 'Greet ${', why: 'not closed' },
  { part: 'summary', text: 'Greet $gone.', why: '`$gone`' },
  { part: 'summary', text: ' \n', why: 'must not be blank' },
  { part: 'visibility', value: 'hidden', why: '`full` or `summary`' },
  { part: 'visibility', value: ['full'], why: '`full` or `summary`' },
  { part: 'taskExamples', value: 'x', why: 'Expected Array' },
  { part: 'taskExamples', value: [null], why: 'does not fit' },
  { part: 'taskExamples', value: [{ ...task, more: 1 }], why: 'Unknown key' },
  { part: 'taskExamples', value: [{ ...task, steps: [{ tool: 'gone', ...example }] }], why: '`gone`' },
  { part: 'taskExamples', value: [{ ...task, steps: [{ tool: 'search', ...example, input: {} }] }], why: 'q' },
  { part: 'taskExamples', value: [{ ...task, objective: '' }], why: '`objective`' },
  { part: 'taskExamples', value: [{ ...task, outcome: { a: 1 } }], why: 'outcome must be a text' },
  { part: 'description', text: 'x'.repeat(300), why: '1 to 200 characters, got 300' },
  { part: 'description', text: 'Größe', why: 'must be ASCII' },
  { part: 'description', text: ' ', why: '1 to 200 characters' },
  { part: 'examples', value: {}, why: 'Expected Array' },
  { part: 'examples', value: [1], why: 'Expected Object' },
  { part: 'examples', value: [{ ...example, input: { q: 1 } }], why: '`q`' },
  { part: 'examples', value: [{ ...example, input: { q: 'x', z: 1 } }], why: 'Unknown key' },
  { part: 'examples', value: [{ ...example, output: {} }], why: 'found' },
  { part: 'examples', value: [{ ...example, description: '' }], why: 'description' },
  { part: 'examples', value: [{ ...example, description: 'x'.repeat(201) }], why: 'description' },
  { part: 'examples', value: [{ ...example, more: 1 }], why: 'Unknown key' },
])(
  '$part that does not fit is skipped with a report, and refused when it is stored: $why',
  async ({ part, why, ...unfit }) => {
    const ofTool = part === 'description' || part === 'examples';
    const entry = { [part]: { hash: await hashOverridden(replaced[part] ?? null), ...unfit } };
    const document = {
      ...head,
      sections: { 'guide.detail': { body: await text('In detail.', 'New.') }, ...(ofTool ? {} : { guide: entry }) },
      tools: ofTool ? { search: entry } : {},
    };
    const { rendered, invalid, applied } = await load(document);
    const place = ofTool ? { tool: 'search', part } : { section: 'guide', part };
    expect(invalid).toMatchObject([{ ...place, why: expect.stringContaining(why) }]);
    // The other one is in force.
    expect(applied).toHaveLength(1);
    expect(rendered.text).toBe(original.text.replace('In detail.', 'New.'));
    const store = memoryOverrides();
    // Documents from elsewhere are untyped.
    const given = document as unknown as OverrideDocument;
    await expect(saveOverrides(createExample(), given, { store })).rejects.toMatchObject({
      code: 'prompt.invalid',
      reason: 'override.refused',
      message: expect.stringContaining(why),
    });
    expect(await store.read(ref)).toBeUndefined();
  },
);

test('a summary that is left out leaves nothing to show', async () => {
  const { invalid, changed } = await load({
    ...head,
    sections: {
      'guide.detail': { visibility: await value('full', 'summary'), summary: await text(null, 'About $gone.') },
    },
  });
  expect(changed).toBe(false);
  expect(invalid.map(({ part, why }) => `${part}: ${why}`)).toEqual([
    'visibility: the section has no summary to show',
    expect.stringContaining('summary: The placeholder'),
  ]);
});

test('a description of a tool that comes from elsewhere may be long and of any script', async () => {
  const { rendered, invalid } = await load({
    ...head,
    tools: { imported: { description: await text('Länger, aus einem Server.', 'ß'.repeat(4_096)) } },
  });
  expect(invalid).toEqual([]);
  expect(rendered.declarations?.get('imported')?.description).toHaveLength(4_096);
});

test('a parameter’s description has 1 to 4,096 characters', async () => {
  for (const [own, why] of [
    ['\n', 'got 0'],
    ['x'.repeat(4_097), 'got 4097'],
  ]) {
    const { invalid } = await load({
      ...head,
      tools: { search: { parameters: { q: await text('Query text', own ?? '') } } },
    });
    expect(invalid).toMatchObject([{ tool: 'search', part: 'parameters.q', why: expect.stringContaining(why ?? '') }]);
  }
});

test('what is seeded is all that may be overridden, as it is, and changes nothing', async () => {
  const store = memoryOverrides();
  const prompt = createExample();
  const { document, created } = await seedOverrides(prompt, { store });
  expect(created).toBe(true);
  expect(JSON.parse((await store.read(ref)) ?? '')).toEqual(document);
  expect(document).toEqual({
    ...head,
    sections: {
      guide: {
        body: await text(body, body),
        summary: await text('How to greet $name.', 'How to greet $name.'),
        visibility: await value('full', 'full'),
        taskExamples: await value([...createExampleTasks()], createExampleTasks()),
      },
      'guide.detail': { body: await text('In detail.', 'In detail.'), visibility: await value('full', 'full') },
      computed: { body: await text('Text.', 'Text.'), summary: await text('Short.', 'Short.') },
    },
    tools: {
      search: {
        description: await text('Finds documents.', 'Finds documents.'),
        parameters: { q: await text('Query text', 'Query text') },
        examples: {
          hash: await hashOverridden(searchExamples),
          value: search.examples,
        },
      },
      imported: { description: await text('Länger, aus einem Server.', 'Länger, aus einem Server.') },
    },
  });
  const loaded = await loadOverrides(prompt, { store });
  expect(loaded.prompt).toBe(prompt);
  expect(loaded.found).toBe(true);
  expect(loaded.applied).toHaveLength(12);
  expect(loaded.applied.some(({ edited }) => edited)).toBe(false);
  expect([loaded.stale, loaded.unknown, loaded.invalid]).toEqual([[], [], []]);
});

test('a second seed leaves the first one and what people made of it', async () => {
  const store = memoryOverrides();
  const first = await seedOverrides(createExample(), { store });
  const edited = JSON.stringify({
    ...first.document,
    sections: { guide: { body: await text(body, 'Mine.') }, broken: 1 },
  });
  await store.write(ref, edited);
  const second = await seedOverrides(createExample(), { store });
  expect(second.created).toBe(false);
  expect(second.document.sections).toEqual({ guide: { body: await text(body, 'Mine.') } });
  expect(await store.read(ref)).toBe(edited);
  const third = await seedOverrides(createExample(), { store, tag: 'next' });
  expect(third).toMatchObject({ created: true, document: { tag: 'next' } });
  await store.write(ref, 'no document');
  await expect(seedOverrides(createExample(), { store })).rejects.toMatchObject({
    code: 'prompt.invalid',
    reason: 'override.document',
  });
  expect(await store.read(ref)).toBe('no document');
});

test('of seeds at the same moment one is created, and all are told the same', async () => {
  const store = memoryOverrides();
  const seeds = await Promise.all(Array.from({ length: 5 }, () => seedOverrides(createExample(), { store })));
  expect(seeds.filter(({ created }) => created)).toHaveLength(1);
  for (const { document } of seeds) expect(document).toEqual(seeds[0]?.document);
});

test('a store that loses what it has just kept is an error', async () => {
  const store: OverrideStore = { read: async () => undefined, write: async () => false, delete: async () => {} };
  await expect(seedOverrides(createExample(), { store })).rejects.toMatchObject({
    code: 'prompt.invalid',
    reason: 'override.document',
  });
});

test('what would be left out is refused, all of it named', async () => {
  const store = memoryOverrides();
  const document: OverrideDocument = {
    ...head,
    sections: { guide: { body: await text('Older.', 'x') }, gone: { body: await text('x', 'x') } },
    tools: { gone: { description: await text('x', 'x') }, fixed: { description: await text('x', 'x') } },
  };
  await expect(saveOverrides(createExample(), document, { store })).rejects.toMatchObject({
    code: 'prompt.invalid',
    reason: 'override.refused',
    message:
      'The overrides `latest` of `tests/over/prompt` would not all be applied. `body` of section `gone`: the prompt has no such section; `description` of tool `gone`: the prompt has no such tool; `description` of tool `fixed`: the tool accepts no overrides; and 1 more.',
    data: {
      refused: [
        { section: 'gone', tool: null, part: 'body', why: 'the prompt has no such section' },
        { section: null, tool: 'gone', part: 'description', why: 'the prompt has no such tool' },
        { section: null, tool: 'fixed', part: 'description', why: 'the tool accepts no overrides' },
        { section: 'guide', tool: null, part: 'body', why: 'the prompt says something else there now' },
      ],
    },
  });
  expect(await store.read(ref)).toBeUndefined();
});

test('what is saved is loaded', async () => {
  const store = memoryOverrides();
  const prompt = createExample();
  const document: OverrideDocument = {
    ...head,
    tag: 'short',
    sections: { guide: { body: await text(body, 'Hi $name.') } },
    tools: { search: { parameters: { q: await text('Query text', 'Words') } } },
  };
  await saveOverrides(prompt, document, { store });
  const loaded = await loadOverrides(prompt, { store, tag: 'short' });
  expect(loaded.prompt.bind({ name: 'Ada' }).render().text).toContain('Hi Ada.');
  expect(loaded.applied).toHaveLength(2);
  expect(await loadOverrides(prompt, { store })).toMatchObject({ found: false, applied: [] });
});

test.each([
  { document: { ...head, ns: 'other' }, code: 'prompt.invalid', reason: 'override.document' },
  { document: { ...head, version: 2 }, code: 'prompt.invalid', reason: 'override.document' },
  { document: { ...head, sections: { guide: 1 } }, code: 'prompt.invalid', reason: 'override.refused' },
  {
    document: { ...head, sections: { guide: { body: () => 1 } } },
    code: 'prompt.invalid',
    reason: 'override.document',
  },
  { document: { ...head, tag: 'A/../b' }, code: 'prompt.invalid', reason: 'override.ref' },
  { document: { ...head, tag: '' }, code: 'prompt.invalid', reason: 'override.ref' },
])('$document is not saved: $code', async ({ document, code, reason }) => {
  // Documents from elsewhere are untyped.
  const given = document as unknown as OverrideDocument;
  await expect(saveOverrides(createExample(), given, { store: memoryOverrides() })).rejects.toMatchObject({
    code,
    reason,
  });
});

test('a document that could not be read again is not written', async () => {
  const store = memoryOverrides();
  const long = 'x'.repeat(8 * 1024 * 1024);
  const document: OverrideDocument = { ...head, sections: { guide: { body: await text(body, long) } }, tools: {} };
  await expect(saveOverrides(createExample(), document, { store })).rejects.toMatchObject({
    code: 'prompt.invalid',
    reason: 'override.document',
    message: expect.stringContaining('8388608 is the limit'),
  });
});

test.each(['', '[]', '{"version":3}', `"${'x'.repeat(10_000_000)}"`, '\u0000'])(
  'an invalid document is reported, and the prompt stays unchanged',
  async (written) => {
    const store = memoryOverrides();
    await store.write(ref, written);
    const prompt = createExample();
    const loaded = await loadOverrides(prompt, { store });
    expect(loaded.prompt).toBe(prompt);
    expect(loaded).toMatchObject({ found: true, invalid: [{ part: 'document', why: expect.any(String) }] });
  },
);

test.each([
  { name: 'rejects', read: () => Promise.reject(new Error('the disk is gone')) },
  {
    name: 'throws',
    read: () => {
      throw new Error('the disk is gone');
    },
  },
])('a store that $name is reported, and the prompt stays unchanged', async ({ read }) => {
  const prompt = createExample();
  const loaded = await loadOverrides(prompt, { store: { ...memoryOverrides(), read } });
  expect(loaded.prompt).toBe(prompt);
  expect(loaded).toMatchObject({ found: true, invalid: [{ part: 'document', why: 'the disk is gone' }] });
});

test('a bad tag is a mistake of the program', async () => {
  for (const tag of ['A/../b', '', '../x']) {
    const options = { store: memoryOverrides(), tag };
    await expect(loadOverrides(createExample(), options)).rejects.toMatchObject({
      code: 'prompt.invalid',
      reason: 'override.ref',
    });
    await expect(seedOverrides(createExample(), options)).rejects.toMatchObject({
      code: 'prompt.invalid',
      reason: 'override.ref',
    });
  }
});

test('a prompt that `createPrompt` did not make is refused', async () => {
  const foreign = { ...createExample() };
  const options = { store: memoryOverrides() };
  await expect(loadOverrides(foreign, options)).rejects.toMatchObject({ code: 'prompt.invalid', reason: 'foreign' });
  await expect(seedOverrides(foreign, options)).rejects.toMatchObject({ code: 'prompt.invalid', reason: 'foreign' });
});

test('what is bound stays bound, and the prompt that was given stays as it is', async () => {
  const prompt = createExample().bind({ name: 'Ada' });
  const before = prompt.render();
  const store = await storeOf({ ...head, sections: { guide: { body: await text(body, 'Hi $name.') } } });
  const { prompt: changed } = await loadOverrides(prompt, { store });
  expect(changed.render().text).toContain('Hi Ada.');
  expect(changed.render()).toBe(changed.render());
  expect(changed.bind({ name: 'Bo' }).render().text).toContain('Hi Bo.');
  expect(prompt.render()).toBe(before);
});

test('a prompt with overrides has the type of the one without', async () => {
  const section = markdownSection({ title: 'A', template: '$n', params: v.object({ n: v.number() }) });
  const prompt = createPrompt({ ...ref, sections: [section], output: v.object({ sum: v.number() }) });
  const loaded = await loadOverrides(prompt, { store: memoryOverrides() });
  expectTypeOf(loaded.prompt).toEqualTypeOf(prompt);
  expectTypeOf(loaded.prompt.bind).parameter(0).toEqualTypeOf<Partial<{ n: number }>>();
  expect(loaded.prompt).toBe(prompt);
});

test('overrides of overrides are pinned to what they replace', async () => {
  const first = await load({
    ...head,
    sections: { guide: { body: await text(body, 'Once.') } },
    tools: { search: { examples: await value(searchExamples, [example]) } },
  });
  const store = await storeOf({
    ...head,
    sections: { guide: { body: await text('Once.', 'Twice.') } },
    tools: { search: { examples: await value([example], []) } },
  });
  const second = await loadOverrides(first.prompt, { store });
  expect(second.applied).toHaveLength(2);
  expect(second.prompt.bind({ name: 'Ada' }).render().text).toContain('Twice.');
  const { document } = await seedOverrides(first.prompt, { store, tag: 'next' });
  expect(document.sections['guide']?.body?.text).toBe('Once.');
  expect(document.tools['search']?.examples?.value).toEqual([example]);
});

test('a tool that declares a parameter by a reference has its description beside it', async () => {
  const tools: readonly Tool[] = [
    defineTool({
      name: 'refers',
      description: 'Refers.',
      inputSchema: jsonSchema({
        type: 'object',
        properties: { at: { $ref: '#/$defs/at' }, any: true },
        $defs: { at: { type: 'string' } },
      }),
    }),
  ];
  const prompt = createPrompt({ ...ref, sections: [markdownSection({ title: 'A', template: 'a', tools })] });
  const store = await storeOf({
    ...head,
    tools: { refers: { parameters: { at: await text(null, 'Where.'), any: await text(null, 'What.') } } },
  });
  const { prompt: changed, invalid } = await loadOverrides(prompt, { store });
  expect(changed.render().declarations?.get('refers')?.inputSchema['properties']).toEqual({
    at: { $ref: '#/$defs/at', description: 'Where.' },
    any: true,
  });
  expect(invalid).toMatchObject([{ part: 'parameters.any', why: expect.stringContaining('no place') }]);
});

test('a seed of parameters with odd names can be loaded', async () => {
  const named = '{"__proto__":{"description":"A"},"":{"description":"B"},"a.b":{"description":"C"},"toString":{}}';
  const odd: Tool = {
    ...defineTool({ name: 'odd', description: 'Odd.' }),
    inputSchema: jsonSchema({ type: 'object', properties: JSON.parse(named) }),
  };
  const prompt = createPrompt({ ...ref, sections: [markdownSection({ title: 'A', template: 'a', tools: [odd] })] });
  const store = memoryOverrides();
  const { document } = await seedOverrides(prompt, { store });
  expect(Object.keys(document.tools['odd']?.parameters ?? {})).toEqual(['', 'a.b']);
  const { applied, invalid } = await loadOverrides(prompt, { store });
  expect(invalid).toEqual([]);
  expect(applied.map(({ part }) => part)).toContain('parameters.a.b');
  const changed = { ...document, tools: { odd: { parameters: { toString: await text(null, 'D') } } } };
  await saveOverrides(prompt, changed, { store });
  const loaded = await loadOverrides(prompt, { store });
  const properties = loaded.prompt.render().declarations?.get('odd')?.inputSchema['properties'];
  expect(Object.getOwnPropertyDescriptor(properties, 'toString')?.value).toEqual({ description: 'D' });
  expect(Object.getOwnPropertyDescriptor(properties, '__proto__')?.value).toEqual({ description: 'A' });
});
