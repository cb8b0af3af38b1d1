import type { IncomingMessage, ServerResponse } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { startServer } from '@millrace/testing';

export interface ReceivedEvent {
  uuid: string;
  event: string;
  properties: Record<string, unknown>;
  timestamp: string;
  $set?: Record<string, unknown>;
  $set_once?: Record<string, unknown>;
  $unset?: string[];
}

export interface ReceivedRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  /** The decompressed and parsed body. Null if the request has no body. */
  body: unknown;
  /** Size of the body in bytes, before decompression. */
  bytes: number;
}

export interface ScriptedResponse {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
  /** Closes the connection without sending a response. */
  isDropped?: boolean;
  /** The response is sent when this promise resolves. */
  after?: Promise<unknown>;
}

/** Chooses the response to a request. Undefined means the normal response. */
export type Script = (request: ReceivedRequest) => ScriptedResponse | undefined;

export interface ScriptedIngest {
  url: string;
  requests: ReceivedRequest[];
  /** Returns the events of all requests that received status 200, in order of arrival. */
  events(name?: string): ReceivedEvent[];
  /** Sets the responses to all following requests. Null restores the normal responses. */
  respondWith(script: Script | null): void;
  flags: Record<string, boolean | string>;
  payloads: Record<string, string>;
  /** Fields to add to the remote config. An undefined field is removed. */
  config: Record<string, unknown>;
  clear(): void;
  stop(): Promise<void>;
}

/**
 * Starts an ingest host for tests. It records requests, and can simulate failures that a real host cannot produce on
 * demand.
 */
export async function startScriptedIngest(): Promise<ScriptedIngest> {
  const requests: ReceivedRequest[] = [];
  const accepted: ReceivedEvent[] = [];
  let script: Script | null = null;

  const server = await startServer(async (request, response) => {
    const received = await receive(request);
    allowOrigin(request, response);
    if (request.method === 'OPTIONS') return void response.writeHead(204).end();
    requests.push(received);
    const scripted = script?.(received) ?? { body: usualResponse(received, ingest) };
    await scripted.after;
    if (scripted.isDropped) return void request.socket.destroy();
    if ((scripted.status ?? 200) === 200) accepted.push(...eventsOf(received.body));
    const text = typeof scripted.body === 'string' ? scripted.body : JSON.stringify(scripted.body ?? { status: 1 });
    response.writeHead(scripted.status ?? 200, {
      'content-type': received.path.endsWith('.js') ? 'application/javascript' : 'application/json',
      ...scripted.headers,
    });
    response.end(text);
  });

  const ingest: ScriptedIngest = {
    url: server.url,
    requests,
    flags: {},
    payloads: {},
    config: {},
    events: (name) => (name === undefined ? accepted : accepted.filter(({ event }) => event === name)),
    respondWith(next) {
      script = next;
    },
    clear() {
      requests.length = 0;
      accepted.length = 0;
    },
    stop: server.stop,
  };
  return ingest;
}

async function receive(request: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://ingest');
  const { method = '', headers } = request;
  return { method, path: pathname, query: searchParams, headers, body: parse(bytes), bytes: bytes.length };
}

/** Parses a request body, which is gzip, JSON, or a form with base64. */
function parse(bytes: Buffer): unknown {
  if (bytes.length === 0) return null;
  const text = (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString();
  const json = text.startsWith('data=')
    ? Buffer.from(new URLSearchParams(text).get('data') ?? '', 'base64').toString()
    : text;
  return JSON.parse(json);
}

function eventsOf(body: unknown): ReceivedEvent[] {
  const { batch } = (body ?? {}) as { batch?: ReceivedEvent[] };
  return batch ?? [];
}

function allowOrigin(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('access-control-allow-origin', request.headers.origin ?? '*');
  response.setHeader('access-control-allow-credentials', 'true');
  response.setHeader('access-control-allow-headers', request.headers['access-control-request-headers'] ?? '');
  response.setHeader('access-control-expose-headers', 'retry-after');
}

function usualResponse({ path }: ReceivedRequest, { flags, payloads, config }: ScriptedIngest): unknown {
  if (path.startsWith('/flags')) return flagsResponse(flags, payloads);
  const [, token, script] = /^\/array\/([^/]+)\/config(\.js)?$/.exec(path) ?? [];
  if (token === undefined) return { status: 1 };
  const document = { ...remoteConfig, token, ...config };
  if (script === undefined) return document;
  const assigned = JSON.stringify({ config: document, siteApps: [] });
  return `(window._POSTHOG_REMOTE_CONFIG ??= {})[${JSON.stringify(token)}] = ${assigned};`;
}

/** A gateway's response for an environment without settings. */
const remoteConfig = {
  supportedCompression: ['gzip', 'gzip-js'],
  hasFeatureFlags: true,
  autocapture_opt_out: false,
  autocaptureExceptions: false,
  errorTracking: { autocaptureExceptions: false, suppressionRules: [] },
  capturePerformance: { network_timing: false, web_vitals: false, web_vitals_allowed_metrics: null },
  analytics: { endpoint: '/i/v0/e/' },
  elementsChainAsString: true,
  sessionRecording: false,
  heatmaps: false,
  millrace: { web_vitals: false, web_vitals_allowed_metrics: null },
  defaultIdentifiedOnly: true,
  isAuthenticated: false,
  siteApps: [],
};

function flagsResponse(values: ScriptedIngest['flags'], payloads: ScriptedIngest['payloads']): unknown {
  const flags = Object.entries(values).map(([key, value], at) => {
    const variant = typeof value === 'string' ? value : undefined;
    const detail = {
      key,
      enabled: value !== false,
      variant,
      reason: { code: 'condition_match', condition_index: 0, description: 'Matched condition set 1' },
      metadata: { id: at + 1, version: 1, payload: payloads[key], has_experiment: false },
    };
    return [key, detail];
  });
  return {
    errorsWhileComputingFlags: false,
    flags: Object.fromEntries(flags),
    requestId: 'a0000000-0000-4000-8000-000000000000',
    evaluatedAt: 1_780_000_000_000,
  };
}
