import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeCode } from '@holdfast/core/internal';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FolderScan, scanFolder } from './folder.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-loader-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

// Written if a scan imports a file, which it must never do.
const canaryFile = (): string => join(folder, 'canary');
const canary = (): string => `
globalThis.holdfastCanary = true;
(await import('node:fs')).writeFileSync(${JSON.stringify(canaryFile())}, '');
`;
const isCanaryUntouched = (): boolean => !('holdfastCanary' in globalThis) && !existsSync(canaryFile());

const parameters = "{ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }";
const fields: Readonly<Record<string, string>> = {
  name: "'subject'",
  function: "'runSubject'",
  description: "'Does something.'",
  dangerous: 'false',
  parameters,
};
const work = 'export async function runSubject({ city }) { return city; }';

/** A valid tool file with the given metadata fields changed; an empty string omits a field. */
function toolFile(changes: Readonly<Record<string, string>> = {}, code: string = work): string {
  const lines = Object.entries({ ...fields, ...changes }).filter(([, text]) => text !== '');
  return `export const METADATA = {\n${lines.map(([key, text]) => `  ${key}: ${text},`).join('\n')}\n};\n${code}\n`;
}

function property(schema: string): string {
  return toolFile({ parameters: `{ type: 'object', properties: { city: ${schema} } }` });
}

async function scan(files: Readonly<Record<string, string | Uint8Array>>): Promise<FolderScan> {
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(folder, name), content);
  }
  return scanFolder(folder);
}

const goodTwin = toolFile({ name: "'good_twin'" });

interface HostileCase {
  readonly what: string;
  readonly content: string | Uint8Array;
  readonly code: string;
  readonly at?: string;
  readonly file?: string;
}

