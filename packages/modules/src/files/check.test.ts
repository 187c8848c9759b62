import { describeCode } from '@holdfast/core/internal';
import { jsonSchema } from '@holdfast/schema/json';
import { expect, test } from 'vitest';
import type { Demo } from '../signature/program.ts';
import { defineSignature } from '../signature/signature.ts';
import { checkModule } from './check.ts';
import type { ModuleDefinition, ModuleSignature } from './definition.ts';
import { fullModule, haggle, reactModule } from './test-files.ts';

const signatures = new Map([[haggle.name, haggle]]);

function check(change: Partial<ModuleDefinition>, base: ModuleDefinition = fullModule): unknown {
  const { program, problems } = checkModule({ ...base, ...change }, signatures);
  expect(program === undefined).toBe(problems.some(({ severity }) => severity === 'error'));
  return problems;
}

test('matching signatures are accepted', () => {
  expect(check({})).toEqual([]);
  expect(check({}, reactModule)).toEqual([]);
});

const { inputs, outputs }: ModuleSignature = fullModule.signature ?? { inputs: [], outputs: [] };
const [message, gold] = inputs;
const typed = (type: string): ModuleSignature => ({
  inputs: [...inputs.slice(0, 1), { name: 'gold', field_type: type }],
  outputs,
});

test.each([
  { what: 'a missing field', signature: { inputs: inputs.slice(0, 1), outputs }, place: 'signature.inputs' },
  {
    what: 'an extra field',
    signature: { inputs, outputs: [...outputs, { name: 'more' }] },
    place: 'signature.outputs',
  },
  { what: 'another order', signature: { inputs: inputs.toReversed(), outputs }, place: 'signature.inputs' },
  {
    what: 'another name',
    signature: { inputs: [{ name: 'msg' }, { name: 'gold' }], outputs },
    place: 'signature.inputs',
  },
  {
    what: 'an input as an output',
    signature: { inputs: inputs.slice(0, 1), outputs: [...outputs, { name: 'gold' }] },
    place: 'signature.inputs',
  },
  { what: 'another type', signature: typed('string'), place: 'signature.inputs[1].field_type' },
  { what: 'a wider type', signature: typed('number'), place: 'signature.inputs[1].field_type' },
  {
    what: 'another type of an enumeration',
    signature: {
      inputs,
      outputs: outputs.map((field) => (field.name === 'mood' ? { ...field, field_type: 'integer' } : field)),
    },
    place: 'signature.outputs[1].field_type',
  },
])('a declared signature with $what', ({ signature, place }) => {
  expect([message?.name, gold?.name]).toEqual(['player_message', 'gold']);
  expect(check({ signature })).toContainEqual({
    severity: 'error',
    code: 'modules.invalid',
    reason: 'signature_mismatch',
    place,
    message: expect.stringContaining(place),
  });
});

test('an unknown type is not compared and gives a warning', () => {
  expect(check({ signature: typed('int') })).toEqual([
    {
      severity: 'warning',
      code: 'modules.invalid',
      reason: 'field_type_unknown',
      place: 'signature.inputs[1].field_type',
      message: expect.stringContaining('`int` is not a JSON Schema type'),
    },
  ]);
});

test('fields that the predictor adds may be declared, and `json` matches any type', () => {
  const signature = {
    inputs: [{ name: 'context', field_type: 'string' }, ...inputs, { name: 'available_tools', field_type: 'json' }],
    outputs: [
      { name: 'reasoning' },
      ...outputs.map((field) => ({ ...field, field_type: 'json' })),
      { name: 'tool_call' },
    ],
  };
  expect(check({ signature })).toEqual([]);
  const mismatch = [expect.objectContaining({ code: 'modules.invalid', reason: 'signature_mismatch' })];
  expect(check({ signature: { ...signature, outputs }, tool_enabled: false })).toEqual(mismatch);
  expect(check({ signature: { inputs, outputs: signature.outputs }, tool_enabled: false })).toEqual(mismatch);
});

