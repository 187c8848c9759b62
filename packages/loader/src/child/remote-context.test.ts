import { expect, test } from 'vitest';
import { createSubprocessRunner } from '../isolate/subprocess.ts';
import { createWorkerRunner } from '../isolate/worker.ts';
import { closeLater, testContext, testFilesystem, until, useTestFolder, verifyFile, writeTool } from '../test-tools.ts';

useTestFolder();

const options = { verify: verifyFile };

test.each([
  ['subprocess', () => createSubprocessRunner(options)],
  ['worker', () => createWorkerRunner(options)],
] as const)('%s: a tool has its call, its files and other tools, served by the host', async (_tier, create) => {
  const source = `
const attempt = async (run) => { try { return (await run()) ?? null; } catch (error) { return error.code ?? error.message; } };
export async function run(input, context) {
  const { callId, idempotencyKey, deadline, signal, filesystem, call, progress, beat } = context;
  progress('half'); beat();
  const walked = [];
  for await (const { path } of filesystem.walk()) walked.push(path);
  await filesystem.write('text', 'hé');
  await filesystem.write('bytes', new Uint8Array([104, 105]));
  await filesystem.write('empty', '');
  await filesystem.makeDirectory('folder');
  await filesystem.remove('old');
  const other = await call('other', { q: 1 });
  await call('text', '{"q":2}');
  await call('bare');
  return {
    keys: Object.keys(context), frozen: Object.isFrozen(context) && Object.isFrozen(filesystem),
    callId, idempotencyKey, aborted: signal.aborted,
    remaining: deadline.remainingMs() > 0 && deadline.remainingMs() <= 1e9 && deadline.atMs > Date.now(),
    walked: walked.length, last: walked.at(-1),
    resolved: await filesystem.resolve('./a'), stat: await filesystem.stat('a'), none: (await filesystem.stat('none')) === undefined,
    read: new TextDecoder().decode(await filesystem.read('a', { peek: true })), text: await filesystem.readText('a'),
    listed: (await filesystem.list('')).length > 3,
    missing: await attempt(() => filesystem.read('none')),
    noContent: await attempt(() => filesystem.write('odd', 5)),
    surrogate: await attempt(() => filesystem.write('odd', '\\ud800')),
    large: await attempt(() => filesystem.write('large', new Uint8Array(17 * 1024 * 1024))),
    unfit: await attempt(() => call('other', { a: 1n })),
    many: (await Promise.all(Array.from({ length: 200 }, () => filesystem.readText('a')))).length,
    other: other.kind, otherValue: other.value,
  };
}`;
  const files = Object.fromEntries(Array.from({ length: 2_500 }, (_, index) => [`f${index}`, '']));
  const filesystem = testFilesystem({ a: 'A', old: 'o', ...files });
  const context = testContext({ filesystem, remainingMs: 1e9 });
  const tool = writeTool(source);
  const seen = await closeLater(create()).run(tool, {}, context);
  expect(seen).toEqual({
    keys: [
      'callId',
      'idempotencyKey',
      'signal',
      'deadline',
      'filesystem',
      'call',
      'trace',
      'begin',
      'progress',
      'beat',
    ],
    frozen: true,
    callId: 'call-1',
    idempotencyKey: 'key-1',
    aborted: false,
    remaining: true,
    walked: 2_502,
    last: 'f2499',
    resolved: 'a',
    stat: { type: 'file', size: 1, version: 'A' },
    none: true,
    read: 'A (peeked)',
    text: 'A',
    listed: true,
    missing: 'file.missing',
    noContent: 'no content',
    surrogate: null,
    large: 'tool.request.invalid',
    unfit: 'arguments.invalid',
    many: 200,
    other: 'ok',
    otherValue: { a: 1 },
  });
  expect(context.told).toEqual(['half', '(beat)']);
  expect(context.calls).toEqual([
    ['other', { q: 1 }],
    ['text', '{"q":2}'],
    ['bare', {}],
  ]);
  expect(['text', 'bytes', 'empty', 'folder', 'odd'].map((path) => filesystem.files.get(path))).toEqual([
    'hé',
    'hi',
    '',
    '(folder)',
    'text:\ud800',
  ]);
  expect(filesystem.files.has('old')).toBe(false);
});

test.each([
  ['subprocess', () => createSubprocessRunner(options)],
  ['worker', () => createWorkerRunner(options)],
] as const)('%s: the next call of a tool sees globals changed by the previous one', async (_tier, create) => {
  const tool = writeTool('let count = 0; export function run() { return ++count; }');
  const runner = closeLater(create());
  const counts: unknown[] = [];
  for (let call = 0; call < 3; call += 1) counts.push(await runner.run(tool, {}, testContext()));
  expect(counts).toEqual([1, 2, 3]);
});

