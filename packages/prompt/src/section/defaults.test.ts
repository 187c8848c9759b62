import * as v from 'valibot';
import { expect, test } from 'vitest';
import { promptOf } from '../prompt/fixtures.ts';
import { markdownSection, type Section } from './section.ts';

const params = v.object({ topic: v.string(), size: v.optional(v.number(), 1), tags: v.optional(v.array(v.string())) });

test('what is bound comes before the section’s defaults, and those before the schema’s', () => {
  const section = (defaults: { topic?: string; size?: number }): Section =>
    markdownSection({ title: 'S', template: '$topic $size', params, defaults });
  const body = (prompt: { render(): { text: string } }): string | undefined => prompt.render().text.split('\n\n')[1];
  const prompt = promptOf(section({ topic: 'default', size: 2 }));
  expect(body(prompt)).toBe('default 2');
  expect(body(prompt.bind({ size: 3 } as object))).toBe('default 3');
  expect(body(prompt.bind({ topic: undefined, size: undefined } as object))).toBe('default 2');
  expect(body(promptOf(section({ topic: 'default' })))).toBe('default 1');
  expect(() => promptOf(section({ size: 2 })).render()).toThrow(
    expect.objectContaining({
      code: 'prompt.invalid',
      reason: 'param.missing',
      data: { reason: 'param.missing', section: 's', missing: ['topic'] },
    }),
  );
});

test('each section has its own defaults', () => {
  const one = v.object({ word: v.string() });
  const prompt = promptOf(
    markdownSection({ title: 'A', template: '$word', params: one, defaults: { word: 'a' } }),
    markdownSection({ title: 'B', template: '$word', params: one, defaults: { word: 'b' } }),
  );
  expect(prompt.render().text).toBe('## 1. A (a)\n\na\n\n## 2. B (b)\n\nb');
  expect(prompt.bind({ word: 'c' }).render().text).toBe('## 1. A (a)\n\nc\n\n## 2. B (b)\n\nc');
});

test('defaults may leave required parameters to `bind`, and are not what their owner makes of them later', () => {
  const defaults = { size: 5 };
  const prompt = promptOf(markdownSection({ title: 'S', template: '$topic $size', params, defaults }));
  defaults.size = 6;
  expect(prompt.bind({ topic: 't' }).render().text).toContain('t 5');
});

test('a default of undefined is none', () => {
  // The cast stands for a host that is written without types.
  const prompt = promptOf(
    markdownSection({ title: 'S', template: '$topic', params, defaults: { topic: undefined } as object }),
  );
  expect(() => prompt.render()).toThrow(expect.objectContaining({ code: 'prompt.invalid', reason: 'param.missing' }));
  expect(prompt.bind({ topic: 't' }).render().text).toContain('t');
});

// The casts stand for a host that is written without types.
test.each([
  ['of another type', { topic: 1 }, '`topic`'],
  ['with a wrong item', { topic: 't', tags: ['a', 2] }, '`tags'],
  ['for no parameter', { topics: 'x' }, '`topics`'],
  ['for what every object has', { toString: 'x' }, '`toString`'],
])('defaults %s are prompt.invalid: defaults.invalid', (_title, defaults, names) => {
  const inner = markdownSection({ title: 'In', template: '', params, defaults: defaults as object });
  expect(() => promptOf(markdownSection({ title: 'Top', template: '', children: [inner] }))).toThrow(
    expect.objectContaining({
      code: 'prompt.invalid',
      reason: 'defaults.invalid',
      message: expect.stringContaining(names),
      data: { reason: 'defaults.invalid', section: 'top.in' },
    }),
  );
});

test('defaults without `params` are prompt.invalid: defaults.invalid', () => {
  expect(() => promptOf(markdownSection({ title: 'S', template: '', defaults: { a: 1 } as object }))).toThrow(
    expect.objectContaining({ code: 'prompt.invalid', reason: 'defaults.invalid' }),
  );
});

test('a default whose key is the start of a missing one’s is not blamed for it', () => {
  const two = v.object({ top: v.string(), topic: v.object({ top: v.string() }) });
  const prompt = promptOf(markdownSection({ title: 'S', template: '$top', params: two, defaults: { top: 'x' } }));
  expect(prompt.bind({ topic: { top: 'y' } }).render().text).toContain('x');
});
