import { describeCode } from '@holdfast/core/internal';
import { expect, test } from 'vitest';
import type { MetadataReading } from '../check/literal.ts';
import { readMetadata } from './metadata.ts';

const imports = "import { defineTool } from '@holdfast/core'; import { jsonSchema } from '@holdfast/schema/json';\n";
const input = "jsonSchema({ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] })";
const fields: Readonly<Record<string, string>> = {
  name: "name: 'weather'",
  description: "description: 'Says where it rains.'",
  effects: "effects: 'none'",
  inputSchema: `inputSchema: ${input}`,
  execute: 'execute({ city }) { return city; }',
};

/** The argument of `defineTool`; an empty string omits a member. */
function members(changes: Readonly<Record<string, string>> = {}): string {
  const lines = Object.values({ ...fields, ...changes }).filter((text) => text !== '');
  return `{\n${lines.map((text) => `  ${text},`).join('\n')}\n}`;
}

function toolFile(changes: Readonly<Record<string, string>> = {}): string {
  return `${imports}export default defineTool(${members(changes)});\n`;
}

async function read(source: string, file = 'weather.ts'): Promise<MetadataReading> {
  return readMetadata(source, file);
}

const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const constants = `const properties = { city: { type: 'string' } };\nconst plain = { type: 'object', properties, required: ['city'] };\nconst schema = jsonSchema(plain);\n`;

test.each([
  ['the plain form', toolFile()],
  [
    'other names',
    toolFile()
      .replace('{ defineTool }', '{ defineTool as tool }')
      .replace('{ jsonSchema }', '{ jsonSchema as json }')
      .replace('defineTool(', 'tool(')
      .replace('jsonSchema(', 'json('),
  ],
  [
    'the whole module',
    toolFile()
      .replace('{ defineTool }', '* as core')
      .replace('{ jsonSchema }', '* as schemas')
      .replace('defineTool(', 'core.defineTool(')
      .replace('jsonSchema(', 'schemas.jsonSchema('),
  ],
  [
    'types',
    toolFile({ execute: 'async execute({ city }: Input): Promise<string> { return city; }' })
      .replace('defineTool(', 'defineTool<Input, string>(')
      .replace(');\n', ') satisfies Tool;\ninterface Input { city: string }\n')
      .replace(imports, `${imports}import type { Tool } from '@holdfast/core';\n`),
  ],
  [
    'a tool exported under the name default',
    `${imports}const weather = defineTool(${members()});\nexport { weather as default };`,
  ],
  ['a named tool', `${imports}export const weather = defineTool(${members()});\nexport default weather;`],
  [
    'a definition with a name',
    `${imports}const definition = ${members()} as const;\nexport default defineTool(definition);`,
  ],
  [
    'a schema with a name',
    `${imports}${constants}export default defineTool(${members({ inputSchema: 'inputSchema: schema' })});`,
  ],
  [
    'a plain schema with a name',
    `${imports}${constants}export default defineTool(${members({ inputSchema: 'inputSchema: jsonSchema<Input>(plain)' })});type Input = object;`,
  ],
  ['an arrow function', toolFile({ execute: 'execute: async ({ city }) => city' })],
  ['a function expression', toolFile({ execute: "'execute': (function (input) { return input; })" })],
  ['a function with a name', `${toolFile({ execute: 'execute' })}async function execute(input) { return input; }`],
  [
    'a constant function',
    `${imports}const work = (input) => input;\nexport default defineTool(${members({ execute: 'execute: work' })});`,
  ],
  ['a default export beside others', `${toolFile()}export function helper() {}`],
])('takes %s', async (_what, source) => {
  expect(await read(source)).toEqual({
    type: 'read',
    nameOffset: expect.any(Number),
    diagnostics: [],
    metadata: {
      form: 'definition',
      name: 'weather',
      function: 'default',
      description: 'Says where it rains.',
      parameters: schema,
      returns: undefined,
      dangerous: false,
      undeclared: false,
      effects: 'none',
      repeat: 'safe',
      timeoutMs: undefined,
      examples: [],
      resources: undefined,
      isolation: undefined,
      version: undefined,
      maxResultBytes: undefined,
    },
  });
});

