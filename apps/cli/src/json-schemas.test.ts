import { readFile } from 'node:fs/promises';
import type { JsonObject } from '@holdfast/core';
import { compileJsonSchema, type SchemaIssue } from '@holdfast/schema/json';
import { createSession } from '@holdfast/session';
import { jsonlStore } from '@holdfast/session/jsonl';
import { expect, test } from 'vitest';
import { runProgram } from './program.ts';
import { prepareLogPath } from './session-logs.ts';
import { createFolder } from './test-folder.ts';
import { createTestHost, type TestHostOptions } from './test-host.ts';
import { toTool } from './test-program.ts';

async function readSchema(name: string): Promise<JsonObject> {
  return JSON.parse(await readFile(new URL(`../schemas/${name}.schema.json`, import.meta.url), 'utf8'));
}

async function print(argv: readonly string[], directory: string, options: TestHostOptions = {}): Promise<string> {
  const { host, stdout } = createTestHost({ directory, ...options });
  await runProgram(argv, host, '0');
  return stdout();
}

/** Why `value` is not as `schema` says, with keys that it does not declare, so that a new field cannot be forgotten there. */
function findIssues(schema: JsonObject, value: unknown): readonly SchemaIssue[] {
  const checked = compileJsonSchema({ type: 'json-schema', schema }).validate(value);
  return checked.ok ? [] : checked.issues;
}

/** Each line against the schema as a whole and, for its keys, against the one of its type. Answers the types. */
async function checkLines(name: string, lines: string): Promise<ReadonlySet<string>> {
  const schema = await readSchema(name);
  const types = new Set<string>();
  for (const line of lines.trimEnd().split('\n')) {
    const value = JSON.parse(line);
    expect({ line, issues: findIssues(schema, value) }).toEqual({ line, issues: [] });
    const own = { $ref: `#/$defs/${value.type}`, $defs: schema['$defs'] ?? {} };
    expect({ line, issues: findIssues(own, value) }).toEqual({ line, issues: [] });
    types.add(value.type);
  }
  return types;
}

/** The types that a schema has. */
async function listTypes(name: string): Promise<readonly string[]> {
  const { oneOf } = await readSchema(name);
  return (oneOf as readonly { readonly $ref: string }[]).map(({ $ref }) => $ref.slice('#/$defs/'.length)).sort();
}

const say = (name: string, input: object = {}) => ({ name, arguments: input });
const files = {
  'a.txt': 'one\n',
  'plugins/outside.mjs': toTool('outside', "context.progress('half'); return { done: true };", 'external'),
  'plugins/wipe.mjs': toTool('wipe', 'return 1;').replace('dangerous: false', 'dangerous: true'),
  'plugins/throws.mjs': toTool('throws', "throw new Error('no');"),
  'plugins/bad.mjs': 'export const METADATA = make();',
  'script.json': JSON.stringify({
    turns: [
      {
        text: 'First.',
        calls: [
          say('outside'),
          say('wipe'),
          say('throws'),
          say('gone'),
          say('read_file', { path: 1 }),
          say('write_file', { path: 'a.txt', content: 'x' }),
          say('read_file', { path: 'a.txt' }),
          say('write_file', { path: 'b.txt', content: 'x' }),
        ],
      },
      { text: 'Done.' },
    ],
  }),
};
const run = ['run', 'Do it.', '--model', 'script:script.json', '--json', '--max-rounds', '3'];

test('every event of a run, and every record of its log, is as the schemas say', async () => {
  await using folder = await createFolder(files);
  // Somebody to ask, who says no.
  const { host, stdin, stdout, stderr } = createTestHost({
    directory: folder.path,
    terminals: ['stdin', 'stderr'],
    environment: { NO_COLOR: '1' },
  });
  let asked = false;
  host.stderr.on('data', () => {
    if (asked || !stderr().includes('wipe  dangerous')) return;
    asked = true;
    stdin.write('\r');
  });
  expect(await runProgram(run, host, '0')).toBe(0);
  const events = await checkLines('run', stdout());
  expect([...events].sort()).toEqual(await listTypes('run'));
  const records = await checkLines('show', await print(['show', '--json'], folder.path));
  const rare = ['event', 'resource-apply-failed', 'restore', 'subscriber-error'];
  expect([...records, ...rare].sort()).toEqual(await listTypes('show'));
});

test('a run that the model fails, with stacks and without', async () => {
  await using folder = await createFolder({
    ...files,
    'script.json': '{"turns":[{"calls":[{"name":"throws","arguments":"{"}]}]}',
  });
  for (const environment of [{}, { HOLDFAST_DEBUG: '1' }]) {
    const lines = await print(run, folder.path, { environment });
    expect(lines).toContain('model-error');
    expect(await checkLines('run', lines)).toContain('run-end');
    expect(await checkLines('show', await print(['show', '--json'], folder.path))).toContain('run-end');
  }
});

test('records that only programs make', async () => {
  await using folder = await createFolder();
  const session = createSession({ id: 'one', store: jsonlStore(await prepareLogPath(folder.path, 'one')) });
  const snapshot = session.snapshot();
  session.restore(snapshot);
  session.subscribe(() => {
    throw new Error('no');
  });
  session.record({ type: 'resource-apply-failed', callId: 'c1', message: 'no' });
  session.close();
  const types = await checkLines('show', await print(['show', '--json'], folder.path));
  expect([...types]).toEqual(['session-start', 'restore', 'resource-apply-failed', 'subscriber-error']);
});

test.each([
  { name: 'list', argv: ['list', '--json'] },
  { name: 'check', argv: ['check', 'plugins', '--json'] },
  { name: 'doctor', argv: ['doctor', '--json'] },
  { name: 'doctor', argv: ['doctor', '--json', '--workspace', 'gone', '--tools', 'gone'] },
])('$argv is as the schema says', async ({ name, argv }) => {
  await using folder = await createFolder(files);
  expect(findIssues(await readSchema(name), JSON.parse(await print(argv, folder.path)))).toEqual([]);
});

test('a field that a schema does not have, or has otherwise, is found', async () => {
  const schema = await readSchema('list');
  const row = { name: 'a', origin: 'x', effects: 'none', repeat: 'safe', dangerous: false, description: 'A.' };
  expect(findIssues(schema, [row])).toEqual([]);
  expect(findIssues(schema, [{ ...row, more: 1 }])).toEqual([{ path: '[0].more', message: 'Unknown key.' }]);
  expect(findIssues(schema, [{ ...row, effects: 'some' }])).toContainEqual({
    path: '[0].effects',
    message: expect.any(String),
  });
});
