import ipaddr from 'ipaddr.js';

// Reached from within Azure only, although it is of a public range.
const hostOnly: ReadonlySet<string> = new Set(['168.63.129.16']);

/** The address in its one form, of any spelling that a URL may have; `undefined` for what is a name. */
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
 * What an address is for when it is not for everybody: `loopback`, `private`, `linkLocal`; `undefined` for a public one, and for those
 * of `ranges`. An IPv6 address that holds an IPv4 address is none of the public ones, whatever it holds.
 */
export function findSpecialRange(address: string, ranges: readonly string[]): string | undefined {
  // Anything with a zone is of a link of this machine.
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
  // The only part of IPv6 that is given out. Source: IANA, IPv6 Global Unicast Address Assignments.
  return parsed instanceof ipaddr.IPv6 && !parsed.match(ipaddr.IPv6.parse('2000::'), 3) ? 'reserved' : undefined;
}

/** Names that are not for the network of everybody. */
export function isLocalName(name: string): boolean {
  // Sources: RFC 6761, RFC 6762 and its appendix G, RFC 8375, ICANN's reservation of `.internal`; `svc` is that of Kubernetes, `consul`
  // that of Consul.
  return (
    !name.includes('.') ||
    /\.(?:localhost|local|internal|home\.arpa|localdomain|lan|intranet|corp|home|private|svc|consul)$/.test(name)
  );
}