test.each([
  {
    changes: { effects: "effects: 'external', dangerous: true" },
    expected: { dangerous: true, effects: 'external', repeat: 'never' },
  },
  // As in `defineTool`: only METADATA takes `dangerous: false` as a declaration of no effects.
  { changes: { effects: 'dangerous: false' }, expected: { dangerous: false, effects: 'external', repeat: 'never' } },
  {
    changes: { effects: "effects: 'state', repeat: 'keyed', timeoutMs: 9" },
    expected: { effects: 'state', repeat: 'keyed', timeoutMs: 9 },
  },
  { changes: { inputSchema: '', execute: 'execute() { return 1; }' }, expected: { parameters: undefined } },
  {
    changes: { outputSchema: "outputSchema: jsonSchema({ type: 'string' })" },
    expected: { returns: { type: 'string' } },
  },
  {
    changes: { examples: "examples: [{ description: 'One', input: { city: 'Rome' }, output: 'Rome' }]" },
    expected: { examples: [{ description: 'One', input: { city: 'Rome' }, output: 'Rome' }] },
  },
])('$changes', async ({ changes, expected }) => {
  expect(await read(toolFile({ ...changes }))).toMatchObject({ type: 'read', metadata: expected });
});

const warning = {
  severity: 'warning',
  code: 'tool.metadata.invalid',
  reason: 'dangerous.missing',
  message: expect.stringContaining('declares neither `dangerous` nor `effects`'),
};

test('a definition without declared effects gives a warning', async () => {
  expect(await read(toolFile({ effects: '' }))).toMatchObject({
    type: 'read',
    metadata: { dangerous: true, undeclared: true },
    diagnostics: [warning],
  });
  expect(await read(toolFile({ effects: 'dangerous: false' }))).toMatchObject({ type: 'read', diagnostics: [] });
});

const defined = `defineTool(${members()})`;

