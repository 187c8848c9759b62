import { ask, type CallFacts, definePolicy, defineTool, type FactsSource, type Tool } from '@holdfast/core';
import { createSession, type Session } from '@holdfast/session';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test, vi } from 'vitest';
import { keepOpen, type ServeMcpOptions, serveMcp } from '../index.ts';

const anything = {
  '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value: value as object }) },
} as const;
const askAlways = definePolicy({ name: 'ask-always', check: () => ask('Money moves.') });
const approved = { approval: { action: 'accept', content: { approve: true } } };

/** A client of 2026 that answers questions by hand. */
async function connect(tool: Tool, options: Partial<ServeMcpOptions> = {}) {
  const session = createSession();
  const serving = serveMcp({ tools: [tool] }, { sessions: keepOpen(session), policies: [askAlways], ...options });
  const [near, far] = InMemoryTransport.createLinkedPair();
  serving.stdio(far);
  const capabilities = { elicitation: {} };
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' }, capabilities });
  await client.connect(near);
  onTestFinished(() => client.close());
  const send = (more: object): Promise<Record<string, unknown>> => {
    const params = { name: 'refund', arguments: {}, ...more };
    const sending = client.request({ method: 'tools/call', params }, anything, { allowInputRequired: true });
    return sending as Promise<Record<string, unknown>>;
  };
  return { send, session, client };
}

function createRefund(execute: () => unknown): Tool {
  return defineTool({ name: 'refund', description: 'Refunds.', effects: 'external', execute }) as Tool;
}

const refusedOf = (session: Session): number =>
  [...session.records()].filter(({ type, reason }) => type === 'mcp-refused' && reason === 'request-state').length;

test('two answers to one question at the same time run the call once', async () => {
  const goOn = Promise.withResolvers<void>();
  let ran = 0;
  const refund = createRefund(async () => {
    ran += 1;
    await goOn.promise;
    return 'Done.';
  });
  // Policies take their time, so that the second answer comes before the call has begun.
  const judged = Promise.withResolvers<void>();
  let checks = 0;
  const slow = definePolicy({
    name: 'slow',
    check: async () => {
      checks += 1;
      if (checks > 1) await judged.promise;
      return ask('Money moves.');
    },
  });
  const { send, session } = await connect(refund, { policies: [slow] });
  const { requestState } = await send({});
  const first = send({ requestState, inputResponses: approved });
  await vi.waitFor(() => expect(checks).toBe(2));
  await expect(send({ requestState, inputResponses: approved })).rejects.toMatchObject({ code: -32_602 });
  expect(refusedOf(session)).toBe(1);
  judged.resolve();
  goOn.resolve();
  expect(await first).toMatchObject({ content: [{ text: '"Done."' }] });
  expect(ran).toBe(1);
});

test('the same call again, while the first one is being resumed, is a call of its own', async () => {
  const judged = Promise.withResolvers<void>();
  let checks = 0;
  const slow = definePolicy({
    name: 'slow',
    check: async () => {
      checks += 1;
      if (checks === 2) await judged.promise;
      return ask('Money moves.');
    },
  });
  let ran = 0;
  const refund = createRefund(() => {
    ran += 1;
    return 'Done.';
  });
  const { send } = await connect(refund, { policies: [slow] });
  const { requestState } = await send({});
  const first = send({ requestState, inputResponses: approved });
  await vi.waitFor(() => expect(checks).toBe(2));
  expect(await send({})).toMatchObject({ resultType: 'input_required' });
  judged.resolve();
  await first;
  expect(ran).toBe(1);
});

test('a call whose facts have changed since the question is asked about again, with the same state', async () => {
  const facts: CallFacts = { runs: [], reads: [], writes: [], deletes: [], hosts: [], untrusted: false, unclear: [] };
  let path = '/w/a';
  const source: FactsSource = {
    view: { folder: '/w', workspace: '/w' },
    describe: () => ({ ...facts, reads: [{ path, inside: true }] }),
  };
  let ran = 0;
  const refund = createRefund(() => {
    ran += 1;
    return 'Done.';
  });
  const { send } = await connect(refund, { facts: source });
  const { requestState } = await send({});
  path = '/etc/passwd';
  const again = await send({ requestState, inputResponses: approved });
  expect(again).toMatchObject({ resultType: 'input_required', requestState });
  expect(ran).toBe(0);
  expect(await send({ requestState, inputResponses: approved })).toMatchObject({ content: [{ text: '"Done."' }] });
  expect(ran).toBe(1);
});
