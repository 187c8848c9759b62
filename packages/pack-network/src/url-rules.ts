import type { Host } from '@holdfast/core/types';
import { quote } from '@holdfast/facts/rules';
import { findSpecialRange, isLocalName, readAddress } from './addresses.ts';
import type { NetworkEgressOptions } from './options.ts';

/** An objection to a request. */
export interface UrlProblem {
  readonly kind: 'url' | 'local' | 'host' | 'method';
  readonly answer: 'ask' | 'deny';
  readonly reason: string;
}

export interface UrlRules {
  /** Checks the URL, without the method. */
  inspectUrl(text: unknown): readonly UrlProblem[];
  inspectMethod(method: unknown): readonly UrlProblem[];
  /** Checks a host from the facts of a call. */
  inspectHost(host: Host): readonly UrlProblem[];
  /** Why a resolved address must not be connected to. */
  findAddressProblem(address: string): string | undefined;
}

const usualPorts: ReadonlyMap<string, number> = new Map([
  ['http', 80],
  ['https', 443],
  ['ws', 80],
  ['wss', 443],
  ['ftp', 21],
]);

export function createUrlRules({
  hosts = [],
  sendTo = [],
  methods = ['GET', 'HEAD'],
  unlisted = 'deny',
  local = 'deny',
  schemes = ['https'],
  ports = [80, 443],
  privateAddresses = [],
  maxUrlLength = 2_048,
}: NetworkEgressOptions): UrlRules {
  const listed = hostList([...hosts, ...sendTo]);
  const receivers = hostList(sendTo);

  const findAddressProblem = (address: string): string | undefined => {
    const range = findSpecialRange(address, privateAddresses);
    return range === undefined ? undefined : `${quote(address)} is not a public address (${range}).`;
  };

  const findSchemeProblem = (scheme: string, port: number | undefined): string | undefined => {
    if (!schemes.includes(scheme)) {
      return `\`${scheme}\` is not an allowed scheme. Allowed: ${list(schemes)}.`;
    }
    const actual = port ?? usualPorts.get(scheme);
    if (actual !== undefined && ports.includes(actual)) return undefined;
    return `Port ${actual ?? '?'} is not an allowed port. Allowed: ${list(ports)}.`;
  };

  const inspectName = (host: string): readonly UrlProblem[] => {
    const address = readAddress(host);
    const range = address === undefined ? undefined : findSpecialRange(address, privateAddresses);
    if (range !== undefined) {
      // Link-local addresses stay denied: clouds serve a machine's credentials there.
      const answer = ['loopback', 'private', 'uniqueLocal'].includes(range) ? local : 'deny';
      return [{ kind: 'local', answer, reason: `${quote(host)} is not a public address (${range}).` }];
    }
    if (address === undefined && isLocalName(host) && !listed.names.has(host)) {
      const answer = host.endsWith('.internal') ? 'deny' : local;
      return [{ kind: 'local', answer, reason: `${quote(host)} is a name of a private network.` }];
    }
    if (listed.has(host)) return [];
    const reason = `The host ${quote(host)} is not allowed. Allowed hosts: ${list([...listed.names])}.`;
    return [{ kind: 'host', answer: unlisted, reason }];
  };

  const inspectMethod = (method: unknown): readonly UrlProblem[] => {
    // Letters only: anything that a client could read as another method is rejected.
    const name = typeof method === 'string' && /^[A-Za-z]{1,20}$/.test(method) ? method.toUpperCase() : undefined;
    if (name === undefined) return [{ kind: 'method', answer: 'deny', reason: 'The method must be a word.' }];
    if (methods.includes(name)) return [];
    const reason = `\`${name}\` is not an allowed method. Allowed: ${list(methods)}.`;
    return [{ kind: 'method', answer: unlisted, reason }];
  };

  return {
    inspectUrl(text) {
      const url = readUrl(text);
      const host = url === undefined ? undefined : hostOf(url);
      const problem =
        findTextProblem(text, maxUrlLength) ??
        (url === undefined ? 'It is not a URL.' : undefined) ??
        (host === undefined ? 'Its host is neither a name nor an address.' : undefined) ??
        (url && findSchemeProblem(url.protocol.slice(0, -1), url.port === '' ? undefined : Number(url.port)));
      if (problem !== undefined || host === undefined) return [{ kind: 'url', answer: 'deny', reason: problem ?? '' }];
      return inspectName(host);
    },
    inspectMethod,
    inspectHost({ scheme, host: written, port, method, sends }) {
      if (receivers.has(written)) return [];
      const url = readUrl(`http://${written}/`);
      const host = url === undefined ? undefined : hostOf(url);
      const isRemote = scheme === 'git' && !written.includes('.');
      if (host === undefined && !isRemote)
        return [{ kind: 'url', answer: 'deny', reason: `${quote(written)} is neither a name nor an address.` }];
      if (host !== undefined && receivers.has(host)) return [];
      const isWeb = usualPorts.has(scheme) || scheme === 'file' || scheme === 'tcp' || scheme === 'udp';
      const problem = isWeb ? findSchemeProblem(scheme, port) : undefined;
      const isLocal = host !== undefined && inspectName(host).some(({ kind }) => kind === 'local');
      const isMethod = method !== undefined && sends && methods.includes(method);
      return [
        // The port of a local service is covered by the question about its host.
        ...(problem === undefined || isLocal ? [] : [{ kind: 'url' as const, answer: unlisted, reason: problem }]),
        // A Git remote is an alias defined in the repository.
        ...(isRemote || host === undefined ? [] : inspectName(host)),
        // The default method is GET.
        ...(method === undefined && (sends || !isWeb) ? [] : inspectMethod(method ?? 'GET')),
        ...(sends && !isMethod
          ? [{ kind: 'method' as const, answer: unlisted, reason: `Data would be sent to ${quote(written)}.` }]
          : []),
      ];
    },
    findAddressProblem,
  };
}

