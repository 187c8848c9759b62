import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { HoldfastError } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import type { HttpAccess } from './http-access.ts';
import type { McpServing } from './serve-mcp.ts';

export interface ListenOptions {
  /** Default: a free one. */
  readonly port?: number;
  /** Tokens of clients, with the principal whose session each one uses. */
  readonly tokens: ReadonlyMap<string, string>;
  /** Host names of web pages that may call. Default: none. */
  readonly origins?: readonly string[];
}

export interface Listening {
  /** Where clients connect. */
  readonly url: string;
  close(): Promise<void>;
}

const hosts: readonly string[] = ['127.0.0.1', 'localhost'];

/** Serves HTTP on this machine alone, at `/mcp`. @throws HoldfastError `mcp.unreachable`. */
export async function listenMcp(
  serving: Pick<McpServing, 'fetch' | 'close'>,
  { port = 0, tokens, origins }: ListenOptions,
): Promise<Listening> {
  const access: HttpAccess = { tokens, hosts, ...(origins === undefined ? {} : { origins }) };
  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing, serving, access).catch((thrown: unknown) => {
      // The client may have gone in the middle.
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(500).end(`${describeThrown(thrown)}\n`);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      const message = `Cannot listen on port ${port}: ${describeThrown(cause)}`;
      reject(new HoldfastError('mcp.unreachable', message, { data: { reason: 'port', port }, cause }));
    });
    server.listen(port, '127.0.0.1', resolve);
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${taken}/mcp`,
    close: async () => {
      await serving.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  serving: Pick<McpServing, 'fetch'>,
  access: HttpAccess,
): Promise<void> {
  const { method = 'GET', url = '/', rawHeaders } = incoming;
  if (url.split('?', 1)[0] !== '/mcp') {
    outgoing.writeHead(404).end();
    return;
  }
  const gone = new AbortController();
  outgoing.on('close', () => gone.abort());
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const request = new Request(`http://127.0.0.1${url}`, {
    method,
    headers,
    signal: gone.signal,
    ...(hasBody ? { body: Readable.toWeb(incoming) as ReadableStream, duplex: 'half' } : {}),
  });
  const response = await serving.fetch(request, access);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) {
    outgoing.end();
    return;
  }
  for await (const chunk of response.body) outgoing.write(chunk);
  outgoing.end();
}
