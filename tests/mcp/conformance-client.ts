import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeThrown } from '@holdfast/core/internal';
import { executeToolCall } from '@holdfast/executor';
import { type Elicit, mcpTools } from '@holdfast/mcp';
import { createSession } from '@holdfast/session';

/**
 * Runs `mcpTools` for the suite, which starts a program for each scenario, all at once: that program, `conformance-start.ts`, only says so
 * here.
 */
export async function listenForStarts(): Promise<{ readonly port: number; close(): void }> {
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://127.0.0.1');
    callAll(searchParams.get('url') ?? '', searchParams.get('version') ?? '').then(
      () => response.end('done'),
      (thrown: unknown) => response.writeHead(500).end(describeThrown(thrown)),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A user who accepts what a question proposes. */
const accept: Elicit = ({ schema }) => {
  const properties = Object.entries((schema?.['properties'] ?? {}) as Record<string, { readonly default?: string }>);
  return {
    action: 'accept',
    content: Object.fromEntries(
      properties.flatMap(([name, { default: proposed }]) => (proposed === undefined ? [] : [[name, proposed]])),
    ),
  };
};

/** Lists and calls every tool of a server. */
async function callAll(url: string, version: string): Promise<void> {
  const era = version.startsWith('2025') ? 'legacy' : 'auto';
  const imported = await mcpTools({ name: 'suite', url, era, dangerous: false, elicit: accept });
  for (const { name } of imported.tools) {
    const options = { tools: imported.tools, session: createSession() };
    await executeToolCall({ name, arguments: name.endsWith('add_numbers') ? { a: 5, b: 3 } : {} }, options);
  }
  await imported.close();
}
