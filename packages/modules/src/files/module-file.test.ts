import { expect, test } from 'vitest';
import { parseModule, stringifyModule } from './module-file.ts';
import { fullModule, reactModule } from './test-files.ts';

const least = { module_id: 'a', predictor_type: 'predict', signature_name: 's' };

function parse(value: object): unknown {
  const parsing = parseModule(JSON.stringify(value));
  return parsing.type === 'module' ? parsing.definition : parsing.problems;
}

test.each([
  { name: 'with every key', module: fullModule },
  { name: 'of react', module: reactModule },
])('a module $name is read back unchanged', ({ module }) => {
  expect(parse(module)).toEqual(module);
  expect(parseModule(stringifyModule(module))).toEqual({ type: 'module', definition: module });
});

test('a minimal module', () => {
  const definition = { ...least, demos: [], tool_enabled: false, metadata: { version: '1.0.0' } };
  expect(parse(least)).toEqual(definition);
  // As other writers of the format do.
  const nulls = { signature: null, instruction: null, demos: null, tool_enabled: null, metadata: null, extract: null };
  expect(parse({ ...least, ...nulls })).toEqual(definition);
  expect(parseModule(`\uFEFF${JSON.stringify(least)}`)).toEqual({ type: 'module', definition });
});

test('null means absent in a declared field, and is a value in demos and metadata', () => {
  const demos = [{ inputs: { a: null }, outputs: { b: null } }];
  const fields = [{ name: 'a', description: null, field_type: null }];
  const metadata = { version: '1', metric_score: null };
  expect(parse({ ...least, signature: { inputs: fields, outputs: [] }, demos, metadata })).toMatchObject({
    signature: { inputs: [{ name: 'a' }], outputs: [] },
    demos,
    metadata,
  });
});

test('a definition is deeply frozen', () => {
  const parsing = parseModule(JSON.stringify(fullModule));
  if (parsing.type !== 'module') throw new Error('refused');
  expect(Object.isFrozen(parsing.definition.demos[0]?.inputs)).toBe(true);
  expect(Object.isFrozen(parsing.definition.metadata['trials'])).toBe(true);
});

test('key order does not change the bytes', () => {
  const turned = Object.fromEntries(Object.entries(fullModule).reverse());
  expect(stringifyModule({ ...fullModule, ...turned })).toBe(stringifyModule(fullModule));
  expect(stringifyModule(fullModule).split('\n').slice(0, 4)).toEqual([
    '{',
    '  "module_id": "npc.merchant.haggle",',
    '  "predictor_type": "chain_of_thought",',
    '  "signature_name": "npc.merchant",',
  ]);
});

test.each([
  {
    value: { ...least, tool_enable: true },
    place: 'tool_enable',
    message: /Unknown key\. Known keys: .*`tool_enabled`/,
  },
  { value: { ...least, tool_enabled: 'true' }, place: 'tool_enabled', message: /boolean/ },
  { value: { ...least, module_id: '' }, place: 'module_id', message: /letters, digits/ },
  { value: { ...least, module_id: '../a' }, place: 'module_id', message: /letters, digits/ },
  { value: { ...least, module_id: 'a/b' }, place: 'module_id', message: /letters, digits/ },
  { value: { ...least, module_id: 'а' }, place: 'module_id', message: /letters, digits/ },
  { value: { ...least, module_id: 7 }, place: 'module_id', message: /string/ },
  { value: { ...least, module_id: null }, place: '', message: /module_id/ },
  { value: { ...least, predictor_type: 'Predict' }, place: 'predictor_type', message: /"chain_of_thought"/ },
  { value: { ...least, signature_name: '' }, place: 'signature_name', message: /short/ },
  { value: { module_id: 'a', predictor_type: 'predict' }, place: '', message: /signature_name/ },
  { value: { ...least, metadata: {} }, place: 'metadata', message: /version/ },
  { value: { ...least, metadata: { version: 1 } }, place: 'metadata.version', message: /string/ },
  { value: { ...least, metadata: { version: null } }, place: 'metadata.version', message: /string/ },
  { value: { ...least, demos: {} }, place: 'demos', message: /array|list/ },
  { value: { ...least, demos: [{ inputs: {} }] }, place: 'demos[0]', message: /outputs/ },
  { value: { ...least, demos: [{ inputs: [], outputs: {} }] }, place: 'demos[0].inputs', message: /object/ },
  { value: { ...least, demos: [{ inputs: {}, outputs: {}, id: 1 }] }, place: 'demos[0].id', message: /Unknown key/ },
  { value: { ...least, instruction: [] }, place: 'instruction', message: /string/ },
  { value: { ...least, descriptions: { a: 1 } }, place: 'descriptions.a', message: /string/ },
  {
    value: { ...least, signature: { inputs: [{ nam: 'a' }], outputs: [] } },
    place: 'signature.inputs[0].nam',
    message: /Unknown key/,
  },
  { value: { ...least, signature: { inputs: [] } }, place: 'signature', message: /outputs/ },
  { value: { ...least, tool_protocol: 'text' }, place: 'tool_protocol', message: /Only for `react` modules/ },
  { value: { ...least, lists_tools: false }, place: 'lists_tools', message: /Only for `react` modules/ },
  { value: { ...least, extract: {} }, place: 'extract', message: /Only for `react` modules/ },
  { value: { ...least, predictor_type: 'react' }, place: 'tool_enabled', message: /"tool_enabled": true/ },
  {
    value: { ...least, predictor_type: 'react', tool_enabled: false },
    place: 'tool_enabled',
    message: /"tool_enabled": true/,
  },
  { value: { ...reactModule, tool_protocol: 'xml' }, place: 'tool_protocol', message: /"native"/ },
  { value: { ...reactModule, extract: { demo: [] } }, place: 'extract.demo', message: /Unknown key/ },
  { value: [], place: '', message: /object/ },
])('rejected at `$place`: $message', ({ value, place, message }) => {
  const problems = parse(value);
  expect(problems).toContainEqual({
    code: 'modules.invalid',
    reason: 'file',
    place,
    message: expect.stringMatching(message),
  });
});

