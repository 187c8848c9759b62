import { defineSlice, type JsonObject, replace } from '@holdfast/core';
import { createSession } from '@holdfast/session';
import { createJsonlLog } from '@holdfast/session/jsonl';
import { expect, test } from 'vitest';
import { runProgram } from './program.ts';
import { createFolder } from './testing/test-folder.ts';
import { createTestHost, type TestHostOptions } from './testing/test-host.ts';
import { runMain, toTool, trustHere } from './testing/test-program.ts';
import { checkLines, findIssues, readSchema } from './testing/test-schemas.ts';
import { prepareLogPath } from './workspace/session-logs.ts';

async function print(argv: readonly string[], directory: string, options: TestHostOptions = {}): Promise<string> {
  await trustHere(directory);
  const { host, stdout } = createTestHost({ directory, ...options });
  await runProgram(argv, host, '0');
  return stdout();
}

/** The types of a schema. */
async function listTypes(name: string): Promise<readonly string[]> {
  const schema = await readSchema(name);
  const { 'any-event': anyEvent = schema } = schema['$defs'] as Record<string, JsonObject>;
  return (anyEvent['oneOf'] as readonly { readonly $ref: string }[])
    .map(({ $ref }) => $ref.slice('#/$defs/'.length))
    .sort();
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

const nestedEvents = ['child-event', 'tool-call-beat', 'tool-call-late', 'tool-call-retry'];
/** Of suspended and resumed runs, covered by the tests of `resume`. */
const laterRecords = ['call-resolution', 'resource-recovery-failed', 'snapshot'];
/** Of plans, covered by the tests of `plan`. */
const planRecords = ['plan-start', 'plan-resume', 'plan-node', 'plan-end'];
const rareRecords = [
  'close-error',
  'feedback',
  'import',
  'reset',
  'resource-apply-failed',
  'resource-discard-failed',
  'resource-dispose-failed',
  'restore',
  'subscriber-error',
];

test('events and log records of a run match the schemas', async () => {
  await using folder = await createFolder(files);
  // A user at the terminal who answers no.
  await trustHere(folder.path);
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
  expect([...events, ...nestedEvents, 'feedback'].sort()).toEqual(await listTypes('run'));
  const records = await checkLines('show', await print(['show', '--json'], folder.path));
  const rare = [...rareRecords, ...laterRecords, ...planRecords, 'child-record', 'tool-call-late'];
  expect([...records, ...rare].sort()).toEqual(await listTypes('show'));
});

test('a run with a model error, with and without stacks', async () => {
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

const nesting = {
  'plugins/around.mjs': toTool(
    'around',
    "context.beat(); await context.call('read_file', { path: 'a.txt' }); return 1;",
  ),
  // Ends after its call timed out, while the next call delays the run. Loading the file may already exceed the limit.
  'plugins/late.mjs': toTool(
    'late',
    `const { signal } = context;
     if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
     return new Promise((resolve) => setTimeout(resolve, 10, 'late'));`,
  ).replace("'none',", "'none', timeoutMs: 1,"),
  'plugins/flaky.mjs': toTool('flaky', "throw new Error('busy');").replace(
    "'none',",
    "'none', retry: { attempts: 2, delayMs: 0 },",
  ),
  'plugins/hold.mjs': toTool('hold', 'return new Promise((resolve) => setTimeout(resolve, 50, 1));', 'state'),
  'plugins/child.mjs': toTool(
    'child',
    `const { createPrompt } = await import('${import.meta.resolve('@holdfast/prompt')}');
     const { runAgent } = await import('${import.meta.resolve('@holdfast/executor')}');
     const { scriptedModel } = await import('${import.meta.resolve('@holdfast/testing')}');
     const model = scriptedModel([{ calls: [{ id: 'call_1_0', name: 'gone', arguments: {} }] }, { text: 'Found.' }]);
     const feedback = [{ name: 'each', triggers: [{ type: 'calls', every: 1 }], provide: () => 'Go on.' }];
     const prompt = createPrompt({ ns: 'test', key: 'child', sections: [], feedback });
     return (await runAgent({ session: context.child(), prompt, model, input: 'Look.' }).result).text;`,
    'external',
  ),
  'a.txt': 'one\n',
  'script.json': JSON.stringify({
    turns: [{ calls: [say('around'), say('late'), say('hold'), say('child'), say('flaky')] }, { text: 'Done.' }],
  }),
};

test('nested calls, heartbeats, late results and child runs match the schemas, and can be explained', async () => {
  await using folder = await createFolder(nesting);
  // A tool in its own process has no session to pass to a child.
  const trusting = [...run, '--isolation', 'in-process'];
  const { exitCode, stdout, stderr } = await runMain(trusting, { folder: folder.path });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  const types = await checkLines('run', stdout);
  for (const type of nestedEvents) expect(types).toContain(type);
  expect(stdout).toContain('"feedback"');
  const records = await checkLines('show', await print(['show', '--json'], folder.path));
  for (const type of ['child-record', 'tool-call-late', 'slice']) expect(records).toContain(type);

  const why = await readSchema('why');
  for (const id of ['call_1_0', 'call_1_1', 'call_1_3', 'call_1_4', 'call_1_0/1']) {
    const explained = JSON.parse(await print(['why', id, '--json'], folder.path));
    expect({ id, issues: findIssues(why, explained) }).toEqual({ id, issues: [] });
    expect(explained.callId).toBe(id);
  }
  const verified = JSON.parse(await print(['verify', '--json'], folder.path));
  expect(findIssues(await readSchema('verify'), verified)).toEqual([]);
  expect(verified).toMatchObject({ whole: true });
  const replayed = JSON.parse(await print(['replay', '--json'], folder.path));
  expect(findIssues(await readSchema('replay'), replayed)).toEqual([]);
  expect(replayed.slices).toMatchObject([
    { id: 'policy:files/read-before-write', state: [['a.txt', expect.any(String)]] },
  ]);
});

test('records that only other programs write', async () => {
  await using folder = await createFolder();
  const session = createSession({ id: 'one', store: createJsonlLog(await prepareLogPath(folder.path, 'one')) });
  session.register(
    defineSlice<number>({ id: 'count', kind: 'value', initial: 0, reducers: { counted: () => replace(1) } }),
  );
  const snapshot = session.snapshot();
  session.dispatch({ type: 'counted', payload: null });
  session.restore(snapshot);
  session.reset();
  session.import(session.export());
  const told = { source: 'completion', given: [{ name: 'done', text: 'Not yet.' }], failed: [] };
  session.record({ type: 'feedback', run: 1, turn: 1, prompt: 'a/b', calls: 1, ...told, events: [], changes: [] });
  session.subscribe(() => {
    throw new Error('no');
  });
  for (const type of ['resource-apply-failed', 'resource-discard-failed'])
    session.record({ type, callId: 'c1', message: 'no' });
  session.record({ type: 'resource-dispose-failed', callId: 'c1', resource: 'client', message: 'no' });
  session.onClose(() => {
    throw new Error('no');
  });
  await session.close();
  const types = await checkLines('show', await print(['show', '--json'], folder.path));
  expect([...types].sort()).toEqual([...rareRecords, 'event', 'session-start', 'slice'].sort());
  const replayed = JSON.parse(await print(['replay', '--json'], folder.path));
  expect(findIssues(await readSchema('replay'), replayed)).toEqual([]);
  expect(replayed).toMatchObject({ slices: [], missing: [{ id: 'count', events: ['counted'] }] });
});

test.each([
  { name: 'list', argv: ['list', '--json'] },
  { name: 'check', argv: ['check', 'plugins', '--json'] },
  { name: 'doctor', argv: ['doctor', '--json'] },
  { name: 'doctor', argv: ['doctor', '--json', '--workspace', 'gone', '--tools', 'gone'] },
])('$argv matches the schema', async ({ name, argv }) => {
  await using folder = await createFolder(files);
  expect(findIssues(await readSchema(name), JSON.parse(await print(argv, folder.path)))).toEqual([]);
});

test('a field that is missing or different in a schema is found', async () => {
  const schema = await readSchema('list');
  const provenance = { plugin: 'files', version: '1.0.0' };
  const owned = { name: 'a', plugin: 'files', origin: 'x', provenance };
  const row = { ...owned, effects: 'none', repeat: 'safe', dangerous: false, environment: [], description: 'A.' };
  expect(findIssues(schema, [row])).toEqual([]);
  expect(findIssues(schema, [{ ...row, more: 1 }])).toEqual([{ path: '[0].more', message: 'Unknown key.' }]);
  expect(findIssues(schema, [{ ...row, effects: 'some' }])).toContainEqual({
    path: '[0].effects',
    message: expect.any(String),
  });
});
