/**
 * Sends requests to URLs that users have entered. Such requests can reach the internet, but not Millrace's own network.
 */

import { lookup } from 'node:dns';
import { type ClientRequest, type IncomingHttpHeaders, request as requestHttp } from 'node:http';
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
  // The ranges for Teredo, benchmarking, documentation and 6to4 are in the public range, but are not valid
  // destinations. Teredo and 6to4 addresses contain an IPv4 address, which may be private.
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  notPublic.addSubnet(network, prefix, 'ipv6');
}
/** All addresses outside the public IPv6 range are local, translated or unassigned. */
const publicIpv6 = new BlockList();
publicIpv6.addSubnet('2000::', 3, 'ipv6');

/**
 * Returns true if an IP address is on the internet and not in a private network. Treats IPv4-mapped IPv6 addresses as
 * IPv4. Returns false for a string that is not an IP address.
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

export class PrivateAddressError extends Error {
  readonly code = 'EPRIVATEADDRESS';

  constructor() {
    super('The address is in a private network, which this installation does not allow.');
  }
}

/**
 * Creates a lookup function for connections to hosts that users have entered. The connection itself uses it, so that a
 * host name cannot resolve to a different address between the check and the connection.
 * @param mayBePrivate whether addresses in private networks are allowed
 */
export function createGuardedLookup(mayBePrivate: boolean): LookupFunction {
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

/**
 * Checks a host that is an IP address, for which Node.js does not call the lookup function.
 * @throws PrivateAddressError
 */
export function checkLiteralHost(host: string, mayBePrivate: boolean): void {
  const address = host.replace(/^\[(.*)\]$/, '$1');
  if (!mayBePrivate && isIP(address) !== 0 && !isPublicAddress(address)) throw new PrivateAddressError();
}

/** Error codes of failures that Millrace detects. All other codes come from Node.js, for example `ECONNREFUSED`. */
const reasons = {
  ETIMEDOUT: 'did not respond in time',
  ECONNRESET: 'closed the connection before the end of its response',
  EBADSTATUS: 'did not send a valid HTTP response',
  ETOOLARGE: 'sent a response that is too large',
} as const;
type Failure = keyof typeof reasons;

/** Returns the rest of a sentence that begins with "The server", for example "did not respond in time". */
export function describeOutboundFailure(code: string): string {
  if (Object.hasOwn(reasons, code)) return reasons[code as Failure];
  return code.startsWith('HPE_') ? reasons.EBADSTATUS : 'could not be reached';
}

export interface OutboundRequest {
  method: string;
  headers: Record<string, string>;
  body?: string | undefined;
  mayBePrivate: boolean;
  /** The time limit in milliseconds from the DNS lookup to the end of the response. */
  timeoutMs: number;
  /** The maximum size of the response body. With `none`, closes the connection after the headers. */
  maxBytes: number | 'none';
  signal?: AbortSignal | null | undefined;
}

export interface OutboundResponse {
  /** The status code, from 200 to 599. */
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/**
 * Sends one request on its own connection, which is closed when the promise settles. Connections are not shared,
 * because a request that must not reach private addresses could otherwise use a connection that was opened with
 * `mayBePrivate`. Redirects are not followed, because their address was not checked.
 *
 * The listeners only collect bytes. They run outside any try block, so an exception in one of them would crash the
 * process. The caller interprets the response after the promise has settled.
 *
 * @throws PrivateAddressError, the errors of Node.js, or an error with a code from `reasons`
 */
export async function sendOutbound(url: URL, options: OutboundRequest): Promise<OutboundResponse> {
  const { method, headers, body, mayBePrivate, timeoutMs, maxBytes, signal } = options;
  checkLiteralHost(url.hostname, mayBePrivate);
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  const settled = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let request: ClientRequest | undefined;
  try {
    return await new Promise((resolve, reject) => {
      timer = setTimeout(() => reject(failure('ETIMEDOUT')), timeoutMs);
      signal?.addEventListener('abort', () => reject(signal.reason), { signal: settled.signal });
      if (signal?.aborted) return reject(signal.reason);
      request = send(url, { method, headers, lookup: createGuardedLookup(mayBePrivate), agent: false });
      request.on('response', (response) => {
        const { statusCode: status = 0, headers: received } = response;
        response.on('error', reject);
        if (!(status >= 200 && status <= 599)) return reject(failure('EBADSTATUS'));
        if (maxBytes === 'none') return resolve({ status, headers: received, body: Buffer.alloc(0) });
        const pieces: Buffer[] = [];
        let size = 0;
        response.on('data', (piece: Buffer) => {
          size += piece.length;
          if (size > maxBytes) reject(failure('ETOOLARGE'));
          else pieces.push(piece);
        });
        response.on('end', () => resolve({ status, headers: received, body: Buffer.concat(pieces) }));
      });
      // Without this listener, Node.js would ignore a 101 response. The listener gets the socket instead of the
      // response.
      request.on('upgrade', (_response, socket) => {
        socket.destroy();
        reject(failure('EBADSTATUS'));
      });
      request.on('error', reject);
      request.on('close', () => reject(failure('ECONNRESET')));
      request.end(body);
    });
  } finally {
    clearTimeout(timer);
    settled.abort();
    request?.destroy();
  }
}

function failure(code: Failure): Error {
  return Object.assign(new Error(`The server ${reasons[code]}.`), { code });
}

/**
 * Creates a replacement for `fetch` that does not follow redirects, for libraries that accept one.
 * @throws the errors of `sendOutbound`
 */
export function createGuardedFetch(limits: Pick<OutboundRequest, 'mayBePrivate' | 'timeoutMs'> & { maxBytes: number }) {
  return async (
    address: string | URL,
    init: {
      method?: string;
      headers?: Record<string, string> | Headers;
      body?: unknown;
      signal?: AbortSignal | null;
    } = {},
  ): Promise<Response> => {
    const { status, headers, body } = await sendOutbound(new URL(address), {
      ...limits,
      method: init.method ?? 'GET',
      headers: { 'user-agent': 'Millrace', ...Object.fromEntries(new Headers(init.headers)) },
      body: init.body === undefined || init.body === null ? undefined : String(init.body),
      signal: init.signal,
    });
    const hasBody = ![204, 205, 304].includes(status);
    return new Response(hasBody ? body : null, { status, headers: new Headers(headers as Record<string, string>) });
  };
}
