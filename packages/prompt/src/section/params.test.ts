import { jsonSchema } from '@holdfast/schema/json';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { promptOf } from '../prompt/fixtures.ts';
import { markdownSection } from './section.ts';

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
    expect.objectContaining({ code: 'prompt.invalid', reason: 'param.missing' }),
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
    expect.objectContaining({ code: 'prompt.invalid', data: { reason: 'param', section: 'small' } }),
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
      code: 'prompt.invalid',
      reason: 'param.missing',
      message: 'Missing parameters of section `outer.inner`: bind `topic` (string), `count` (number).',
      data: { reason: 'param.missing', section: 'outer.inner', missing: ['topic', 'count'] },
    }),
  );
  expect(() => prompt.bind({ topic: 'x' }).render()).toThrow(
    expect.objectContaining({ code: 'prompt.invalid', reason: 'param.missing' }),
  );
  expect(prompt.bind({ topic: 'x', count: 1 }).render().text).toContain('x 1');
});

test('C17: an unknown key is named', () => {
  const prompt = promptOf(markdownSection({ title: 'S', template: '', params: v.object({ topic: v.string() }) }));
  // The casts stand for a host that is written without types.
  for (const name of ['topics', 'constructor', '__proto__']) {
    const values = JSON.parse(`{ "${name}": "x" }`) as object;
    expect(() => prompt.bind(values)).toThrow(
      expect.objectContaining({
        code: 'prompt.invalid',
        reason: 'param.unknown',
        data: { reason: 'param.unknown', name },
      }),
    );
  }
  expect(() => promptOf().bind({ topic: 'x' })).toThrow(
    expect.objectContaining({ code: 'prompt.invalid', reason: 'param.unknown' }),
  );
});

test('a parameter without a text is prompt.invalid: param.text', () => {
  const section = markdownSection({ title: 'S', template: '$any', params: v.object({ any: v.any() }) });
  expect(() =>
    promptOf(section)
      .bind({ any: () => 1 })
      .render(),
  ).toThrow(
    expect.objectContaining({
      code: 'prompt.invalid',
      reason: 'param.text',
      data: { reason: 'param.text', section: 's', name: 'any' },
    }),
  );
});

test('a schema that makes no object is prompt.invalid', () => {
  const params = v.pipe(
    v.object({ a: v.string() }),
    v.transform(({ a }) => a),
  );
  expect(() =>
    promptOf(markdownSection({ title: 'S', template: '', params }))
      .bind({ a: 'x' })
      .render(),
  ).toThrow(expect.objectContaining({ code: 'prompt.invalid', reason: 'param' }));
});
