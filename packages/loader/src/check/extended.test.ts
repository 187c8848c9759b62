import { describeCode } from '@holdfast/core/internal';
import { expect, test } from 'vitest';
import { readMetadata } from '../scan/metadata.ts';

const properties =
  "{ path: { type: 'string' }, $path: { type: 'string' }, count: { type: 'integer' }, list: { type: 'array', items: { type: 'string' } } }";

function source(extra: string): string {
  return `export const METADATA = {
  name: 'subject', function: 'work', description: 'Works.', dangerous: false,
  parameters: { type: 'object', properties: ${properties} },
  ${extra}
};
export function work(input) {}`;
}

test.each([
  [
    "resources: ['calendar', '$input.path', '$input.count']",
    { resources: ['calendar', '$input.path', '$input.count'] },
  ],
  ["isolation: 'in-process'", { isolation: 'in-process' }],
  ["isolation: 'worker'", { isolation: 'worker' }],
  ["isolation: 'subprocess'", { isolation: 'subprocess' }],
  ["isolation: 'sandbox'", { isolation: 'sandbox' }],
  ["version: '0.0.0'", { version: '0.0.0' }],
  ["version: '1.22.333-beta.1+build.005'", { version: '1.22.333-beta.1+build.005' }],
  ['retry: { attempts: 3 }', { retry: { attempts: 3, delayMs: 1_000 } }],
  [
    "effects: 'external', repeat: 'keyed', retry: { attempts: 10, delayMs: 0 }",
    { retry: { attempts: 10, delayMs: 0 } },
  ],
  ['maxResultBytes: 1', { maxResultBytes: 1 }],
  ["environment: ['API_KEY', 'region_2?']", { environment: ['API_KEY', 'region_2?'] }],
  [
    '',
    {
      environment: undefined,
      retry: undefined,
      resources: undefined,
      isolation: undefined,
      version: undefined,
      maxResultBytes: undefined,
    },
  ],
])('takes %s', async (extra, expected) => {
  const reading = await readMetadata(source(extra), 'subject.mjs');
  expect(reading).toMatchObject({ type: 'read', metadata: expected, diagnostics: [] });
});

