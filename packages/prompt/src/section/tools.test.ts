import { defineTool, type ToolDefinition } from '@holdfast/core';
import type { ToolExample } from '@holdfast/core/types';
import { jsonSchema } from '@holdfast/schema/json';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { renderExamples } from './tools.ts';

const base = { name: 'lookup', description: 'Look something up.' };
const schemas = {
  inputSchema: v.object({ id: v.string(), deep: v.optional(v.boolean(), false) }),
  outputSchema: v.object({ url: v.string() }),
};

test('a tool without examples has no block', () => {
  expect(renderExamples(defineTool({ ...base, ...schemas }))).toBe('');
});

test('an example is its description, its input as a model writes it, and its output', () => {
  const tool = defineTool({
    ...base,
    ...schemas,
    examples: [
      { description: 'A known id', input: { id: 'E42' }, output: { url: 'https://example.com/E42' } },
      { description: 'With all\nof it', input: { id: 'E1', deep: true }, output: { url: '' } },
    ],
  });
  expect(renderExamples(tool)).toBe(
    [
      'Examples of `lookup`:',
      '',
      '- A known id',
      '  - input: {"id":"E42"}',
      '  - output: {"url":"https://example.com/E42"}',
      '- With all',
      '  of it',
      '  - input: {"id":"E1","deep":true}',
      '  - output: {"url":""}',
    ].join('\n'),
  );
});

test('an output looks as the results do', () => {
  const tool = defineTool({
    ...base,
    ...schemas,
    examples: [{ description: 'Rendered', input: { id: 'E42' }, output: { url: 'here' } }],
    renderResult: ({ url }) => `Found:\n${url}`,
  });
  expect(renderExamples(tool)).toContain('  - output: Found:\n    here');
});

test('an output that renders as nothing has no line', () => {
  const tool = defineTool({
    ...base,
    ...schemas,
    examples: [{ description: 'Quiet', input: { id: 'E42' }, output: { url: 'here' } }],
    renderResult: () => ' ',
  });
  expect(renderExamples(tool)).toBe('Examples of `lookup`:\n\n- Quiet\n  - input: {"id":"E42"}');
});

test('without schemas: no arguments, any JSON', () => {
  const example = { description: 'Any', input: {}, output: [1, null] };
  expect(renderExamples(defineTool({ ...base, examples: [example] }))).toContain('- output: [1,null]');
});

const { inputSchema, outputSchema } = schemas;
test.each<{
  title: string;
  example: Omit<ToolExample, 'description'>;
  given?: Partial<ToolDefinition<unknown, unknown>>;
  names: string;
}>([
  { title: 'a wrong input', example: { input: { id: 1 }, output: { url: '' } }, given: { inputSchema }, names: '`id`' },
  {
    title: 'an undeclared key',
    example: { input: { id: 'a', x: 1 }, output: null },
    given: { inputSchema },
    names: '`x`',
  },
  { title: 'a missing key', example: { input: {}, output: null }, given: { inputSchema }, names: 'id' },
  { title: 'arguments where there are none', example: { input: { id: 'a' }, output: null }, names: '`id`' },
  {
    title: 'A09: an output of another type',
    example: { input: {}, output: 'one' },
    given: { outputSchema: v.array(v.string()) },
    names: 'output',
  },
  { title: 'a wrong output', example: { input: {}, output: { url: 1 } }, given: { outputSchema }, names: '`url`' },
  { title: 'an output that is not JSON', example: { input: {}, output: { at: new Date(0) } }, names: '`at`' },
  {
    title: 'a plain JSON Schema that does not fit',
    example: { input: { n: 'x' }, output: null },
    given: { inputSchema: jsonSchema({ type: 'object', properties: { n: { type: 'integer' } } }) },
    names: '`n`',
  },
  {
    title: 'a renderer that throws',
    example: { input: {}, output: 1 },
    given: {
      renderResult: () => {
        throw new Error('no paper');
      },
    },
    names: 'no paper',
  },
])('$title is tool.invalid: example.invalid', ({ example, given = {}, names }) => {
  const tool = defineTool({ ...base, ...given, examples: [{ description: 'Bad one', ...example }] });
  expect(() => renderExamples(tool)).toThrow(
    expect.objectContaining({
      code: 'tool.invalid',
      reason: 'example.invalid',
      message: expect.stringContaining(names),
      data: { reason: 'example.invalid', tool: 'lookup', example: 'Bad one' },
    }),
  );
});
