import type { Policy } from '@holdfast/core';
import fc from 'fast-check';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { policy, promptOf, tool } from '../prompt/fixtures.ts';
import { createPrompt } from '../prompt/prompt.ts';
import { markdownSection, type Section } from './section.ts';

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

test('C25: a heading has at most six #', () => {
  let section = markdownSection({ title: 'Seven', template: '' });
  for (const title of ['Six', 'Five', 'Four', 'Three', 'Two', 'One']) {
    section = markdownSection({ title, template: '', children: [section] });
  }
  const headings = promptOf(section).render().text.split('\n\n');
  expect(headings.map((heading) => heading.indexOf(' '))).toEqual([2, 3, 4, 5, 6, 6, 6]);
  expect(headings[6]).toBe('###### 1.1.1.1.1.1.1. Seven (one.two.three.four.five.six.seven)');
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

const section = (title: string, rest: Partial<Parameters<typeof markdownSection>[0]> = {}): Section =>
  markdownSection({ title, template: '', ...rest });

test.each<{ title: string; sections: Section[]; policies?: Policy[]; reason?: string; code: string; names: string }>([
  {
    title: 'C09: one tool twice',
    sections: [section('A', { tools: [tool('t')] }), section('B', { tools: [tool('t')] })],
    code: 'tool.invalid',
    reason: 'name.duplicate',
    names: '`b`',
  },
  {
    title: 'C09: also in a disabled section',
    sections: [section('A', { enabled: () => false, tools: [tool('t'), tool('t')] })],
    code: 'tool.invalid',
    reason: 'name.duplicate',
    names: '`t`',
  },
  {
    title: 'C11: read_section',
    sections: [section('A', { tools: [tool('read_section')] })],
    code: 'tool.invalid',
    reason: 'name.reserved',
    names: '`read_section`',
  },
  {
    title: 'open_sections',
    sections: [section('A', { tools: [tool('open_sections')] })],
    code: 'tool.invalid',
    reason: 'name.reserved',
    names: '`a`',
  },
  {
    title: 'C13: a placeholder without params',
    sections: [section('A', { children: [section('B', { template: '$x' })] })],
    code: 'prompt.invalid',
    reason: 'placeholder.unknown',
    names: '`a.b`',
  },
  {
    title: 'an open placeholder',
    sections: [section('A', { template: '${x' })],
    code: 'prompt.invalid',
    reason: 'placeholder.invalid',
    names: '`a`',
  },
  {
    title: 'params that are not an object',
    sections: [section('A', { params: v.string() })],
    code: 'prompt.invalid',
    reason: 'params.invalid',
    names: '`a`',
  },
  {
    title: 'params without properties',
    sections: [section('A', { params: v.record(v.string(), v.string()) })],
    code: 'prompt.invalid',
    reason: 'params.invalid',
    names: '`a`',
  },
  {
    title: 'two siblings of one title',
    sections: [section('X', { children: [section('A b'), section('a B')] })],
    code: 'prompt.invalid',
    reason: 'key.duplicate',
    names: '`x.a-b`',
  },
  {
    title: 'a title without letters',
    sections: [section('日本')],
    code: 'prompt.invalid',
    reason: 'key.invalid',
    names: '`日本`',
  },
  {
    title: 'a key with a dot',
    sections: [section('A', { key: 'a.b' })],
    code: 'prompt.invalid',
    reason: 'key.invalid',
    names: '`a.b`',
  },
  {
    title: 'no title',
    sections: [section(' ', { key: 'a' })],
    code: 'prompt.invalid',
    reason: 'title.invalid',
    names: 'title',
  },
  {
    title: 'a title that clears a screen',
    sections: [section('a\u001b[2J', { key: 'a' })],
    code: 'prompt.invalid',
    reason: 'title.invalid',
    names: 'title',
  },
  {
    title: 'a title of two lines',
    sections: [section('a\n## 9. b')],
    code: 'prompt.invalid',
    reason: 'title.invalid',
    names: 'title',
  },
  {
    title: 'a section called Prompt at the top',
    sections: [section('Prompt')],
    code: 'prompt.invalid',
    reason: 'key.reserved',
    names: '`prompt`',
  },
  {
    title: 'two policies of one id',
    sections: [section('A', { policies: [policy('p'), policy('p')] })],
    code: 'policy.invalid',
    reason: 'key.duplicate',
    names: '`a/p`',
  },
  {
    title: 'the name is used twice in the prompt',
    sections: [],
    policies: [policy('p'), policy('p')],
    code: 'policy.invalid',
    reason: 'key.duplicate',
    names: '`prompt/p`',
  },
  {
    title: 'a policy with an unknown tool',
    sections: [section('A', { policies: [policy('p', ['nope'])] })],
    code: 'policy.invalid',
    reason: 'tool.unknown',
    names: '`nope`',
  },
  {
    title: 'one of the prompt',
    sections: [],
    policies: [policy('p', ['constructor'])],
    code: 'policy.invalid',
    reason: 'tool.unknown',
    names: '`prompt/p`',
  },
])('$title is $code', ({ sections, policies = [], code, reason, names }) => {
  expect(() => createPrompt({ ns: 'tests', key: 'errors', sections, policies })).toThrow(
    expect.objectContaining({ code, reason, message: expect.stringContaining(names) }),
  );
});

test('a section called Prompt elsewhere, and one policy in two places, are fine', () => {
  const watch = policy('p');
  const prompt = promptOf(section('A', { policies: [watch], children: [section('Prompt', { policies: [watch] })] }));
  expect(prompt.render().allPolicies.map(({ key }) => key)).toEqual(['a/p', 'a.prompt/p']);
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

test('prompt.invalid: too_deep: 64 levels are enough for anybody', () => {
  const nested = (levels: number): Section =>
    markdownSection({ title: 'A', template: '', children: levels === 1 ? [] : [nested(levels - 1)] });
  expect(promptOf(nested(64)).render().text).toContain('###### 1.1.');
  expect(() => promptOf(nested(65))).toThrow(expect.objectContaining({ code: 'prompt.invalid', reason: 'too_deep' }));
});
