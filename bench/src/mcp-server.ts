// `server`: a plain MCP server; `proxy`: one in front of it, with a log and policies; `relay`: one that only passes calls on, by the SDK.
// Each is a process of its own.
import { fileURLToPath } from 'node:url';
import { keepOpen, mcpTools, serveMcp } from '@holdfast/mcp';
import { callBudget } from '@holdfast/policy';
import { openSession } from '@holdfast/session';
import { jsonlStore } from '@holdfast/session/jsonl';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const [, , role, log = ''] = process.argv;

function serve(): void {
  const inputSchema = { type: 'object' as const, properties: { text: { type: 'string' as const } } };
  const tools = Array.from({ length: 1_000 }, (_, at) => ({
    name: `tool_${at}`,
    description: 'Answers.',
    inputSchema,
  }));
  serveStdio(() => {
    const server = new Server({ name: 'bench', version: '1.0.0' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', () => ({ tools }));
    server.setRequestHandler('tools/call', ({ params }) => ({
      content: [{ type: 'text', text: JSON.stringify(params) }],
    }));
    return server;
  });
}

async function passOn(): Promise<void> {
  const client = new Client({ name: 'bench', version: '1.0.0' }, { versionNegotiation: { mode: 'legacy' } });
  const args = [fileURLToPath(import.meta.url), 'server'];
  await client.connect(new StdioClientTransport({ command: process.execPath, args }));
  serveStdio(() => {
    const server = new Server({ name: 'bench', version: '1.0.0' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/call', ({ params }) => client.callTool(params));
    server.onclose = () => void client.close();
    return server;
  });
}

async function stand(): Promise<void> {
  const args = [fileURLToPath(import.meta.url), 'server'];
  const source = await mcpTools({ name: 'bench', command: process.execPath, args, era: 'legacy', dangerous: false });
  const session = await openSession(jsonlStore(log), { id: 'bench' });
  const policies = [callBudget({ maxCalls: 1_000_000 })];
  await serveMcp(source, { sessions: keepOpen(session), policies }).stdio().closed;
  await session.close();
  await source.close();
}

if (role === 'server') serve();
else if (role === 'relay') await passOn();
else await stand();
