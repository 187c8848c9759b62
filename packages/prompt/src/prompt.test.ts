import {
  allow,
  definePolicy,
  defineSlice,
  defineTool,
  jsonSchema,
  type Policy,
  type Prompt,
  type SessionReader,
  type Tool,
} from '@holdfast/core';
import fc from 'fast-check';
import * as v from 'valibot';
import { expect, expectTypeOf, test } from 'vitest';
import { createPrompt } from './prompt.ts';
import { markdownSection, type Section } from './section.ts';

const tool = (name: string): Tool => defineTool({ name, description: `The tool ${name}.`, execute: () => null });
const policy = (id: string, tools: readonly string[] = []): Policy =>
  definePolicy({ name: 'fixed', id, tools, check: () => allow });
const promptOf = <const Sections extends readonly Section[]>(...sections: Sections) =>
  createPrompt({ ns: 'tests', key: 'prompt', sections });

test('a whole prompt', () => {
  const lookup = defineTool({
    name: 'lookup_entity',
    description: 'Fetch an entity.',
    inputSchema: v.object({ id: v.pipe(v.string(), v.description('Global id')) }),
    outputSchema: v.object({ url: v.string() }),
    examples: [{ description: 'A known entity', input: { id: 'E42' }, output: { url: 'https://example.com/E42' } }],
    execute: ({ id }) => ({ url: `https://example.com/${id}` }),
  });
  const prompt = promptOf(
    markdownSection({
      title: 'Guidance',
      template: `
        Use tools when you need facts about $topic,
        and spend at most $$\${budget}.
      `,
      params: v.object({ topic: v.string(), budget: v.optional(v.number(), 5) }),
      tools: [lookup],
      children: [
        markdownSection({ title: 'Style', template: 'Be brief.' }),
        markdownSection({ title: 'Empty', template: '\n\n' }),
      ],
    }),
    markdownSection({ title: 'Über Files', template: 'Read before you write.', tools: [tool('read_file')] }),
  ).bind({ topic: 'entities' });
  expect(prompt.render().text).toMatchInlineSnapshot(`
    "## 1. Guidance (guidance)

    Use tools when you need facts about entities,
    and spend at most $5.

    Examples of \`lookup_entity\`:

    - A known entity
      - input: {"id":"E42"}
      - output: {"url":"https://example.com/E42"}

    ### 1.1. Style (guidance.style)

    Be brief.

    ### 1.2. Empty (guidance.empty)

    ## 2. Über Files (uber-files)

    Read before you write."
  `);
  expect(prompt.render().tools.map(({ name }) => name)).toEqual(['lookup_entity', 'read_file']);
  expect(prompt.render().toolParamDescriptions.get('lookup_entity')?.get('id')).toEqual({
    description: 'Global id',
    type: 'string',
  });
});

test('C01: numbers count disabled sections', () => {
  const prompt = promptOf(
    markdownSection({
      title: 'Intro',
      template: 'I',
      children: [
        markdownSection({ title: 'A', template: 'a' }),
        markdownSection({ title: 'B', template: 'b', enabled: () => false }),
        markdownSection({ title: 'C', template: 'c' }),
      ],
    }),
    markdownSection({ title: 'Second', template: 'S', children: [markdownSection({ title: 'Deep', template: 'd' })] }),
  );
  expect(prompt.render().text).toBe(
    [
      '## 1. Intro (intro)',
      'I',
      '### 1.1. A (intro.a)',
      'a',
      '### 1.3. C (intro.c)',
      'c',
      '## 2. Second (second)',
      'S',
      '### 2.1. Deep (second.deep)',
      'd',
    ].join('\n\n'),
  );
});

test('C05: no sections, no text', () => {
  expect(promptOf().render()).toEqual({
    text: '',
    tools: [],
    policies: new Map(),
    allPolicies: [],
    toolParamDescriptions: new Map(),
  });
});

test('C07: under a disabled section there is nothing', () => {
  const prompt = promptOf(
    markdownSection({
      title: 'Off',
      template: 'hidden',
      enabled: () => false,
      tools: [tool('outer')],
      policies: [policy('watch')],
      children: [
        markdownSection({
          title: 'Inner',
          template: '$missing',
          params: v.object({ missing: v.string() }),
          tools: [tool('inner')],
        }),
      ],
    }),
  );
  const { text, tools, policies, allPolicies } = prompt.render();
  expect({ text, tools, policies }).toEqual({ text: '', tools: [], policies: new Map() });
  // It still sees every success, for the time when its section is there.
  expect(allPolicies.map(({ key }) => key)).toEqual(['off/watch']);
});

