/** Requests to addresses that callers have written: they lead to the internet, not into the network we run in. */

import { lookup } from 'node:dns';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
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

interface GuardedFetchOptions {
  /** Whether addresses of private networks are allowed. */
  mayBePrivate: boolean;
  /** From the look-up to the end of the answer. */
  timeoutMs: number;
  /** Of an answer's body. */
  mostBytes: number;
}

/**
 * As `fetch`, for libraries that take one. Redirects are not followed: they would lead where nobody has looked.
 * The promise is rejected with what Node says, `PrivateAddressError`, or an error of code `ETOOLARGE`.
 */
export function createGuardedFetch({ mayBePrivate, timeoutMs, mostBytes }: GuardedFetchOptions) {
  return async (
    address: string | URL,
    init: {
      method?: string;
      headers?: Record<string, string> | Headers;
      body?: unknown;
      signal?: AbortSignal | null;
    } = {},
  ): Promise<Response> => {
    const url = new URL(address);
    checkLiteralHost(url.hostname, mayBePrivate);
    const body = init.body === undefined || init.body === null ? undefined : String(init.body);
    const signals = [AbortSignal.timeout(timeoutMs), ...(init.signal ? [init.signal] : [])];
    const send = url.protocol === 'https:' ? requestHttps : requestHttp;
    return new Promise((resolve, reject) => {
      const headers = { 'user-agent': 'Millrace', ...Object.fromEntries(new Headers(init.headers)) };
      const options = { method: init.method ?? 'GET', headers, lookup: guardedLookup(mayBePrivate) };
      const request = send(url, { ...options, signal: AbortSignal.any(signals) }, (response) => {
        const pieces: Buffer[] = [];
        let size = 0;
        response.on('data', (piece: Buffer) => {
          size += piece.length;
          if (size > mostBytes)
            request.destroy(Object.assign(new Error('The answer is too large.'), { code: 'ETOOLARGE' }));
          else pieces.push(piece);
        });
        response.on('error', reject);
        response.on('end', () => {
          const { statusCode: status = 0 } = response;
          const hasBody = ![101, 204, 205, 304].includes(status);
          const known = {
            status: Math.max(200, status),
            headers: new Headers(response.headers as Record<string, string>),
          };
          resolve(new Response(hasBody ? Buffer.concat(pieces) : null, known));
        });
      });
      request.on('upgrade', (_response, socket) => {
        socket.destroy();
        reject(new Error('The server wants another protocol.'));
      });
      request.on('error', reject);
      request.end(body);
    });
  };
}
