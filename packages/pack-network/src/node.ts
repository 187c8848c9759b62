import { lookup as lookUpName } from 'node:dns/promises';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { HoldfastError } from '@holdfast/core';
import { readAddress } from './addresses.ts';
import { checkOptions, type FetchOnce, type LookUp, readRules } from './guarded-fetch.ts';
import type { NetworkEgressOptions } from './options.ts';
import type { UrlRules } from './url-rules.ts';

export interface PinnedFetchOptions {
  /** Default: the system's name resolution. */
  readonly lookup?: LookUp;
}

/**
 * Creates a `fetch` that connects only to checked addresses, which defeats DNS rebinding. Pass it as `fetch` to `guardedFetch`, which
 * checks URLs and follows redirects. Each request has its own connection, bypasses proxies, sends its body at once, and returns the
 * response undecoded, so do not request an `accept-encoding`.
 *
 * The function throws `network.refused` for a name with a forbidden address, `network.refused` for a response that `Response` does
 * not support, and errors of `node:http`.
 *
 * @throws HoldfastError `pack.invalid`, `options.invalid`.
 */
export function pinnedFetch(config: NetworkEgressOptions, options: PinnedFetchOptions = {}): FetchOnce {
  const rules = readRules(config);
  checkOptions(options, ['lookup']);
  const { lookup = lookUpAll } = options;
  return async (url, init) => {
    const read = new Request(url, init);
    const body = Buffer.from(await read.arrayBuffer());
    const target = new URL(url);
    const addresses = await findAddresses(target, lookup, rules);
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const request = target.protocol === 'https:' ? requestHttps : requestHttp;
    const sent = request(
      target,
      {
        agent: false,
        method: read.method,
        headers: Object.fromEntries(read.headers),
        lookup: answering(addresses),
        signal: read.signal,
      },
      (incoming) => {
        try {
          resolve(toResponse(incoming, read.method, target));
        } catch (cause) {
          incoming.destroy();
          reject(oddAnswer(target, cause));
        }
      },
    );
    // An unrequested protocol upgrade: without a listener the connection would end without a response.
    sent.on('upgrade', (_incoming, socket) => {
      socket.destroy();
      reject(oddAnswer(target));
    });
    sent.on('error', reject);
    sent.end(body);
    return promise;
  };
}

/** @throws for a status or status text that `Response` does not support. */
function toResponse(incoming: IncomingMessage, method: string, target: URL): Response {
  const { statusCode = 0, statusMessage = '', rawHeaders } = incoming;
  const headers = new Headers();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '');
  }
  const isEmpty = method === 'HEAD' || [204, 205, 304].includes(statusCode);
  if (isEmpty) incoming.resume();
  // The same class under two type names.
  const stream = isEmpty ? null : (Readable.toWeb(incoming) as ReadableStream<Uint8Array>);
  const response = new Response(stream, { status: statusCode, statusText: statusMessage, headers });
  return Object.defineProperty(response, 'url', { value: target.href });
}

function oddAnswer(url: URL, cause?: unknown): HoldfastError {
  return new HoldfastError('network.refused', `\`${url.host}\` sent a response that \`fetch\` does not support.`, {
    data: { reason: 'answer' },
    cause,
  });
}

/** A lookup function that returns the given addresses. */
function answering(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  const [first = { address: '', family: 0 }] = found;
  return (_name, { all }, callback) => {
    if (all === true) process.nextTick(callback, null, found);
    else process.nextTick(callback, null, first.address, first.family);
  };
}

async function findAddresses(url: URL, lookup: LookUp, rules: UrlRules): Promise<readonly string[]> {
  const name = url.hostname;
  const address = readAddress(name);
  const addresses = address === undefined ? await lookup(name) : [address];
  const problem = addresses.length === 0 ? 'it has no address.' : addresses.map(rules.findAddressProblem).find(Boolean);
  if (problem === undefined) return addresses;
  throw new HoldfastError(
    'network.refused',
    `The request must not be made: \`${name}\` resolves to a forbidden address: ${problem}`,
  );
}

async function lookUpAll(name: string): Promise<readonly string[]> {
  return (await lookUpName(name, { all: true })).map(({ address }) => address);
}