test('C21: `enabled` gets the parameters with their defaults, and the session if there is one', () => {
  const flag = defineSlice({ id: 'flag', kind: 'value', initial: false, reducers: {} });
  const session: SessionReader = { read: (slice) => structuredClone(slice.initial) as never };
  const seen: unknown[] = [];
  const prompt = promptOf(
    markdownSection({
      title: 'Maybe',
      template: 'here',
      params: v.object({ mode: v.optional(v.string(), 'short') }),
      enabled({ mode }, given) {
        seen.push(mode, given === session, given?.read(flag));
        return mode === 'long';
      },
    }),
  );
  expect(prompt.render().text).toBe('');
  expect(prompt.bind({ mode: 'long' }).render({ session }).text).toContain('here');
  expect(seen).toEqual(['short', false, undefined, 'long', true, false]);
});

test('C23: ns and key are trimmed and lower-cased', () => {
  expect(createPrompt({ ns: ' Examples/Tooling ', key: ' Overview', sections: [] })).toMatchObject({
    ns: 'examples/tooling',
    key: 'overview',
    name: 'examples/tooling/overview',
  });
});

test('C25: a heading has at most six #', () => {
  let section = markdownSection({ title: 'Seven', template: '' });
  for (const title of ['Six', 'Five', 'Four', 'Three', 'Two', 'One']) {
    section = markdownSection({ title, template: '', children: [section] });
  }
  const headings = promptOf(section).render().text.split('\n\n');
  expect(headings.map((heading) => heading.indexOf(' '))).toEqual([2, 3, 4, 5, 6, 6, 6]);
  expect(headings[6]).toBe('###### 1.1.1.1.1.1.1. Seven (one.two.three.four.five.six.seven)');
});

test('blank lines around values collapse', () => {
  const section = markdownSection({ title: 'A', template: '$text', params: v.object({ text: v.string() }) });
  expect(promptOf(section).bind({ text: '\n \n  two words\n\n' }).render().text).toBe('## 1. A (a)\n\n  two words');
  expect(promptOf(section).bind({ text: ' \n' }).render().text).toBe('## 1. A (a)');
});

test('policies by tool: from the outside in, then the prompt’s', () => {
  const prompt = createPrompt({
    ns: 'tests',
    key: 'policies',
    policies: [policy('all', ['one'])],
    sections: [
      markdownSection({
        title: 'Outer',
        template: '',
        tools: [tool('one')],
        policies: [policy('p'), policy('q')],
        children: [
          markdownSection({ title: 'Inner', template: '', tools: [tool('two')], policies: [policy('p', ['three'])] }),
        ],
      }),
      markdownSection({ title: 'Other', template: '', tools: [tool('three')] }),
    ],
  });
  const { policies, allPolicies } = prompt.render();
  expect([...policies].map(([name, bound]) => [name, bound.map(({ key }) => key)])).toEqual([
    ['one', ['outer/p', 'outer/q', 'prompt/all']],
    ['two', ['outer/p', 'outer/q', 'outer.inner/p', 'prompt/all']],
    ['three', ['prompt/all']],
  ]);
  expect(allPolicies.map(({ key }) => key)).toEqual(['outer/p', 'outer/q', 'outer.inner/p', 'prompt/all']);
});

test('binding adds and replaces keys, and changes no prompt that is there', () => {
  const params = v.object({ a: v.string(), b: v.optional(v.string(), 'default') });
  const prompt = promptOf(markdownSection({ title: 'S', template: '$a $b', params }));
  const one = prompt.bind({ a: '1' });
  const two = one.bind({ a: '2', b: 'own' });
  expect([one, two, one].map((bound) => bound.render().text.split('\n\n')[1])).toEqual([
    '1 default',
    '2 own',
    '1 default',
  ]);
});

