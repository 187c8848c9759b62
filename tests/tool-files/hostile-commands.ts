import type { JsonObject } from '@holdfast/core';

/** A tool in another language that means harm. */
export interface HostileTool {
  readonly what: string;
  /** Why it is refused; `undefined` when it is read as a tool, because the harm only begins when it runs. */
  readonly code: string | undefined;
  /** Extension of the file named after it: `tool.json` or `py`. */
  readonly extension: 'tool.json' | 'py';
  /** The file that counts. `trip` is an expression of Python that trips the canaries. */
  source(tool: string, trip: string): string | Uint8Array;
}

/** Of the arguments of every tool here. */
export const schema: JsonObject = {
  type: 'object',
  properties: { city: { type: 'string', description: 'City' } },
  required: ['city'],
};

/** A sound `.tool.json`, whose program is `./_work.sh`; `undefined` leaves a member out. */
export function commandFile(tool: string, changes: Readonly<Record<string, unknown>> = {}): string {
  const members = { name: tool, description: 'Works.', dangerous: false, parameters: schema, command: ['./_work.sh'] };
  return `${JSON.stringify({ ...members, ...changes }, undefined, 2)}\n`;
}

const commandTexts: readonly (readonly [code: string, what: string, text: (tool: string) => string | Uint8Array])[] = [
  ['tool.file.invalid: syntax', 'an empty file', () => ''],
  ['tool.file.invalid: syntax', 'a byte order mark', () => '\ufeff'],
  ['tool.file.invalid: syntax', 'a comment', (tool) => `// ${tool}\n${commandFile(tool)}`],
  ['tool.file.invalid: syntax', 'a comma at the end', (tool) => commandFile(tool).replace(/\n\}\n$/, ',\n}\n')],
  ['tool.file.invalid: syntax', 'two values', (tool) => commandFile(tool) + commandFile(tool)],
  ['tool.file.invalid: syntax', 'half a file', (tool) => commandFile(tool).slice(0, 60)],
  ['tool.file.invalid: syntax', 'code', () => 'process.exit(0)'],
  ['tool.file.invalid: syntax', 'code behind JSON', (tool) => `${commandFile(tool)}; process.exit(0)`],
  ['tool.file.invalid: syntax', 'a number that is none', (tool) => commandFile(tool).replace('false', 'NaN')],
  ['tool.metadata.invalid: not_literal', 'null', () => 'null'],
  ['tool.metadata.invalid: not_literal', 'a list', (tool) => `[${commandFile(tool)}]`],
  ['tool.metadata.invalid: not_literal', 'a text', () => '"process.exit(0)"'],
  ['tool.metadata.invalid: not_literal', 'a key twice', (tool) => commandFile(tool).replace('{', '{ "name": "other",')],
  [
    'tool.metadata.invalid: not_literal',
    'a key twice, once in escapes',
    (tool) => commandFile(tool).replace('{', '{ "n\\u0061me": "other",'),
  ],
  ['tool.metadata.invalid: not_literal', '__proto__', (tool) => commandFile(tool).replace('{', '{ "__proto__": {},')],
  [
    'tool.metadata.invalid: not_literal',
    '__proto__ in escapes, deep down',
    (tool) => commandFile(tool).replace('"city": {', '"\\u005f_proto__": { "type": "string" }, "city": {'),
  ],
  [
    'tool.metadata.invalid: not_literal',
    'a number without an end',
    (tool) => commandFile(tool, {}).replace('false', '1e999'),
  ],
  [
    'tool.metadata.invalid: not_literal',
    'too many levels',
    (tool) => commandFile(tool).replace('false', `${'['.repeat(70)}${']'.repeat(70)}`),
  ],
  [
    'tool.metadata.invalid: not_literal',
    'too many values',
    (tool) => commandFile(tool, { examples: Array.from({ length: 20_001 }, () => 0) }),
  ],
  ['tool.file.invalid: too_complex', 'brackets without end', () => `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ['tool.file.invalid: too_large', 'a megabyte of spaces', (tool) => commandFile(tool) + ' '.repeat(1024 * 1024)],
  ['tool.file.invalid: encoding', 'UTF-16', (tool) => Buffer.from(`\ufeff${commandFile(tool)}`, 'utf16le')],
  ['tool.file.invalid: encoding', 'a NUL', (tool) => `${commandFile(tool)}\0`],
  ['tool.file.invalid: encoding', 'bytes of no script', () => new Uint8Array([0x22, 0xc3, 0x28, 0x22])],
];

const commandMembers: readonly (readonly [code: string, changes: Readonly<Record<string, unknown>>])[] = [
  ['tool.name.missing', { name: undefined }],
  ['tool.invalid: name.invalid', { name: 'writ\u0435_file' }],
  ['tool.invalid: name.reserved', { name: 'constructor' }],
  ['tool.invalid: name.reserved', { name: 'then' }],
  ['tool.metadata.invalid: unknown_key', { function: 'work' }],
  ['tool.metadata.invalid: unknown_key', { env: { LD_PRELOAD: './_x.so' } }],
  ['tool.metadata.invalid: unknown_key', { cwd: '/' }],
  ['tool.metadata.invalid: unknown_key', { shell: true }],
  ['tool.metadata.invalid: dangerous.invalid', { dangerous: 'false' }],
  ['tool.metadata.invalid: dangerous.invalid', { dangerous: null }],
  ['tool.invalid: effects.invalid', { effects: 'nothing' }],
  ['tool.invalid: timeout.invalid', { timeoutMs: -1 }],
  ['tool.metadata.invalid: text.hidden', { description: 'a\u202eb' }],
  ['tool.metadata.invalid: text.hidden', { description: 'a\u{e0041}b' }],
  ['tool.schema.vague', { parameters: { type: 'object', properties: { city: {} } } }],
  [
    'tool.schema.invalid: ref',
    { parameters: { type: 'object', properties: { city: { $ref: 'http://127.0.0.1:PORT/x' } } } },
  ],
  [
    'tool.schema.invalid: pattern',
    { parameters: { type: 'object', properties: { city: { type: 'string', pattern: '(a+)+$' } } } },
  ],
  ['tool.schema.invalid', { returns: 'text' }],
  ...[
    undefined,
    null,
    [],
    './_work.sh',
    { 0: './_work.sh' },
    [1],
    [''],
    ['./_work.sh', null],
    ['/bin/sh', '-c', 'touch canary'],
    ['../_work.sh'],
    ['./../_work.sh'],
    ['./a/../../_work.sh'],
    ['.\\_work.sh'],
    ['_sub/_work.sh'],
    ['sh -c true'],
    ['-c'],
    ['~/bin/x'],
    ['$(touch canary)'],
    ['`touch canary`'],
    ['sh\u0000'],
    ['python3', './../x.py'],
    ['./'],
    ['./.'],
    ['./a//b'],
    ['s\u0435d'],
    ['sh', 'x\u0000y'],
    Array(101).fill('sh'),
  ].map((command) => ['tool.command.invalid', { command }] as const),
  ...[
    './_work.sh',
    [1],
    ['x'],
    ['/etc/passwd'],
    ['../x'],
    ['./../x'],
    ['./a\u0000'],
    Array(101).fill('./_work.sh'),
  ].map((files) => ['tool.command.invalid', { files }] as const),
  ['tool.command.invalid: file_missing', { command: ['./_none.sh'] }],
  ['tool.command.invalid: file_missing', { files: ['./_none.txt'] }],
  ['tool.command.invalid: file_missing', { command: ['sh', './_none.sh'] }],
  ['tool.command.invalid: file_unreadable', { command: ['./_outside.sh'] }],
  ['tool.command.invalid: file_unreadable', { files: ['./_outside.sh'] }],
  ['tool.command.invalid: file_unreadable', { files: ['./_pipe'] }],
  ['tool.command.invalid: file_unreadable', { files: ['./_folder'] }],
  ['tool.command.invalid: file_unreadable', { files: ['./_linked/_work.sh'] }],
  ['tool.command.invalid: not_executable', { command: ['./_plain.txt'] }],
];

/** Tools whose `.tool.json` is refused for what it says, or for what it is. */
export const refusedCommands: readonly HostileTool[] = [
  ...commandTexts.map(([code, what, text]) => ({
    what: `JSON: ${what}`,
    code,
    extension: 'tool.json' as const,
    source: text,
  })),
  ...commandMembers.map(([code, changes]) => ({
    what: `JSON: ${code}: ${JSON.stringify(changes).slice(0, 80)}`,
    code,
    extension: 'tool.json' as const,
    source: (tool: string) => commandFile(tool, changes),
  })),
];