test('types of fields with other kinds of schemas', () => {
  const signature = defineSignature({
    name: 'npc.merchant',
    inputSchema: jsonSchema({ type: 'object', properties: {} }),
    outputSchema: jsonSchema({
      type: 'object',
      properties: {
        either: { anyOf: [{ type: 'string' }, { $ref: '#/$defs/count' }] },
        nullable: { type: ['string', 'null'] },
        fixed: { const: 3 },
        any: {},
        circle: { $ref: '#/$defs/circle' },
      },
      $defs: { count: { type: 'integer' }, circle: { anyOf: [{ $ref: '#/$defs/circle' }] } },
    }),
  });
  const codes = (types: Readonly<Record<string, string>>): unknown => {
    const fields = signature.outputs.map(({ name }) => ({ name, field_type: types[name] ?? 'string' }));
    const definition = { ...fullModule, signature: { inputs: [], outputs: fields }, demos: [], descriptions: {} };
    return checkModule(definition, new Map([[signature.name, signature]])).problems.map(({ place }) => place);
  };
  expect(codes({ either: 'integer', nullable: 'null', fixed: 'number', any: 'object', circle: 'array' })).toEqual([]);
  expect(codes({ either: 'boolean', nullable: 'integer', fixed: 'string' })).toEqual(
    [0, 1, 2].map((index) => `signature.outputs[${index}].field_type`),
  );
});

const good = { inputs: { player_message: 'a' }, outputs: { response: 'b', mood: 'kind' } };

test.each<{ demo: Demo; says: string }>([
  {
    demo: { ...good, inputs: { player: 'a' } },
    says: '`inputs.player`: unknown field; the inputs are `player_message`, `gold`',
  },
  { demo: { ...good, inputs: { player_message: 3 } }, says: '`inputs.player_message`' },
  { demo: { ...good, inputs: { player_message: 'a', gold: 1.5 } }, says: '`inputs.gold`' },
  { demo: { ...good, inputs: { gold: -1 } }, says: '`inputs.gold`' },
  { demo: { ...good, outputs: { response: 'b', mood: 'furious' } }, says: '`outputs.mood`' },
  { demo: { ...good, outputs: { mood: 'furious' } }, says: '`outputs.mood`' },
  { demo: { ...good, outputs: { offers: [{ item: 1 }] } }, says: '`outputs.offers[0].item`' },
  { demo: { ...good, outputs: { offers: [{}] } }, says: '`outputs.offers[0]`' },
  { demo: { ...good, outputs: { reasoning: 1 } }, says: '`outputs.reasoning`: must be a string' },
  { demo: { ...good, outputs: { constructor: 1 } }, says: '`outputs.constructor`: unknown field' },
  { demo: { inputs: { response: 'b' }, outputs: {} }, says: '`inputs.response`: unknown field' },
])('a rejected demo: $says', ({ demo, says }) => {
  expect(check({ demos: [good, demo, good] })).toEqual([
    {
      severity: 'error',
      code: 'modules.invalid',
      reason: 'demo',
      place: 'demos[1]',
      message: expect.stringContaining(says),
    },
  ]);
});

test.each<Demo>([
  good,
  { inputs: {}, outputs: {} },
  { inputs: { gold: 1 }, outputs: { mood: 'kind' } },
  { inputs: { player_message: 'a', context: 'b', available_tools: [] }, outputs: { tool_call: { name: 'x' } } },
  { inputs: {}, outputs: { reasoning: 'why', response: 'b' } },
])('an accepted demo: %j', (demo) => {
  expect(check({ demos: [demo] })).toEqual([]);
});

test('demos of each kind of predictor', () => {
  const withCall = { inputs: { context: 'b' }, outputs: { tool_call: null } };
  const withReasoning = { inputs: {}, outputs: { reasoning: 'why' } };
  const invalid = [expect.objectContaining({ code: 'modules.invalid', reason: 'demo' })];
  expect(check({ demos: [withCall], tool_enabled: false })).toEqual(invalid);
  expect(check({ demos: [withReasoning], predictor_type: 'predict' })).toEqual(invalid);
  expect(check({ demos: [withReasoning] }, reactModule)).toEqual(invalid);
  expect(check({ extract: { demos: [{ inputs: { next_thought: 'a' }, outputs: {} }] } }, reactModule)).toEqual([
    expect.objectContaining({ code: 'modules.invalid', reason: 'demo', place: 'extract.demos[0]' }),
  ]);
});

