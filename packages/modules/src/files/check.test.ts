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

test('those that fit', () => {
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
  { what: 'a field less', signature: { inputs: inputs.slice(0, 1), outputs }, place: 'signature.inputs' },
  { what: 'a field more', signature: { inputs, outputs: [...outputs, { name: 'more' }] }, place: 'signature.outputs' },
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
    code: 'modules.signature_mismatch',
    place,
    message: expect.stringContaining(place),
  });
});

test('a type that nobody knows is not compared, and that is said', () => {
  expect(check({ signature: typed('int') })).toEqual([
    {
      severity: 'warning',
      code: 'modules.field_type_unknown',
      place: 'signature.inputs[1].field_type',
      message: expect.stringContaining('`int` is no type of JSON Schema'),
    },
  ]);
});

test('what the predictor adds by itself may be declared, and `json` is any type', () => {
  const signature = {
    inputs: [{ name: 'context', field_type: 'string' }, ...inputs, { name: 'available_tools', field_type: 'json' }],
    outputs: [
      { name: 'reasoning' },
      ...outputs.map((field) => ({ ...field, field_type: 'json' })),
      { name: 'tool_call' },
    ],
  };
  expect(check({ signature })).toEqual([]);
  const mismatch = [expect.objectContaining({ code: 'modules.signature_mismatch' })];
  expect(check({ signature: { ...signature, outputs }, tool_enabled: false })).toEqual(mismatch);
  expect(check({ signature: { inputs, outputs: signature.outputs }, tool_enabled: false })).toEqual(mismatch);
});

test('types of fields that are described in other ways', () => {
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
    says: '`inputs.player`: unknown field, the inputs are `player_message`, `gold`',
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
])('a demo that is refused: $says', ({ demo, says }) => {
  expect(check({ demos: [good, demo, good] })).toEqual([
    { severity: 'error', code: 'modules.demo_invalid', place: 'demos[1]', message: expect.stringContaining(says) },
  ]);
});

test.each<Demo>([
  good,
  { inputs: {}, outputs: {} },
  { inputs: { gold: 1 }, outputs: { mood: 'kind' } },
  { inputs: { player_message: 'a', context: 'b', available_tools: [] }, outputs: { tool_call: { name: 'x' } } },
  { inputs: {}, outputs: { reasoning: 'why', response: 'b' } },
])('a demo that is taken: %j', (demo) => {
  expect(check({ demos: [demo] })).toEqual([]);
});

test('demos of each kind of predictor', () => {
  const withCall = { inputs: { context: 'b' }, outputs: { tool_call: null } };
  const withReasoning = { inputs: {}, outputs: { reasoning: 'why' } };
  const invalid = [expect.objectContaining({ code: 'modules.demo_invalid' })];
  expect(check({ demos: [withCall], tool_enabled: false })).toEqual(invalid);
  expect(check({ demos: [withReasoning], predictor_type: 'predict' })).toEqual(invalid);
  expect(check({ demos: [withReasoning] }, reactModule)).toEqual(invalid);
  expect(check({ extract: { demos: [{ inputs: { next_thought: 'a' }, outputs: {} }] } }, reactModule)).toEqual([
    expect.objectContaining({ code: 'modules.demo_invalid', place: 'extract.demos[0]' }),
  ]);
});

test('rows are told of one by one, each once', () => {
  const bad = { inputs: { a: 1, b: 2 }, outputs: { c: 3 } };
  const problems = checkModule({ ...fullModule, demos: [bad, good, bad] }, signatures).problems;
  expect(problems.map(({ place }) => place)).toEqual(['demos[0]', 'demos[2]']);
  expect(problems[0]?.message).toMatch(/`inputs\.a`.*`inputs\.b`.*`outputs\.c`/);
});

test('descriptions of fields that are not there', () => {
  expect(check({ descriptions: { reasoning: 'a', mood: 'b', moods: 'c' } })).toEqual([
    {
      severity: 'error',
      code: 'modules.description_unknown',
      place: 'descriptions.moods',
      message: expect.stringContaining('`mood`'),
    },
  ]);
  expect(check({ extract: { descriptions: { next_thought: 'a' } } }, reactModule)).toMatchObject([
    { code: 'modules.description_unknown', place: 'extract.descriptions.next_thought' },
  ]);
});

