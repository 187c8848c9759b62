import { execFileSync } from 'node:child_process';
import { type HostileTool, schema } from './hostile-commands.ts';

/** True if Python is installed: without it Python files cannot be read. */
export const withPython: boolean = canRunPython();

function canRunPython(): boolean {
  try {
    execFileSync('python3', ['-I', '-c', ''], { stdio: 'ignore' });
    return true;
  } catch {
    // None, or none that starts.
    return false;
  }
}

/** A sound Python tool, with the given texts in the place of its members; an empty text leaves one out. */
export function pythonFile(
  tool: string,
  changes: Readonly<Record<string, string>> = {},
  code: string = 'def work(city):\n    return city',
): string {
  const members = {
    name: `'${tool}'`,
    function: "'work'",
    description: "'Works.'",
    dangerous: 'False',
    parameters: JSON.stringify(schema),
    ...changes,
  };
  const lines = Object.entries(members).filter(([, text]) => text !== '');
  return `METADATA = {\n${lines.map(([key, text]) => `    '${key}': ${text},\n`).join('')}}\n\n${code}\n`;
}

const pythonTexts: readonly (readonly [
  code: string | undefined,
  what: string,
  text: (tool: string) => string | Uint8Array,
])[] = [
  ['tool.metadata.missing', 'an empty file', () => ''],
  ['tool.metadata.missing', 'a byte order mark', () => '\ufeff'],
  ['tool.metadata.missing', 'code alone', () => 'TRIP'],
  ['tool.metadata.missing', 'metadata that is only declared', () => 'METADATA: dict'],
  ['tool.metadata.missing', 'metadata in a block', (tool) => `if TRIP:\n${pythonFile(tool).replace(/^/gm, '    ')}`],
  ['tool.metadata.missing', 'metadata in a class', (tool) => `class Trap:\n${pythonFile(tool).replace(/^/gm, '    ')}`],
  ['tool.metadata.missing', 'metadata that is imported', () => 'from _trip import METADATA\ndef work(): pass'],
  ['tool.metadata.invalid: not_literal', 'metadata twice', (tool) => `${pythonFile(tool)}METADATA = TRIP\n`],
  ['tool.metadata.invalid: not_literal', 'metadata that grows', (tool) => `${pythonFile(tool)}METADATA |= TRIP\n`],
  ['tool.metadata.invalid: not_literal', 'metadata out of a tuple', () => 'METADATA, x = TRIP, 1\ndef work(): pass'],
  [
    'tool.metadata.invalid: not_literal',
    'metadata out of a call',
    () => 'METADATA = dict(name=TRIP)\ndef work(): pass',
  ],
  ['tool.metadata.invalid: not_literal', 'no dictionary', () => "METADATA = ['x']\ndef work(): pass"],
  ['tool.file.invalid: syntax', 'half a file', (tool) => pythonFile(tool).slice(0, 60)],
  ['tool.file.invalid: syntax', 'Python 2', (tool) => `${pythonFile(tool)}print 'x', TRIP\n`],
  ['tool.file.invalid: syntax', 'tabs and spaces', (tool) => `${pythonFile(tool)}if 1:\n\tif 1:\n        pass\n`],
  ['tool.file.invalid: syntax', 'JavaScript', () => 'export const METADATA = { name: TRIP };'],
  ['tool.file.invalid: encoding', 'another encoding', (tool) => `# -*- coding: latin-1 -*-\n${pythonFile(tool)}`],
  [
    'tool.file.invalid: encoding',
    'an encoding that hides code',
    (tool) => `# coding: utf-7\n# +AAo-TRIP\n${pythonFile(tool)}`,
  ],
  [
    'tool.file.invalid: encoding',
    'an unknown encoding',
    (tool) => `#!/usr/bin/python\n# coding=rot13\n${pythonFile(tool)}`,
  ],
  ['tool.file.invalid: encoding', 'UTF-16', (tool) => Buffer.from(`\ufeff${pythonFile(tool)}`, 'utf16le')],
  ['tool.file.invalid: encoding', 'a NUL', (tool) => `${pythonFile(tool)}\0`],
  ['tool.file.invalid: too_large', 'a megabyte of comments', (tool) => `${pythonFile(tool)}${'#\n'.repeat(600_000)}`],
  ['tool.file.invalid: too_complex', 'minus without end', () => `x = ${'-'.repeat(100_000)}1`],
  ['tool.file.invalid: too_complex', 'members without end', () => `x = a${'.b'.repeat(100_000)}`],
  ['tool.file.invalid: too_complex', 'calls without end', () => `x = a${'()'.repeat(100_000)}`],
  ['tool.file.invalid: too_complex', 'sums without end', () => `x = ${'1+'.repeat(200_000)}1`],
  ['tool.file.invalid: syntax', 'brackets without end', () => `x = ${'('.repeat(100_000)}`],
  [
    'tool.file.invalid: syntax',
    'blocks without end',
    () => Array.from({ length: 200 }, (_, depth) => `${' '.repeat(depth)}if 1:`).join('\n'),
  ],
];

