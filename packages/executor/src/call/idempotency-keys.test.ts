import { createHash } from 'node:crypto';
import { defineTool, type Json, type Tool, type ToolContext } from '@holdfast/core';
import { sha256 } from '@holdfast/core/internal';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession, type LogRecord, memoryStore, replay, type Session } from '@holdfast/session';
import { createRedactor } from '@holdfast/session/redact';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { call, outcomeOf, playing, say, stop, toolsPrompt } from '../fixtures.ts';
import { runAgent } from '../index.ts';

/** A tool that notes its key, and what else it does. */
function noting(keys: string[], then: (context: ToolContext) => unknown = () => null, name = 'pay'): Tool {
  return defineTool({
    name,
    description: 'Notes its key.',
    repeat: 'keyed',
    inputSchema: jsonSchema<unknown>({ type: 'object', properties: {}, additionalProperties: true }),
    async execute(_input, context) {
      keys.push(context.idempotencyKey);
      await then(context);
      return null;
    },
  }) as Tool;
}

async function keyOf(session: Session, args: unknown, id = 'invoice-7'): Promise<string> {
  const keys: string[] = [];
  await outcomeOf({ id, name: 'pay', arguments: args }, { tools: [noting(keys)], session });
  return keys[0] ?? '';
}

const open = (nonce?: string, id = 's'): Session =>
  createSession({ id, store: memoryStore(), ...(nonce === undefined ? {} : { nonce }) });

test('a direct call with other arguments has another key, and one with equal arguments the same', async () => {
  const session = open('d1g1t5');
  const key = await keyOf(session, { euros: 5, to: 'ada' });
  expect(key).toMatch(/^s\.d1g1t5\/invoice-7\/[0-9a-f]{32}$/);
  expect(await keyOf(session, '{ "to": "ada", "euros": 5 }')).toBe(key);
  const others = [{ euros: 6, to: 'ada' }, { euros: 5 }, {}, '', { euros: '5', to: 'ada' }];
  const keys: string[] = [];
  for (const args of others) keys.push(await keyOf(session, args));
  expect(keys[2]).toBe(keys[3]);
  expect(new Set([key, ...keys]).size).toBe(5);
});

test('two sessions with the same id have different keys', async () => {
  const collect = async (): Promise<readonly string[]> => {
    const keys: string[] = [];
    const inner = noting(keys, undefined, 'inner');
    const outer = noting(keys, async (context) => {
      await context.call('inner', {});
      await outcomeOf({ id: 'c', name: 'inner', arguments: {} }, { tools: [inner], session: context.child() });
    });
    const session = createSession({ id: 's' });
    const tools = [outer, inner];
    await outcomeOf({ id: 'a', name: 'pay', arguments: {} }, { tools, session });
    const model = playing([call('pay', {}, 'a'), stop], [say('Ok.'), stop]);
    await runAgent({ model, prompt: toolsPrompt(tools), session, input: '' }).result;
    return keys;
  };
  const [first, second] = [await collect(), await collect()];
  expect(first).toHaveLength(6);
  expect(new Set([...first, ...second]).size).toBe(12);
});

test('in a run the key is run, turn and id, also where arguments differ', async () => {
  const keys: string[] = [];
  const session = open('d1g1t5');
  for (const euros of [5, 6]) {
    const model = playing([call('pay', { euros }, 'a'), stop], [call('pay', { euros }, 'a'), stop], [say('Ok.'), stop]);
    await runAgent({ model, prompt: toolsPrompt([noting(keys)]), session, input: '' }).result;
  }
  expect(keys.map((key) => key.replace(/\/\d+\./, '/RUN.'))).toEqual(
    ['1', '2', '1', '2'].map((turn) => `s.d1g1t5/RUN.${turn}/a`),
  );
  expect(new Set(keys).size).toBe(4);
});

test('no direct call, nor one nested in it, has the key of a call of a run', async () => {
  const keys: string[] = [];
  const session = open('');
  const key = await keyOf(session, {}, '7.1');
  const [, id = ''] = /\/([0-9a-f]{32})$/.exec(key) ?? [];
  const model = playing([call('pay', {}, id), stop], [say('Ok.'), stop]);
  await runAgent({ model, prompt: toolsPrompt([noting(keys)]), session, input: '' }).result;
  expect(keys[0]).toMatch(/^s\/\d+\.1\//);
  expect(key).toBe(`s/7%2E1/${id}`);
});

test('a reopened session keeps its keys; a fork, and one that imported its state, have their own', async () => {
  const store = memoryStore();
  const session = createSession({ id: 's', store });
  const key = await keyOf(session, {});
  const written = JSON.parse(JSON.stringify(store.records)) as LogRecord[];
  expect(await keyOf(replay(written), {})).toBe(key);

  const imported = createSession({ id: 's' });
  imported.import(session.export());
  const keys = [key, await keyOf(imported, {}), await keyOf(session.fork({ id: 's' }), {})];
  expect(new Set(keys).size).toBe(3);
});

test('a log that was written without random digits opens, and its keys have none', async () => {
  const written: LogRecord[] = [{ seq: 0, atMs: 0, type: 'session-start', sessionId: 's', slices: [] }];
  expect(await keyOf(replay(written), {})).toMatch(/^s\/invoice-7\/[0-9a-f]{32}$/);
});

test('the key is made of the arguments as they came, not of what a schema makes of them', async () => {
  let made = 0;
  const keys: string[] = [];
  const tool: Tool = {
    ...noting(keys),
    inputSchema: v.object({ at: v.optional(v.number(), () => (made += 1)) }),
  };
  const session = open();
  for (const name of ['pay', 'pay']) await outcomeOf({ id: 'a', name, arguments: {} }, { tools: [tool], session });
  expect(made).toBeGreaterThan(1);
  expect(keys[0]).toBe(keys[1]);
});

test('a secret in the arguments cannot be guessed from the key', async () => {
  const redactor = createRedactor({ key: 'a key of sixteen', secrets: ['0987-hunter2'] });
  const keyed = async (args: Json): Promise<string> => keyOf(createSession({ id: 's', nonce: '', redactor }), args);
  const plainly = (args: Json): string => sha256(JSON.stringify(args)).slice(0, 32);
  expect(await keyed({ pin: '0987-hunter2' })).not.toContain(plainly({ pin: '0987-hunter2' }));
  expect(await keyed({ pin: 'x' })).toContain(plainly({ pin: 'x' }));
});

test('`sha256` is SHA-256, at every length of a block', () => {
  for (let length = 0; length < 200; length += 1) {
    const text = 'ä'.repeat(length % 3) + 'x'.repeat(length);
    expect(sha256(text)).toBe(createHash('sha256').update(text, 'utf8').digest('hex'));
  }
});
