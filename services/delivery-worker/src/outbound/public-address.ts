import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

const notPublic = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  notPublic.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  // Teredo, benchmarks, documentation and 6to4: all within the public range, none a place to send to. Teredo and 6to4
  // hold an IPv4 address, which may be a private one.
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  notPublic.addSubnet(network, prefix, 'ipv6');
}
/** All of IPv6 that is the internet; whatever lies outside is local, translated, or of no use yet. */
const publicIpv6 = new BlockList();
publicIpv6.addSubnet('2000::', 3, 'ipv6');

/**
 * Whether an address belongs to the internet, not to the network we run in. IPv4 written as IPv6 counts as IPv4; what is
 * no address does not.
 */
export function isPublicAddress(address: string): boolean {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
  switch (isIP(mapped)) {
    case 4:
      return !notPublic.check(mapped, 'ipv4');
    case 6:
      return publicIpv6.check(mapped, 'ipv6') && !notPublic.check(mapped, 'ipv6');
    default:
      return false;
  }
}

/** Why no connection was made. */
export class PrivateAddressError extends Error {
  readonly code = 'EPRIVATEADDRESS';

  constructor() {
    super('The name or address leads into a private network, where this installation does not send anything.');
  }
}

/**
 * Looks names up for connections that callers have asked for. It is the connection's own lookup, so that a name cannot
 * lead somewhere else between the check and the connecting.
 *
 * @param mayBePrivate whether addresses of private networks are allowed.
 */
export function guardedLookup(mayBePrivate: boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 4);
      const allowed = mayBePrivate ? addresses : addresses.filter(({ address }) => isPublicAddress(address));
      const [first] = allowed;
      if (first === undefined) return callback(new PrivateAddressError(), '', 4);
      if (options.all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

/** For hosts written as an address, which nobody looks up. @throws PrivateAddressError */
export function checkLiteralHost(host: string, mayBePrivate: boolean): void {
  const address = host.replace(/^\[(.*)\]$/, '$1');
  if (!mayBePrivate && isIP(address) !== 0 && !isPublicAddress(address)) throw new PrivateAddressError();
}
