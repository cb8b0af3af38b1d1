import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { cutToCodePoints } from '@millrace/contracts';

/** A path that takes events. `label` is for metrics and logs, a bounded set. */
export interface CapturePath {
  label: string;
  /** The name an event without one gets; null: such an event is dropped (docs/wire-rules.md#dropped-events). */
  nameForNameless: string | null;
  /** Whether a body that is neither a batch nor an event with a name is refused for having no `batch`. */
  takesBatches: boolean;
  /** For events about language models: they may be larger, and one that is too large is refused, never dropped. */
  isForAi: boolean;
}

const labels = ['/capture', '/batch', '/e', '/i/v0/e', '/track', '/engage', '/i/v0/ai', '/i/v0/ai/batch'];

/** Every path exists with and without a trailing slash, never by a redirect (docs/wire-rules.md#paths). */
const paths = new Map<string, CapturePath>(
  labels.flatMap((label) => {
    const path = {
      label,
      nameForNameless: label === '/engage' ? '$identify' : null,
      takesBatches: label.endsWith('/batch'),
      isForAi: label.startsWith('/i/v0/ai'),
    };
    return [
      [label, path],
      [`${label}/`, path],
    ];
  }),
);

/** @param path without the query. */
export function findCapturePath(path: string): CapturePath | undefined {
  return paths.get(path);
}

/** The program that sent a request, as far as its headers tell. */
export interface Sender {
  path: string;
  /** Of the page, when a browser sent the request. */
  origin?: string;
  user_agent?: string;
}

const maxHeaderCodePoints = 200;

/** The sender of a request, for the warnings about it. @param path label of the path */
export function senderOf({ origin, referer, 'user-agent': agent }: IncomingHttpHeaders, path: string): Sender {
  const page = origin ?? (referer !== undefined && URL.canParse(referer) ? new URL(referer).origin : undefined);
  return {
    path,
    ...(page !== undefined && page !== 'null' && { origin: cutToCodePoints(page, maxHeaderCodePoints) }),
    ...(agent !== undefined && { user_agent: cutToCodePoints(agent, maxHeaderCodePoints) }),
  };
}

/** The query parameters that have a meaning (docs/wire-rules.md#query-parameters); everything else is ignored. */
export interface CaptureQuery {
  data: string | null;
  compression: string | null;
  /** When the client sent the request, Unix milliseconds as text. */
  sentAt: string | null;
  isBeacon: boolean;
  apiKey: string | null;
}

const emptyQuery: CaptureQuery = Object.freeze({
  data: null,
  compression: null,
  sentAt: null,
  isBeacon: false,
  apiKey: null,
});

/** @param query the text after `?`; empty when there is none. */
export function parseCaptureQuery(query: string): CaptureQuery {
  if (query === '') return emptyQuery;
  const values = new URLSearchParams(query);
  return {
    data: values.get('data') || null,
    compression: values.get('compression'),
    sentAt: values.get('_') ?? values.get('sent_at'),
    isBeacon: values.get('beacon') === '1',
    apiKey: values.get('api_key') ?? values.get('token'),
  };
}

const acceptable = /^[\w.:-]{1,128}$/;
const processId = randomBytes(6).toString('hex');
let count = 0;

/** The id under which a request is found in the logs: the caller's `X-Request-Id` when it is harmless, else our own. */
export function requestIdOf(request: IncomingMessage): string {
  const sent = request.headers['x-request-id'];
  if (typeof sent === 'string' && acceptable.test(sent)) return sent;
  count += 1;
  return `${processId}-${count.toString(36)}`;
}

const singleAddressHeaders = ['x-real-ip', 'cf-connecting-ip', 'true-client-ip', 'fly-client-ip', 'x-client-ip'];

/**
 * The client's address: the leftmost of `X-Forwarded-For`, else of `Forwarded`, else a single-address header, else the
 * socket's. A port is taken off; what is no address is passed over. Null when nothing is known.
 * Case F20 (docs/wire-rules.md#client-address).
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
