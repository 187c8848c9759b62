import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HoldfastError, type Json } from '@holdfast/core';
import { describeThrown, parseJson, toProblem, toReason } from '@holdfast/core/internal';
import type { Problem } from '@holdfast/core/types';
import type { Host } from '../terminal/host.ts';
import { isSameSecret } from '../terminal/same-secret.ts';
import { createApi, type StudioApi } from './api.ts';
import type { PageFiles } from './page-files.ts';

/** A running studio. */
export interface Studio {
  /** Has both secrets after the `#`, which a browser sends nowhere. */
  readonly link: string;
  close(): Promise<void>;
}

export interface StudioOptions {
  readonly page: PageFiles;
  /** 0: a free one. */
  readonly port: number;
}

/**
 * Serves the page on the loopback interface. Its files hold nothing; reading needs one secret and answering another one, both in
 * headers. Cookies would be shared between ports.
 *
 * @throws HoldfastError `command.failed`.
 */
export async function serveStudio({ page, port }: StudioOptions, host: Host): Promise<Studio> {
  const secrets = { read: makeSecret(), answer: makeSecret() };
  const api = createApi(host);
  const server = createServer((request, response) => {
    const { port: own } = server.address() as AddressInfo;
    respond(request, response, { page, api, secrets, authority: `127.0.0.1:${own}` }).catch(() => response.destroy());
  });
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw new HoldfastError(
      'command.failed',
      `Port ${port} of 127.0.0.1 cannot be used: ${describeThrown(cause)}. Choose another \`--port\`.`,
      { data: { reason: 'studio.port' }, cause },
    );
  }
  const { port: own } = server.address() as AddressInfo;
  return {
    link: `http://127.0.0.1:${own}/#read=${secrets.read}&answer=${secrets.answer}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

interface Place {
  readonly page: PageFiles;
  readonly api: StudioApi;
  readonly secrets: { readonly read: string; readonly answer: string };
  readonly authority: string;
}

const headers = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; " +
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

async function respond(request: IncomingMessage, response: ServerResponse, place: Place): Promise<void> {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  const { pathname, searchParams } = new URL(request.url ?? '/', `http://${place.authority}`);
  const file = place.page.get(pathname);
  if (!isOwn(request, place, pathname)) {
    response.writeHead(403).end();
  } else if (request.method === 'GET' && file !== undefined) {
    response.writeHead(200, { 'content-type': `${file.type}; charset=utf-8` }).end(file.body);
  } else if (!isSameSecret(request.headers.authorization ?? '', `Bearer ${place.secrets.read}`)) {
    response.writeHead(403).end();
  } else if (request.method === 'GET' && pathname.startsWith('/api/')) {
    await sendJson(response, () => place.api.read(pathname.slice('/api/'.length), searchParams));
  } else if (request.method === 'POST' && pathname === '/api/answer' && mayAnswer(request, place)) {
    await sendJson(response, async () => place.api.answer(await readBody(request)));
  } else {
    response.writeHead(403).end();
  }
}

/** A foreign page sends its own `Origin`; one whose name was pointed at this machine, another `Host`. */
function isOwn({ headers: given }: IncomingMessage, { authority }: Place, pathname: string): boolean {
  const { host, origin, 'sec-fetch-site': site = 'same-origin', 'sec-fetch-mode': mode } = given;
  // A link to the page itself may be followed from anywhere.
  const isFollowed = pathname === '/' && mode === 'navigate';
  return (
    host === authority &&
    (origin === undefined || origin === `http://${authority}`) &&
    (isFollowed || site === 'same-origin' || site === 'none')
  );
}

function mayAnswer({ headers: given }: IncomingMessage, { authority, secrets }: Place): boolean {
  const secret = given['x-holdfast-answer'];
  return (
    given.origin === `http://${authority}` &&
    given['content-type'] === 'application/json' &&
    isSameSecret(typeof secret === 'string' ? secret : '', secrets.answer)
  );
}

async function sendJson(response: ServerResponse, make: () => Promise<Json>): Promise<void> {
  const send = (status: number, json: Json): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
  };
  try {
    send(200, await make());
  } catch (thrown) {
    const problem = toProblem(thrown, { code: 'unexpected' });
    const { code, message } = problem;
    send(statusOf(problem), { code, ...toReason(problem), message });
  }
}

function statusOf({ code, reason }: Problem): number {
  if (code === 'command.failed') return reason === 'studio.unknown' ? 404 : 400;
  return code.startsWith('approval.') || code === 'work.not_open' || code === 'log.locked' ? 409 : 500;
}

const maxBodyBytes = 64 * 1024;

async function readBody(request: IncomingMessage): Promise<Json> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Uint8Array>) {
    bytes += part.byteLength;
    if (bytes > maxBodyBytes)
      throw new HoldfastError('command.failed', 'The answer is longer than 64 kB.', {
        data: { reason: 'studio.answer' },
      });
    parts.push(part);
  }
  const parsed = parseJson(Buffer.concat(parts).toString('utf8'));
  return parsed.ok ? parsed.value : null;
}

function makeSecret(): string {
  return randomBytes(32).toString('base64url');
}
