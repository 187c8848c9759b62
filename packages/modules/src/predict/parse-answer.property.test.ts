import type { Json, JsonObject } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import fc from 'fast-check';
import { expect, inject, test } from 'vitest';
import { coerceValue } from '../signature/coerce.ts';
import { defineSignature, type SignatureField } from '../signature/signature.ts';
import { parseAnswer } from './parse-answer.ts';
import { createWriter } from './render.ts';

const isLong = inject('long') > 0;
const end = '[[ ## completed ## ]]';

// What means something to the reader, and what surrounds it.
const pieces = fc.constantFrom(
  ...['a', 'Paris', ' ', '\n', '\r\n', '\n\n', '5', '1.0', 'yes', 'null', 'None', '\u00e9', '\ud83d', '\u2028'],
  ...['{', '}', '[', ']', '"', "'", '`', '```', '```json\n', '~~~', '**', '#', ':', ',', '- ', '1. ', '\\', '_'],
  ...['{"a":1}', '{"first":1}', "['x']", '<b>', '__proto__', 'reply: ', '\n- x\n- y'],
);
const texts = fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join('').trim());

interface Kind {
  readonly schema: JsonObject;
  readonly values: fc.Arbitrary<Json>;
}

const kinds: readonly Kind[] = [
  { schema: { type: 'string' }, values: texts },
  { schema: { type: 'string' }, values: fc.string({ unit: 'binary' }).map((value) => value.trim()) },
  { schema: { type: 'integer' }, values: fc.maxSafeInteger() },
  { schema: { type: 'number' }, values: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0) },
  { schema: { type: 'boolean' }, values: fc.boolean() },
  { schema: { enum: ['low', 'High', 'null', '1. x'] }, values: fc.constantFrom('low', 'High', 'null', '1. x') },
  { schema: { type: 'array', items: { type: 'string' } }, values: fc.array(texts, { maxLength: 3 }) },
  { schema: { type: 'array', items: { type: 'integer' } }, values: fc.array(fc.integer(), { maxLength: 3 }) },
  { schema: { type: ['integer', 'boolean', 'null'] }, values: fc.oneof(fc.integer(), fc.boolean(), fc.constant(null)) },
  {
    schema: { type: 'object', additionalProperties: true },
    // Half of a sign is no key.
    values: fc.dictionary(
      texts.filter((key) => !/\p{Cs}/u.test(key)),
      fc.oneof(texts, fc.integer(), fc.array(texts, { maxLength: 2 })),
      { maxKeys: 3 },
    ),
  },
];

const names = fc.uniqueArray(
  fc.constantFrom('first', 'second', 'next_tool', 'Reply', 'city', 'constructor', 'toString'),
  {
    minLength: 1,
    maxLength: 5,
  },
);

interface Answer {
  readonly fields: readonly SignatureField[];
  readonly values: JsonObject;
}

/** Fields, and for all that are required and some of the others a value. */
const answers: fc.Arbitrary<Answer> = names.chain((chosen) =>
  fc
    .tuple(
      ...chosen.map((name) =>
        fc
          .tuple(fc.constantFrom(...kinds), fc.boolean(), fc.boolean())
          .chain(([kind, required, isThere]) =>
            kind.values.map((value) => ({ name, schema: kind.schema, required, isThere: required || isThere, value })),
          ),
      ),
    )
    .map((made) => ({
      fields: defineSignature({
        name: 'test',
        inputSchema: jsonSchema({ type: 'object', properties: {} }),
        outputSchema: jsonSchema({
          type: 'object',
          properties: Object.fromEntries(made.map(({ name, schema }) => [name, schema])),
          required: made.filter(({ required }) => required).map(({ name }) => name),
        }),
      }).outputs,
      values: Object.fromEntries(made.filter(({ isThere }) => isThere).map(({ name, value }) => [name, value])),
    })),
);

test('property: what is written into a prompt as an answer is read back', () => {
  fc.assert(
    fc.property(
      answers,
      fc.boolean(),
      fc.constantFrom('', 'Sure:\n\n', '\ufeff'),
      ({ fields, values }, hasEnd, head) => {
        for (const { name, required } of fields) {
          const value = Object.hasOwn(values, name) ? values[name] : undefined;
          // The writer breaks headers in values up; a reader takes these for what they mostly are.
          fc.pre(!JSON.stringify(value ?? null).includes('[['));
          fc.pre(value !== `{${name}}` && !JSON.stringify(value ?? null).includes('"__proto__"'));
          fc.pre(required || (value !== 'null' && value !== 'None'));
        }
        const written = createWriter({ inputs: [], outputs: fields })(fields, values);
        const last = fields.filter(({ name }) => Object.hasOwn(values, name)).at(-1);
        const needsEnd = last === undefined || values[last.name] === '';
        const text = head + [...written, ...(hasEnd || needsEnd ? [end] : [])].join('\n\n');
        expect(parseAnswer(text, fields)).toEqual({ values, missing: [], problems: [] });
      },
    ),
    { numRuns: 80 },
  );
});

