import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One response of the server: stream events, or a status with a body. */
export type Reply =
  | { readonly events: readonly unknown[] }
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body: unknown };

export interface ProviderServer extends AsyncDisposable {
  /** On the loopback interface, without a slash at the end. */
  readonly url: string;
  /** The JSON bodies of the requests so far. */
  readonly bodies: readonly Readonly<Record<string, unknown>>[];
}

/** An HTTP provider that sends its replies in order, each once. */
export async function startServer(replies: readonly Reply[]): Promise<ProviderServer> {
  const bodies: Record<string, unknown>[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      const reply = replies[bodies.length] ?? { status: 418, body: { error: { message: 'No further reply.' } } };
      bodies.push(JSON.parse(body) as Record<string, unknown>);
      if ('status' in reply) {
        response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
        response.end(JSON.stringify(reply.body));
        return;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of reply.events) response.write(toServerSentEvent(event));
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    bodies,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function toServerSentEvent(event: unknown): string {
  if (typeof event === 'string') return `data: ${event}\n\n`;
  const named = typeof event === 'object' && event !== null && 'type' in event ? `event: ${String(event.type)}\n` : '';
  return `${named}data: ${JSON.stringify(event)}\n\n`;
}
