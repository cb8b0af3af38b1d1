import { lookup } from 'node:dns';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** What came of a request: an answer's status, or the code of the failure to get one. */
export type PostOutcome = { result: 'answered'; status: number } | { result: 'unreachable'; code: string };

interface PostOptions {
  /** Same at every attempt, so that a receiver can tell a repetition. */
  idempotencyKey: string;
  /** From the first lookup to the end of the answer. */
  timeoutMs: number;
  mayBePrivate: boolean;
}

/** Makes one POST of a JSON document. Redirects are not followed: they would lead where nobody has looked. Never throws. */
export async function postJson(address: string, document: unknown, options: PostOptions): Promise<PostOutcome> {
  try {
    const url = new URL(address);
    checkLiteralHost(url.hostname, options.mayBePrivate);
    const status = await post(url, JSON.stringify(document), {
      ...options,
      lookup: guardedLookup(options.mayBePrivate),
    });
    return { result: 'answered', status };
  } catch (error) {
    const { code, name } = error as { code?: unknown; name?: unknown };
    return { result: 'unreachable', code: typeof code === 'string' ? code : String(name ?? 'UNKNOWN') };
  }
}

function post(
  url: URL,
  body: string,
  { idempotencyKey, timeoutMs, lookup }: PostOptions & { lookup: LookupFunction },
): Promise<number> {
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const request = send(
      url,
      {
        method: 'POST',
        lookup,
        signal: AbortSignal.timeout(timeoutMs),
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'idempotency-key': idempotencyKey,
          'user-agent': 'Millrace',
        },
      },
      (response) => {
        // The status is all that counts; what else is said is not even read.
        resolve(response.statusCode ?? 0);
        response.destroy();
      },
    );
    // An answer of 101 is told as this and nothing else. Without a listener the request would never end.
    request.on('upgrade', (response, socket) => {
      resolve(response.statusCode ?? 0);
      socket.destroy();
    });
    request.on('error', reject);
    request.end(body);
  });
}

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