test('each invalid demo is reported once', () => {
  const bad = { inputs: { a: 1, b: 2 }, outputs: { c: 3 } };
  const problems = checkModule({ ...fullModule, demos: [bad, good, bad] }, signatures).problems;
  expect(problems.map(({ place }) => place)).toEqual(['demos[0]', 'demos[2]']);
  expect(problems[0]?.message).toMatch(/`inputs\.a`.*`inputs\.b`.*`outputs\.c`/);
});

test('descriptions of unknown fields', () => {
  expect(check({ descriptions: { reasoning: 'a', mood: 'b', moods: 'c' } })).toEqual([
    {
      severity: 'error',
      code: 'modules.invalid',
      reason: 'description_unknown',
      place: 'descriptions.moods',
      message: expect.stringContaining('`mood`'),
    },
  ]);
  expect(check({ extract: { descriptions: { next_thought: 'a' } } }, reactModule)).toMatchObject([
    { code: 'modules.invalid', reason: 'description_unknown', place: 'extract.descriptions.next_thought' },
  ]);
});

const answer = jsonSchema({ type: 'object', properties: { answer: { type: 'string' } } });

test('a chain of thought over a signature with a conflicting field', () => {
  const signature = defineSignature({
    name: 'npc.merchant',
    inputSchema: jsonSchema({ type: 'object', properties: { reasoning: { type: 'string' } } }),
    outputSchema: answer,
  });
  const { signature: _, descriptions: __, ...definition } = fullModule;
  const checked = checkModule({ ...definition, demos: [] }, new Map([[signature.name, signature]]));
  expect(checked).toMatchObject({ program: undefined, problems: [{ code: 'modules.invalid', reason: 'signature' }] });
});

test('a demo is invalid if the schema of the host throws', () => {
  const throwing = {
    '~standard': {
      version: 1 as const,
      vendor: 'test',
      validate: (): never => {
        throw new Error('out of order');
      },
      jsonSchema: { input: () => ({ type: 'object', properties: { a: { type: 'string' } } }) },
    },
  };
  const signature = defineSignature({ name: 'npc.merchant', inputSchema: throwing, outputSchema: answer });
  const { signature: _, descriptions: __, ...definition } = fullModule;
  const demos = [{ inputs: { a: 'b' }, outputs: {} }];
  expect(checkModule({ ...definition, demos }, new Map([[signature.name, signature]])).problems).toMatchObject([
    { code: 'modules.invalid', reason: 'demo', message: expect.stringContaining('out of order') },
  ]);
});

test('only the first hundred problems are listed, errors before warnings', () => {
  const demos = Array.from({ length: 150 }, () => ({ inputs: { nobody: 1 }, outputs: {} }));
  const { program, problems } = checkModule({ ...fullModule, demos, signature: typed('int') }, signatures);
  expect(program).toBeUndefined();
  expect(problems).toHaveLength(101);
  expect(problems.at(-1)).toEqual({
    severity: 'error',
    code: 'modules.invalid',
    reason: 'demo',
    place: '',
    message: '51 more problems are not listed.',
  });
});

test('a text protocol over a signature with conflicting fields, reported after earlier warnings', () => {
  const signature = defineSignature({
    name: 'npc.merchant',
    inputSchema: jsonSchema({ type: 'object', properties: { trajectory: { type: 'string' } } }),
    outputSchema: answer,
  });
  const declared = { inputs: [{ name: 'trajectory', field_type: 'words' }], outputs: [{ name: 'answer' }] };
  const { extract: _, ...definition } = { ...reactModule, signature: declared, demos: [] };
  const { program, problems } = checkModule(definition, new Map([[signature.name, signature]]));
  expect(program).toBeUndefined();
  expect(problems.map(({ severity, ...kind }) => `${severity} ${describeCode(kind)}`)).toEqual([
    'warning modules.invalid: field_type_unknown',
    'error modules.invalid: signature',
  ]);
});