const hostile: readonly HostileCase[] = [
  { what: 'an empty file', content: '', code: 'tool.metadata.missing' },
  { what: 'a BOM only', content: '\ufeff', code: 'tool.metadata.missing' },
  { what: 'an exit at the top', content: 'process.exit(0);', code: 'tool.metadata.missing' },
  {
    what: 'metadata that is not exported',
    content: toolFile().replace('export const M', 'const M'),
    code: 'tool.metadata.missing',
    at: '1:7',
  },
  {
    what: 'metadata as a type',
    content: 'export type METADATA = 1;',
    code: 'tool.metadata.missing',
    file: 'subject.ts',
  },
  {
    what: 'metadata exported as a type',
    content: `${toolFile().replace('export const M', 'const M')}export type { METADATA };`,
    code: 'tool.metadata.missing',
    file: 'subject.ts',
  },
  {
    what: 'CommonJS',
    content: 'module.exports = { METADATA: {} };',
    code: 'tool.metadata.missing',
    file: 'subject.js',
  },
  {
    what: 'metadata from elsewhere',
    content: "export { METADATA } from './other.mjs';",
    code: 'tool.metadata.invalid: not_literal',
  },
  {
    what: 'metadata under let',
    content: toolFile().replace('const M', 'let M'),
    code: 'tool.metadata.invalid: not_literal',
    at: '1:12',
  },
  {
    what: 'metadata that is a list',
    content: `export const METADATA = [];${work}`,
    code: 'tool.metadata.invalid: not_literal',
  },
  {
    what: 'a proxy',
    content: 'export const METADATA = new Proxy({}, {});',
    code: 'tool.metadata.invalid: not_literal',
    at: '1:25',
  },
  {
    what: 'a computed name',
    content: toolFile({ name: "'a' + suffix()" }),
    code: 'tool.metadata.invalid: not_literal',
    at: '2:9',
  },
  {
    what: 'a template with an expression',
    content: toolFile({ name: '`a$' + '{x}`' }),
    code: 'tool.metadata.invalid: not_literal',
    at: '2:13',
  },
  {
    what: 'a spread',
    content: 'export const METADATA = {\n  ...base };',
    code: 'tool.metadata.invalid: not_literal',
    at: '2:3',
  },
  {
    what: 'a getter',
    content: 'export const METADATA = { get name() { return "a"; } };',
    code: 'tool.metadata.invalid: not_literal',
  },
  {
    what: '__proto__',
    content: toolFile({ ['__proto__x']: '' }).replace('name:', '__proto__: {}, name:'),
    code: 'tool.metadata.invalid: not_literal',
    at: '2:3',
  },
  {
    what: 'an export named then',
    content: `${toolFile()}export function then(resolve) {}`,
    code: 'tool.metadata.invalid: export.then',
    at: '9:17',
  },
  {
    what: 'an export renamed to then',
    content: `${toolFile()}export { runSubject as then };`,
    code: 'tool.metadata.invalid: export.then',
  },
  ...[
    'export const { then } = { then() {} };',
    'export const { a: [, { then }] = [] } = {};',
    'export const { ...then } = {};',
    'export const [...[then = 1]] = [];',
    'export class then {}',
    'let x; export { x as "then" };',
    "export * as then from './other.mjs';",
    "export { x as then } from './other.mjs';",
  ].map((code) => ({ what: code, content: `${toolFile()}${code}\n`, code: 'tool.metadata.invalid: export.then' })),
  {
    what: 'all of another file, which may have a then',
    content: `${toolFile()}export * from './other.mjs';`,
    code: 'tool.metadata.invalid: export.all',
    at: '9:1',
  },
  {
    what: 'metadata destructured from something else',
    content: `const all = {};\nexport const { METADATA } = all;\n${work}`,
    code: 'tool.metadata.invalid: not_literal',
    at: '2:16',
  },
  {
    what: 'a number without an end in a large file, which comes from another process as JSON',
    content: `${toolFile({ returns: '{ enum: [1e999] }' })}const data = [${'{ a: [1, "x"] }, '.repeat(2000)}];\n`,
    code: 'tool.metadata.invalid: not_literal',
    at: '7:21',
  },
  {
    what: 'a syntax error',
    content: 'export const METADATA = {\n  name: ,\n};',
    code: 'tool.file.invalid: syntax',
    at: '2:9',
  },
  { what: 'one name declared twice', content: `${toolFile()}const METADATA = 1;`, code: 'tool.file.invalid: syntax' },
  {
    what: 'an enum',
    content: `${toolFile()}export enum Unit { Metre }`,
    code: 'tool.file.invalid: syntax',
    file: 'subject.ts',
  },
  { what: 'types in JavaScript', content: `${toolFile()}const x: number = 1;`, code: 'tool.file.invalid: syntax' },
  { what: 'UTF-16', content: Buffer.from(`\ufeff${goodTwin}`, 'utf16le'), code: 'tool.file.invalid: encoding' },
  { what: 'a NUL byte', content: `${toolFile()}\0`, code: 'tool.file.invalid: encoding' },
  {
    what: 'bytes that are not UTF-8',
    content: new Uint8Array([0x2f, 0x2f, 0xff, 0xfe, 0x0a]),
    code: 'tool.file.invalid: encoding',
  },
  { what: '10 MB of comments', content: '//\n'.repeat(3_500_000), code: 'tool.file.invalid: too_large' },
  {
    what: 'one byte above the limit',
    content: `${toolFile()}//`.padEnd(1024 * 1024 + 1, 'x'),
    code: 'tool.file.invalid: too_large',
  },
  {
    what: 'brackets that exhaust the parser',
    content: `export const METADATA = ${'['.repeat(200_000)}`,
    code: 'tool.file.invalid: too_complex',
  },
  {
    what: 'operators that exhaust the parser',
    content: `export const METADATA = ${'-~'.repeat(400_000)}1`,
    code: 'tool.file.invalid: too_complex',
  },
  { what: 'no name', content: toolFile({ name: '' }), code: 'tool.name.missing' },
  { what: 'an empty name', content: toolFile({ name: "''" }), code: 'tool.name.missing', at: '2:3' },
  { what: 'a name that is not a text', content: toolFile({ name: '1' }), code: 'tool.invalid: name.invalid' },
  { what: 'a name in capitals', content: toolFile({ name: "'Subject'" }), code: 'tool.invalid: name.invalid' },
  {
    what: 'a name with a Cyrillic letter',
    content: toolFile({ name: "'writ\u0435_file'" }),
    code: 'tool.invalid: name.invalid',
  },
  {
    what: 'a name in full width',
    content: toolFile({ name: "'\uff57rite_file'" }),
    code: 'tool.invalid: name.invalid',
  },
  {
    what: 'a name with a zero-width space',
    content: toolFile({ name: "'write\u200b_file'" }),
    code: 'tool.metadata.invalid: text.hidden',
  },
  ...['constructor', 'prototype', 'hasownproperty', 'then', 'tostring', 'valueof', '__proto__'].map((name) => ({
    what: `the name ${name}`,
    content: toolFile({ name: `'${name}'` }),
    code: 'tool.invalid: name.reserved',
  })),
  { what: 'no function', content: toolFile({ function: '' }), code: 'tool.function.missing' },
  { what: 'a function that is not a text', content: toolFile({ function: '1' }), code: 'tool.function.missing' },
  {
    what: 'a function that is not exported',
    content: toolFile({}, work.replace('export ', '')),
    code: 'tool.function.not_exported',
    at: '3:3',
  },
  {
    what: 'a function exported as default',
    content: toolFile({}, work.replace('export ', 'export default ')),
    code: 'tool.function.not_exported',
  },
  {
    what: 'a function that is only a type',
    content: toolFile({}, 'export declare function runSubject(): void;'),
    code: 'tool.function.not_exported',
    file: 'subject.ts',
  },
  {
    what: 'a function named like a method of all objects',
    content: toolFile({ function: "'toString'" }),
    code: 'tool.function.not_exported',
  },
  {
    what: 'a text as the function',
    content: toolFile({}, "export const runSubject = 'x';"),
    code: 'tool.function.not_function',
  },
  {
    what: 'a class as the function',
    content: toolFile({}, 'export class runSubject {}'),
    code: 'tool.function.not_function',
  },
  {
    what: 'a generator as the function',
    content: toolFile({}, 'export function* runSubject(input) {}'),
    code: 'tool.function.not_function',
  },
  {
    what: 'a function made by a call',
    content: toolFile({}, 'export const runSubject = wrap(() => 1);'),
    code: 'tool.function.not_function',
  },
  {
    what: 'a function from elsewhere',
    content: toolFile({}, "export { runSubject } from './other.mjs';"),
    code: 'tool.function.not_function',
  },
  {
    what: 'an imported function',
    content: toolFile({}, "import { runSubject } from './other.mjs'; export { runSubject };"),
    code: 'tool.function.not_function',
  },
  {
    what: 'a function under let',
    content: toolFile({}, 'export let runSubject = () => 1;'),
    code: 'tool.function.not_function',
  },
  {
    what: 'run with an empty schema',
    content: toolFile({ function: "'run'", parameters: '{}' }, 'export function run(payload) {}'),
    code: 'tool.schema.vague',
  },
  {
    what: 'handler with empty properties',
    content: toolFile(
      { function: "'handler'", parameters: "{ type: 'object', properties: {} }" },
      'export function handler() {}',
    ),
    code: 'tool.schema.vague',
  },
  { what: 'a parameter and no schema', content: toolFile({ parameters: '' }), code: 'tool.schema.vague' },
  {
    what: 'a parameter and a schema without properties',
    content: toolFile({ parameters: "{ type: 'object' }" }),
    code: 'tool.schema.vague',
    at: '6:3',
  },
  { what: 'a property without a type', content: property("{ description: 'x' }"), code: 'tool.schema.vague' },
  { what: 'an object that nothing fits', content: property("{ type: 'object' }"), code: 'tool.schema.vague' },
  { what: 'a branch without a type', content: property('{ anyOf: [{ minLength: 1 }] }'), code: 'tool.schema.vague' },
  { what: 'parameters as text', content: toolFile({ parameters: "'none'" }), code: 'tool.schema.invalid' },
  {
    what: 'parameters that are not an object schema',
    content: toolFile({ parameters: "{ type: 'string', properties: {} }" }),
    code: 'tool.schema.invalid',
  },
  { what: 'an unknown type', content: property("{ type: 'str' }"), code: 'tool.schema.invalid', at: '6:55' },
  { what: 'null alone', content: property("{ type: 'null' }"), code: 'tool.schema.invalid' },
  { what: 'a property that is not a schema', content: property("'string'"), code: 'tool.schema.invalid' },
  {
    what: 'a requirement of an unknown property',
    content: toolFile({ parameters: parameters.replace("['city']", "['town']") }),
    code: 'tool.schema.invalid',
  },
  {
    what: 'required as text',
    content: toolFile({ parameters: parameters.replace("['city']", "'city'") }),
    code: 'tool.schema.invalid',
  },
  { what: 'an array without items', content: property("{ type: 'array' }"), code: 'tool.schema.invalid' },
  { what: 'an empty enum', content: property('{ enum: [] }'), code: 'tool.schema.invalid' },
  {
    what: 'a range that nothing fits',
    content: property("{ type: 'number', minimum: 2, maximum: 1 }"),
    code: 'tool.schema.invalid',
  },
  { what: 'a length below zero', content: property("{ type: 'string', maxLength: -1 }"), code: 'tool.schema.invalid' },
  {
    what: 'an unknown draft',
    content: toolFile({ parameters: "{ $schema: 'urn:x', type: 'object', properties: { city: { type: 'string' } } }" }),
    code: 'tool.schema.invalid',
  },
  { what: 'returns as text', content: toolFile({ returns: "'x'" }), code: 'tool.schema.invalid' },
  {
    what: 'returns of an unknown type',
    content: toolFile({ returns: "{ type: 'any' }" }),
    code: 'tool.schema.invalid',
  },
  {
    what: 'a default that does not fit',
    content: property("{ type: 'integer', default: 'ten' }"),
    code: 'tool.schema.invalid: default',
  },
  {
    what: 'a default that does not fit under a property called default',
    content: toolFile({
      parameters:
        "{ type: 'object', properties: { default: { type: 'object', properties: { n: { type: 'integer', default: 'x' } } } } }",
    }),
    code: 'tool.schema.invalid: default',
  },
  {
    what: 'an unsupported format',
    content: property("{ type: 'string', format: 'url' }"),
    code: 'tool.schema.invalid: format',
  },
  {
    what: 'a remote reference',
    content: property("{ $ref: 'http://127.0.0.1:1/x.json' }"),
    code: 'tool.schema.invalid: ref',
  },
  { what: 'a reference to nothing', content: property("{ $ref: '#/$defs/none' }"), code: 'tool.schema.invalid: ref' },
  {
    what: 'a reference to itself',
    content: property("{ $ref: '#/properties/city' }"),
    code: 'tool.schema.invalid: ref',
  },
  {
    what: 'references in a circle',
    content: toolFile({
      parameters:
        "{ type: 'object', properties: { city: { $ref: '#/$defs/a' } }, $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { $ref: '#/$defs/a' } } }",
    }),
    code: 'tool.schema.invalid: ref',
  },
  { what: 'another base', content: property("{ $id: 'http://x', type: 'string' }"), code: 'tool.schema.invalid: ref' },
  {
    what: 'a pattern that can stall',
    content: property("{ type: 'string', pattern: '^(a+)+$' }"),
    code: 'tool.schema.invalid: pattern',
  },
  {
    what: 'a pattern that is invalid',
    content: property("{ type: 'string', pattern: '(' }"),
    code: 'tool.schema.invalid: pattern',
  },
  {
    what: 'a pattern for keys that can stall',
    content: property("{ type: 'object', patternProperties: { '(a|a)*$': { type: 'string' } } }"),
    code: 'tool.schema.invalid: pattern',
  },
  {
    what: 'an unknown key',
    content: toolFile({ danger: 'true' }),
    code: 'tool.metadata.invalid: unknown_key',
    at: '7:3',
  },
  ...["'false'", '0', 'null'].map((dangerous) => ({
    what: `dangerous as ${dangerous}`,
    content: toolFile({ dangerous }),
    code: 'tool.metadata.invalid: dangerous.invalid',
    at: '5:3',
  })),
  { what: 'unknown effects', content: toolFile({ effects: "'some'" }), code: 'tool.invalid: effects.invalid' },
  { what: 'an unknown repeat', content: toolFile({ repeat: 'true' }), code: 'tool.invalid: repeat.invalid' },
  { what: 'a timeout of 0', content: toolFile({ timeoutMs: '0' }), code: 'tool.invalid: timeout.invalid' },
  { what: 'examples as text', content: toolFile({ examples: "'x'" }), code: 'tool.invalid: example.invalid' },
  {
    what: 'an example without output',
    content: toolFile({ examples: "[{ description: 'x', input: { city: 'Rome' } }]" }),
    code: 'tool.invalid: example.invalid',
  },
  {
    what: 'an example that does not fit',
    content: toolFile({ examples: "[{ description: 'x', input: { town: 'Rome' }, output: 1 }]" }),
    code: 'tool.invalid: example.invalid',
  },
  {
    what: 'a description that is not a text',
    content: toolFile({ description: '[]' }),
    code: 'tool.invalid: description.invalid',
  },
  {
    what: 'a description that is too long',
    content: toolFile({ description: `'${'x'.repeat(4097)}'` }),
    code: 'tool.invalid: description.invalid',
  },
  ...['\\u001b[31m', '\\u202e', '\\u200b', '\\u{e0041}', '\\u0000', '\\ud800', '\\ufe00', '\\u{e0100}'].map(
    (character) => ({
      what: `a description with ${character}`,
      content: toolFile({ description: `'a ${character}'` }),
      code: 'tool.metadata.invalid: text.hidden',
      at: '4:3',
    }),
  ),
  {
    what: 'a doc comment with a zero-width space',
    content: toolFile({ description: '' }, `/** Hello\u200b. */\n${work}`),
    code: 'tool.metadata.invalid: text.hidden',
  },
  {
    what: 'a hidden character in a property name',
    content: toolFile(
      { parameters: parameters.replace('city:', "'city\\u200b':").replace("['city']", '[]') },
      work.replace('{ city }', 'input').replace('city', '1'),
    ),
    code: 'tool.metadata.invalid: text.hidden',
  },
  {
    what: 'a hidden character in an enum',
    content: property("{ enum: ['a\\u2066'] }"),
    code: 'tool.metadata.invalid: text.hidden',
  },
];

