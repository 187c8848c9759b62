import ipaddr from 'ipaddr.js';

// In a public range, but reachable only within Azure.
const hostOnly: ReadonlySet<string> = new Set(['168.63.129.16']);

/** The canonical form of an address in any URL spelling; `undefined` for a name. */
export function readAddress(host: string): string | undefined {
  const plain = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  return ipaddr.IPv6.isValid(plain) || ipaddr.IPv4.isValidFourPartDecimal(plain)
    ? ipaddr.parse(plain).toString()
    : undefined;
}

export function isAddressRange(text: string): boolean {
  return ipaddr.isValidCIDR(text);
}

/**
 * The special range of an address: `loopback`, `private`, `linkLocal` and so on; `undefined` for public addresses and those in `ranges`.
 * An IPv6 address that embeds an IPv4 address never counts as public.
 */
export function findSpecialRange(address: string, ranges: readonly string[]): string | undefined {
  // An address with a zone belongs to a link of this machine.
  if (!ipaddr.isValid(address) || address.includes('%')) return 'unknown';
  const parsed = ipaddr.parse(address);
  const isAllowed = ranges
    .map((range) => ipaddr.parseCIDR(range))
    .some(([network, length]) => {
      return network.kind() === parsed.kind() && parsed.match(network, length);
    });
  if (isAllowed) return undefined;
  if (hostOnly.has(parsed.toString())) return 'reserved';
  const range: string = parsed.range();
  if (range !== 'unicast') return range;
  // The only allocated part of IPv6. Source: IANA, IPv6 Global Unicast Address Assignments.
  return parsed instanceof ipaddr.IPv6 && !parsed.match(ipaddr.IPv6.parse('2000::'), 3) ? 'reserved' : undefined;
}

/** True for names that are not in the public DNS. */
export function isLocalName(name: string): boolean {
  // Sources: RFC 6761, RFC 6762 appendix G, RFC 8375, ICANN's reservation of `.internal`; `svc` is from Kubernetes, `consul` from Consul.
  return (
    !name.includes('.') ||
    /\.(?:localhost|local|internal|home\.arpa|localdomain|lan|intranet|corp|home|private|svc|consul)$/.test(name)
  );
}
