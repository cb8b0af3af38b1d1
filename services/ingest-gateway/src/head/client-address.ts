import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';

const singleAddressHeaders = ['x-real-ip', 'cf-connecting-ip', 'true-client-ip', 'fly-client-ip', 'x-client-ip'];

/**
 * The client's address: the leftmost of `X-Forwarded-For`, else of `Forwarded`, else a single-address header, else the
 * socket's. A port is taken off; what is no address is passed over. Null when nothing is known.
 * Case F20 (docs/wire-rules.md#address-of-the-client).
 *
 * @param trustProxy false when clients reach the process directly: then they could write these headers themselves.
 */
export function clientAddress(
  headers: IncomingHttpHeaders,
  socketAddress: string | undefined,
  trustProxy: boolean,
): string | null {
  return (trustProxy ? forwardedAddress(headers) : null) ?? readAddress(socketAddress ?? '');
}

function forwardedAddress(headers: IncomingHttpHeaders): string | null {
  const list = headers['x-forwarded-for'];
  if (list !== undefined) {
    const address = firstAddress(String(list).split(','));
    if (address !== null) return address;
  }
  const { forwarded } = headers;
  if (forwarded !== undefined) {
    const address = firstAddress([...forwarded.matchAll(/for="?([^;,"]+)/gi)].map((match) => match[1] ?? ''));
    if (address !== null) return address;
  }
  for (const name of singleAddressHeaders) {
    const value = headers[name];
    const address = typeof value === 'string' ? readAddress(value) : null;
    if (address !== null) return address;
  }
  return null;
}

function firstAddress(candidates: readonly string[]): string | null {
  for (const candidate of candidates) {
    const address = readAddress(candidate);
    if (address !== null) return address;
  }
  return null;
}

/** The last text and what it says: requests of one connection come one after the other, and so do those of one proxy. */
let lastText = '';
let lastAddress: string | null = null;

/** `1.2.3.4`, `1.2.3.4:5555`, `2001:db8::1`, `[2001:db8::1]:5555`, `::ffff:1.2.3.4`. */
function readAddress(text: string): string | null {
  if (text === lastText) return lastAddress;
  lastAddress = parseAddress(text);
  lastText = text;
  return lastAddress;
}

function parseAddress(text: string): string | null {
  let address = text.trim();
  if (address.startsWith('[')) address = address.slice(1, address.indexOf(']'));
  else if (address.indexOf(':') === address.lastIndexOf(':')) address = address.split(':', 1)[0] ?? '';
  if (address.startsWith('::ffff:') && address.includes('.')) address = address.slice('::ffff:'.length);
  return isIP(address) === 0 ? null : address;
}
