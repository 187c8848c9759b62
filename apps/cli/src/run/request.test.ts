import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunEvent } from '@holdfast/core';
import { manualClock } from '@holdfast/testing';
import { expect, test } from 'vitest';
import { showPending } from '../commands/answer/pending.ts';
import { showSession } from '../commands/look/show.ts';
import { createFolder } from '../testing/test-folder.ts';
import { createTestHost, type TestHost, type TestHostOptions } from '../testing/test-host.ts';
import { type RunOptions, runRequest } from './request.ts';

const wipe = `import { rm } from 'node:fs/promises';
export const METADATA = {
  name: 'wipe', function: 'wipe', description: 'Removes a file outside of the transaction.', dangerous: true,
  parameters: { type: 'object', properties: { file: { type: 'string' } }, required: ['file'] },
};
export async function wipe({ file }) {
  await rm(file);
  return { removed: file };
}
`;
const wait = `export const METADATA = {
  name: 'wait', function: 'waitForEver', description: 'Waits until it is stopped.', dangerous: false,
  parameters: { type: 'object', properties: {} },
};
export function waitForEver(_, { signal }) {
  return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));
}
`;

import { trustHere } from '../testing/test-program.ts';

const call = (name: string, input: object) => ({ calls: [{ name, arguments: input }] });
const answer = { text: 'That is all.' };

interface Trial extends Partial<RunOptions> {
  readonly turns: readonly object[];
  readonly files?: Readonly<Record<string, string>>;
  readonly host?: TestHostOptions;
  /** Called each time stdout has another `says`. */
  readonly when?: { readonly says: string; readonly act: (trial: TestHost) => void };
}

/** Runs a script over a folder with `files`; returns the output and the files afterwards. */
async function tryRun({ turns, files = {}, host: hostOptions = {}, when, ...options }: Trial) {
  await using folder = await createFolder({ ...files, 'script.json': JSON.stringify({ turns }) });
  await trustHere(folder.path);
  const trial = createTestHost({ environment: { NO_COLOR: '1' }, ...hostOptions, directory: folder.path });
  let seen = 0;
  trial.host.stdout.on('data', () => {
    if (when === undefined) return;
    const count = trial.stdout().split(when.says).length - 1;
    if (count === seen) return;
    seen = count;
    when.act(trial);
  });
  const exitCode = await runRequest(
    {
      request: 'Do it.',
      stdinTaken: false,
      environment: [],
      tools: undefined,
      subfolders: false,
      locked: false,
      isolation: undefined,
      workspace: '.',
      model: 'script:script.json',
      json: false,
      approval: 'ask',
      allow: [],
      order: [],
      redact: true,
      maxRounds: undefined,
      maxCalls: undefined,
      maxTokens: undefined,
      timeoutMs: undefined,
      approvalTimeoutMs: undefined,
      ...options,
    },
    trial.host,
  );
  const shown = createTestHost({ directory: folder.path });
  await showSession({ id: undefined, workspace: '.', json: false }, shown.host);
  const names = await readdir(folder.path);
  const read = async (name: string): Promise<string | undefined> =>
    names.includes(name) ? readFile(join(folder.path, name), 'utf8') : undefined;
  return {
    exitCode,
    stdout: trial.stdout(),
    stderr: trial.stderr(),
    log: shown.stdout(),
    listeners: trial.stdin.listenerCount('data'),
    a: await read('a.txt'),
    out: await read('out.md'),
  };
}