test.each(hostile)('refuses $what: $code', async ({ content, code, at, file = 'subject.mjs' }) => {
  const text = typeof content === 'string' && !code.startsWith('tool.file') ? content + canary() : content;
  const { files, diagnostics } = await scan({ [file]: text, 'good_twin.mjs': goodTwin + canary() });
  expect(files).toMatchObject([
    { type: 'tool', file: 'good_twin.mjs' },
    { type: 'refused', file },
  ]);
  expect(diagnostics.every((diagnostic) => diagnostic.file === file && diagnostic.severity === 'error')).toBe(true);
  const found = diagnostics.find((diagnostic) => describeCode(diagnostic) === code);
  expect(found, JSON.stringify(diagnostics)).toBeDefined();
  expect(found?.hint).not.toBe('');
  if (at !== undefined) expect(`${found?.line}:${found?.column}`).toBe(at);
  expect(isCanaryUntouched()).toBe(true);
});

test('the canary file is written on import', async () => {
  writeFileSync(join(folder, 'x.mjs'), canary());
  await import(/* @vite-ignore */ join(folder, 'x.mjs'));
  expect(isCanaryUntouched()).toBe(false);
  Reflect.deleteProperty(globalThis, 'holdfastCanary');
});

const sound: readonly { readonly what: string; readonly content: string; readonly file?: string }[] = [
  { what: 'the plain form', content: toolFile() },
  { what: 'a BOM before it', content: `\ufeff${toolFile()}` },
  { what: 'Windows line ends', content: toolFile().replaceAll('\n', '\r\n') },
  { what: 'a hashbang', content: `#!/usr/bin/env node\n${toolFile()}` },
  { what: 'an arrow function', content: toolFile({}, 'export const runSubject = async ({ city }) => city;') },
  { what: 'a separate export', content: toolFile({}, `${work.replace('export ', '')}\nexport { runSubject };`) },
  {
    what: 'an export under another name',
    content: toolFile({ function: "'work'" }, `${work.replace('export ', '')}\nexport { runSubject as work };`),
  },
  {
    what: 'metadata exported separately',
    content: `${toolFile().replace('export const M', 'const M')}export { METADATA };`,
  },
  {
    what: 'TypeScript',
    content: `${toolFile().replace('};', '} as const satisfies Shape;')}interface Shape { name: string }`,
    file: 'subject.ts',
  },
  {
    what: 'overloads',
    content: toolFile(
      {},
      'export function runSubject(a: string): void;\nexport function runSubject(a: unknown): void {}',
    ),
    file: 'subject.mts',
  },
  {
    what: 'a function under `as`',
    content: toolFile(
      {},
      'export const runSubject = ((input: unknown) => input) as Work; type Work = (input: unknown) => unknown;',
    ),
    file: 'subject.ts',
  },
  {
    what: 'a default export as the function',
    content: toolFile({ function: "'default'" }, 'export default ({ city }) => city;'),
  },
  {
    what: 'all the types of another file',
    content: `${toolFile()}export type * from './types.ts';`,
    file: 'subject.ts',
  },
  {
    what: 'another file as a whole, by name',
    content: `${toolFile()}export * as other from './_other.mjs';\nexport const { a, ...rest } = { a: 1 };`,
  },
  { what: 'no arguments', content: toolFile({ parameters: '' }, 'export function runSubject() {}') },
  {
    what: 'no arguments, said aloud',
    content: toolFile(
      { parameters: "{ type: 'object', properties: {} }" },
      'export function runSubject(_input, context) {}',
    ),
  },
  { what: 'a nullable type', content: property("{ type: ['string', 'null'] }") },
  { what: 'an enum without a type', content: property("{ enum: ['a', 1, null] }") },
  { what: 'a constant', content: property("{ const: 'a' }") },
  {
    what: 'branches with types',
    content: property("{ anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] }"),
  },
  {
    what: 'conditions beside a type',
    content: toolFile({
      parameters: parameters.replace('required', "anyOf: [{ required: ['city'] }, { required: ['town'] }], required"),
    }),
  },
  {
    what: 'notes, and properties named like keywords or like none',
    content: property(
      "{ type: 'object', $comment: 'x', 'x-note': 1, properties: { minimun: { type: 'string' }, enum: { type: 'string' } } }",
    ),
  },
  { what: 'an open object', content: property("{ type: 'object', additionalProperties: true }") },
  {
    what: 'a tree',
    content: property(
      "{ type: 'object', properties: { name: { type: 'string' }, inner: { type: 'array', items: { $ref: '#/properties/city' } } } }",
    ),
  },
  { what: 'a pattern', content: property("{ type: 'string', pattern: '^[a-z]+(-[a-z]+)*$', default: 'a-b' }") },
  {
    what: 'every key',
    content: toolFile({
      effects: "'state'",
      repeat: "'keyed'",
      timeoutMs: '1500',
      returns: "{ type: 'string' }",
      examples: "[{ description: 'A city', input: { city: 'Rome' }, output: 'Rome' }]",
    }),
  },
  {
    what: 'any script in the description',
    content: toolFile({ description: "'\u5929\u6c17 \u2764\ufe0f\\n\\tnext'" }),
  },
  { what: 'a large file', content: `${toolFile()}const data = [${'{ a: [1, "x"] }, '.repeat(20_000)}];` },
  { what: '900 KB on one line', content: `${toolFile()}const text = '${'x'.repeat(900_000)}';` },
];