test('property: an answer in JSON is read back, whatever is written around it', () => {
  const around = fc.constantFrom('', 'Here it is:\n', 'So {it} is [1]:\n\n', '<think>\n{"first":0}\n</think>\n');
  fc.assert(
    fc.property(answers, around, fc.constantFrom(0, 2), fc.boolean(), ({ fields, values }, head, indent, isFenced) => {
      fc.pre(Object.keys(values).length > 0 && !JSON.stringify(values).includes('"__proto__"'));
      const json = JSON.stringify(values, null, indent);
      const text = isFenced ? `${head}\`\`\`json\n${json}\n\`\`\`\nDone.` : `${head}${json}`;
      expect(parseAnswer(text, fields)).toEqual({ values, missing: [], problems: [] });
    }),
    { numRuns: 80 },
  );
});

const marks = fc.constantFrom(
  ...[
    '[[ ## first ## ]]',
    '[[ ## second ## ]]\n',
    '[[ ## other ## ]]',
    end,
    '[[',
    ']]',
    '##',
    '**[[ ## Reply ## ]]**\n',
  ],
  ...['first: ', '\nsecond: ', '**Next Tool:** ', '\nreply: ', '<think>', '</think>\n', '{"second":', '{"first":"x"}'],
);

test('property: any text gives an answer, in which each field is at one place, and each value of its type', () => {
  fc.assert(
    fc.property(answers, fc.array(fc.oneof(pieces, marks), { maxLength: 30 }), ({ fields }, parts) => {
      const { values, missing, problems } = parseAnswer(parts.join(''), fields);
      const wrong = problems.map(({ field }) => field);
      const known = new Set(fields.map(({ name }) => name));
      const placed = [...Object.keys(values), ...missing, ...wrong];
      expect(placed.filter((name) => !known.has(name))).toEqual([]);
      expect(new Set(placed).size).toBe(placed.length);
      for (const { name, required, schema } of fields) {
        if (required) expect(placed).toContain(name);
        else expect(missing).not.toContain(name);
        const value = Object.hasOwn(values, name) ? values[name] : undefined;
        if (value !== undefined) expect(coerceValue(value, schema, { from: 'json' })).toEqual({ ok: true, value });
      }
    }),
    { numRuns: 170 },
  );
});

function hostileTexts(piece: string, size: number): readonly string[] {
  const long = piece.repeat(Math.ceil(size / piece.length));
  return [
    long,
    `[[ ## first ## ]]\n${long}\n[[ ## third ## ]]\n${long}`,
    `fourth: ${long}`,
    `{"first": "${long}`,
    `x</think>\n${long}</think>`,
  ];
}

/** How many fields have each their place in the answers to `texts`. */
function countPlaces(texts: readonly string[]): readonly number[] {
  const fields = ['string', 'integer', 'array', 'object'].map((type, index) => ({
    name: ['first', 'second', 'third', 'fourth'][index] ?? '',
    description: '',
    schema: { type },
    required: true,
  }));
  return texts.map((text) => {
    const { values, missing, problems } = parseAnswer(text, fields);
    return Object.keys(values).length + missing.length + problems.length;
  });
}

// What looks at every character from every other would not come to an end.
test.each([
  ...[
    '{',
    '}',
    '[',
    '"',
    "'",
    '`',
    '```\n',
    '~~~',
    '\\',
    ' ',
    '\t',
    '\n',
    '\r\n',
    '\u2028',
    '*',
    '#',
    '_',
    ':',
    ',',
    '-',
    '- ',
    '1. ',
  ],
  ...[
    'x',
    '9',
    '[[',
    '[[ ',
    '[[ #',
    '[[ ## ',
    '[[ ## first',
    '[[ ## x ## ]]',
    '[[ ## x ## ]]\n',
    '[[ ## first ## ]]\n',
  ],
  ...[
    '**[[ ## first ## ]]** ',
    '**[[ ## first ## ]]**\n',
    `${end}`,
    `${end}\n`,
    'first:',
    'first: \n',
    '**first** ',
    'a b c: ',
    '\n ',
  ],
  ...[
    '<think>',
    '<think>\n',
    '</think>',
    '</think>\n',
    '<think></think>\n',
    '{"first":',
    '{"a":{',
    "{'first':",
    '["',
    '[[["',
    '```json\n{',
  ],
  ...['\ud83d', '__proto__: x\n', '{"__proto__":1}', '- x\n', '- x\n\n', ', ', ',]', 'True', '\\u', '"\\"'],
])('many characters of %j', (piece) => {
  expect(countPlaces(hostileTexts(piece, isLong ? 250_000 : 20_000))).toEqual([4, 4, 4, 4, 4]);
});

test.each(['{', '[[ ## first ## ]]\n'])('a great many characters of %j', (piece) => {
  expect(countPlaces(hostileTexts(piece, isLong ? 10_000_000 : 500_000))).toEqual([4, 4, 4, 4, 4]);
});
