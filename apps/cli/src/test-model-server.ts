import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '@holdfast/core';

/** How a request is answered. Absent: as a good server would. */
export interface Answering {
  readonly content?: Uint8Array;
  /** Quoted by the server. null: none. */
  readonly tag?: string | null;
  readonly lastModified?: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether ranges are given: as asked, never, whatever the file is now, or always from the first byte. */
  readonly ranges?: 'good' | 'none' | 'blind' | 'wrong';
  /** The length is not said beforehand. */
  readonly chunked?: boolean;
  /** The connection breaks after so many bytes. */
  readonly breakAt?: number;
  /** Nothing more comes after so many bytes, until it is cut. What was sent has come then, unlike with `breakAt`. */
  readonly stallAt?: number;
}

export interface ModelServer extends AsyncDisposable {
  readonly url: string;
  /** What was asked for. */
  readonly requests: readonly { readonly path: string; readonly headers: IncomingMessage['headers'] }[];
  /** How the next requests are answered, one each; then as `always`. */
  readonly next: Answering[];
  always: Answering;
  /** Breaks all connections. */
  cut(): void;
}

/** A server of one file on this machine. */
export async function startModelServer(always: Answering = {}): Promise<ModelServer> {
  const requests: { path: string; headers: IncomingMessage['headers'] }[] = [];
  const next: Answering[] = [];
  const state = { always };
  const server = createServer((request, response) => {
    requests.push({ path: request.url ?? '', headers: request.headers });
    answer(request, response, { ...state.always, ...next.shift() });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/models/tiny.gguf`,
    requests,
    next,
    get always() {
      return state.always;
    },
    set always(answering) {
      state.always = answering;
    },
    cut: () => server.closeAllConnections(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      if (!server.listening) return;
      server.close();
      await once(server, 'close');
    },
  };
}

function answer(request: IncomingMessage, response: ServerResponse, answering: Answering): void {
  const {
    content = new Uint8Array(),
    tag = toTag(content),
    lastModified,
    ranges = 'good',
    status,
    headers,
  } = answering;
  if (status !== undefined) {
    response.writeHead(status, headers).end('An error page.');
    return;
  }
  const [, from] = /^bytes=(\d+)-$/.exec(request.headers.range ?? '') ?? [];
  const condition = request.headers['if-range'];
  const isSame = ranges === 'blind' || condition === tag || (condition !== undefined && condition === lastModified);
  const start = from === undefined || ranges === 'none' || !isSame ? undefined : Number(from);
  const said = {
    ...(tag === null || (ranges === 'blind' && start !== undefined) ? {} : { etag: tag }),
    ...(lastModified === undefined ? {} : { 'last-modified': lastModified }),
    ...headers,
  };
  if (start !== undefined && start >= content.length) {
    response.writeHead(416, said).end();
    return;
  }
  const body = start === undefined || ranges === 'wrong' ? content : content.subarray(start);
  const range = `bytes ${content.length - body.length}-${content.length - 1}/${content.length}`;
  response.writeHead(start === undefined ? 200 : 206, {
    ...said,
    ...(answering.chunked === true ? {} : { 'content-length': body.length }),
    ...(start === undefined ? {} : { 'content-range': range }),
  });
  send(response, body, answering);
}

function send(response: ServerResponse, body: Uint8Array, { breakAt, stallAt }: Answering): void {
  if (stallAt !== undefined) {
    response.write(body.subarray(0, stallAt));
    return;
  }
  if (breakAt === undefined || breakAt >= body.length) {
    response.end(body);
    return;
  }
  response.flushHeaders();
  response.write(body.subarray(0, breakAt), () => response.socket?.destroySoon());
  if (breakAt === 0) response.socket?.destroySoon();
}

export function toTag(content: Uint8Array): string {
  return `"${toSha256(content).slice(0, 16)}"`;
}

export function toSha256(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Bytes that look like nothing, the same ones for a seed. */
export function makeContent(length: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(length);
  let state = seed;
  for (let index = 0; index < length; index += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes[index] = state >>> 16;
  }
  return bytes;
}

/** A clock on which every wait is over at once, but for those that watch over a silent connection. */
export interface ImpatientClock extends Clock {
  /** The waits that were asked for. */
  readonly delaysMs: readonly number[];
  /** Lets time go by for the watches. */
  pass(ms: number): void;
}

const watchMs = 30_000;

export function impatientClock(): ImpatientClock {
  const delaysMs: number[] = [];
  const watches = new Set<{ readonly dueMs: number; readonly run: () => void }>();
  let nowMs = 0;
  return {
    delaysMs,
    now: () => nowMs,
    after(delayMs, run) {
      if (delayMs === watchMs) {
        const watch = { dueMs: nowMs + delayMs, run };
        watches.add(watch);
        return () => watches.delete(watch);
      }
      delaysMs.push(delayMs);
      const timer = setImmediate(run);
      return () => clearImmediate(timer);
    },
    pass(ms) {
      nowMs += ms;
      for (const { dueMs, run } of watches) if (dueMs <= nowMs) run();
    },
  };
}
