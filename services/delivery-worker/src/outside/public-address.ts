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
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  notPublic.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  ['::', 128],
  ['::1', 128],
  ['64:ff9b::', 96],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const) {
  notPublic.addSubnet(network, prefix, 'ipv6');
}

/** Whether an address belongs to the internet, not to the network we run in. IPv4 written as IPv6 counts as IPv4. */
export function isPublicAddress(address: string): boolean {
  return !notPublic.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
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