test('each section reads its own keys, and undefined is not bound', () => {
  const prompt = promptOf(
    markdownSection({ title: 'A', template: '$a', params: v.object({ a: v.string() }) }),
    markdownSection({ title: 'B', template: '$b', params: v.object({ b: v.nullish(v.string(), 'default') }) }),
    markdownSection({ title: 'C', template: '', params: v.object({ c: v.optional(v.string()) }) }),
  );
  // The cast stands for a host that is written without types.
  const values = { a: 'one', b: null, c: undefined } as object;
  expect(prompt.bind(values).render().text).toBe('## 1. A (a)\n\none\n\n## 2. B (b)\n\ndefault\n\n## 3. C (c)');
  expect(() => prompt.bind({ ...values, a: undefined } as object).render()).toThrow(
    expect.objectContaining({ code: 'prompt.param.missing' }),
  );
  const strict = jsonSchema({ type: 'object', properties: { d: { type: 'string' } } });
  const plain = promptOf(markdownSection({ title: 'D', template: '<$d>', params: strict }));
  expect(plain.bind({ d: undefined } as object).render().text).toBe('## 1. D (d)\n\n<>');
});

test('a key of two sections must satisfy both', () => {
  const prompt = promptOf(
    markdownSection({ title: 'Any', template: '$n', params: v.object({ n: v.number() }) }),
    markdownSection({ title: 'Small', template: '$n', params: v.object({ n: v.pipe(v.number(), v.maxValue(9)) }) }),
  );
  expect(prompt.bind({ n: 9 }).render().text).toContain('9');
  expect(() => prompt.bind({ n: 10 }).render()).toThrow(
    expect.objectContaining({ code: 'prompt.param.invalid', data: { section: 'small' } }),
  );
});

test('what a schema makes of a value is what is rendered', () => {
  const params = v.object({
    day: v.pipe(
      v.string(),
      v.transform((text) => new Date(text)),
    ),
  });
  const prompt = promptOf(markdownSection({ title: 'S', template: '$day', params })).bind({ day: '2026-03-01' });
  expect(prompt.render().text).toContain('2026-03-01T00:00:00.000Z');
});

test('C15: missing parameters are named with section and type', () => {
  const prompt = promptOf(
    markdownSection({
      title: 'Outer',
      template: '',
      children: [
        markdownSection({
          title: 'Inner',
          template: '$topic $count',
          params: v.object({ topic: v.string(), count: v.number(), note: v.optional(v.string()) }),
        }),
      ],
    }),
  );
  expect(() => prompt.render()).toThrow(
    expect.objectContaining({
      code: 'prompt.param.missing',
      message: 'Missing parameters of section `outer.inner`: bind `topic` (string), `count` (number).',
      data: { section: 'outer.inner', missing: ['topic', 'count'] },
    }),
  );
  expect(() => prompt.bind({ topic: 'x' }).render()).toThrow(expect.objectContaining({ code: 'prompt.param.missing' }));
  expect(prompt.bind({ topic: 'x', count: 1 }).render().text).toContain('x 1');
});

test('C17: an unknown key is named', () => {
  const prompt = promptOf(markdownSection({ title: 'S', template: '', params: v.object({ topic: v.string() }) }));
  // The casts stand for a host that is written without types.
  for (const name of ['topics', 'constructor', '__proto__']) {
    const values = JSON.parse(`{ "${name}": "x" }`) as object;
    expect(() => prompt.bind(values)).toThrow(
      expect.objectContaining({ code: 'prompt.param.unknown', data: { name } }),
    );
  }
  expect(() => promptOf().bind({ topic: 'x' })).toThrow(expect.objectContaining({ code: 'prompt.param.unknown' }));
});

test('a parameter without a text is prompt.param.text', () => {
  const section = markdownSection({ title: 'S', template: '$any', params: v.object({ any: v.any() }) });
  expect(() =>
    promptOf(section)
      .bind({ any: () => 1 })
      .render(),
  ).toThrow(expect.objectContaining({ code: 'prompt.param.text', data: { section: 's', name: 'any' } }));
});

test('a schema that makes no object is prompt.param.invalid', () => {
  const params = v.pipe(
    v.object({ a: v.string() }),
    v.transform(({ a }) => a),
  );
  expect(() =>
    promptOf(markdownSection({ title: 'S', template: '', params }))
      .bind({ a: 'x' })
      .render(),
  ).toThrow(expect.objectContaining({ code: 'prompt.param.invalid' }));
});