test.each(sound)('accepts $what', async ({ content, file = 'subject.mjs' }) => {
  const { files, diagnostics } = await scan({ [file]: content });
  expect(diagnostics).toEqual([]);
  expect(files).toMatchObject([{ type: 'tool', file, metadata: { description: expect.any(String) } }]);
});

test('a large file, parsed in another process, gives the same result as a small one', async () => {
  const odd = "{ enum: [-0, 0x10, 1e21, 0.1, null, true, 'a\\u00e9\\u{1f600}', `b\\n`, '\\'', 'é😀', 5e-324, 1_000] }";
  const small = `${toolFile({ returns: odd })}// é😀\n`;
  const large = `${small.replace("'subject'", "'large'")}const data = [${'{ a: [1, "x"] }, '.repeat(2000)}];\n`;
  const { files } = await scan({ 'large.mjs': large, 'small.mjs': small });
  const [first, second] = files.map((file) => (file.type === 'tool' ? { ...file.metadata, name: '' } : file));
  expect(first).toHaveProperty('returns.enum.6', 'aé😀');
  expect(first).toStrictEqual(second);
});

test.each([
  { fields: { dangerous: 'false' }, dangerous: false, effects: 'none', repeat: 'safe' },
  { fields: { dangerous: 'false', effects: "'external'" }, dangerous: false, effects: 'external', repeat: 'never' },
  { fields: { dangerous: 'false', repeat: "'keyed'" }, dangerous: false, effects: 'none', repeat: 'keyed' },
  { fields: { dangerous: 'true' }, dangerous: true, effects: 'external', repeat: 'never' },
  { fields: { dangerous: 'true', effects: "'state'" }, dangerous: true, effects: 'state', repeat: 'never' },
  { fields: { dangerous: '' }, dangerous: true, undeclared: true, effects: 'external', repeat: 'never' },
  { fields: { dangerous: '', effects: "'external'" }, dangerous: false, undeclared: false, repeat: 'never' },
  { fields: { dangerous: '', effects: "'none'" }, dangerous: false, undeclared: false, repeat: 'safe' },
])('$fields means dangerous $dangerous, repeat $repeat', async ({ fields: changes, ...expected }) => {
  const { files } = await scan({ 'subject.mjs': toolFile(changes) });
  expect(files).toMatchObject([{ metadata: expected }]);
});

