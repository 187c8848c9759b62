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
  /** Default: the system's lookup, as every program of this machine does it. */
  readonly lookup?: LookUp;
}

/**
 * One request that connects only to an address that was checked: a name that leads to another address a moment later gains nothing.
 * For `fetch` of `guardedFetch`, which judges the URLs and follows redirects. Each request has a connection of its own, goes past
 * proxies, sends its body as a whole, and gets the answer as the server sent it: ask for no `accept-encoding`.
 *
 * The function throws `network.refused` for a name with an address that must not be reached, `network.answer_invalid` for an answer
 * that no `Response` can be made of, and what `node:http` does.
 *
 * @throws HoldfastError `pack.config.invalid`, `options.invalid`.
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
    // To another protocol, which nobody asked for: without a listener the connection would end, and nothing be answered.
    sent.on('upgrade', (_incoming, socket) => {
      socket.destroy();
      reject(oddAnswer(target));
    });
    sent.on('error', reject);
    sent.end(body);
    return promise;
  };
}

/** @throws for a status, or a text of it, that no `Response` can have. */
function toResponse(incoming: IncomingMessage, method: string, target: URL): Response {
  const { statusCode = 0, statusMessage = '', rawHeaders } = incoming;
  const headers = new Headers();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    headers.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '');
  }
  const isEmpty = method === 'HEAD' || [204, 205, 304].includes(statusCode);
  if (isEmpty) incoming.resume();
  // The same class, by the name that each module has for it.
  const stream = isEmpty ? null : (Readable.toWeb(incoming) as ReadableStream<Uint8Array>);
  const response = new Response(stream, { status: statusCode, statusText: statusMessage, headers });
  return Object.defineProperty(response, 'url', { value: target.href });
}

function oddAnswer(url: URL, cause?: unknown): HoldfastError {
  return new HoldfastError(
    'network.answer_invalid',
    `\`${url.host}\` gives an answer that is none of HTTP as \`fetch\` knows it.`,
    { cause },
  );
}

/** Answers what was found before, whatever is asked. */
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
  const problem = addresses.length === 0 ? 'it has none.' : addresses.map(rules.findAddressProblem).find(Boolean);
  if (problem === undefined) return addresses;
  throw new HoldfastError(
    'network.refused',
    `The request must not be made: \`${name}\` leads to an address that must not be reached: ${problem}`,
  );
}

async function lookUpAll(name: string): Promise<readonly string[]> {
  return (await lookUpName(name, { all: true })).map(({ address }) => address);
}