const answer = jsonSchema({ type: 'object', properties: { answer: { type: 'string' } } });

test('a chain of thought over a signature that has no room for it', () => {
  const signature = defineSignature({
    name: 'npc.merchant',
    inputSchema: jsonSchema({ type: 'object', properties: { reasoning: { type: 'string' } } }),
    outputSchema: answer,
  });
  const { signature: _, descriptions: __, ...definition } = fullModule;
  const checked = checkModule({ ...definition, demos: [] }, new Map([[signature.name, signature]]));
  expect(checked).toMatchObject({ program: undefined, problems: [{ code: 'modules.signature_invalid' }] });
});

test('a schema of the host that throws takes no demo', () => {
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
    { code: 'modules.demo_invalid', message: expect.stringContaining('out of order') },
  ]);
});

test('of many problems the first hundred are told, errors before warnings', () => {
  const demos = Array.from({ length: 150 }, () => ({ inputs: { nobody: 1 }, outputs: {} }));
  const { program, problems } = checkModule({ ...fullModule, demos, signature: typed('int') }, signatures);
  expect(program).toBeUndefined();
  expect(problems).toHaveLength(101);
  expect(problems.at(-1)).toEqual({
    severity: 'error',
    code: 'modules.demo_invalid',
    place: '',
    message: 'And 51 problems more.',
  });
});

test('a text protocol over a signature that has no room for its steps, told behind what was noted before', () => {
  const signature = defineSignature({
    name: 'npc.merchant',
    inputSchema: jsonSchema({ type: 'object', properties: { trajectory: { type: 'string' } } }),
    outputSchema: answer,
  });
  const declared = { inputs: [{ name: 'trajectory', field_type: 'words' }], outputs: [{ name: 'answer' }] };
  const { extract: _, ...definition } = { ...reactModule, signature: declared, demos: [] };
  const { program, problems } = checkModule(definition, new Map([[signature.name, signature]]));
  expect(program).toBeUndefined();
  expect(problems.map(({ severity, code }) => `${severity} ${code}`)).toEqual([
    'warning modules.field_type_unknown',
    'error modules.signature_invalid',
  ]);
});

test('of many signatures, fields and issues only some are told', () => {
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

test.each(['$defs', 'definitions'])('a demo without all of its fields is checked by the `%s` of its schema', (key) => {
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

test('a rule over several fields holds also where an optional one is left out', () => {
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
  expect(problems).toMatchObject([{ code: 'modules.demo_invalid', place: 'demos[0]' }]);
});

test.each([
  { schema: { const: null }, type: 'null', other: 'object' },
  { schema: { enum: [[1], [2]] }, type: 'array', other: 'object' },
  { schema: { enum: [{ a: 1 }] }, type: 'object', other: 'array' },
])('$schema is of the type $type', ({ schema, type, other }) => {
  const signature = defineSignature({
    name: 'npc.merchant',
    inputSchema: answer,
    outputSchema: jsonSchema({ type: 'object', properties: { it: schema } }),
  });
  const codesOf = (written: string): readonly string[] => {
    const declared = { inputs: [{ name: 'answer' }], outputs: [{ name: 'it', field_type: written }] };
    const { descriptions: _, ...definition } = { ...fullModule, signature: declared, demos: [] };
    return checkModule(definition, new Map([[signature.name, signature]])).problems.map(({ code }) => code);
  };
  expect([codesOf(type), codesOf(other)]).toEqual([[], ['modules.signature_mismatch']]);
});

test.each([
  { count: 40, more: '' },
  { count: 41, more: ' and 1 more' },
])('of $count declared fields forty are named, and not at any length', ({ count, more }) => {
  const many = Array.from({ length: count }, (_, index) => ({ name: `f${index}${'x'.repeat(150)}` }));
  const [problem] = checkModule({ ...fullModule, signature: { inputs: many, outputs } }, signatures).problems;
  expect(problem?.message).toContain(`\`f39${'x'.repeat(61)}\`${more}; `);
});
