import { defineSlice, defineTool, HoldfastError, type SessionReader } from '@holdfast/core';
import { ReadOnlyMap } from '@holdfast/core/internal';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { markdownSection } from '../section/section.ts';
import { policy, promptOf, tool } from './fixtures.ts';
import { createPrompt } from './prompt.ts';

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

test('C05: no sections, no text', () => {
  expect(promptOf().render()).toEqual({
    text: '',
    tools: [],
    policies: new ReadOnlyMap(),
    allPolicies: [],
    toolParamDescriptions: new ReadOnlyMap(),
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
  expect({ text, tools, policies }).toEqual({ text: '', tools: [], policies: new ReadOnlyMap() });
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

test('blank lines around values collapse', () => {
  const section = markdownSection({ title: 'A', template: '$text', params: v.object({ text: v.string() }) });
  expect(promptOf(section).bind({ text: '\n \n  two words\n\n' }).render().text).toBe('## 1. A (a)\n\n  two words');
  expect(promptOf(section).bind({ text: ' \n' }).render().text).toBe('## 1. A (a)');
});

test('a disabled section needs no parameters, unless its rule takes them', () => {
  const params = v.object({ topic: v.string() });
  const section = (enabled: (given: { readonly topic: string }) => boolean) =>
    promptOf(
      markdownSection({ title: 'On', template: 'on' }),
      markdownSection({ title: 'Off', template: 'About $topic.', params, enabled }),
    );
  expect(section(() => false).render().text).not.toContain('Off');
  const missing = expect.objectContaining({ code: 'prompt.invalid', reason: 'param.missing' });
  expect(() => section(() => true).render()).toThrow(missing);
  expect(() => section(({ topic }) => topic === 'never').render()).toThrow(missing);
  expect(() => section((given) => 'topic' in given).render()).toThrow(missing);
});

test('`enabled` answers true or false, or it is section.rule.failed: enabled.invalid', () => {
  const later = async (): Promise<boolean> => false;
  // The cast stands for a host that is written without types.
  const prompt = promptOf(markdownSection({ title: 'S', template: '', enabled: later as unknown as () => boolean }));
  expect(() => prompt.render()).toThrow(
    expect.objectContaining({ code: 'section.rule.failed', reason: 'enabled.invalid' }),
  );
});

describe('a rule that throws is section.rule.failed, with the path of its section and what was thrown', () => {
  const throwing = (thrown: unknown) => (): never => {
    throw thrown;
  };
  test.each<[string, unknown, string]>([
    ['an error', new Error('no plan'), 'no plan'],
    ['null', null, 'a thrown null'],
    ['an error with a code', new HoldfastError('slice.invalid', 'No slice.'), 'No slice.'],
  ])('%s', (_what, thrown, says) => {
    for (const [rule, section] of [
      ['enabled', { enabled: throwing(thrown) }],
      ['visibility', { summary: 'In short.', visibility: throwing(thrown) }],
    ] as const) {
      const inner = markdownSection({ title: 'Inner', template: '', ...section });
      const prompt = promptOf(markdownSection({ title: 'Outer', template: '', children: [inner] }));
      expect(() => prompt.render()).toThrow(
        expect.objectContaining({
          code: 'section.rule.failed',
          message: expect.stringContaining(`\`${rule}\` of section \`outer.inner\` threw: ${says}`),
          data: { section: 'outer.inner', rule },
          cause: thrown,
        }),
      );
    }
  });

  test('an asynchronous rule that rejects leaves no unhandled rejection behind', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    const later = (async () => Promise.reject(new Error('late'))) as unknown as () => never;
    for (const section of [{ enabled: later }, { summary: 'In short.', visibility: later }]) {
      const prompt = promptOf(markdownSection({ title: 'S', template: '', ...section }));
      expect(() => prompt.render()).toThrow(
        expect.objectContaining({
          code: 'section.rule.failed',
          reason: expect.stringMatching(/^(enabled|visibility)\.invalid$/),
        }),
      );
    }
    await new Promise((resolve) => void setImmediate(resolve));
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });
});

test('without `ns` a prompt is one of `prompts`', () => {
  const prompt = createPrompt({ key: 'greeting', sections: [] });
  expect([prompt.ns, prompt.id, prompt.name]).toEqual(['prompts', 'prompts/greeting', 'prompts/greeting']);
});

test.each(['', 'a//b', '/a', 'a/', 'a b', '../a', '-a', 'a'.repeat(65)])(
  'ns %j is prompt.invalid: ns.invalid',
  (ns) => {
    expect(() => createPrompt({ ns, key: 'k', sections: [] })).toThrow(
      expect.objectContaining({ code: 'prompt.invalid', reason: 'ns.invalid' }),
    );
  },
);

test.each(['', 'a/b', '.a', 'a b'])('key %j is prompt.invalid: key.invalid', (key) => {
  expect(() => createPrompt({ ns: 'n', key, sections: [] })).toThrow(
    expect.objectContaining({ code: 'prompt.invalid', reason: 'key.invalid' }),
  );
});

test('nothing is rendered again while the same sections are enabled', () => {
  let on = true;
  const prompt = promptOf(
    markdownSection({ title: 'A', template: 'a' }),
    markdownSection({ title: 'B', template: 'b', enabled: () => on }),
  );
  const first = prompt.render();
  expect(prompt.render()).toBe(first);
  on = false;
  expect(prompt.render()).not.toBe(first);
  expect(prompt.render().text).toBe('## 1. A (a)\n\na');
  on = true;
  expect(prompt.render()).toEqual(first);
});