function hostList(hosts: readonly string[]): { readonly names: ReadonlySet<string>; has(host: string): boolean } {
  const names = new Set(hosts.map(toHost));
  const below = hosts.flatMap((host) => (host.startsWith('*.') ? [host.slice(1)] : []));
  const has = (host: string): boolean =>
    names.has('*') || names.has(host) || below.some((end) => host.endsWith(end) && host.length > end.length);
  return { names, has };
}

/** The host in canonical form: lower case, IDNA as `xn--`, addresses normalized, no trailing dot. */
export function hostOf(url: URL): string | undefined {
  const name = url.hostname.replace(/\.$/, '');
  return name.split('.').includes('') ? undefined : (readAddress(name) ?? name);
}

export function readUrl(text: unknown): URL | undefined {
  return typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined;
}

function toHost(host: string): string {
  const url = readUrl(`http://${host}/`);
  return url === undefined || host.includes('*') ? host : (hostOf(url) ?? host);
}

// Rejects texts that programs parse differently, so that the checked host is the one reached.
function findTextProblem(text: unknown, maxLength: number): string | undefined {
  if (typeof text !== 'string') return 'It is not a URL.';
  if (text.length > maxLength) return `It is longer than ${maxLength} characters.`;
  if (/[\p{Cc}\p{Z}\\]/u.test(text) || !text.isWellFormed()) return 'It contains spaces, control characters or `\\`.';
  const host = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]+)/i.exec(text)?.[1];
  if (host === undefined) return 'It is not a URL with a scheme, `//` and a host.';
  if (host.includes('@')) return 'It contains a user name.';
  return host.includes('%') ? 'Its host contains `%`.' : undefined;
}

function list(words: readonly (string | number)[]): string {
  if (words.length === 0) return 'none';
  const shown = words.slice(0, 10).map((word) => `\`${word}\``);
  return shown.join(', ') + (words.length > shown.length ? ', …' : '');
}
