import type { RunEvent, Tool } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { createSession } from '@holdfast/session';
import { expect, onTestFinished, test } from 'vitest';
import { mcpTools } from '../index.ts';
import { anyInput, createRawServer } from '../test-server.ts';

type Params = Record<string, unknown>;
type Reply = { readonly result: object } | { readonly error: object } | undefined;

const listed = { name: 'build', inputSchema: anyInput, execution: { taskSupport: 'required' } };
const text = (value: string): Reply => ({ result: { content: [{ type: 'text', text: value }] } });
const task = (status: string, more: object = {}): object => ({
  taskId: 't1',
  status,
  ttl: null,
  pollInterval: 1,
  ...more,
});
const unknownTask: Reply = { error: { code: -32_602, message: 'Unknown task' } };

/** Calls a tool that runs as a task of a server which answers as `reply` says; `end` is the method at which the server ends. */
async function run(
  reply: (method: string, params: Params, count: number) => Reply,
  { definition = listed, signal, end }: { definition?: object; signal?: AbortSignal; end?: string } = {},
) {
  const asked: [string, Params][] = [];
  const transport = createRawServer(({ id, method, params = {} }, send, stop) => {
    if (method === 'tools/list') return send({ id, result: { tools: [definition] } });
    const { _meta, ...given } = params;
    asked.push([method, given]);
    if (method === end) return stop();
    const count = asked.filter(([name]) => name === method).length;
    const answer = reply(method, given, count);
    if (answer !== undefined) send({ id, ...answer });
  });
  const imported = await mcpTools({ name: 'ci', transport, era: 'legacy', dangerous: false });
  onTestFinished(() => imported.close());
  const events: RunEvent[] = [];
  const tools: readonly Tool[] = imported.tools;
  const options = { tools, session: createSession(), onEvent: (event: RunEvent) => void events.push(event) };
  const call = { name: 'ci_build', arguments: { text: 'a' } };
  const outcome = await executeToolCall(call, signal === undefined ? options : { ...options, signal });
  return { outcome, asked, events };
}

test('a tool that runs as a task is polled until it has ended', async () => {
  const { outcome, asked, events } = await run((method, _params, count) => {
    if (method === 'tools/call') return { result: { task: task('working') } };
    if (method === 'tasks/get')
      return { result: task(count < 3 ? 'working' : 'completed', { statusMessage: 'compiling' }) };
    return text('built');
  });
  expect(outcome).toMatchObject({ kind: 'ok', text: 'built' });
  expect(asked).toEqual([
    ['tools/call', { name: 'build', arguments: { text: 'a' }, task: {} }],
    ['tasks/get', { taskId: 't1' }],
    ['tasks/get', { taskId: 't1' }],
    ['tasks/get', { taskId: 't1' }],
    ['tasks/result', { taskId: 't1' }],
  ]);
  const progress = events.filter(({ type }) => type === 'tool-call-progress');
  expect(progress).toMatchObject([{ message: 'compiling' }]);
});

test('a task that waits for input is asked for its result, where the server asks', async () => {
  const { outcome, asked } = await run((method) =>
    method === 'tools/call' ? { result: { task: task('input_required') } } : text('built'),
  );
  expect(outcome).toMatchObject({ kind: 'ok', text: 'built' });
  expect(asked.map(([method]) => method)).toEqual(['tools/call', 'tasks/result']);
});

test('a server that answers at once has made no task', async () => {
  const { outcome, asked } = await run(() => text('built'));
  expect(outcome).toMatchObject({ kind: 'ok', text: 'built' });
  expect(asked).toHaveLength(1);
});

test.each([{ taskSupport: 'optional' }, { taskSupport: 'forbidden' }, undefined])(
  'a tool with execution %j is called without a task',
  async (execution) => {
    const { asked } = await run(() => text('built'), { definition: { ...listed, execution } });
    expect(asked).toEqual([['tools/call', { name: 'build', arguments: { text: 'a' } }]]);
  },
);

test.each([
  { what: 'failed', reply: unknownTask, kind: 'failed', code: 'mcp.error' },
  { what: 'failed', reply: { result: { content: [], isError: true } }, kind: 'failed', code: 'mcp.tool_failed' },
  { what: 'completed', reply: unknownTask, kind: 'in-doubt', code: 'tool.process.lost' },
  { what: 'cancelled', reply: text('?'), kind: 'in-doubt', code: 'tool.process.lost' },
])('a task that $what is $kind ($code)', async ({ what, reply, kind, code }) => {
  const { outcome } = await run((method) => (method === 'tools/call' ? { result: { task: task(what) } } : reply));
  expect(outcome).toMatchObject({ kind, code });
});

test.each(['tasks/get', 'tasks/result'])('a server that ends at %s leaves the call in doubt', async (end) => {
  const status = end === 'tasks/get' ? 'working' : 'completed';
  const { outcome } = await run(() => ({ result: { task: task(status) } }), { end });
  expect(outcome).toMatchObject({ kind: 'in-doubt', code: 'tool.process.lost' });
});

test('a task that the server has lost leaves the call in doubt, with its id', async () => {
  const { outcome } = await run((method) =>
    method === 'tools/call' ? { result: { task: task('working') } } : unknownTask,
  );
  expect(outcome).toMatchObject({ kind: 'in-doubt', code: 'tool.process.lost', text: expect.stringContaining('`t1`') });
});

test.each(['tasks/get', 'between polls', 'tasks/result'])('a call that stops at %s cancels its task', async (at) => {
  const stop = new AbortController();
  const cancelled = Promise.withResolvers<Params>();
  const { outcome } = await run(
    (method, params) => {
      if (method === 'tasks/cancel') cancelled.resolve(params);
      if (method === 'tools/call') {
        if (at === 'between polls') setImmediate(() => stop.abort());
        const pollInterval = at === 'between polls' ? 60_000 : 1;
        return { result: { task: task(at === 'tasks/result' ? 'completed' : 'working', { pollInterval }) } };
      }
      if (method === at) stop.abort();
      return undefined;
    },
    { signal: stop.signal },
  );
  expect(outcome).toMatchObject({ kind: 'in-doubt', code: 'call.aborted' });
  expect(await cancelled.promise).toEqual({ taskId: 't1' });
});