test.each([
  {
    what: 'missing `dangerous`',
    content: toolFile({ dangerous: '' }),
    code: 'tool.metadata.invalid: dangerous.missing',
  },
  {
    what: 'missing description',
    content: toolFile({ name: "'weather_fetcher'", description: '' }),
    code: 'tool.metadata.invalid: description.missing',
  },
  {
    what: 'a misspelt keyword',
    content: property("{ type: 'number', minimun: 1 }"),
    code: 'tool.schema.invalid: keyword',
  },
  {
    what: 'a keyword of another dialect, deep within',
    content: property("{ type: 'array', items: { anyOf: [{ type: 'string', nullable: true }] } }"),
    code: 'tool.schema.invalid: keyword',
  },
])('$what is a warning, and an error when strict', async ({ content, code }) => {
  const { files, diagnostics } = await scan({ 'subject.mjs': content });
  expect(diagnostics.map((one) => [one.severity, describeCode(one)])).toEqual([['warning', code]]);
  expect(files).toMatchObject([{ type: 'tool', metadata: { parameters: { properties: { city: {} } } } }]);
  const strict = await scanFolder(folder, { strict: true });
  expect(strict.diagnostics.map((one) => [one.severity, describeCode(one)])).toEqual([['error', code]]);
  expect(strict.files).toMatchObject([{ type: 'refused' }]);
});

