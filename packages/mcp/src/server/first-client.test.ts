import { createSession } from '@holdfast/session';
import { Client, InMemoryTransport, type Transport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { type FirstClient, keepOpen, listenMcp, mcpTools, serveMcp } from '../index.ts';
import { createTestServer } from '../test-server.ts';

const eras = ['legacy', 'auto'] as const;

test.each(
  eras.flatMap((era) => [
    { era, capabilities: {}, declared: [] },
    { era, capabilities: { elicitation: {} }, declared: ['form'] },
    { era, capabilities: { elicitation: { form: {} } }, declared: ['form'] },
    { era, capabilities: { elicitation: { url: {} } }, declared: ['url'] },
    { era, capabilities: { elicitation: { form: {}, url: {} } }, declared: ['form', 'url'] },
    { era, capabilities: { sampling: {}, roots: {} }, declared: [] },
  ]),
)('a wrapped server learns what its client ($era) declares, $capabilities, and no more', async ({ era, ...row }) => {
  const sent: unknown[] = [];
  const openTransport = (): Transport => {
    const near = createTestServer([]).transport();
    const send = near.send.bind(near);
    near.send = (message, options) => {
      if ('method' in message && message.method === 'initialize') sent.push(message.params?.['capabilities']);
      return send(message, options);
    };
    return near;
  };
  const open = ({ asks }: FirstClient) =>
    mcpTools({ name: 'bank', transport: openTransport, era: 'legacy', elicit: 'client', asks });
  const serving = serveMcp(open, { sessions: keepOpen(createSession()) });
  const [near, far] = InMemoryTransport.createLinkedPair();
  serving.stdio(far);
  const { capabilities } = row;
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: era }, capabilities });
  onTestFinished(async () => {
    await client.close();
    await serving.close();
  });
  await client.connect(near);
  const elicitation = Object.fromEntries(row.declared.map((kind) => [kind, {}]));
  expect(sent).toEqual([row.declared.length === 0 ? {} : { elicitation }]);
});

test('over HTTP, where clients differ, a source is opened for any of them', async () => {
  const opened: FirstClient[] = [];
  const serving = serveMcp(
    async (client) => {
      opened.push(client);
      return { tools: [] };
    },
    { sessions: keepOpen(createSession()) },
  );
  const { url, close } = await listenMcp(serving, { tokens: new Map([['t', 'anna']]) });
  onTestFinished(close);
  const headers = {
    authorization: 'Bearer t',
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
  await (await fetch(url, { method: 'POST', headers, body })).text();
  expect(opened).toEqual([{ asks: ['form', 'url'] }]);
});
