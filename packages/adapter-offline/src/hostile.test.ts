import { existsSync, readFileSync } from 'node:fs';
import type { JsonObject, ToolDeclaration } from '@holdfast/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Call, play, type Reply, succeed } from './fixtures.ts';

const schemas = fc.oneof(
  fc.letrec<{ schema: unknown }>((tie) => ({
    schema: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom<unknown>(
        { type: 'string' },
        { type: 'integer' },
        { enum: ['a', 1, null] },
        { type: ['boolean', 'null'] },
        { $ref: '#/$defs/x' },
        { pattern: '(', type: 'string' },
        {},
      ),
      fc.record(
        {
          type: fc.constantFrom('object', 'array', 'dict', 'any'),
          properties: fc.dictionary(fc.string(), tie('schema')),
          items: tie('schema'),
          required: fc.array(fc.string()),
        },
        { requiredKeys: [] },
      ),
      fc.jsonValue(),
    ),
  })).schema,
  fc.constant({
    type: 'object',
    properties: { path: { type: 'string' }, __proto__: { type: 'string' }, constructor: { type: 'string' } },
    required: ['path', 'constructor'],
  }),
);
const anyTool = fc.record({
  name: fc.oneof(fc.string(), fc.constantFrom('read_file', 'constructor', '__proto__')),
  description: fc.oneof(fc.string({ unit: 'binary' }), fc.constant('Read a file.')),
  inputSchema: schemas.map(
    (schema) => (typeof schema === 'object' && schema !== null && !Array.isArray(schema) ? schema : {}) as JsonObject,
  ),
});
const anyRequest = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc
    .array(
      fc.constantFrom(
        'read',
        'a.txt',
        'and',
        'then',
        'them',
        '"',
        "'",
        'write',
        'it',
        'to',
        '*.ts',
        '10',
        'constructor',
        '__proto__',
        'path',
        ':',
        ',',
        'Paris',
        'all',
        ';',
      ),
      { maxLength: 30 },
    )
    .map((words) => words.join(' ')),
);

test('whatever is asked with whatever tools: it ends, with calls of offered tools and arguments that are JSON', async () => {
  await fc.assert(
    fc.asyncProperty(
      anyRequest,
      fc.array(anyTool, { maxLength: 6 }),
      fc.array(fc.record({ success: fc.boolean(), text: fc.oneof(fc.string(), fc.json()) }), {
        minLength: 8,
        maxLength: 8,
      }),
      async (request, tools, replies) => {
        const reply = (_call: Call, made: number): Reply => replies[made] ?? { success: true, text: '' };
        const played = await play(request, tools, reply);
        expect(played.calls.length).toBeLessThanOrEqual(8);
        for (const [name, given] of played.calls) {
          expect(tools.some((tool) => tool.name === name)).toBe(true);
          expect(JSON.parse(JSON.stringify(given))).toEqual(given);
        }
        expect(played.answer).not.toBe('');
        expect(await play(request, tools, reply)).toEqual(played);
      },
    ),
    { numRuns: 50 },
  );
});

const functionsFile = new URL('../../../../shared/data/functions.jsonl', import.meta.url);

test.skipIf(!existsSync(functionsFile))(
  'real function definitions from elsewhere (skipped where they are missing)',
  async () => {
    const tools = readFileSync(functionsFile, 'utf8').trim().split('\n').map(toDeclaration);
    for (let from = 0; from < tools.length; from += 50) {
      const offered = tools.slice(from, from + 50);
      for (const { name, description } of offered.slice(0, 5)) {
        const { calls } = await play(
          `${name.replaceAll(/[._]/gu, ' ')} 5 "x" in Paris on 2026-01-02. ${description}`,
          offered,
          succeed,
        );
        expect(calls.every(([called]) => offered.some((tool) => tool.name === called))).toBe(true);
      }
    }
  },
);

test('function definitions as others write them: types such as dict, float and tuple', async () => {
  const tool = toDeclaration(
    '{"name":"math.area","description":"Calculate the area of a circle.","parameters":{"type":"dict","properties":{"radius":{"type":"float"},"center":{"type":"tuple"},"unit":{"type":"any"}},"required":["radius"]}}',
  );
  expect((await play('Calculate the area of a circle with radius 2.5', [tool], succeed)).calls).toEqual([
    ['math.area', { radius: 2.5 }],
  ]);
});

function toDeclaration(line: string): ToolDeclaration {
  const { name, description, parameters } = JSON.parse(line) as {
    readonly name: string;
    readonly description: string;
    readonly parameters: JsonObject;
  };
  return { name, description, inputSchema: parameters };
}