test.each([
  {
    above: '/**\n * Says where it rains.\n *   Twice.\n * @param input the city\n */\n',
    description: 'Says where it rains. Twice.',
    warned: false,
  },
  { above: '/** Near. */ ', description: 'Near.', warned: false },
  { above: '/** Far. */\nconst between = 1;\n', description: 'Weather fetcher.', warned: true },
  { above: '/* No doc comment. */\n', description: 'Weather fetcher.', warned: true },
  { above: '/** @param input */\n', description: 'Weather fetcher.', warned: true },
])('without a description, `$above` gives $description', async ({ above, description, warned }) => {
  const { files, diagnostics } = await scan({
    'subject.mjs': toolFile({ name: "'weather_fetcher'", description: '' }, above + work),
  });
  expect(files).toMatchObject([{ metadata: { description } }]);
  expect(diagnostics).toHaveLength(warned ? 1 : 0);
});

test('ignores hidden and private files, tests, declarations, folders and other file types', async () => {
  mkdirSync(join(folder, 'inner'));
  mkdirSync(join(folder, 'folder.mjs'));
  const ignored = [
    '.hidden.mjs',
    '_helper.mjs',
    '__x.mjs',
    'a.test.mjs',
    'a.spec.ts',
    'a.d.ts',
    'a.d.mts',
    'a.cjs',
    'a.json',
    'x.test',
    'inner/b.mjs',
  ];
  const { files, diagnostics } = await scan(
    Object.fromEntries(
      [...ignored, 'b.mjs', 'a.ts'].map((name) => [name, toolFile({ name: `'${name.slice(0, 1)}'` })]),
    ),
  );
  expect(diagnostics).toEqual([]);
  expect(files.map(({ file }) => file)).toEqual(['a.ts', 'b.mjs']);
});

