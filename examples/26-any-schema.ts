// The same tool with a Valibot, Zod and ArkType schema: each provides types, validation and JSON Schema.
import assert from 'node:assert/strict';
import { defineTool } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { createSession } from '@holdfast/session';
import { type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';

const schemas = {
  valibot: v.object({ article: v.pipe(v.string(), v.minLength(1)), pieces: v.optional(v.number(), 1) }),
  zod: z.object({ article: z.string().min(1), pieces: z.number().default(1) }),
  arktype: type({ article: 'string > 0', pieces: 'number = 1' }),
};

for (const [library, inputSchema] of Object.entries(schemas)) {
  const count = defineTool({
    name: 'count_article',
    description: 'Say how many of an article there are.',
    inputSchema,
    effects: 'none',
    execute: ({ article, pieces }) => `${pieces} ${article}`,
  });
  const call = (input: unknown) =>
    executeToolCall({ name: 'count_article', arguments: input }, { tools: [count], session: createSession() });

  const counted = await call('{"article":"pear"}');
  assert(counted.kind === 'ok', library);
  assert.equal(counted.value, '1 pear');
  // Undeclared keys are rejected even if the schema allows them.
  for (const input of [{ article: '' }, { article: 5 }, { article: 'pear', count: 2 }])
    assert.equal((await call(input)).kind, 'invalid', library);
}

console.log(`${Object.keys(schemas).join(', ')}: each accepts valid arguments and rejects others`);
