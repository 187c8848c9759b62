import type { Prompt, Schema } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import * as v from 'valibot';
import { expect, expectTypeOf, test } from 'vitest';
import { promptOf } from '../prompt/fixtures.ts';
import { createPrompt } from '../prompt/prompt.ts';
import { markdownSection, type PlaceholdersOf, type Section } from './section.ts';

test('placeholders are read off a template', () => {
  expectTypeOf<PlaceholdersOf<'no money: $5 and $$name, or $ alone'>>().toEqualTypeOf<never>();
  expectTypeOf<PlaceholdersOf<'$topic, ${ size } of $Snake_case2.'>>().toEqualTypeOf<
    'topic' | 'size' | 'Snake_case2'
  >();
  expectTypeOf<PlaceholdersOf<'$$$both'>>().toEqualTypeOf<'both'>();
  expectTypeOf<PlaceholdersOf<'$a$b${c}'>>().toEqualTypeOf<'a' | 'b' | 'c'>();
  // Checked when the prompt is created, because the compiler cannot see it.
  expectTypeOf<PlaceholdersOf<string>>().toEqualTypeOf<never>();
  expectTypeOf<PlaceholdersOf<`$seen and $hid${string}`>>().toEqualTypeOf<'seen'>();
});

test('a placeholder without a parameter does not compile', () => {
  const params = v.object({ topic: v.string(), size: v.optional(v.number()) });
  const good = markdownSection({ title: 'Good', template: `$topic of \${size} for $$5`, summary: '$topic', params });
  const loaded: string = '$anything';
  const loose: Schema = params;
  const plain = jsonSchema({ type: 'object', properties: { topic: {} } });
  const seen = [
    good,
    // The compiler cannot see into these.
    markdownSection({ title: 'Loose', template: '$topic', params: loose }),
    markdownSection({ title: 'Plain', template: '$topic', params: plain }),
  ];
  expect(
    promptOf(...seen)
      .bind({ topic: 'words' })
      .render().text,
  ).toContain('words of  for $5');
  const refused = [
    // @ts-expect-error a typing mistake in the body
    markdownSection({ title: 'A', template: '$topics', params }),
    // @ts-expect-error one in the summary
    markdownSection({ title: 'A', template: '', summary: `\${sise}`, params }),
    // @ts-expect-error C13: no parameters at all
    markdownSection({ title: 'A', template: 'about $topic' }),
    markdownSection({ title: 'A', template: loaded, summary: loaded }),
  ];
  for (const section of refused) {
    expect(() => promptOf(section)).toThrow(
      expect.objectContaining({ code: 'prompt.invalid', reason: 'placeholder.unknown' }),
    );
  }
});

test('`defaults`, `enabled` and `visibility` know the parameters', () => {
  const params = v.object({ topic: v.string(), size: v.optional(v.number(), 1) });
  const section = markdownSection({
    title: 'A',
    template: '$topic',
    params,
    summary: 'About $topic.',
    defaults: { topic: 'entities' },
    visibility(given) {
      expectTypeOf(given).toEqualTypeOf<{ topic: string; size: number }>();
      return given.size > 1 ? 'summary' : 'full';
    },
  });
  expect(promptOf(section).render().text).toContain('entities');
  const refused = [
    // @ts-expect-error a default of another type
    markdownSection({ title: 'A', template: '', params, defaults: { topic: 1 } }),
    // @ts-expect-error a default without a parameter
    markdownSection({ title: 'A', template: '', params, defaults: { topics: 'x' } }),
  ];
  for (const wrong of refused) {
    expect(() => promptOf(wrong)).toThrow(
      expect.objectContaining({ code: 'prompt.invalid', reason: 'defaults.invalid' }),
    );
  }
  // @ts-expect-error neither of the two words
  const neither = promptOf(markdownSection({ title: 'A', template: '', summary: 's', visibility: () => 'closed' }));
  expect(() => neither.render()).toThrow(
    expect.objectContaining({ code: 'section.rule.failed', reason: 'visibility.invalid' }),
  );
});

test('what is bound and what comes out are inferred', () => {
  const prompt = createPrompt({
    ns: 'tests',
    key: 'types',
    output: v.object({ answer: v.string(), score: v.optional(v.number(), 0) }),
    sections: [
      markdownSection({ title: 'A', template: '$topic', params: v.object({ topic: v.string() }) }),
      markdownSection({
        title: 'B',
        template: '',
        children: [markdownSection({ title: 'C', template: '$deep', params: v.object({ deep: v.boolean() }) })],
      }),
    ],
  });
  expectTypeOf(prompt).toExtend<Prompt<{ answer: string; score: number }>>();
  expectTypeOf(prompt.bind).parameter(0).toEqualTypeOf<Partial<{ topic: string } & { deep: boolean }>>();
  const bound = prompt.bind({ topic: 'x' }).bind({ deep: true });
  expectTypeOf(bound).toEqualTypeOf(prompt);
  expectTypeOf(bound.render().output).exclude(undefined).toHaveProperty('parse');
  expectTypeOf<ReturnType<NonNullable<ReturnType<typeof bound.render>['output']>['parse']>>().toExtend<
    { readonly ok: true; readonly value: { answer: string; score: number } } | { readonly ok: false }
  >();
  const list = createPrompt({ ns: 'tests', key: 'list', output: v.array(v.object({ id: v.string() })), sections: [] });
  expectTypeOf(list).toExtend<Prompt<{ id: string }[]>>();
  const plain = createPrompt({ ns: 'tests', key: 'plain', sections: [] });
  expectTypeOf(plain).toExtend<Prompt<unknown>>();
  expectTypeOf(markdownSection({ title: 'A', template: '' })).toExtend<Section>();
});