test('two files with the same tool name are both refused, and each message names the other file', async () => {
  const { files, diagnostics } = await scan({ 'a.mjs': toolFile(), 'b.mjs': toolFile(), 'c.mjs': goodTwin });
  expect(files.map(({ type }) => type)).toEqual(['refused', 'refused', 'tool']);
  const duplicate = { code: 'tool.invalid', reason: 'name.duplicate' };
  expect(diagnostics).toMatchObject([
    { ...duplicate, file: 'a.mjs', line: 2, column: 3, message: expect.stringContaining('`b.mjs`') },
    { ...duplicate, file: 'b.mjs', message: expect.stringContaining('`a.mjs`') },
  ]);
});

test('names that differ only in separators are both refused; names that look alike give a warning', async () => {
  const names = ['write_file', 'write-file', 'list', '1ist', 'modern', 'modem'];
  const { files, diagnostics } = await scan(
    Object.fromEntries(names.map((name, index) => [`${index}.mjs`, toolFile({ name: `'${name}'` })])),
  );
  expect(files.map(({ type }) => type)).toEqual(['refused', 'refused', 'tool', 'tool', 'tool', 'tool']);
  expect(
    diagnostics.map(({ file, code, reason, severity }) => `${file} ${severity} ${describeCode({ code, reason })}`),
  ).toEqual([
    '0.mjs error tool.metadata.invalid: name.twin',
    '1.mjs error tool.metadata.invalid: name.twin',
    ...[2, 3, 4, 5].map((index) => `${index}.mjs warning tool.metadata.invalid: name.lookalike`),
  ]);
});