function toEvents(stdout: string): readonly RunEvent[] {
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

test('a completed run: a line per call, the answer, the changes, the session', async () => {
  const { exitCode, stdout, stderr, log, out } = await tryRun({
    turns: [call('write_file', { path: 'out.md', content: 'found\n' }), answer],
  });
  expect({ exitCode, stderr, out }).toEqual({ exitCode: 0, stderr: '', out: 'found\n' });
  expect(stdout).toMatch(/^script:script\.json · \d+ file tools \(no tools folder `\.\/plugins`\) · in \//);
  expect(stdout).toMatch(/^ {2}ok {8}write_file {4}\{"path":"out\.md","content":"found\\n"\} {2}allow +[\d.]+ m?s$/m);
  expect(stdout).toContain('\n| That is all.\n\nChanged files:\n  + created out.md\n');
  expect(stdout).toMatch(
    /\ncompleted after [\d.]+ m?s: 2 turns, 1 call \(1 ok\)\nsession log: holdfast show \d{8}-\d{9}-test\n$/,
  );
  expect(log).toContain('Request: Do it.');
  expect(log).toContain('+ created out.md');
  expect(log).toContain('hash chain intact');
});

test('with --json stdout has only one event per line', async () => {
  const { exitCode, stdout } = await tryRun({
    json: true,
    turns: [call('write_file', { path: 'out.md', content: '1' }), call('read_file', { path: 'gone' }), answer],
  });
  expect(exitCode).toBe(0);
  const events = toEvents(stdout);
  expect(events[0]).toMatchObject({ type: 'run-start', input: 'Do it.' });
  expect(events.at(-1)).toMatchObject({ type: 'run-end', status: 'completed', text: 'That is all.' });
  expect(events.flatMap((event) => (event.type === 'tool-call-end' ? [event.outcome.kind] : []))).toEqual([
    'ok',
    'failed',
  ]);
  expect(stdout).not.toContain('"stack"');
});

// The tool removes by a path of this process, so tests pass an absolute path.
async function tryWipe(trial: Partial<Trial> = {}) {
  await using outside = await createFolder({ 'target.txt': 'here' });
  const file = join(outside.path, 'target.txt');
  const turns = [call('wipe', { file }), call('wipe', { file }), answer];
  const result = await tryRun({ files: { 'plugins/wipe.mjs': wipe }, turns, ...trial });
  return { ...result, isThere: (await readdir(outside.path)).includes('target.txt') };
}

test.each([
  { approval: 'unattended', why: '--unattended is set' },
  { approval: 'ask', why: 'no terminal' },
] as const)('a dangerous call is denied ($why), and the run completes', async ({ approval, why }) => {
  const { exitCode, stdout, isThere } = await tryWipe({ approval });
  expect({ exitCode, isThere }).toEqual({ exitCode: 0, isThere: true });
  expect(stdout).toMatch(/^ {2}denied {4}wipe /m);
  expect(stdout).toContain(`Denied without asking (${why}): wipe. Use \`--allow wipe\` to allow it`);
});

test.each([{ approval: 'yes' as const }, { allow: ['wipe'] }])('%j allows a dangerous call', async (options) => {
  const { exitCode, stdout, isThere } = await tryWipe(options);
  expect({ exitCode, isThere }).toEqual({ exitCode: 0, isThere: false });
  expect(stdout).toMatch(/^ {2}ok {8}wipe .* allow: granted /m);
  expect(stdout).toContain('Not listed: effects of wipe outside these files.');
});

const up = '\x1b[A';
test.each([
  { name: 'deny', keys: '\r', isThere: true, questions: 2 },
  { name: 'allow once', keys: `${up}${up}\r`, isThere: false, questions: 2 },
  { name: 'allow for this run', keys: `${up}\r`, isThere: false, questions: 1 },
])('at a terminal: $name', async ({ keys, isThere, questions }) => {
  let asked = 0;
  const trial = await tryWipe({
    host: { terminals: ['stdin', 'stdout'] },
    when: {
      says: 'wipe  dangerous',
      act({ stdin }) {
        asked += 1;
        stdin.write(keys);
      },
    },
  });
  expect({ exitCode: trial.exitCode, isThere: trial.isThere, asked }).toEqual({
    exitCode: 0,
    isThere,
    asked: questions,
  });
  expect(trial.log).toContain(isThere ? 'asked: denied by person' : 'asked: approved by person');
});

const wiping = `export const METADATA = {
    name: 'around', function: 'around', description: 'Wipes by way of another tool.', dangerous: false, effects: 'external',
    parameters: { type: 'object', properties: { file: { type: 'string' } }, required: ['file'] },
  };
  export async function around(input, context) {
    return (await context.call('wipe', input)).kind;
  }
  `;

test.each([
  { name: 'deny', keys: '\r', isThere: true },
  { name: 'allow once', keys: `${up}${up}\r`, isThere: false },
])('a nested call is asked about at the terminal while its parent waits: $name', async ({ keys, isThere }) => {
  await using outside = await createFolder({ 'target.txt': 'here' });
  const file = join(outside.path, 'target.txt');
  const { exitCode, log } = await tryRun({
    files: { 'plugins/wipe.mjs': wipe, 'plugins/around.mjs': wiping },
    turns: [call('around', { file }), answer],
    host: { terminals: ['stdin', 'stdout'] },
    when: { says: 'wipe  dangerous', act: ({ stdin }) => stdin.write(keys) },
  });
  expect({ exitCode, isThere: (await readdir(outside.path)).includes('target.txt') }).toEqual({ exitCode: 0, isThere });
  expect(log).toContain(isThere ? 'asked: denied by person' : 'asked: approved by person');
});

test('Ctrl-C at a question exits with 130 and leaves the run suspended', async () => {
  const { exitCode, stdout, isThere } = await tryWipe({
    host: { terminals: ['stdin', 'stdout'] },
    when: { says: 'wipe  dangerous', act: ({ stdin }) => stdin.write('\x03') },
  });
  expect({ exitCode, isThere }).toEqual({ exitCode: 130, isThere: true });
  expect(stdout).toContain('suspended (waiting for an answer)');
});

test.each([
  { cause: 'hung-up', code: 129 },
  { cause: 'terminated', code: 143 },
  { cause: 'stdout-closed', code: 1 },
] as const)('$cause at a question exits with $code and leaves the run suspended', async ({ cause, code }) => {
  const { exitCode, log, isThere } = await tryWipe({
    host: { terminals: ['stdin', 'stdout'] },
    when: { says: 'Allow this call?', act: (trial) => setImmediate(() => trial.interrupt(cause)) },
  });
  expect({ exitCode, isThere }).toEqual({ exitCode: code, isThere: true });
  expect(log).toContain('Status  suspended');
  expect(log).toContain('`wipe` (call_1_0) is pending until ');
});

test('with --suspend a nested call is denied, with a hint', async () => {
  const around = `export const METADATA = {
    name: 'around', function: 'around', description: 'Calls another.', dangerous: false, effects: 'external',
    parameters: { type: 'object', properties: {} },
  };
  export const around = async (_, context) => (await context.call('wipe', { file: 'x' })).kind;
  `;
  const { exitCode, stdout } = await tryRun({
    files: { 'plugins/wipe.mjs': wipe, 'plugins/around.mjs': around },
    turns: [call('around', {}), answer],
    approval: 'suspend',
    host: { terminals: ['stdin', 'stdout'] },
  });
  expect(exitCode).toBe(0);
  expect(stdout).not.toContain('Allow this call?');
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
    'Calls inside other calls cannot be approved, so wipe did not run there. Use `--allow wipe` to allow it.',
  );
});

test('a question is withdrawn at the time limit', async () => {
  const clock = manualClock();
  const { exitCode, log, listeners } = await tryWipe({
    timeoutMs: 5000,
    host: { terminals: ['stdin', 'stdout'], clock },
    when: { says: 'wipe  dangerous', act: () => clock.advance(5000) },
  });
  expect({ exitCode, listeners }).toEqual({ exitCode: 3, listeners: 0 });
  expect(log).toContain('Status  suspended');
});

test.each([
  { approval: 'suspend', terminals: [] },
  { approval: 'suspend', terminals: ['stdin', 'stdout'] },
] as const)(
  '$approval with $terminals.length terminals: the run suspends and prints the next commands',
  async (trial) => {
    const { approval, terminals } = trial;
    const { exitCode, stdout, isThere } = await tryWipe({ approval, host: { terminals } });
    expect({ exitCode, isThere }).toEqual({ exitCode: 3, isThere: true });
    expect(stdout).not.toContain('Allow this call?');
    expect(stdout).toMatch(
      /^Pending calls:\n {2}\? call_1_0 {2}wipe {2}\{"file.+\nTo continue:\n {2}holdfast pending (\S+)\n {2}holdfast approve \1 call_1_0\n {2}holdfast deny \1 call_1_0\n {2}holdfast resume \1\n/m,
    );
  },
);

test('a tool allowed for the run is not asked about again in the same message', async () => {
  await using outside = await createFolder({ 'one.txt': '1', 'two.txt': '2' });
  const calls = ['one.txt', 'two.txt'].map((name) => ({ name: 'wipe', arguments: { file: join(outside.path, name) } }));
  const { exitCode, stdout } = await tryRun({
    files: { 'plugins/wipe.mjs': wipe },
    turns: [{ calls }, answer],
    host: { terminals: ['stdin', 'stdout'] },
    when: { says: 'wipe  dangerous', act: ({ stdin }) => stdin.write(`${up}\r`) },
  });
  expect(exitCode).toBe(0);
  expect(stdout.split('wipe  dangerous')).toHaveLength(2);
  expect(await readdir(outside.path)).toEqual([]);
});

test('the time limit of a run includes questions', async () => {
  const clock = manualClock();
  const { exitCode, stdout } = await tryWipe({
    host: { terminals: ['stdin', 'stdout'], clock },
    when: {
      says: 'wipe  dangerous',
      act({ stdin }) {
        clock.advance(2000);
        stdin.write('\r');
      },
    },
  });
  expect(exitCode).toBe(0);
  expect(stdout).toContain('completed after 4.0 s');
});

test('--suspend with --json: events and nothing else, and 3', async () => {
  const { exitCode, stdout } = await tryWipe({ approval: 'suspend', json: true });
  expect(exitCode).toBe(3);
  const events = toEvents(stdout);
  expect(events.map(({ type }) => type)).toContain('approval-request');
  expect(events.at(-1)).toMatchObject({ type: 'run-end', status: 'suspended' });
});

test('during a question the run is suspended in its log, so a lost terminal loses nothing', async () => {
  const states: unknown[] = [];
  const { exitCode } = await tryWipe({
    host: { terminals: ['stdin', 'stdout'] },
    when: {
      says: 'Allow this call?',
      act({ host, stdin }) {
        const looked = createTestHost({ directory: host.directory });
        void showPending({ id: undefined, workspace: '.', json: true }, looked.host).then(() => {
          states.push(JSON.parse(looked.stdout()));
          stdin.write('\r');
        });
      },
    },
  });
  expect(exitCode).toBe(0);
  expect(states[0]).toMatchObject([
    { openIn: process.pid, runs: [{ state: 'suspended' }], calls: [{ name: 'wipe', state: 'waiting' }] },
  ]);
});

test('an expired question is a denial, and the run continues', async () => {
  const clock = manualClock();
  const { exitCode, stdout } = await tryWipe({
    approvalTimeoutMs: 5000,
    host: { terminals: ['stdin', 'stdout'], clock },
    when: { says: 'wipe  dangerous', act: () => clock.advance(5000) },
  });
  expect(exitCode).toBe(0);
  expect(stdout).toContain('(approval.expired)');
});

test('decide later: answered calls run, others stay pending, and no more questions are asked', async () => {
  await using outside = await createFolder({ 'one.txt': '1', 'two.txt': '2', 'three.txt': '3' });
  const calls = ['one.txt', 'two.txt', 'three.txt'].map((name) => ({
    name: 'wipe',
    arguments: { file: join(outside.path, name) },
  }));
  const answers = [`${up}${up}\r`, '\x1b[B\r'];
  const { exitCode, stdout } = await tryRun({
    files: { 'plugins/wipe.mjs': wipe },
    turns: [{ calls }, answer],
    host: { terminals: ['stdin', 'stdout'] },
    when: { says: 'wipe  dangerous', act: ({ stdin }) => stdin.write(answers.shift() ?? '\r') },
  });
  expect({ exitCode, answers }).toEqual({ exitCode: 3, answers: [] });
  expect((await readdir(outside.path)).sort()).toEqual(['three.txt', 'two.txt']);
  expect(stdout).toMatch(/Pending calls:\r?\n {2}\? call_1_1 {2}wipe .+\r?\n {2}\? call_1_2 {2}wipe /);
});

test.each([
  { cause: 'ctrl-c', code: 130 },
  { cause: 'stdout-closed', code: 1 },
] as const)('$cause stops a tool, and the log is complete', async ({ cause, code }) => {
  const { exitCode, log } = await tryRun({
    json: true,
    files: { 'plugins/wait.mjs': wait },
    turns: [call('wait', {}), answer],
    when: { says: '"tool-call-start"', act: (trial) => trial.interrupt(cause) },
  });
  expect(exitCode).toBe(code);
  expect(log).toContain('Status  aborted');
});

test('a run out of time exits with 1', async () => {
  const clock = manualClock();
  const { exitCode, stdout } = await tryRun({
    json: true,
    timeoutMs: 5000,
    host: { clock },
    files: { 'plugins/wait.mjs': wait },
    turns: [call('wait', {}), answer],
    when: { says: '"tool-call-start"', act: () => clock.advance(5000) },
  });
  expect(exitCode).toBe(1);
  expect(toEvents(stdout).at(-1)).toMatchObject({ type: 'run-end', status: 'deadline' });
});

test('a run out of rounds or script exits with 1 and the reason', async () => {
  const turns = [call('list_files', {}), call('list_files', {})];
  const rounds = await tryRun({ turns, maxRounds: 1 });
  expect(rounds.exitCode).toBe(1);
  expect(rounds.stdout).toContain('max-rounds (out of rounds; see --max-rounds)');
  const script = await tryRun({ turns });
  expect(script.exitCode).toBe(1);
  expect(script.stdout).toContain('model-error (The script has 2 turns');
});

test('a truncated answer is shown as not finished', async () => {
  const { exitCode, stdout } = await tryRun({ turns: [{ text: 'There are three', finish: 'length' }] });
  expect(exitCode).toBe(0);
  expect(stdout).toContain('Not finished: The last message was cut off');
  expect(stdout).toContain('(`length`)');
});

const usage = { inputTokens: 60, outputTokens: 40 };

test.each([
  {
    what: 'calls',
    limits: { maxCalls: 2 },
    turns: [{ calls: [1, 2, 3].map(() => ({ name: 'list_files', arguments: {} })) }, answer],
    says: 'budget (all 2 calls used; see --max-calls) after',
    used: 'used 2 of 2 calls',
  },
  {
    what: 'tokens before a message',
    limits: { maxTokens: 100, maxCalls: 9 },
    turns: [{ ...call('list_files', {}), usage }, answer],
    says: 'budget (all 100 tokens used; see --max-tokens) after',
    used: 'used 1 of 9 calls, 100 of 100 tokens',
  },
  {
    what: 'tokens by a message',
    limits: { maxTokens: 99, maxRounds: 5, timeoutMs: 60_000 },
    turns: [{ ...call('list_files', {}), usage }, answer],
    says: 'budget (all 99 tokens used; see --max-tokens) after',
    used: 'used 100 of 99 tokens, 1 of 5 rounds, 0 ms of 1 m 00 s',
  },
  {
    what: 'both',
    limits: { maxTokens: 100, maxCalls: 1 },
    turns: [{ calls: [1, 2].map(() => ({ name: 'list_files', arguments: {} })), usage }, answer],
    says: 'budget (all 1 call used; see --max-calls, and all 100 tokens used; see --max-tokens) after',
    used: 'used 1 of 1 call, 100 of 100 tokens',
  },
])('a run out of $what exits with 1 and names the limit', async ({ limits, turns, says, used }) => {
  const { exitCode, stdout, log } = await tryRun({ turns, ...limits, host: { clock: manualClock() } });
  expect(exitCode).toBe(1);
  expect(stdout).toContain(`\n${says}`);
  expect(stdout).toContain(`\n${used}\nsession log`);
  expect(log).toContain('Status  budget');
});

test('exactly the limit may be used; a model without token counts is noted', async () => {
  const turns = [{ ...call('list_files', {}), usage }, answer];
  const whole = await tryRun({ turns, maxCalls: 1, maxTokens: 101 });
  expect(whole.exitCode).toBe(0);
  expect(whole.stdout).toContain('\nused 1 of 1 call, 100 of 101 tokens\n');
  const silent = await tryRun({ turns: [answer], maxTokens: 1 });
  expect(silent.exitCode).toBe(0);
  expect(silent.stdout).toContain('\nused 0 of 1 tokens (not reported by the model)\n');
});

const nesting = (end: string): string => `export const METADATA = {
    name: 'around', function: 'around', description: 'Calls others.', dangerous: false, effects: 'state',
    parameters: { type: 'object', properties: {} },
  };
  export async function around(_, context) {
    const { kind } = await context.call('write_file', { path: 'out.md', content: 'x' });
    await context.call('list_files', {});
    ${end}
  }
  `;

test.each([
  { end: 'return kind;', kind: 'ok', out: 'x', says: '+ created out.md', counts: '3 calls (3 ok), 2 of them nested' },
  {
    end: "throw new Error('after all');",
    kind: 'failed',
    out: undefined,
    says: 'No files were changed.',
    counts: '3 calls (2 ok, 1 failed), 2 of them nested',
  },
])('nested calls count, and change files only with their parent: $kind', async (trial) => {
  const { stdout, out, log } = await tryRun({
    files: { 'plugins/around.mjs': nesting(trial.end) },
    turns: [call('around', {}), answer],
    maxCalls: 3,
  });
  expect(out).toBe(trial.out);
  expect(stdout).toMatch(
    new RegExp(`^ {2}${trial.kind} +around [^]*^ {4}ok +write_file [^]*^ {4}ok +list_files `, 'm'),
  );
  expect(stdout).toContain(trial.says);
  expect(stdout).toContain(trial.counts);
  expect(stdout).toContain('used 3 of 3 calls');
  expect(log).toContain(trial.out === undefined ? 'No files were changed.' : '+ created out.md');
});

const holding = `const client = {
    type: 'resource', name: 'client', lifetime: 'session',
    create: () => ({}),
    dispose: () => new Promise((resolve) => process.once('test:let-go', resolve)),
  };
  export const METADATA = {
    name: 'hold', function: 'hold', description: 'Holds on to a client.', dangerous: false, effects: 'none',
    parameters: { type: 'object', properties: {} },
  };
  export async function hold(_, context) {
    await context.use(client);
    return 1;
  }
  `;

test('the program waits for open session resources, even when interrupted', async () => {
  let wasClosing = false;
  const { exitCode, stdout } = await tryRun({
    files: { 'plugins/hold.mjs': holding },
    isolation: 'in-process',
    turns: [call('hold', {}), answer],
    when: {
      says: 'completed after',
      act(trial) {
        setImmediate(() => {
          trial.interrupt('ctrl-c');
          wasClosing = process.listenerCount('test:let-go') === 1 && !trial.stdout().includes('session log');
          process.emit('test:let-go' as never);
        });
      },
    },
  });
  expect({ exitCode, wasClosing }).toEqual({ exitCode: 0, wasClosing: true });
  expect(stdout).toContain('session log: ');
});

test('a file must be read before it is overwritten', async () => {
  const write = call('write_file', { path: 'a.txt', content: 'new' });
  const { exitCode, stdout, a } = await tryRun({
    files: { 'a.txt': 'old' },
    turns: [write, call('read_file', { path: './a.txt' }), write, answer],
  });
  expect({ exitCode, a }).toEqual({ exitCode: 0, a: 'new' });
  expect(stdout).toMatch(
    /denied {4}write_file .+ deny: read-before-write[\s\S]+ok {8}read_file[\s\S]+ok {8}write_file/,
  );
  expect(stdout).toContain('~ changed a.txt');
  expect(stdout).not.toContain('Denied without asking');
});

test.each([
  { dangerous: true, kind: 'ok', left: undefined },
  { dangerous: false, kind: 'failed', left: 'old' },
])('a tool that removes an unread file: $kind with dangerous $dangerous', async ({ dangerous, kind, left }) => {
  const sweep = `export const METADATA = {
    name: 'sweep', function: 'sweep', description: 'Removes a.txt.', dangerous: ${dangerous}, effects: 'state',
    parameters: { type: 'object', properties: {} },
  };
  export async function sweep(_, { filesystem }) {
    await filesystem.remove('a.txt');
    return null;
  }
  `;
  const { stdout, a } = await tryRun({
    files: { 'a.txt': 'old', 'plugins/sweep.mjs': sweep },
    approval: 'yes',
    turns: [call('sweep', {}), answer],
  });
  expect(a).toBe(left);
  expect(stdout).toMatch(new RegExp(`^ {2}${kind} +sweep `, 'm'));
});

test('tools follow the requested order', async () => {
  const write = call('write_file', { path: 'out.md', content: 'x' });
  const { stdout, out } = await tryRun({
    order: [['list_files', 'write_file']],
    turns: [write, call('list_files', {}), write, answer],
  });
  expect(out).toBe('x');
  expect(stdout).toMatch(
    /denied {4}write_file .+ deny: sequential-dependency[\s\S]+ok {8}list_files[\s\S]+ok {8}write_file/,
  );
});

test('bad tool files are reported and do not stop the run', async () => {
  const { exitCode, stdout, stderr } = await tryRun({
    files: {
      'plugins/wait.mjs': wait,
      'plugins/bad.mjs': 'export const METADATA = make();\nprocess.exit(9);\n',
      'plugins/clash.mjs': wait.replace("'wait'", "'read_file'"),
    },
    turns: [answer],
  });
  expect(exitCode).toBe(0);
  expect(stderr).toMatch(/plugins\/bad\.mjs:1:\d+ error /);
  expect(stderr).toContain('tool.invalid: name.taken');
  expect(stdout).toContain('1 tool from ./plugins');
});

test.each([
  { path: 'plugins/new.mjs', why: 'path.invalid: protected' },
  { path: 'plugins/wait.mjs', why: 'path.invalid: protected' },
  { path: '.holdfast/sessions/x.jsonl', why: 'belongs to Holdfast' },
  { path: '.git/config', why: 'belongs to Git' },
  { path: 'sub/.GIT/hooks/pre-commit', why: 'belongs to Git' },
  { path: 'home/holdfast/new.json', why: 'path.invalid: protected' },
])('$path is inaccessible', async ({ path, why }) => {
  const { stdout } = await tryRun({
    files: { 'plugins/wait.mjs': wait },
    tools: 'plugins',
    host: { environment: { HOLDFAST_HOME: 'home/holdfast' } },
    turns: [call('read_file', { path: 'plugins/wait.mjs' }), call('write_file', { path, content: 'x' }), answer],
  });
  expect(stdout).toContain(why);
  expect(stdout).toContain('No files were changed.');
});

test('the live view leaves only permanent lines', async () => {
  const { exitCode, stdout } = await tryRun({
    host: { terminals: ['stdout'] },
    turns: [{ text: 'First.', ...call('list_files', {}) }, answer],
  });
  expect(exitCode).toBe(0);
  const screen = stdout.slice(stdout.lastIndexOf('ok        list_files'));
  expect(screen).toContain('That is all.');
  expect(screen.slice(screen.lastIndexOf('That is all.'))).not.toContain('\x1b');
});
