import { createSession } from '@holdfast/session';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test, vi } from 'vitest';
import { keepOpen, mcpTools, type ServedTools, serveMcp } from '../index.ts';
import { anyInput, createTestServer } from '../test-server.ts';

const held = { name: 'test', code: 'mcp.unpinned', message: 'A person has to look at it.' };
const heldBack: ServedTools = { tools: [], held };

test.each(['legacy', 'auto'] as const)(
  'a server that is accepted after its client came is served to it: %s',
  async (mode) => {
    const { transport } = createTestServer([{ name: 'a', inputSchema: anyInput }]);
    let isAccepted = false;
    const serving = serveMcp(
      async () => (isAccepted ? mcpTools({ name: 'test', transport, era: 'legacy', dangerous: false }) : heldBack),
      { sessions: keepOpen(createSession()) },
    );
    await serving.reopen();
    const [near, far] = InMemoryTransport.createLinkedPair();
    serving.stdio(far);
    const heard = vi.fn();
    const client = new Client(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode }, listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: heard } } },
    );
    await client.connect(near);
    onTestFinished(async () => {
      await client.close();
      await serving.close();
    });
    expect((await client.listTools()).tools).toEqual([]);
    expect(await client.callTool({ name: 'a', arguments: {} })).toMatchObject({ isError: true });

    await serving.reopen();
    expect(await client.callTool({ name: 'a', arguments: {} })).toMatchObject({ isError: true });
    isAccepted = true;
    await serving.reopen();
    await vi.waitFor(() => expect(heard).toHaveBeenCalled());
    expect((await client.listTools()).tools).toMatchObject([{ name: 'a' }]);
    expect(await client.callTool({ name: 'a', arguments: {} })).toMatchObject({ content: [{ text: 'a done' }] });
  },
);
