import { definitionFile, type HostileFile, metadataFile, schema, work } from './hostile-tool-files.ts';

/** Stands in a source for an expression that trips every canary when it is evaluated. */
const trip = '(TRIP)';

// Texts that a person or a model may write in place of a literal. All of them would run if the file did.
const expressions: readonly string[] = [
  `work(${trip})`,
  `new Map([[1, ${trip}]])`,
  `new Proxy({}, { get: () => ${trip} })`,
  `(() => ${trip})()`,
  `(function () { return ${trip}; })()`,
  `await ${trip}`,
  `\`\${${trip}}\``,
  `String.raw\`\${${trip}}\``,
  `{ ...${trip} }`,
  `[...${trip}]`,
  `{ get x() { return ${trip}; } }`,
  `{ set x(value) { ${trip}; } }`,
  `{ [${trip}]: 1 }`,
  `{ x() { ${trip}; } }`,
  `{ __proto__: ${trip} }`,
  `{ '__proto__': ${trip} }`,
  `(${trip}, 'x')`,
  `${trip} ? 'x' : 'y'`,
  `${trip} || 'x'`,
  `${trip} ?? 'x'`,
  `'x' + ${trip}`,
  `(slot = ${trip})`,
  `(slot ??= ${trip})`,
  `void ${trip}`,
  `!${trip}`,
  `-${trip}`,
  `typeof ${trip}`,
  `delete globalThis[${trip}]`,
  'slot++',
  "import('./_trip.mjs')",
  'import.meta.url',
  `class { static { ${trip}; } }`,
  `class extends ${trip} {}`,
  `() => ${trip}`,
  'undefined',
  'NaN',
  'globalThis.name',
  'slot?.name',
  'this',
  'process.env.HOME',
  '10n',
  '/x/u',
  "Symbol('x')",
  "JSON.parse('{}')",
  'Object.assign({}, {})',
  'laterConstant',
  '[1, , 2]',
  '1e999',
];

interface Place {
  readonly what: string;
  readonly code: string;
  readonly skip?: RegExp;
  wrap(tool: string, text: string): string;
}

const places: readonly Place[] = [
  {
    what: 'METADATA',
    code: 'tool.metadata.invalid: not_literal',
    wrap: (_tool, text) => `let slot;\nexport const METADATA = ${text};\n${work}\n`,
  },
  ...['name', 'description', 'dangerous', 'parameters', 'examples', 'resources'].map((key) => ({
    what: key,
    code: 'tool.metadata.invalid: not_literal',
    wrap: (tool: string, text: string) => metadataFile(tool, { [key]: text }),
  })),
  {
    what: 'a property of the schema',
    code: 'tool.metadata.invalid: not_literal',
    wrap: (tool, text) => metadataFile(tool, { parameters: schema.replace("'City'", () => text) }),
  },
  // An object would be a definition of its own, and what it lacks would be told first.
  {
    what: 'a definition',
    code: 'tool.metadata.invalid: not_literal',
    skip: /^\{/,
    wrap: (_tool, text) => definitionFile('x', {}).replace(/\(\{ [\s\S]*\}\)/, () => `(${text})`),
  },
  ...['name', 'effects'].map((key) => ({
    what: `${key} of a definition`,
    code: 'tool.metadata.invalid: not_literal',
    wrap: (tool: string, text: string) => definitionFile(tool, { [key]: text }),
  })),
  {
    what: 'a schema of a definition',
    code: 'tool.metadata.invalid: definition.schema',
    wrap: (tool, text) => definitionFile(tool, { inputSchema: text }),
  },
  {
    what: 'the inside of a schema of a definition',
    code: 'tool.metadata.invalid: not_literal',
    wrap: (tool, text) => definitionFile(tool, { inputSchema: `jsonSchema(${text})` }),
  },
];

/** Every expression in every place where a literal belongs. */
export const notLiteral: readonly HostileFile[] = places.flatMap(({ what, code, skip, wrap }) =>
  expressions
    .filter((expression) => skip?.test(expression) !== true)
    .map((expression) => ({
      what: `${what} as \`${expression}\``,
      code,
      extension: 'mjs',
      source: (tool: string, tripping: string) => {
        const text = wrap(tool, expression).replaceAll(trip, () => tripping);
        return `${text}const laterConstant = 'x';\n${tripping};\n`;
      },
    })),
);
