import { jsonSchema } from '@holdfast/schema/json';
import { expect, test } from 'vitest';
import { toProgram } from '../signature/program.ts';
import { defineSignature } from '../signature/signature.ts';
import { declareSubmit, readSubmit } from './submit.ts';

const signature = defineSignature({
  name: 'sum',
  inputSchema: jsonSchema({ type: 'object', properties: { words: { type: 'string' } } }),
  outputSchema: jsonSchema({
    type: 'object',
    properties: {
      count: { type: 'integer', description: 'How many.', minimum: 0 },
      list: { type: 'array', items: { type: 'string' } },
      unit: { type: 'string', default: 'words' },
    },
    required: ['count', 'list'],
  }),
});
const whole = { count: 2, list: ['a', 'b'] };

test.each<[title: string, given: unknown]>([
  ['a value', whole],
  ['JSON text', JSON.stringify(whole)],
  ['an object without a prototype', Object.assign(Object.create(null), whole)],
])('%s is taken, with defaults', (_, given) => {
  expect(readSubmit(given, signature)).toEqual({ type: 'accepted', output: { ...whole, unit: 'words' } });
});

const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) });

test.each<[title: string, given: unknown, says: string, partial: object]>([
  ['nothing', undefined, 'Missing: `count`, `list`.', {}],
  ['empty text', ' ', 'Missing: `count`, `list`.', {}],
  ['null', null, 'one JSON object', {}],
  ['a list', [1], 'one JSON object', {}],
  ['text in JSON', '"done"', 'one JSON object', {}],
  ['text that is no JSON', '{"count":', 'not JSON', {}],
  ['a key twice', '{"count":1,"count":2,"list":[]}', 'a key twice', {}],
  ['a reserved key', '{"__proto__":{"count":1},"count":1,"list":[]}', '__proto__', {}],
  ['too much depth', nested(70), 'nested too deeply', {}],
  ['a missing output', { count: 1 }, 'Missing: `list`.', { count: 1 }],
  ['a wrong output', { count: -1, list: ['a'] }, '`count`', { list: ['a'] }],
  ['an undeclared output', { ...whole, more: 1 }, '`more`', whole],
  ['outputs of a prototype', Object.create(whole), 'cannot be taken', {}],
  [
    'what throws when it is read',
    {
      get count() {
        throw new Error('no');
      },
      list: [],
    },
    'cannot be taken',
    {},
  ],
])('%s is refused', (_, given, says, partial) => {
  const reading = readSubmit(given, signature);
  expect(reading).toMatchObject({ type: 'refused', partial });
  if (reading.type !== 'refused') return;
  expect(reading.message).toContain(says);
  expect(reading.message).toContain('`submit` again with `count`, `list`');
});

test('what is said of very many wrong values is short', () => {
  const reading = readSubmit({ count: 1, list: Array.from({ length: 9_000 }, () => 1) }, signature);
  expect(reading.type === 'refused' ? reading.message.length : 0).toBeLessThan(2_500);
});

test('it is offered with the tuned descriptions', () => {
  const program = toProgram(signature, 'react', { descriptions: { list: 'Each of them.' } });
  const { name, inputSchema } = declareSubmit(program);
  expect(name).toBe('submit');
  expect(inputSchema).toMatchObject({
    properties: { count: { description: 'How many.' }, list: { description: 'Each of them.' } },
    required: ['count', 'list'],
  });
});
