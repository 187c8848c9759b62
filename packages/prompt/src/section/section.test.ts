import type { Prompt } from '@holdfast/core';
import * as v from 'valibot';
import { expect, expectTypeOf, test } from 'vitest';
import { promptOf } from '../prompt/fixtures.ts';
import { markdownSection } from './section.ts';

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
  expect(() => prompt.bind({ topics: 'x' })).toThrow(
    expect.objectContaining({ code: 'prompt.invalid', reason: 'param.unknown' }),
  );
});