const pythonMembers: readonly (readonly [code: string, changes: Readonly<Record<string, string>>])[] = [
  ['tool.name.missing', { name: '' }],
  ['tool.invalid: name.invalid', { name: "'Bad Name'" }],
  ['tool.invalid: name.reserved', { name: "'constructor'" }],
  ['tool.function.missing', { function: '' }],
  ['tool.function.not_exported', { function: "'nobody'" }],
  ['tool.function.not_exported', { function: "'__class__'" }],
  ['tool.function.not_function', { function: "'METADATA'" }],
  ['tool.metadata.invalid: unknown_key', { command: "['sh']" }],
  ['tool.metadata.invalid: dangerous.invalid', { dangerous: "'False'" }],
  ['tool.metadata.invalid: dangerous.invalid', { dangerous: '0' }],
  ['tool.metadata.invalid: dangerous.invalid', { dangerous: 'None' }],
  ['tool.metadata.invalid: text.hidden', { description: "'a\\u202eb'" }],
  ['tool.metadata.invalid: text.hidden', { description: "'\\ud800'" }],
  ['tool.metadata.invalid: text.hidden', { description: "'\\x00'" }],
  ['tool.metadata.invalid: text.hidden', { description: "'a' '\\U000e0041'" }],
  ['tool.schema.vague', { parameters: "{'type': 'object', 'properties': {'city': {}}}" }],
  [
    'tool.schema.invalid: ref',
    { parameters: "{'type': 'object', 'properties': {'city': {'$ref': 'http://127.0.0.1:PORT/x'}}}" },
  ],
];

// Texts that a person or a model may write in place of a literal. All of them would run if the file did.
const pythonExpressions: readonly string[] = [
  'TRIP',
  'work',
  'None or TRIP',
  "'a' + str(TRIP)",
  "f'''{str(1)}'''",
  "'%s' % TRIP",
  "'{}'.format(TRIP)",
  'TRIP if 1 else 2',
  'lambda: TRIP',
  '[TRIP for x in [1]]',
  '{TRIP: 1 for x in [1]}',
  '(TRIP for x in [1])',
  '{TRIP}',
  '{1, 2}',
  '{**TRIP}',
  '[*TRIP]',
  '(x := TRIP)',
  'METADATA',
  '__name__',
  '...',
  "b'x'",
  '1j',
  '1e999',
  '-1e999',
  `1${'0'.repeat(400)}`,
  'not TRIP',
  '~1',
  '-True',
  '1 < 2',
  "open('x')",
  "__import__('os').system('true')",
  "exec('''TRIP''')",
  "{1: 'x'}",
  "{None: 'x'}",
  "{'a': 1, 'a': 2}",
  "{'__proto__': {}}",
  "{'a': {'__pro' 'to__': {}}}",
  'float("inf")',
  'set()',
  'type("x", (), {})',
  'slice(1)',
  "'a'[0]",
  '[1][0]',
  'globals()',
  '__builtins__',
];

const pythonPlaces: readonly { readonly what: string; wrap(tool: string, text: string): string }[] = [
  { what: 'METADATA', wrap: (_tool, text) => `METADATA = ${text}\ndef work(city): pass\n` },
  { what: 'annotated METADATA', wrap: (_tool, text) => `METADATA: TRIP = ${text}\ndef work(city): pass\n` },
  ...['name', 'dangerous', 'parameters', 'examples'].map((key) => ({
    what: key,
    wrap: (tool: string, text: string) => pythonFile(tool, { [key]: text }),
  })),
];

/** Things that a Python file may do when it is imported; read as a literal, each is a sound tool. */
const pythonBodies: readonly string[] = [
  'TRIP',
  '@TRIP\ndef trap(): pass',
  'def trap(x=TRIP): pass',
  'def trap(x: TRIP): pass',
  'class Trap(metaclass=TRIP): pass',
  'class Trap:\n    TRIP',
  'import _trip',
  'from _trip import *',
  "__import__('_trip')",
  "exec('''TRIP''')",
  'import os; os._exit(0)',
  'import os, signal; os.kill(os.getppid(), signal.SIGKILL)',
  'raise SystemExit(0)',
  'raise BaseException()',
  'while True: pass',
  'import sys; sys.setrecursionlimit(10**9)\ndef f(): f()\nf()',
  'x = [bytearray(10**9) for _ in range(10**6)]',
  "print('x' * 10**9)",
  'import sys; sys.stdin.read()',
  'import builtins; builtins.__import__ = TRIP',
  "import sys; sys.modules['json'] = TRIP",
  'import atexit; atexit.register(lambda: TRIP)',
  'import threading; threading.Thread(target=lambda: TRIP).start()',
  '__file__ = TRIP',
  'del METADATA',
  "METADATA['dangerous'] = TRIP",
  'def __getattr__(name): TRIP',
  'with TRIP: pass',
  'assert TRIP',
  'del TRIP.x',
];

/** Python files that are refused for what they say, or for what they are. */
export const refusedPython: readonly HostileTool[] = [
  ...pythonTexts.map(([code, what, text]) => toTool(`Python: ${what}`, code, text)),
  ...pythonMembers.map(([code, changes]) =>
    toTool(`Python: ${code}: ${JSON.stringify(changes).slice(0, 80)}`, code, (tool) => {
      return `${pythonFile(tool, changes)}TRIP\n`;
    }),
  ),
];

/** Every expression in every place where a literal belongs. */
export const notLiteralPython: readonly HostileTool[] = pythonPlaces.flatMap(({ what, wrap }) =>
  pythonExpressions.map((expression) =>
    toTool(`Python: ${what} as ${expression.slice(0, 40)}`, 'tool.metadata.invalid: not_literal', (tool) => {
      return `${wrap(tool, expression)}TRIP\n`;
    }),
  ),
);

/** Sound tools in Python whose files do harm once they run. */
export const harmfulPython: readonly HostileTool[] = pythonBodies.map((body) =>
  toTool(
    `Python: a sound tool beside ${JSON.stringify(body)}`,
    undefined,
    (tool) => `TRIP\n${pythonFile(tool)}${body}\n`,
  ),
);

function toTool(what: string, code: string | undefined, text: (tool: string) => string | Uint8Array): HostileTool {
  return {
    what,
    code,
    extension: 'py',
    source(tool, trip) {
      const content = text(tool);
      return typeof content === 'string' ? content.replaceAll('TRIP', () => trip) : content;
    },
  };
}