test('long lists of signatures, fields and issues are cut', () => {
  const many = Array.from({ length: 50 }, (_, index) => `name${index}`);
  const none = checkModule(fullModule, new Map(many.map((name) => [name, { ...haggle, name }]))).problems[0];
  expect(none?.message).toContain('`name19`');
  expect(none?.message).not.toContain('`name20`');
  const unknown = Object.fromEntries(many.map((name) => [`${name}${'x'.repeat(10_000)}`, 1]));
  const [demo, ...others] = checkModule(
    { ...fullModule, demos: [{ inputs: unknown, outputs: {} }] },
    signatures,
  ).problems;
  expect(others).toEqual([]);
  expect(demo?.message.match(/unknown field/g)).toHaveLength(10);
  expect(demo?.message.length).toBeLessThan(2_200);
});

test.each(['$defs', 'definitions'])('an incomplete demo is checked with the `%s` of its schema', (key) => {
  const signature = defineSignature({
    name: 'npc.merchant',
    inputSchema: answer,
    outputSchema: jsonSchema({
      type: 'object',
      properties: { mood: { $ref: `#/${key}/mood` }, response: { type: 'string' } },
      required: ['mood', 'response'],
      [key]: { mood: { enum: ['kind'] } },
    }),
  });
  const demosOf = (mood: string) => [{ inputs: {}, outputs: { mood } }];
  const placesOf = (mood: string): readonly string[] => {
    const { signature: _, descriptions: __, ...definition } = fullModule;
    const known = new Map([[signature.name, signature]]);
    return checkModule({ ...definition, demos: demosOf(mood) }, known).problems.map(({ place }) => place);
  };
  expect([placesOf('kind'), placesOf('wild')]).toEqual([[], ['demos[0]']]);
});

test('a rule over several fields also applies without an optional one', () => {
  const signature = defineSignature({
    name: 'npc.merchant',
    inputSchema: answer,
    outputSchema: jsonSchema({
      type: 'object',
      properties: { low: { type: 'number' }, high: { type: 'number' }, note: { type: 'string' } },
      required: ['low', 'high'],
      not: { properties: { low: { const: 2 }, high: { const: 1 } }, required: ['low', 'high'] },
    }),
  });
  const { signature: _, descriptions: __, ...definition } = fullModule;
  const demos = [{ inputs: {}, outputs: { low: 2, high: 1 } }];
  const { problems } = checkModule({ ...definition, demos }, new Map([[signature.name, signature]]));
  expect(problems).toMatchObject([{ code: 'modules.invalid', reason: 'demo', place: 'demos[0]' }]);
});

test.each([
  { schema: { const: null }, type: 'null', other: 'object' },
  { schema: { enum: [[1], [2]] }, type: 'array', other: 'object' },
  { schema: { enum: [{ a: 1 }] }, type: 'object', other: 'array' },
])('$schema has the type $type', ({ schema, type, other }) => {
  const signature = defineSignature({
    name: 'npc.merchant',
    inputSchema: answer,
    outputSchema: jsonSchema({ type: 'object', properties: { it: schema } }),
  });
  const codesOf = (written: string): readonly string[] => {
    const declared = { inputs: [{ name: 'answer' }], outputs: [{ name: 'it', field_type: written }] };
    const { descriptions: _, ...definition } = { ...fullModule, signature: declared, demos: [] };
    return checkModule(definition, new Map([[signature.name, signature]])).problems.map(describeCode);
  };
  expect([codesOf(type), codesOf(other)]).toEqual([[], ['modules.invalid: signature_mismatch']]);
});

test.each([
  { count: 40, more: '' },
  { count: 41, more: ' and 1 more' },
])('of $count declared fields at most forty are named, with short names', ({ count, more }) => {
  const many = Array.from({ length: count }, (_, index) => ({ name: `f${index}${'x'.repeat(150)}` }));
  const [problem] = checkModule({ ...fullModule, signature: { inputs: many, outputs } }, signatures).problems;
  expect(problem?.message).toContain(`\`f39${'x'.repeat(61)}\`${more}; `);
});
