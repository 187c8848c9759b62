import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A local server of one file, with support for ranges. */
export interface ModelServer extends AsyncDisposable {
  readonly url: string;
  content: Buffer;
  /** The status of every response; 200: the file. */
  status: number;
  /** The reported length of the file; `undefined`: the real one. */
  saidBytes: number | undefined;
  /** Responds to nothing until `go` is called. */
  stall: boolean;
  /** Sends nothing from this byte on. */
  stallFromByte: number;
  /** The number of requests. */
  requests(): number;
  /** Resolves on the first request. */
  asked(): Promise<void>;
  go(): void;
}

export async function startModelServer(content: Buffer): Promise<ModelServer> {
  const going = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    asked.resolve();
    if (state.stall) void going.promise.then(() => answer(request, response));
    else answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const state: ModelServer = {
    url: `http://127.0.0.1:${port}/models/tiny.gguf`,
    content,
    status: 200,
    saidBytes: undefined,
    stall: false,
    stallFromByte: Number.POSITIVE_INFINITY,
    requests: () => requests,
    asked: () => asked.promise,
    go: () => going.resolve(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    if (state.status !== 200) {
      response.writeHead(state.status).end('An error page.');
      return;
    }
    const { length } = state.content;
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    const start = Number(from ?? 0);
    const end = to === undefined ? length : Math.min(Number(to) + 1, length);
    response.writeHead(from === undefined ? 200 : 206, {
      'accept-ranges': 'bytes',
      'content-length': state.saidBytes ?? end - start,
      ...(from === undefined ? {} : { 'content-range': `bytes ${start}-${end - 1}/${length}` }),
    });
    response.write(state.content.subarray(start, Math.min(end, state.stallFromByte)));
    if (end <= state.stallFromByte) response.end();
  };
  return state;
}

export function toSha256(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Pseudorandom bytes. */
export function makeContent(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let state = 1;
  for (let index = 0; index < length; index += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes[index] = state >>> 16;
  }
  return bytes;
}
