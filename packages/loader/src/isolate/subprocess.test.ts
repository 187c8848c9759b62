import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import { isToolResult } from '@holdfast/core/internal';
import { expect, test } from 'vitest';
import {
  closeLater,
  testClock,
  testContext,
  testFolder,
  until,
  useTestFolder,
  verifyFile,
  writeTool,
} from '../test-tools.ts';
import type { RemoteRunnerOptions } from './pool.ts';
import { createSubprocessRunner } from './subprocess.ts';
import type { ToolRunner } from './types.ts';

useTestFolder();

function runner(options: Partial<RemoteRunnerOptions> = {}): ToolRunner {
  return closeLater(createSubprocessRunner({ verify: verifyFile, ...options }));
}

/** True if a process is running and not a zombie. */
function runs(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

test("a tool's result or error reaches its caller", async () => {
  const tool = writeTool(`
const brand = Symbol.for('holdfast.tool-result');
const kinds = {
  json: () => ({ a: [1, 'é\\ud800', null] }),
  nothing: () => undefined,
  promise: async () => 7,
  ok: () => ({ [brand]: true, success: true, message: 'done', value: { b: 1 }, excludeValueFromContext: true, code: undefined }),
  failed: () => ({ [brand]: true, success: false, message: 'no', value: 4, excludeValueFromContext: false, code: 'own.code' }),
  unfit: () => ({ a: { b: 1n } }),
  unreadable: () => ({ [brand]: true, success: true, message: '', value: new Map(), excludeValueFromContext: false }),
  large: () => 'x'.repeat(5e6),
  error: () => { throw new RangeError('too far'); },
  coded: () => { throw Object.assign(new Error('mine'), { '~holdfast': 'error', code: 'my.code', data: { a: 1 } }); },
  forged: () => { throw Object.assign(new Error('mine'), { '~holdfast': 'error', code: 'not a code\\n', data: 1n }); },
  null: () => { throw null; },
  symbol: async () => { throw Symbol('s'); },
  hostile: () => { throw { get message() { throw 1; } }; },
};
export function run({ kind }) { return kinds[kind](); }`);
  const subprocess = runner();
  const call = (kind: string): Promise<unknown> => subprocess.run(tool, { kind }, testContext());
  expect(await call('json')).toEqual({ a: [1, 'é\ud800', null] });
  expect(await call('nothing')).toBeUndefined();
  expect(await call('promise')).toBe(7);
  const ok = await call('ok');
  expect(isToolResult(ok)).toBe(true);
  expect(ok).toMatchObject({ success: true, message: 'done', value: { b: 1 }, excludeValueFromContext: true });
  expect(await call('failed')).toMatchObject({ success: false, message: 'no', value: 4, code: 'own.code' });
  const unfit = await call('unfit');
  expect(() => JSON.stringify(unfit)).toThrow('`a.b` is of type bigint');
  const unreadable = await call('unreadable');
  expect(() => JSON.stringify(unreadable)).toThrow('not a plain object');
  await expect(call('large')).rejects.toMatchObject({ code: 'tool.request.invalid', reason: 'too_large' });
  await expect(call('error')).rejects.toMatchObject({ name: 'RangeError', message: 'too far' });
  const coded = await call('coded').catch((thrown: unknown) => thrown);
  expect(coded).toBeInstanceOf(HoldfastError);
  expect(coded).toMatchObject({ code: 'my.code', message: 'mine', data: { a: 1 } });
  const forged = await call('forged').catch((thrown: unknown) => thrown);
  expect(forged).not.toBeInstanceOf(HoldfastError);
  expect(forged).toMatchObject({ message: 'mine' });
  await expect(call('null')).rejects.toThrow('a thrown null');
  await expect(call('symbol')).rejects.toThrow('a thrown symbol');
  await expect(call('hostile')).rejects.toThrow('cannot be described');
});

test('a process has its own environment, group and descriptors, and only the declared permissions', async () => {
  const secret = join(testFolder(), 'secret.txt');
  const descriptor = openSync(secret, 'w');
  process.env['HOLDFAST_TEST_SECRET'] = 's3cret';
  try {
    const source = `
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { getPriority, setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
const attempt = (run) => { try { run(); return 'done'; } catch (error) { return error.code; } };
const startThreads = async (count) => {
  const threads = Array.from({ length: count }, () => new Worker('setInterval(() => {}, 1e9)', { eval: true }));
  await Promise.all(threads.map((thread) => new Promise((resolve) => thread.once('online', resolve))));
  await Promise.all(threads.map((thread) => thread.terminate()));
  return 'done';
};
const listen = (path) => new Promise((resolve) => {
  const server = createServer().on('error', ({ code }) => resolve(code));
  server.listen(path, () => server.close(() => resolve('done')));
});
export async function run({ file }) {
  return {
    pid: process.pid,
    group: Number(readFileSync('/proc/self/stat', 'utf8').replace(/^.*\\) /, '').split(' ')[2]),
    links: readdirSync('/proc/self/fd').map((name) => { try { return readlinkSync('/proc/self/fd/' + name); } catch { return ''; } }),
    environment: Object.keys(process.env),
    write: attempt(() => writeFileSync(file, 'x')),
    start: attempt(() => execFileSync('/bin/true')),
    threads: await startThreads(4).catch((error) => error.code),
    signal: attempt(() => process.kill(process.ppid, 'SIGTERM')),
    priority: attempt(() => setPriority(process.ppid, getPriority(process.ppid) + 1)),
    socket: await listen(file + '.sock'),
    handle: process.stdout._handle.constructor === undefined ? 'none' : new process.stdout._handle.constructor(1).bind(file + '.pipe'),
    debug: typeof process._debugProcess + typeof process._kill,
    v8: attempt(() => setFlagsFromString('--no-flush-bytecode')),
    v8Again: attempt(() => process.getBuiltinModule('v8').setFlagsFromString('--no-flush-bytecode')),
    sqlite: process.getBuiltinModule('node:sqlite') === undefined ? 'none' : 'there',
    report: attempt(() => process.report.writeReport(file + '.json')),
    native: attempt(() => process.dlopen({ exports: {} }, '/none.node')),
    binding: attempt(() => process.binding('fs')),
  };
}`;
    const subprocess = runner({ environment: () => ({ TEST_PASSED: 'passed' }) });
    const look = (effects: 'none' | 'state' | 'external'): Promise<unknown> =>
      subprocess.run(writeTool(source, { effects }), { file: join(testFolder(), effects) }, testContext());
    const [reader, writer] = await Promise.all([look('state'), look('external')]);
    for (const seen of [reader, writer]) {
      // The result of the tool above.
      const { pid, group, links, environment } = seen as Record<string, never>;
      expect(group).toBe(pid);
      expect(links).not.toContain(secret);
      expect(environment).toContain('TEST_PASSED');
      expect(environment).not.toContain('HOLDFAST_TEST_SECRET');
      expect(environment).not.toContain('HOME');
      expect(seen).toMatchObject({
        signal: 'EPERM',
        priority: 'EPERM',
        debug: 'undefinedundefined',
        binding: 'ERR_ACCESS_DENIED',
      });
    }
    const refused = 'ERR_ACCESS_DENIED';
    expect(reader).toMatchObject({ write: refused, start: refused, threads: refused, native: 'ERR_DLOPEN_DISABLED' });
    // Not covered by Node's own permissions.
    expect(reader).toMatchObject({ v8: refused, v8Again: refused, sqlite: 'none', report: refused, socket: 'EACCES' });
    expect(reader).not.toMatchObject({ handle: 0 });
    expect(writer).toMatchObject({ v8: 'done', v8Again: 'done', sqlite: 'there', report: 'done', socket: 'done' });
    for (const made of ['', '.sock', '.pipe']) expect(existsSync(join(testFolder(), `state${made}`))).toBe(false);
    expect(writer).toMatchObject({ write: 'done', start: 'done', threads: 'done', native: 'ERR_DLOPEN_FAILED' });
  } finally {
    closeSync(descriptor);
    delete process.env['HOLDFAST_TEST_SECRET'];
  }
});

test('a process serves one tool repeatedly, up to its call limit', async () => {
  const source =
    'let calls = 0; export function run() { globalThis.seen ??= 0; return [process.pid, ++calls, ++seen]; }';
  const [one, other] = [writeTool(source), writeTool(source)];
  let verified = 0;
  const subprocess = runner({
    callsPerProcess: 2,
    verify: (tool) => {
      verified += 1;
      return verifyFile(tool);
    },
  });
  // The result of the tools.
  const call = async (tool: typeof one) => (await subprocess.run(tool, {}, testContext())) as number[];
  const [pid, ...counts] = await call(one);
  expect(counts).toEqual([1, 1]);
  expect(await call(other)).toEqual([expect.any(Number), 1, 1]);
  expect(await call(one)).toEqual([pid, 2, 2]);
  const [next, ...rest] = await call(one);
  expect(next).not.toBe(pid);
  expect(rest).toEqual([1, 1]);
  expect(verified).toBe(3);
  await subprocess.close();
  expect(runs(Number(next))).toBe(false);
  await expect(call(one)).rejects.toMatchObject({ code: 'tool.process.lost', reason: 'closed' });
});

test('concurrent calls of one tool have separate processes; the configured number is kept for a while', async () => {
  const tool = writeTool('export const run = async (input, { call }) => { await call("other"); return process.pid; };');
  const clock = testClock();
  const subprocess = runner({ idleProcesses: 1, idleMs: 50, clock });
  const gate = Promise.withResolvers<void>();
  let waiting = 0;
  const call = async (): Promise<number> => {
    const context = testContext({
      call: async () => {
        waiting += 1;
        await gate.promise;
        return { kind: 'ok' } as never;
      },
    });
    return Number(await subprocess.run(tool, {}, context));
  };
  const calls = Promise.all([call(), call()]);
  await until(() => waiting === 2);
  gate.resolve();
  const pids = await calls;
  expect(new Set(pids).size).toBe(2);
  await until(() => pids.filter(runs).length === 1);
  const [kept] = pids.filter(runs);
  expect(await call()).toBe(kept);
  clock.advance(49);
  expect(await call()).toBe(kept);
  clock.advance(50);
  await until(() => !runs(Number(kept)));
});

test('a process with something left running by a call is not reused but ended', async () => {
  const tool = writeTool(
    'export function run({ left }) { if (left) setInterval(() => {}, 1_000_000); return process.pid; }',
  );
  const subprocess = runner();
  const call = async (left: boolean): Promise<number> => Number(await subprocess.run(tool, { left }, testContext()));
  const first = await call(false);
  expect(await call(true)).toBe(first);
  expect(await call(false)).not.toBe(first);
  await until(() => !runs(first));
});

test('work that ends within a few turns of the event loop does not count as left running', async () => {
  const tool = writeTool(`import { spawnSync } from 'node:child_process';
export function run() { setImmediate(() => {}); spawnSync('true'); return process.pid; }`);
  const subprocess = runner({ clock: testClock() });
  const first = await subprocess.run(tool, {}, testContext());
  expect(await subprocess.run(tool, {}, testContext())).toBe(first);
});

test('a failed import or a missing function fails the call with a message without host paths', async () => {
  const subprocess = runner();
  const failure = (source: string): Promise<unknown> =>
    subprocess.run(writeTool(source), {}, testContext()).catch((thrown: unknown) => thrown);
  const [threw, missing, replaced] = await Promise.all([
    failure('throw new Error("no key in " + import.meta.url)'),
    failure('import "./none.mjs"'),
    failure('export function run() {}\nrun = 5;'),
  ]);
  expect(threw).toMatchObject({ code: 'tool.file.import_failed', message: expect.stringContaining('no key in') });
  expect(missing).toMatchObject({ code: 'tool.file.import_failed', message: expect.stringContaining('none.mjs') });
  for (const { message } of [threw, missing] as Error[]) expect(message).not.toContain(testFolder());
  expect(replaced).toMatchObject({ code: 'tool.function.not_function' });
});

test('a tool that differs from the pinned one is not started', async () => {
  const subprocess = runner({
    verify: async () => {
      throw new HoldfastError('tool.file.changed', 'changed');
    },
  });
  await expect(subprocess.run(writeTool('export const run = 1;'), {}, testContext())).rejects.toMatchObject({
    code: 'tool.file.changed',
  });
});

test('a file swapped while its process starts does not run', async () => {
  const tool = writeTool('export function run() { return 1; }');
  const subprocess = runner({
    verify: async (verified) => {
      const sha256 = await verifyFile(verified);
      writeFileSync(verified.entry, 'export function run(input, { progress }) { progress("in"); return 2; }');
      return sha256;
    },
  });
  const context = testContext();
  await expect(subprocess.run(tool, {}, context)).rejects.toMatchObject({ code: 'tool.file.changed' });
  expect(context.told).toEqual([]);
});

test('TypeScript runs as verified', async () => {
  const tool = writeTool('export const run = ({ a }: { a: number }): number => a;', { file: 'tool.ts' });
  expect(await runner().run(tool, { a: 3 }, testContext())).toBe(3);
});

test('a call aborted before it starts does not start', async () => {
  const context = testContext();
  context.abort(new Error('cancelled'));
  const tool = writeTool('export function run(input, { progress }) { progress("in"); }');
  await expect(runner().run(tool, {}, context)).rejects.toThrow('cancelled');
  expect(context.told).toEqual([]);
});

test("printed text goes to the host's callback, cut", async () => {
  const tool = writeTool(
    `export function run({ bytes }) { console.log('é'); console.error('x'.repeat(bytes)); return 1; }`,
  );
  let printed = '';
  const subprocess = runner({
    print: (text) => {
      printed += text;
    },
  });
  await subprocess.run(tool, { bytes: 10 }, testContext());
  await until(() => printed.includes('x'.repeat(10)));
  expect(printed).toContain('é\n');
  printed = '';
  await subprocess.run(tool, { bytes: 1_000_000 }, testContext());
  await until(() => printed.endsWith('[further output is not shown]\n'));
  expect(printed.length).toBeLessThan(66_000);
});