test('`enabled` answers true or false, or it is section.enabled.invalid', () => {
  const later = async (): Promise<boolean> => false;
  // The cast stands for a host that is written without types.
  const prompt = promptOf(markdownSection({ title: 'S', template: '', enabled: later as unknown as () => boolean }));
  expect(() => prompt.render()).toThrow(expect.objectContaining({ code: 'section.enabled.invalid' }));
});

const s = (title: string, rest: Partial<Parameters<typeof markdownSection>[0]> = {}): Section =>
  markdownSection({ title, template: '', ...rest });

test.each<{ title: string; sections: Section[]; policies?: Policy[]; code: string; names: string }>([
  {
    title: 'C09: one tool twice',
    sections: [s('A', { tools: [tool('t')] }), s('B', { tools: [tool('t')] })],
    code: 'tool.name.duplicate',
    names: '`b`',
  },
  {
    title: 'C09: also in a disabled section',
    sections: [s('A', { enabled: () => false, tools: [tool('t'), tool('t')] })],
    code: 'tool.name.duplicate',
    names: '`t`',
  },
  {
    title: 'C11: read_section',
    sections: [s('A', { tools: [tool('read_section')] })],
    code: 'tool.name.reserved',
    names: '`read_section`',
  },
  {
    title: 'open_sections',
    sections: [s('A', { tools: [tool('open_sections')] })],
    code: 'tool.name.reserved',
    names: '`a`',
  },
  {
    title: 'C13: a placeholder without params',
    sections: [s('A', { children: [s('B', { template: '$x' })] })],
    code: 'section.placeholder.unknown',
    names: '`a.b`',
  },
  {
    title: 'an open placeholder',
    sections: [s('A', { template: '${x' })],
    code: 'section.placeholder.invalid',
    names: '`a`',
  },
  {
    title: 'params that are no object',
    sections: [s('A', { params: v.string() })],
    code: 'section.params.invalid',
    names: '`a`',
  },
  {
    title: 'params without properties',
    sections: [s('A', { params: v.record(v.string(), v.string()) })],
    code: 'section.params.invalid',
    names: '`a`',
  },
  {
    title: 'two siblings of one title',
    sections: [s('X', { children: [s('A b'), s('a B')] })],
    code: 'section.key.duplicate',
    names: '`x.a-b`',
  },
  { title: 'a title without letters', sections: [s('日本')], code: 'section.key.invalid', names: '`日本`' },
  { title: 'a key with a dot', sections: [s('A', { key: 'a.b' })], code: 'section.key.invalid', names: '`a.b`' },
  { title: 'no title', sections: [s(' ', { key: 'a' })], code: 'section.title.invalid', names: 'title' },
  { title: 'a title of two lines', sections: [s('a\n## 9. b')], code: 'section.title.invalid', names: 'title' },
  {
    title: 'a section called Prompt at the top',
    sections: [s('Prompt')],
    code: 'section.key.reserved',
    names: '`prompt`',
  },
  {
    title: 'two policies of one id',
    sections: [s('A', { policies: [policy('p'), policy('p')] })],
    code: 'policy.key.duplicate',
    names: '`a/p`',
  },
  {
    title: 'two of the prompt',
    sections: [],
    policies: [policy('p'), policy('p')],
    code: 'policy.key.duplicate',
    names: '`prompt/p`',
  },
  {
    title: 'a policy with an unknown tool',
    sections: [s('A', { policies: [policy('p', ['nope'])] })],
    code: 'policy.tool.unknown',
    names: '`nope`',
  },
  {
    title: 'one of the prompt',
    sections: [],
    policies: [policy('p', ['constructor'])],
    code: 'policy.tool.unknown',
    names: '`prompt/p`',
  },
])('$title is $code', ({ sections, policies = [], code, names }) => {
  expect(() => createPrompt({ ns: 'tests', key: 'errors', sections, policies })).toThrow(
    expect.objectContaining({ code, message: expect.stringContaining(names) }),
  );
});

test('a section called Prompt elsewhere, and one policy in two places, are fine', () => {
  const watch = policy('p');
  const prompt = promptOf(s('A', { policies: [watch], children: [s('Prompt', { policies: [watch] })] }));
  expect(prompt.render().allPolicies.map(({ key }) => key)).toEqual(['a/p', 'a.prompt/p']);
});