test('all problems are reported at once, each with its place', () => {
  const value = {
    module_id: 'a b',
    predictor_type: 'predikt',
    tool_enable: 1,
    demos: [1, { inputs: {}, outputs: [] }],
  };
  const parsing = parseModule(JSON.stringify(value));
  const places = parsing.type === 'invalid' ? parsing.problems.map(({ place }) => place) : [];
  expect(places.toSorted()).toEqual(['', 'demos[0]', 'demos[1].outputs', 'module_id', 'predictor_type', 'tool_enable']);
});

test.each([
  { name: 'empty', text: '', message: /not JSON/ },
  { name: 'a byte order mark only', text: '\uFEFF', message: /not JSON/ },
  { name: 'NUL bytes', text: '\0\0', message: /not JSON/ },
  { name: 'a comment', text: `// a\n${JSON.stringify(least)}`, message: /not JSON/ },
  { name: 'a duplicate key', text: '{"module_id": "a", "module_id": "b"}', message: /twice/ },
  { name: 'a prototype', text: '{"__proto__": {"tool_enabled": true}}', message: /__proto__/ },
  { name: 'deep', text: `${'['.repeat(100)}${']'.repeat(100)}`, message: /deeper/ },
  { name: 'an infinite number', text: '{"module_id": 1e999}', message: /too large/ },
  { name: 'null', text: 'null', message: /object/ },
])('not a module: $name', ({ text, message }) => {
  expect(parseModule(text)).toEqual({
    type: 'invalid',
    problems: [{ code: 'modules.invalid', reason: 'file', place: '', message: expect.stringMatching(message) }],
  });
});

test('a text beyond the limit is rejected', () => {
  expect(parseModule(' '.repeat(8 * 1024 * 1024 + 1))).toMatchObject({
    problems: [
      { code: 'modules.invalid', reason: 'too_large', message: expect.stringContaining('8388608 is the limit') },
    ],
  });
});

test('untrusted text is shown as one short line', () => {
  const key = `\u001b[2J\u202e${'x'.repeat(5000)}`;
  const problems = parse({ ...least, [key]: 1 });
  const text = JSON.stringify(problems);
  expect(text).not.toContain('\u202e');
  expect(text.length).toBeLessThan(1500);
});

test.each([
  { name: 'demos', value: { ...least, demos: Array.from({ length: 50_000 }, () => ({})) } },
  { name: 'keys', value: Object.fromEntries(Array.from({ length: 50_001 }, (_, index) => [`k${index}`, 1])) },
  {
    name: 'items of metadata',
    value: { ...least, metadata: { version: '1', x: Array.from({ length: 50_000 }, () => 1) } },
  },
])('an excessive number of values is rejected: $name', ({ value }) => {
  expect(parse(value)).toEqual([
    { code: 'modules.invalid', reason: 'too_large', place: '', message: expect.stringContaining('50000') },
  ]);
});

test('only the first hundred problems are listed', () => {
  const descriptions = Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`k${index}`, 1]));
  const demos = Array.from({ length: 60 }, () => ({ inputs: 1, outputs: 2 }));
  const problems = parse({ ...least, module_id: '', descriptions, demos });
  expect(Array.isArray(problems) && problems.length).toBeLessThanOrEqual(101);
});

test('reports input that is not text, and definitions that are not JSON', () => {
  const bytes: unknown = new TextEncoder().encode(stringifyModule(fullModule));
  expect(parseModule(bytes as string)).toMatchObject({
    type: 'invalid',
    problems: [{ code: 'modules.invalid', reason: 'file', message: 'Cannot read the file: it is not a string.' }],
  });
  const unwritable = { ...fullModule, metadata: { version: '1', large: 1n } } as unknown as typeof fullModule;
  expect(() => stringifyModule(unwritable)).toThrow(
    expect.objectContaining({ code: 'modules.invalid', reason: 'file' }),
  );
});
