// Sends requests and beacons, and defines the batch format.

import type { Core, ServerResponse } from '../client/core.ts';
import { attempt, longestTimerMs, readFromWindow } from '../page/globals.ts';
import type { QueuedEvent } from './queue.ts';

export type Body = string | ArrayBuffer;

interface RequestContent {
  method?: 'GET' | 'POST' | undefined;
  body?: Body | undefined;
  timeoutMs?: number | undefined;
}

/** This content type needs no CORS preflight. The service recognizes JSON and gzip by their first bytes. */
const contentType = 'text/plain';

/**
 * Maximum size of a request that continues after the visitor leaves the page. Browsers allow 64 KiB in total for these
 * requests, including beacons.
 */
const maxKeptBytes = 32_768;
const usualTimeoutMs = 60_000;
/** Maximum wait in seconds. A `Retry-After` header with a longer wait is probably a mistake. */
const maxSeconds = 3600;

/** Compresses a string with gzip. Returns the string unchanged if the browser does not support compression. */
async function pack(text: string): Promise<Body> {
  // Read `CompressionStream` from the window, because builds for runtimes without a window (Next.js on the edge) warn
  // about the plain name.
  const Compression = readFromWindow('CompressionStream');
  if (!Compression) return text;
  const { readable, writable } = new Compression('gzip');
  const writer = writable.getWriter();
  writer.write(new TextEncoder().encode(text));
  writer.close();
  return new Response(readable).arrayBuffer();
}

/** Sends a request. Never rejects. If there is no response, the status is 0. */
export async function sendRequest(
  { options }: Pick<Core, 'options'>,
  url: string,
  content: RequestContent,
): Promise<ServerResponse> {
  const { body, method = 'POST', timeoutMs = usualTimeoutMs } = content;
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), Math.min(timeoutMs, longestTimerMs));
  try {
    const response = await fetch(url, {
      method,
      headers: { ...(body && { 'Content-Type': contentType }), ...options.request_headers },
      keepalive: method === 'POST' && sizeOf(body) <= maxKeptBytes,
      signal: abort.signal,
      ...(body && { body }),
    });
    const text = await response.text();
    const json = attempt(() => JSON.parse(text)) ?? null;
    // A redirect may turn a POST request into a GET request for a different page, so status 200 does not confirm that
    // the service received the body.
    const isLost = response.redirected && method === 'POST' && !json?.status && !json?.flags;
    const status = isLost ? 302 : response.status;
    return { status, json, ...retryAfter(response.headers.get('Retry-After')) };
  } catch {
    return { status: 0, json: null, isTimeout: abort.signal.aborted };
  } finally {
    clearTimeout(timer);
  }
}

const sizeOf = (body: Body = ''): number => (typeof body === 'string' ? new Blob([body]).size : body.byteLength);

function retryAfter(text: string | null): Pick<ServerResponse, 'retryAfter'> {
  if (!text) return {};
  const seconds = Number(text) || (Date.parse(text) - Date.now()) / 1000;
  return seconds > 0 ? { retryAfter: Math.min(seconds, maxSeconds) } : {};
}

/** The batch format, which depends on the environment's settings. */
export interface Envelope {
  url(): string;
  wrap(events: QueuedEvent[]): string;
  pack(text: string): Promise<Body>;
}

export function createEnvelope({
  token,
  options,
  signals,
  url,
}: Pick<Core, 'token' | 'options' | 'signals' | 'url'>): Envelope {
  let endpoint = '/e/';
  let takesGzip = true;
  signals.on('remoteConfig', (config) => {
    endpoint = config?.analytics?.endpoint || endpoint;
    takesGzip = config?.supportedCompression?.includes('gzip-js') ?? takesGzip;
  });
  return {
    url: () => url(endpoint),
    wrap(events) {
      const batch = events.map(({ text }) => text).join();
      return `{"api_key":${JSON.stringify(token)},"batch":[${batch}],"sent_at":"${new Date().toISOString()}"}`;
    },
    pack: async (text) => (takesGzip && !options.disable_compression ? pack(text).catch(() => text) : text),
  };
}

/** Maximum total size of beacons and requests that continue after the visitor leaves the page. */
const maxBytes = 65_536;

/**
 * Sends events while the visitor leaves the page, in as many beacons as needed. The responses are not available.
 * @returns false as soon as the browser rejects a beacon
 */
export function sendBeacon<Event>(url: string, events: Event[], envelope: (events: Event[]) => string): boolean {
  if (events.length === 0) return true;
  const body = new Blob([envelope(events)], { type: contentType });
  const isSmall = body.size < maxBytes;
  if (isSmall && attempt(() => navigator.sendBeacon(url, body))) return true;
  const half = Math.ceil(events.length / 2);
  if (events.length > 1) {
    return sendBeacon(url, events.slice(0, half), envelope) && sendBeacon(url, events.slice(half), envelope);
  }
  attempt(() => fetch(url, { method: 'POST', body, keepalive: isSmall }).catch(() => {}));
  return false;
}