test.each(['', 'a//b', '/a', 'a/', 'a b', '../a', '-a', 'a'.repeat(65)])('ns %j is prompt.ns.invalid', (ns) => {
  expect(() => createPrompt({ ns, key: 'k', sections: [] })).toThrow(
    expect.objectContaining({ code: 'prompt.ns.invalid' }),
  );
});

test.each(['', 'a/b', '.a', 'a b'])('key %j is prompt.key.invalid', (key) => {
  expect(() => createPrompt({ ns: 'n', key, sections: [] })).toThrow(
    expect.objectContaining({ code: 'prompt.key.invalid' }),
  );
});

test('nothing is rendered again while the same sections are enabled', () => {
  let on = true;
  const prompt = promptOf(s('A', { template: 'a' }), s('B', { template: 'b', enabled: () => on }));
  const first = prompt.render();
  expect(prompt.render()).toBe(first);
  on = false;
  expect(prompt.render()).not.toBe(first);
  expect(prompt.render().text).toBe('## 1. A (a)\n\na');
  on = true;
  expect(prompt.render()).toEqual(first);
});

test('bound types come from the schemas of all sections', () => {
  const prompt = promptOf(
    markdownSection({
      title: 'A',
      template: '$topic',
      params: v.object({ topic: v.string(), size: v.optional(v.number(), 1) }),
      enabled(params) {
        expectTypeOf(params).toEqualTypeOf<{ topic: string; size: number }>();
        return true;
      },
      children: [markdownSection({ title: 'C', template: '', params: v.object({ deep: v.boolean() }) })],
    }),
    markdownSection({ title: 'B', template: 'nothing to bind' }),
  );
  expectTypeOf(prompt).toExtend<Prompt>();
  expectTypeOf(prompt.bind).parameter(0).toExtend<{ topic?: string; size?: number | undefined; deep?: boolean }>();
  expectTypeOf<{ topic: string }>().toExtend<Parameters<typeof prompt.bind>[0]>();
  expectTypeOf<{ topic: number }>().not.toExtend<Parameters<typeof prompt.bind>[0]>();
  expectTypeOf<{ deep: string }>().not.toExtend<Parameters<typeof prompt.bind>[0]>();
  // @ts-expect-error no section knows this key
  expect(() => prompt.bind({ topics: 'x' })).toThrow(expect.objectContaining({ code: 'prompt.param.unknown' }));
});

interface Tree {
  readonly on: boolean;
  readonly children: readonly Tree[];
}
const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.record({
    on: fc.boolean(),
    children: fc.oneof({ maxDepth: 4 }, fc.constant([]), fc.array(tie('tree'), { maxLength: 3 })),
  }),
}));

function build(trees: readonly Tree[], prefix: string, isOn: (tree: Tree) => boolean): Section[] {
  return trees.map((node, index) =>
    markdownSection({
      title: `S${index}`,
      template: `body of ${prefix}${index}`,
      enabled: () => isOn(node),
      tools: [tool(`t${prefix}${index}`)],
      children: build(node.children, `${prefix}${index}_`, isOn),
    }),
  );
}

test('rendering is deterministic, and what is disabled changes no number and no text of the rest', () => {
  fc.assert(
    fc.property(fc.array(tree, { maxLength: 3 }), (trees) => {
      const render = (isOn: (node: Tree) => boolean) => promptOf(...build(trees, '_', isOn)).render();
      const some = render(({ on }) => on);
      expect(render(({ on }) => on).text).toBe(some.text);
      const all = render(() => true);
      const expected: string[] = [];
      const tools: string[] = [];
      const walk = (nodes: readonly Tree[], prefix: string, alive: boolean): void => {
        for (const [index, node] of nodes.entries()) {
          const visible = alive && node.on;
          const block = blocks.next().value;
          if (visible && block !== undefined) expected.push(block);
          if (visible) tools.push(`t${prefix}${index}`);
          walk(node.children, `${prefix}${index}_`, visible);
        }
      };
      const blocks = (all.text === '' ? [] : all.text.split(/\n\n(?=#)/)).values();
      walk(trees, '_', true);
      expect(some.text).toBe(expected.join('\n\n'));
      expect(some.tools.map(({ name }) => name)).toEqual(tools);
      expect([...some.policies.keys()]).toEqual(tools);
    }),
  );
});
