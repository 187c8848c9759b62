import { HoldfastError } from '@holdfast/core';
import * as v from 'valibot';
import { readAddress } from './addresses.ts';
import { configSchema, type NetworkEgressOptions } from './options.ts';
import { createUrlRules, hostOf, readUrl, type UrlRules } from './url-rules.ts';

/** Makes one request without following redirects: the `fetch` of any runtime. */
export type FetchOnce = (url: string, init: RequestInit) => Promise<Response>;

/** Resolves a name to its current addresses, as text. */
export type LookUp = (name: string) => Promise<readonly string[]>;

export interface GuardedFetchOptions {
  /** Default: the runtime's `fetch`. `pinnedFetch` of `@holdfast/pack-network/node` connects only to checked addresses. */
  readonly fetch?: FetchOnce;
  /**
   * Resolves each host before it is requested; all its addresses must be allowed. The runtime's `fetch` resolves it again, and may get
   * another answer. Default: names are not resolved.
   */
  readonly lookup?: LookUp;
  /** Maximum number of redirects, 0 to 20. Default 5. */
  readonly maxRedirects?: number;
  /**
   * Set if the first URL and its method were approved by a person: requests may then go to its host and to listed ones. Default false:
   * only to listed hosts, by listed methods.
   */
  readonly isApproved?: boolean;
}

/**
 * Creates a `fetch` that applies the rules of `networkEgress` to requests and all their redirects. Redirects change the method as in
 * browsers. Other origins get only headers that describe the wanted content, and so no credentials, cookies or keys. `https` never
 * redirects to `http`. A URL may be text or a `URL`; `init` is that of `fetch`.
 *
 * The function throws `network.refused` before a forbidden request, and `network.refused` after too many redirects.
 *
 * @throws HoldfastError `pack.invalid`, `options.invalid`.
 */
export function guardedFetch(
  config: NetworkEgressOptions,
  options: GuardedFetchOptions = {},
): (url: string | URL, init?: RequestInit) => Promise<Response> {
  const rules = readRules(config);
  checkOptions(options, ['fetch', 'lookup', 'maxRedirects', 'isApproved']);
  const { fetch: fetchOnce = globalThis.fetch, lookup, maxRedirects = 5, isApproved = false } = options;
  if (!Number.isInteger(maxRedirects) || maxRedirects < 0 || maxRedirects > 20) {
    throw new HoldfastError('options.invalid', '`maxRedirects` must be an integer from 0 to 20.');
  }
  return async (first, init = {}) => {
    const start = typeof first === 'string' ? first : first.href;
    let request = toRequest(start, init);
    for (let redirects = 0; ; redirects += 1) {
      const { url, method } = request;
      const isSettled = isApproved && hostOfText(url) === hostOfText(start);
      const problems = [...rules.inspectUrl(url), ...rules.inspectMethod(method)];
      const [problem] = problems.filter(({ answer }) => answer === 'deny' || !isSettled);
      if (problem !== undefined) throw refused(problem.reason);
      const target = new URL(url);
      await checkAddresses(target, rules, lookup);
      const { body, headers } = request;
      const response = await fetchOnce(target.href, {
        ...init,
        method,
        headers,
        body,
        redirect: 'manual',
      });
      const location = readLocation(response);
      if (location === undefined || init.redirect === 'manual') return response;
      await response.body?.cancel();
      if (init.redirect === 'error') throw refused('It was redirected.');
      if (redirects >= maxRedirects) {
        throw new HoldfastError('network.refused', `It was redirected more than ${maxRedirects} times.`, {
          data: { reason: 'redirects' },
        });
      }
      request = redirect(request, target, { status: response.status, location });
    }
  };
}

/** Rejects unknown options, so that a misspelled one is not ignored. @throws HoldfastError `options.invalid`. */
export function checkOptions(options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  const list = known.map((key) => `\`${key}\``).join(', ');
  throw new HoldfastError('options.invalid', `\`${unknown}\` is not an option; options: ${list}.`);
}

/** @throws HoldfastError `pack.invalid`. */
export function readRules(config: NetworkEgressOptions): UrlRules {
  const read = v.safeParse(configSchema, config);
  if (read.success) return createUrlRules(read.output);
  const [issue] = read.issues;
  throw new HoldfastError(
    'pack.invalid',
    `Invalid options of \`network-egress\`: \`${v.getDotPath(issue) ?? ''}\`: ${issue.message}`,
    { data: { reason: 'config', pack: 'network-egress' } },
  );
}

type Body = Exclude<RequestInit['body'], undefined>;

interface Request {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: Body;
}

function toRequest(url: string, { method = 'GET', headers, body = null }: RequestInit): Request {
  const own = new Headers(headers);
  // It could name another host than the URL.
  own.delete('host');
  // Normalized as in `fetch`.
  const isUsual = /^(?:delete|get|head|options|post|put)$/i.test(method);
  return { url, method: isUsual ? method.toUpperCase() : method, headers: own, body };
}

async function checkAddresses(url: URL, rules: UrlRules, lookup: LookUp | undefined): Promise<void> {
  const host = hostOf(url);
  if (lookup === undefined || host === undefined || readAddress(host) !== undefined) return;
  const addresses = await lookup(host);
  if (addresses.length === 0) throw refused(`\`${host}\` has no address.`);
  for (const address of addresses) {
    const problem = rules.findAddressProblem(address);
    if (problem !== undefined) throw refused(`\`${host}\` resolves to a forbidden address: ${problem}`);
  }
}

const redirecting: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

function readLocation(response: Response): string | undefined {
  if (response.type === 'opaqueredirect') throw refused('It was redirected, and this runtime hides the target.');
  return redirecting.has(response.status) ? (response.headers.get('location') ?? undefined) : undefined;
}

// Headers that only describe the wanted response or the body. Headers with keys have arbitrary names.
const plainHeaders: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'content-encoding',
  'content-language',
  'content-type',
  'if-modified-since',
  'if-none-match',
  'range',
  'user-agent',
]);

/** Source: Fetch standard, HTTP-redirect fetch. */
function redirect(
  { method, headers, body }: Request,
  from: URL,
  { status, location }: { readonly status: number; readonly location: string },
): Request {
  if (!URL.canParse(location, from.href)) throw refused('It was redirected to an invalid URL.');
  const to = new URL(location, from);
  if (from.protocol === 'https:' && to.protocol !== 'https:')
    throw refused('It was redirected from `https` to an insecure scheme.');
  const kept = new Headers(headers);
  const becomesGet = status === 303 ? method !== 'GET' && method !== 'HEAD' : status < 303 && method === 'POST';
  if (becomesGet) for (const name of [...kept.keys()].filter((key) => key.startsWith('content-'))) kept.delete(name);
  else if (isStream(body)) throw refused('It was redirected with a body that can be sent only once.');
  if (to.origin !== from.origin) {
    for (const name of [...kept.keys()].filter((key) => !plainHeaders.has(key))) kept.delete(name);
  }
  return { url: to.href, method: becomesGet ? 'GET' : method, headers: kept, body: becomesGet ? null : body };
}

function isStream(body: Body): boolean {
  return typeof body === 'object' && body !== null && (Symbol.asyncIterator in body || 'getReader' in body);
}

function hostOfText(text: string): string | undefined {
  const url = readUrl(text);
  return url === undefined ? undefined : hostOf(url);
}

function refused(reason: string): HoldfastError {
  return new HoldfastError('network.refused', `The request must not be made: ${reason}`);
}