test.each([
  {
    what: 'a foreign defineTool',
    source: toolFile().replace('@holdfast/core', './core.ts'),
    code: 'tool.metadata.invalid: definition.import',
    at: '2:16',
  },
  ...(
    [
      ['const defineTool = (x) => x;', 'defineTool'],
      ['', 'defineTool'],
      ["import type { defineTool } from '@holdfast/core';", 'defineTool'],
      ["import { type defineTool } from '@holdfast/core';", 'defineTool'],
      ["import { toolOk as defineTool } from '@holdfast/core';", 'defineTool'],
      ["import defineTool from '@holdfast/core';", 'defineTool'],
      ["import { defineTool } from 'core';", 'defineTool'],
      ["import { defineTool as tool } from 'core';", 'tool'],
      ["import * as core from 'core';", 'core.defineTool'],
      ["import core from '@holdfast/core';", 'core.defineTool'],
      ["import { defineTool as core } from '@holdfast/core';", 'core.defineTool'],
      ['const core = { defineTool: (x) => x };', 'core.defineTool'],
    ] as const
  ).map(([line, name]) => ({
    what: `\`${name}\` after \`${line}\``,
    source: `${line}\nimport { jsonSchema } from '@holdfast/schema/json';\nexport default ${name}(${members()});`,
    code: 'tool.metadata.invalid: definition.import',
    at: '3:16',
  })),
  {
    what: 'a computed member of core',
    source: `import * as core from '@holdfast/core';\nconst { jsonSchema } = core;\nexport default core[defineTool](${members()});`,
    code: 'tool.metadata.missing',
  },
  {
    what: 'a foreign jsonSchema',
    source: `import { defineTool } from '@holdfast/core';\nimport { jsonSchema } from 'schemas';\nexport default ${defined};`,
    code: 'tool.metadata.invalid: definition.import',
    at: '7:16',
  },
  { what: 'another call', source: `${imports}export default wrap(${defined});`, code: 'tool.metadata.missing' },
  {
    what: 'an optional call',
    source: `${imports}export default defineTool?.(${members()});`,
    code: 'tool.metadata.missing',
  },
  { what: 'an awaited call', source: `${imports}export default await ${defined};`, code: 'tool.metadata.missing' },
  { what: 'a list of tools', source: `${imports}export default [${defined}];`, code: 'tool.metadata.missing' },
  {
    what: 'a tool under let',
    source: `${imports}let tool = ${defined};\nexport default tool;`,
    code: 'tool.metadata.missing',
  },
  {
    what: 'a tool that is not the default export',
    source: `${imports}export const tool = ${defined};`,
    code: 'tool.metadata.missing',
  },
  { what: 'a tool from another file', source: "export { default } from './tool.ts';", code: 'tool.metadata.missing' },
  {
    what: 'a default that names itself',
    source: `${imports}const tool = tool;\nexport default tool;`,
    code: 'tool.metadata.missing',
  },
  {
    what: 'two forms',
    source: `${toolFile()}export const METADATA = {};`,
    code: 'tool.metadata.invalid: ambiguous',
    at: '2:16',
  },
  {
    what: 'two forms, one of them wrong',
    source: `export default ${defined};\nexport const METADATA = {};`,
    code: 'tool.metadata.invalid: ambiguous',
  },
  {
    what: 'no argument',
    source: `${imports}export default defineTool();`,
    code: 'tool.metadata.invalid: not_literal',
    at: '2:16',
  },
  {
    what: 'two arguments',
    source: `${imports}export default defineTool(${members()}, 1);`,
    code: 'tool.metadata.invalid: not_literal',
  },
  {
    what: 'spread arguments',
    source: `${imports}export default defineTool(...[${members()}]);`,
    code: 'tool.metadata.invalid: not_literal',
  },
  {
    what: 'a definition from elsewhere',
    source: `${imports}import { definition } from './x.ts';\nexport default defineTool(definition);`,
    code: 'tool.metadata.invalid: not_literal',
  },
  {
    what: 'a definition below',
    source: `${imports}export default defineTool(definition);\nconst definition = ${members()};`,
    code: 'tool.metadata.invalid: not_literal',
  },
  { what: 'a spread', source: toolFile({ name: '...base' }), code: 'tool.metadata.invalid: not_literal', at: '3:3' },
  {
    what: 'a computed name',
    source: toolFile({ name: "name: 'a' + suffix()" }),
    code: 'tool.metadata.invalid: not_literal',
    at: '3:9',
  },
  {
    what: 'a computed key',
    source: toolFile({ name: "['name']: 'weather'" }),
    code: 'tool.metadata.invalid: not_literal',
    at: '3:3',
  },
  {
    what: 'a getter',
    source: toolFile({ name: "get name() { return 'weather'; }" }),
    code: 'tool.metadata.invalid: not_literal',
    at: '3:3',
  },
  {
    what: 'execute behind a getter',
    source: toolFile({ execute: 'get execute() { return () => 1; }' }),
    code: 'tool.metadata.invalid: not_literal',
    at: '7:3',
  },
  {
    what: 'execute behind a computed key',
    source: toolFile({ execute: '[execute]: () => 1' }),
    code: 'tool.metadata.invalid: not_literal',
    at: '7:3',
  },
  {
    what: 'two executes',
    source: toolFile({ name: "name: 'weather', execute() {}" }),
    code: 'tool.metadata.invalid: not_literal',
    at: '7:3',
  },
  {
    what: 'two names',
    source: toolFile({ name: "name: 'weather', name: 'climate'" }),
    code: 'tool.metadata.invalid: not_literal',
  },
  {
    what: 'two schemas',
    source: toolFile({ name: `name: 'weather', inputSchema: ${input}` }),
    code: 'tool.metadata.invalid: not_literal',
  },
  {
    what: '__proto__',
    source: toolFile({ name: "name: 'weather', __proto__: {}" }),
    code: 'tool.metadata.invalid: not_literal',
  },
  { what: 'no execute', source: toolFile({ execute: '' }), code: 'tool.function.missing', at: '2:27' },
  {
    what: 'an imported execute',
    source: `import { execute } from './x.ts';\n${toolFile({ execute: 'execute' })}`,
    code: 'tool.function.not_function',
    at: '1:10',
  },
  {
    what: 'an unknown execute',
    source: toolFile({ execute: 'execute' }),
    code: 'tool.function.not_function',
    at: '7:3',
  },
  {
    what: 'execute made by a call',
    source: toolFile({ execute: 'execute: wrap(() => 1)' }),
    code: 'tool.function.not_function',
  },
  {
    what: 'execute under let',
    source: `let work = () => 1;\n${toolFile({ execute: 'execute: work' })}`,
    code: 'tool.function.not_function',
  },
  { what: 'a class', source: toolFile({ execute: 'execute: class {}' }), code: 'tool.function.not_function' },
  { what: 'a generator', source: toolFile({ execute: '*execute(input) {}' }), code: 'tool.function.not_function' },
  {
    what: 'an asynchronous generator',
    source: toolFile({ execute: 'async *execute(input) {}' }),
    code: 'tool.function.not_function',
  },
  {
    what: 'a library schema',
    source: `import * as v from 'valibot';\n${toolFile({ inputSchema: 'inputSchema: v.object({})' })}`,
    code: 'tool.metadata.invalid: definition.schema',
    at: '7:3',
  },
  {
    what: 'a schema without jsonSchema',
    source: toolFile({ inputSchema: "inputSchema: { type: 'object' }" }),
    code: 'tool.metadata.invalid: definition.schema',
  },
  {
    what: 'an imported schema',
    source: `import { schema } from './x.ts';\n${toolFile({ inputSchema: 'inputSchema: schema' })}`,
    code: 'tool.metadata.invalid: definition.schema',
  },
  {
    what: 'a schema below',
    source: `${toolFile({ inputSchema: 'inputSchema: schema' })}const schema = ${input};`,
    code: 'tool.metadata.invalid: definition.schema',
  },
  {
    what: 'an empty jsonSchema',
    source: toolFile({ inputSchema: 'inputSchema: jsonSchema()' }),
    code: 'tool.metadata.invalid: definition.schema',
  },
  {
    what: 'a computed schema',
    source: toolFile({ inputSchema: 'inputSchema: jsonSchema({ type: kind() })' }),
    code: 'tool.metadata.invalid: not_literal',
    at: '6:35',
  },
  {
    what: 'a library schema of the output',
    source: toolFile({ outputSchema: 'outputSchema: v.string()' }),
    code: 'tool.metadata.invalid: definition.schema',
  },
  ...[
    'locks: () => []',
    'probe() {}',
    'renderResult: String',
    'acceptsOverrides: false',
    "origin: { kind: 'mcp', source: 'x' }",
  ].map((member) => ({
    what: member,
    source: toolFile({ name: `name: 'weather', ${member}` }),
    code: 'tool.metadata.invalid: definition.unsupported',
    at: '3:20',
  })),
  {
    what: 'a key of the other form',
    source: toolFile({ name: "name: 'weather', parameters: {}" }),
    code: 'tool.metadata.invalid: unknown_key',
    at: '3:20',
  },
  { what: 'a bad name', source: toolFile({ name: "name: 'Weather'" }), code: 'tool.invalid: name.invalid', at: '3:3' },
  {
    what: 'no description',
    source: toolFile({ description: '' }),
    code: 'tool.metadata.invalid: description.missing',
    at: '2:27',
  },
  {
    what: 'a description that is not ASCII',
    source: toolFile({ description: "description: 'Où il pleut.'" }),
    code: 'tool.invalid: description.invalid',
    at: '4:3',
  },
  {
    what: 'a long description',
    source: toolFile({ description: `description: '${'x'.repeat(201)}'` }),
    code: 'tool.invalid: description.invalid',
    at: '4:3',
  },
  {
    what: 'a hidden character',
    source: toolFile({ description: "description: 'a\\u200b'" }),
    code: 'tool.metadata.invalid: text.hidden',
    at: '4:3',
  },
  { what: 'a parameter and no schema', source: toolFile({ inputSchema: '' }), code: 'tool.schema.vague' },
  {
    what: 'an untyped property',
    source: toolFile({ inputSchema: "inputSchema: jsonSchema({ type: 'object', properties: { city: {} } })" }),
    code: 'tool.schema.vague',
    at: '6:59',
  },
  {
    what: 'a tool called run',
    source: toolFile({ name: "name: 'run'", inputSchema: '', execute: 'execute() {}' }),
    code: 'tool.schema.vague',
  },
  {
    what: 'a schema that is a list',
    source: toolFile({ inputSchema: 'inputSchema: jsonSchema([])' }),
    code: 'tool.schema.invalid',
    at: '6:3',
  },
  {
    what: 'an output of an unknown type',
    source: toolFile({ outputSchema: "outputSchema: jsonSchema({ type: 'any' })" }),
    code: 'tool.schema.invalid',
    at: '8:30',
  },
  {
    what: 'an invalid example',
    source: toolFile({ examples: "examples: [{ description: 'x', input: {}, output: 1 }]" }),
    code: 'tool.invalid: example.invalid',
  },
  {
    what: 'an export named then',
    source: `${toolFile()}export const { then } = {};`,
    code: 'tool.metadata.invalid: export.then',
  },
] satisfies readonly { what: string; source: string; code: string; at?: string }[])(
  'refuses $what: $code',
  async ({ source, code, at }: { readonly source: string; readonly code: string; readonly at?: string }) => {
    const reading = await read(source);
    expect(reading.type, JSON.stringify(reading)).toBe('refused');
    const [first] = reading.diagnostics;
    expect(first).toMatchObject({ severity: 'error', hint: expect.stringMatching(/./) });
    expect(first && describeCode(first)).toBe(code);
    if (at !== undefined) expect(`${first?.line}:${first?.column}`).toBe(at);
  },
);