test.each([
  ['subprocess', () => createSubprocessRunner(options)],
  ['worker', () => createWorkerRunner(options)],
] as const)('%s: a plan node sees its trace, unless it is too large', async (_tier, create) => {
  const tool = writeTool(`export function run(input, context) {
    try { return { trace: context.trace ?? null, frozen: Object.isFrozen(context.trace?.[0]?.value) }; }
    catch (error) { return error.code + ': ' + error.data.reason; }
  }`);
  const runner = closeLater(create());
  const entry = {
    node: 1,
    tool: 'other',
    kind: 'ok',
    code: undefined,
    message: 'Done.',
    value: { found: [1] },
  } as const;
  const { code: _code, ...sent } = entry;
  expect(await runner.run(tool, {}, testContext({ trace: [entry] }))).toEqual({ trace: [sent], frozen: true });
  expect(await runner.run(tool, {}, testContext())).toEqual({ trace: null, frozen: true });
  const large = { ...entry, value: 'x'.repeat(9 * 1024 * 1024) };
  expect(await runner.run(tool, {}, testContext({ trace: [large] }))).toBe('context.absent: too_large');
});

test('the context of an ended call is unusable; its signal fires at the deadline', async () => {
  const tool = writeTool(`
let kept;
const attempt = async (run) => { try { return await run(); } catch (error) { return error.code; } };
export async function run({ first }, context) {
  const { signal, deadline, filesystem } = context;
  if (!first) return [await attempt(() => kept.progress('late')), await attempt(() => kept.beat()), await attempt(() => kept.call('other'))];
  kept = context;
  const busy = setInterval(() => {}, 1e9);
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
  clearInterval(busy);
  // Timers and the time of day are rounded each for themselves.
  return [deadline.remainingMs() <= 2, filesystem === undefined];
}`);
  const subprocess = closeLater(createSubprocessRunner(options));
  expect(await subprocess.run(tool, { first: true }, testContext({ remainingMs: 1 }))).toEqual([true, true]);
  const context = testContext();
  const closed = 'context.closed';
  expect(await subprocess.run(tool, { first: false }, context)).toEqual([closed, closed, closed]);
  expect([context.told, context.calls]).toEqual([[], []]);
});

test('uncaught errors are printed; a rejection is ignored, an exception ends the call', async () => {
  let printed = '';
  const print = (text: string): void => {
    printed += text;
  };
  const tool = writeTool(`
export async function run({ kind }) {
  if (kind === 'rejection') { Promise.reject(new Error('left alone')); return 'well'; }
  setTimeout(() => { throw new RangeError('nobody here'); }, 0);
  await new Promise((resolve) => setTimeout(resolve, 1e9));
}`);
  const subprocess = closeLater(createSubprocessRunner({ ...options, print }));
  expect(await subprocess.run(tool, { kind: 'rejection' }, testContext())).toBe('well');
  await until(() => printed.includes('left alone'));
  await expect(subprocess.run(tool, { kind: 'exception' }, testContext())).rejects.toMatchObject({
    name: 'RangeError',
    message: 'nobody here',
  });
  await until(() => printed.includes('nobody here'));
});

test.each([
  ['subprocess', () => createSubprocessRunner(options)],
  ['worker', () => createWorkerRunner(options)],
] as const)('%s: a missing member of the context throws with advice', async (_tier, create) => {
  const runner = closeLater(create());
  // One tool, and so one process.
  const tool = writeTool(`export function run({ property }, context) {
    if (property !== undefined) return context[property].dispatch({});
    const { budget = null, prompt = null, renderedPrompt = null, model = null, other = null } = context;
    console.log(context);
    return [budget, prompt, renderedPrompt, model, other, 'session' in context, Object.keys({ ...context }).length, JSON.stringify(context).length > 0];
  }`);
  for (const property of ['session', 'resources', 'use', 'child']) {
    await expect(runner.run(tool, { property }, testContext())).rejects.toMatchObject({
      code: 'context.absent',
      message: expect.stringMatching(
        new RegExp(`^\`context\\.${property}\` is not available outside the host's process. .*isolation: 'in-process'`),
      ),
    });
  }
  // Optional members are just absent, and inspecting the whole context is safe.
  expect(await runner.run(tool, {}, testContext())).toEqual([null, null, null, null, null, false, 10, true]);
});