test('a refused file does not claim its name', async () => {
  const { files } = await scan({ 'a.mjs': toolFile(), 'b.mjs': toolFile({ dangerous: '0' }) });
  expect(files.map(({ type }) => type)).toEqual(['tool', 'refused']);
});

test('file names that differ by case or accent encoding are both refused', async () => {
  const names = ['Tool.mjs', 'tool.mjs', 'caf\u00e9.mjs', 'cafe\u0301.mjs'];
  const { files, diagnostics } = await scan(
    Object.fromEntries(names.map((name, index) => [name, toolFile({ name: `'t${index}'` })])),
  );
  expect(files.every(({ type }) => type === 'refused')).toBe(true);
  expect(diagnostics.map(describeCode)).toEqual(Array(4).fill('tool.file.invalid: twin'));
});

test('symlinks that leave the folder, are circular, dead or point to folders are refused; others are followed', async () => {
  const outside = mkdtempSync(join(tmpdir(), 'holdfast-outside-'));
  const sibling = `${folder}-sibling`;
  mkdirSync(sibling);
  try {
    writeFileSync(join(outside, 'x.mjs'), toolFile());
    writeFileSync(join(sibling, 'x.mjs'), toolFile());
    symlinkSync(join(outside, 'x.mjs'), join(folder, 'a_outside.mjs'));
    symlinkSync('/etc/passwd', join(folder, 'b_passwd.mjs'));
    symlinkSync(join(sibling, 'x.mjs'), join(folder, 'c_prefix.mjs'));
    symlinkSync('d_self.mjs', join(folder, 'd_self.mjs'));
    symlinkSync('nowhere.mjs', join(folder, 'e_dangling.mjs'));
    mkdirSync(join(folder, 'inner'));
    symlinkSync('inner', join(folder, 'f_folder.mjs'));
    writeFileSync(join(folder, '_real.mjs'), toolFile());
    symlinkSync('_real.mjs', join(folder, 'g_inside.mjs'));
    const { files, diagnostics } = await scanFolder(folder);
    expect(diagnostics.map(({ file, code, reason }) => `${file} ${describeCode({ code, reason })}`)).toEqual([
      'a_outside.mjs tool.file.invalid: symlink',
      'b_passwd.mjs tool.file.invalid: symlink',
      'c_prefix.mjs tool.file.invalid: symlink',
      'd_self.mjs tool.file.invalid: unreadable',
      'e_dangling.mjs tool.file.invalid: unreadable',
      'f_folder.mjs tool.file.invalid: not_regular',
    ]);
    expect(files.filter(({ type }) => type === 'tool')).toMatchObject([{ file: 'g_inside.mjs' }]);
  } finally {
    rmSync(outside, { recursive: true });
    rmSync(sibling, { recursive: true });
  }
});

test.skipIf(process.platform === 'win32')('a FIFO is refused without blocking', async () => {
  execFileSync('mkfifo', [join(folder, 'pipe.mjs')]);
  const { diagnostics } = await scan({ 'good_twin.mjs': goodTwin });
  expect(diagnostics).toMatchObject([{ file: 'pipe.mjs', code: 'tool.file.invalid', reason: 'not_regular' }]);
});

test.each([
  { what: 'a missing folder', path: 'none', code: 'tools.folder.unreadable', reason: 'missing' },
  { what: 'a file', path: 'file', code: 'tools.folder.unreadable', reason: 'not_directory' },
  { what: 'a circle of symlinks', path: 'circle', code: 'tools.folder.unreadable', reason: 'refused' },
])('$what as the tools folder fails: $reason', async ({ path, code, reason }) => {
  writeFileSync(join(folder, 'file'), '');
  symlinkSync('circle', join(folder, 'circle'));
  await expect(scanFolder(join(folder, path))).rejects.toMatchObject({ code, reason });
});

test('if no process can be started for a large file, the scan fails instead of blaming the file', async () => {
  const { execPath } = process;
  process.execPath = join(folder, 'no-such-node');
  try {
    const content = `${toolFile()}const data = [${'{ a: [1, "x"] }, '.repeat(2000)}];`;
    const kind = { code: 'tool.process.not_started', reason: 'parser' };
    await expect(scan({ 'subject.mjs': content })).rejects.toMatchObject(kind);
  } finally {
    process.execPath = execPath;
  }
});
