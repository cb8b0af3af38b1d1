// Reads a request's path, query string and headers.

import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { cutToCodePoints } from '@millrace/contracts';

/** A path that accepts events. Metrics and logs contain its `label`, which has only a few possible values. */
export interface CapturePath {
  label: string;
  /** The name for events without a name. If null, such events are dropped (docs/wire-rules.md#dropped-events). */
  nameForNameless: string | null;
  /**
   * Whether the body must be a batch, an array or an event with a name. All other bodies are rejected because `batch`
   * is missing.
   */
  takesBatches: boolean;
  /**
   * Whether the path is for AI clients, whose events can be larger. On such a path, an event that is too large makes
   * the whole request fail.
   */
  isForAi: boolean;
}

const labels = ['/capture', '/batch', '/e', '/i/v0/e', '/track', '/engage', '/i/v0/ai', '/i/v0/ai/batch'];

/** Each path works with and without a trailing slash, without a redirect (docs/wire-rules.md#paths). */
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

/** @param path the path without the query */
export function findCapturePath(path: string): CapturePath | undefined {
  return paths.get(path);
}

export interface Sender {
  path: string;
  origin?: string;
  user_agent?: string;
}

const maxHeaderCodePoints = 200;

/** Returns a request's sender, for warnings. @param path the label of the path */
export function readSender({ origin, referer, 'user-agent': agent }: IncomingHttpHeaders, path: string): Sender {
  const page = origin ?? (referer !== undefined && URL.canParse(referer) ? new URL(referer).origin : undefined);
  return {
    path,
    ...(page !== undefined && page !== 'null' && { origin: cutToCodePoints(page, maxHeaderCodePoints) }),
    ...(agent !== undefined && { user_agent: cutToCodePoints(agent, maxHeaderCodePoints) }),
  };
}

/** The supported query parameters (docs/wire-rules.md#query-parameters). All others are ignored. */
export interface CaptureQuery {
  data: string | null;
  compression: string | null;
  /** When the client sent the request, in Unix milliseconds. */
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

/** @param query the query string without `?`, or an empty string */
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

/**
 * Returns the request ID for logs: the client's `X-Request-Id` if it contains only harmless characters, or else a new
 * ID.
 */
export function readRequestId(request: IncomingMessage): string {
  const sent = request.headers['x-request-id'];
  if (typeof sent === 'string' && acceptable.test(sent)) return sent;
  count += 1;
  return `${processId}-${count.toString(36)}`;
}

const singleAddressHeaders = ['x-real-ip', 'cf-connecting-ip', 'true-client-ip', 'fly-client-ip', 'x-client-ip'];

/**
 * Returns the client's IP address: the first address in `X-Forwarded-For`, else in `Forwarded`, else in one of the
 * headers with a single address, else the socket's address. Removes ports and skips invalid addresses. Returns null if
 * no address is valid. Case field-020 (docs/wire-rules.md#client-address).
 * @param options.trustProxy false if clients connect directly and could forge these headers
 */
export function findClientAddress(
  { headers, socket }: { headers: IncomingHttpHeaders; socket: { remoteAddress?: string | undefined } },
  { trustProxy }: { trustProxy: boolean },
): string | null {
  return (trustProxy ? forwardedAddress(headers) : null) ?? readAddress(socket.remoteAddress ?? '');
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

/**
 * The last header and the IP address in it, because consecutive requests often come through the same connection or
 * proxy.
 */
let lastText = '';
let lastAddress: string | null = null;

/** Parses an IP address such as `1.2.3.4`, `1.2.3.4:5555`, `2001:db8::1`, `[2001:db8::1]:5555` or `::ffff:1.2.3.4`. */
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

interface Sdk {
  /** Where the SDK runs, for a flag's `evaluation_runtime`. */
  runtime: 'client' | 'server';
  /** Whether the SDK sends a batch again after 429 (docs/wire-rules.md#how-sdks-react-to-responses). */
  retriesOn429: boolean;
}

const server: Sdk = { runtime: 'server', retriesOn429: true };
const client: Sdk = { runtime: 'client', retriesOn429: true };

/**
 * PostHog's SDKs send `posthog-<name>/<version>`. The names are from their source code (docs/flags.md#runtimes). Most
 * browser SDKs cannot set this header. The legacy Java SDK does not send batches again after 429. How the SDKs for
 * Elixir and Unity behave is unknown.
 */
const sdks: ReadonlyMap<string, Sdk> = new Map([
  ['python', server],
  ['node', server],
  ['edge', server],
  ['convex', server],
  ['go', server],
  ['ruby', server],
  ['php', server],
  ['rs', server],
  ['server', server],
  ['dotnet', server],
  ['elixir', { ...server, retriesOn429: false }],
  ['java', { ...server, retriesOn429: false }],
  ['android', client],
  ['ios', client],
  ['react-native', client],
  ['flutter', client],
  ['kmp', client],
  ['js-lite', client],
  ['js', { ...client, retriesOn429: false }],
  ['unity', { ...client, retriesOn429: false }],
]);

export function findSdk(userAgent: string | undefined): Sdk | null {
  const name = /^posthog-([a-z-]+)\//i.exec(userAgent ?? '')?.[1];
  return name === undefined ? null : (sdks.get(name.toLowerCase()) ?? null);
}
