import { findSpecialRange, isLocalName, readAddress } from './addresses.ts';
import type { NetworkEgressOptions } from './options.ts';

/** What speaks against a request. Only a host and a method that are not listed can be asked about. */
export interface UrlProblem {
  readonly kind: 'url' | 'host' | 'method';
  readonly answer: 'ask' | 'deny';
  readonly reason: string;
}

export interface UrlRules {
  /** Problems of the URL, the method aside. */
  inspectUrl(text: unknown): readonly UrlProblem[];
  inspectMethod(method: unknown): readonly UrlProblem[];
  /** Why an address must not be connected to, which is what a name was looked up to. */
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
  methods = ['GET', 'HEAD'],
  unlisted = 'deny',
  schemes = ['https'],
  ports = [80, 443],
  privateAddresses = [],
  maxUrlLength = 2_048,
}: NetworkEgressOptions): UrlRules {
  const names = new Set(hosts.map(toHost));
  const below = hosts.flatMap((host) => (host.startsWith('*.') ? [host.slice(1)] : []));
  const isListed = (host: string): boolean =>
    names.has('*') || names.has(host) || below.some((end) => host.endsWith(end) && host.length > end.length);

  const findAddressProblem = (address: string): string | undefined => {
    const range = findSpecialRange(address, privateAddresses);
    return range === undefined ? undefined : `\`${cut(address)}\` is no public address (${range}).`;
  };

  const findProblem = (text: unknown): string | undefined => {
    const problem = findTextProblem(text, maxUrlLength);
    if (problem !== undefined) return problem;
    const url = readUrl(text);
    if (url === undefined) return 'It is no URL.';
    const scheme = url.protocol.slice(0, -1);
    if (!schemes.includes(scheme)) {
      return `\`${scheme}\` is not among the schemes that may be used: ${list(schemes)}.`;
    }
    const host = hostOf(url);
    if (host === undefined) return 'Its host is no name and no address.';
    const port = url.port === '' ? usualPorts.get(scheme) : Number(url.port);
    if (port === undefined || !ports.includes(port)) {
      return `Port ${port ?? '?'} is not among the ports that may be used: ${list(ports)}.`;
    }
    const address = readAddress(host);
    if (address !== undefined) return findAddressProblem(address);
    return isLocalName(host) && !names.has(host) ? `\`${cut(host)}\` is a name of a private network.` : undefined;
  };

  return {
    inspectUrl(text) {
      const problem = findProblem(text);
      if (problem !== undefined) return [{ kind: 'url', answer: 'deny', reason: problem }];
      const url = readUrl(text);
      const host = url === undefined ? undefined : hostOf(url);
      if (host !== undefined && isListed(host)) return [];
      const reason = `The host \`${cut(host ?? '')}\` is not among those that may be reached: ${list([...names])}.`;
      return [{ kind: 'host', answer: unlisted, reason }];
    },
    inspectMethod(method) {
      // Only letters: what any client would take for another method is none of these.
      const name = typeof method === 'string' && /^[A-Za-z]{1,20}$/.test(method) ? method.toUpperCase() : undefined;
      if (name === undefined) return [{ kind: 'method', answer: 'deny', reason: 'The method must be a word.' }];
      if (methods.includes(name)) return [];
      const reason = `\`${name}\` is not among the methods that may be used: ${list(methods)}.`;
      return [{ kind: 'method', answer: unlisted, reason }];
    },
    findAddressProblem,
  };
}

/** The host as it is compared: in lower case, IDNA as `xn--`, an address in its one form, no dot at its end. */
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

// What programs read in different ways is refused, so that the host that is judged is the one that is reached.
function findTextProblem(text: unknown, maxLength: number): string | undefined {
  if (typeof text !== 'string') return 'It is no URL.';
  if (text.length > maxLength) return `It is longer than ${maxLength} characters.`;
  if (/[\p{Cc}\p{Z}\\]/u.test(text) || !text.isWellFormed()) return 'It holds blanks, control characters or `\\`.';
  const host = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]+)/i.exec(text)?.[1];
  if (host === undefined) return 'It is no URL with a scheme, `//` and a host.';
  if (host.includes('@')) return 'It holds a user name.';
  return host.includes('%') ? 'Its host has a `%`.' : undefined;
}

function list(words: readonly (string | number)[]): string {
  if (words.length === 0) return 'there are none';
  const shown = words.slice(0, 10).map((word) => `\`${word}\``);
  return shown.join(', ') + (words.length > shown.length ? ', …' : '');
}

function cut(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