test.each([
  ["resources: 'calendar'", 'tool.metadata.invalid: resources.invalid', '4:3'],
  ['resources: []', 'tool.metadata.invalid: resources.invalid', '4:3'],
  ['resources: [1]', 'tool.metadata.invalid: resources.invalid', '4:15'],
  ["resources: ['']", 'tool.metadata.invalid: resources.invalid', '4:15'],
  ["resources: ['the calendar']", 'tool.metadata.invalid: resources.invalid', '4:15'],
  [`resources: ['${'x'.repeat(201)}']`, 'tool.metadata.invalid: resources.invalid', '4:15'],
  ["resources: ['a', '$input']", 'tool.metadata.invalid: resources.invalid', '4:20'],
  ["resources: ['$input.']", 'tool.metadata.invalid: resources.invalid', '4:15'],
  ["resources: ['$path']", 'tool.metadata.invalid: resources.invalid', '4:15'],
  ["resources: ['$input.town']", 'tool.metadata.invalid: resources.invalid', '4:15'],
  ["resources: ['$input.toString']", 'tool.metadata.invalid: resources.invalid', '4:15'],
  ["resources: ['$input.list']", 'tool.metadata.invalid: resources.invalid', '4:15'],
  ["isolation: 'none'", 'tool.metadata.invalid: isolation.invalid', '4:3'],
  ['isolation: true', 'tool.metadata.invalid: isolation.invalid', '4:3'],
  ["version: '1.2'", 'tool.metadata.invalid: version.invalid', '4:3'],
  ["version: 'v1.2.3'", 'tool.metadata.invalid: version.invalid', '4:3'],
  ["version: '01.2.3'", 'tool.metadata.invalid: version.invalid', '4:3'],
  [`version: '1.2.3-${'a'.repeat(100)}'`, 'tool.metadata.invalid: version.invalid', '4:3'],
  ['version: 1', 'tool.metadata.invalid: version.invalid', '4:3'],
  ['retry: 3', 'tool.invalid: retry.invalid', '4:3'],
  ['retry: { attempts: 1 }', 'tool.invalid: retry.invalid', '4:3'],
  ['retry: { attempts: 3, delayMs: 60001 }', 'tool.invalid: retry.invalid', '4:3'],
  ['retry: { attempts: 3, toString: 1 }', 'tool.invalid: retry.invalid', '4:3'],
  ["effects: 'state', retry: { attempts: 3 }", 'tool.invalid: retry.not_repeatable', '4:21'],
  ['maxResultBytes: 0', 'tool.metadata.invalid: max_result_bytes.invalid', '4:3'],
  ['maxResultBytes: 1.5', 'tool.metadata.invalid: max_result_bytes.invalid', '4:3'],
  ["maxResultBytes: '1'", 'tool.metadata.invalid: max_result_bytes.invalid', '4:3'],
  ["environment: 'API_KEY'", 'tool.invalid: environment.invalid', '4:3'],
  ['environment: []', 'tool.invalid: environment.invalid', '4:3'],
  ['environment: [1]', 'tool.invalid: environment.invalid', '4:17'],
  ["environment: ['']", 'tool.invalid: environment.invalid', '4:17'],
  ["environment: ['?']", 'tool.invalid: environment.invalid', '4:17'],
  ["environment: ['2FA']", 'tool.invalid: environment.invalid', '4:17'],
  ["environment: ['API-KEY']", 'tool.invalid: environment.invalid', '4:17'],
  ["environment: ['KEY=1']", 'tool.invalid: environment.invalid', '4:17'],
  ["environment: ['KEY??']", 'tool.invalid: environment.invalid', '4:17'],
  ["environment: ['KEY', 'key?']", 'tool.invalid: environment.invalid', '4:24'],
  [`environment: ['${'A'.repeat(101)}']`, 'tool.invalid: environment.invalid', '4:17'],
  [
    `environment: [${Array.from({ length: 33 }, (_, index) => `'A${index}'`).join(', ')}]`,
    'tool.invalid: environment.invalid',
    '4:3',
  ],
])('refuses %s: %s at %s', async (extra, code, at) => {
  const reading = await readMetadata(source(extra), 'subject.mjs');
  const [line, column] = at.split(':').map(Number);
  expect(reading).toMatchObject({ type: 'refused', diagnostics: [{ line, column }] });
  expect(reading.diagnostics.map(describeCode)).toEqual([code]);
});

test('a property inherited by every object is not an argument', async () => {
  const { diagnostics } = await readMetadata(source("resources: ['$input.toString']"), 'subject.mjs');
  expect(diagnostics[0]?.message).toContain('refers to an unknown argument');
});

test.each([
  'PATH',
  'Path?',
  'LANG',
  'TMPDIR',
  'LD_PRELOAD',
  'LD_LIBRARY_PATH?',
  'DYLD_INSERT_LIBRARIES',
  'NODE_OPTIONS',
  'node_options',
  'NODE_EXTRA_CA_CERTS',
  'PYTHONPATH',
  'PYTHONSTARTUP',
  'PERL5OPT',
  'RUBYOPT',
  'JAVA_TOOL_OPTIONS',
  'BASH_ENV',
  'ENV',
  'HOLDFAST_HOME',
  'HOLDFAST_CALL_ID?',
])('rejects %s for any tool', async (name) => {
  const reading = await readMetadata(source(`environment: ['API_KEY', '${name}']`), 'subject.mjs');
  expect(reading).toMatchObject({
    type: 'refused',
    diagnostics: [{ code: 'tool.invalid', reason: 'environment.reserved', line: 4, column: 28 }],
  });
});
