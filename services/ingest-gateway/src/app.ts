// The gateway's HTTP server, which selects each request's route.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { TopicNames } from '@millrace/contracts';
import type { EventLog } from '@millrace/event-log';
import { createConnectionDrain, hasTooManyHeaders } from '@millrace/http';
import { AppError, type Health, type Logger, type Metrics } from '@millrace/runtime';
import type { Tracing } from '@millrace/runtime/tracing';
import express, { type Express, type Request, type Response, Router } from 'express';
import helmet from 'helmet';
import type { ProjectKeys } from './access/project-keys.ts';
import { createByteBudget } from './body/byte-budget.ts';
import { readContentLength } from './body/receive.ts';
import { createUploads, type Uploads } from './body/uploads.ts';
import type { BodyJob, BodyResult } from './capture/body-jobs.ts';
import { createCaptureMetrics } from './capture/capture-metrics.ts';
import { createClassicReader } from './capture/classic-reader.ts';
import { captureV1Path, createV1Reader } from './capture/v1-reader.ts';
import { readEchoedRequestId } from './capture/v1-request.ts';
import { type CaptureDependencies, serveCaptureRequest } from './capture.ts';
import type { BrowserLibrary } from './config/library.ts';
import { createLibraryRoutes } from './config/library-route.ts';
import { rejectOtherMethods } from './config/only-methods-route.ts';
import { createSdkConfigRoutes } from './config/sdk-config-routes.ts';
import type { GatewayConfig } from './config.ts';
import {
  type DefinitionDependencies,
  matchFlagDefinitionPath,
  serveDefinitionRequest,
} from './flags/definition-route.ts';
import type { FlagServices } from './flags/dependencies.ts';
import { findFlagPath } from './flags/flag-request.ts';
import { serveFlagRequest } from './flags/flag-route.ts';
import { createLargeBodies } from './large-bodies/large-bodies.ts';
import type { TrafficControl } from './limits/traffic-control.ts';
import { findCapturePath, readRequestId } from './request-head.ts';
import { createRefusalLog } from './response/refusal-log.ts';
import { createCorsHeaders, createPreflightHeaders, sendRefusal, toRefusal } from './response/send-response.ts';

export interface IngestDependencies {
  log: Pick<EventLog, 'append'>;
  topics: TopicNames;
  traffic: TrafficControl;
  /** The program of the worker threads for large bodies (see large-bodies.ts). */
  bodyProgram: URL;
}

export interface GatewayDependencies {
  projectKeys: ProjectKeys;
  /** The dependencies for accepting events. Null if this gateway does not accept events. */
  ingest: IngestDependencies | null;
  flags: FlagServices;
  /** Whether this gateway evaluates flags. The browser config always reports whether the project has flags. */
  servesFlags: boolean;
  /** The browser library, or null if it was not built. `/static/array.js` then returns 404. */
  library: BrowserLibrary | null;
  config: Pick<
    GatewayConfig,
    | 'maxBodyBytes'
    | 'maxDecompressedBytes'
    | 'maxRecordBytes'
    | 'maxAiRecordBytes'
    | 'maxInFlightBytes'
    | 'largeBodyThreads'
    | 'largeBodyHeapMb'
    | 'bodyTimeoutMs'
    | 'keepAliveTimeoutMs'
    | 'stopDelayMs'
    | 'drainTimeoutMs'
    | 'trustProxy'
  >;
  logger: Logger;
  metrics: Metrics;
  health: Health;
  tracing: Tracing | null;
}

export interface Gateway {
  server: Server;
  /**
   * Keeps accepting connections for a short time and then closes the server. Resolves when all responses have been
   * sent.
   */
  stop(): Promise<void>;
}

/** The time limit for receiving a request. It also limits slow uploads, because they occupy memory. */
const requestTimeoutMs = 300_000;
/** At shutdown, this time is reserved for sending pending counts, warnings and records. */
const flushMs = 5000;
/** How long a client can read the response to a malformed request before its socket is closed. */
const readingMs = 2000;
/** The default of 16 KiB is too small for GET requests with events in the query string. */
const maxHeaderBytes = 64 * 1024;

/**
 * Creates the public ingest server. Requests for events and flags bypass Express, which would take several times as
 * long as a small request itself. Express handles all other requests.
 */
export function createGateway(deps: GatewayDependencies): Gateway {
  const { config, metrics, health } = deps;
  const { largeBodyThreads: threads, largeBodyHeapMb: heapMb } = config;
  // The additional thread decompresses bodies whose API key cannot be read before decompression.
  const budget = createByteBudget(config.maxInFlightBytes, threads + 1);
  const uploads = createUploads(config);
  const refusals = createRefusalLog(deps.logger);
  const shared = {
    projectKeys: deps.projectKeys,
    budget,
    uploads,
    limits: config,
    tracing: deps.tracing,
    logRefusal: refusals.write,
    isStopping: () => connections.isDraining(),
  };
  const capture: CaptureDependencies | null = deps.ingest && {
    ...shared,
    ...deps.ingest,
    largeBodies: createLargeBodies<BodyJob, BodyResult>({
      program: deps.ingest.bodyProgram,
      budget,
      threads,
      heapMb,
      logger: deps.logger,
    }),
    metrics: createCaptureMetrics(metrics, budget),
  };
  const configRoutes = createSdkConfigRoutes({ ...shared, ...deps.flags });
  const library = createLibraryRoutes({ ...shared, ...deps.flags }, deps.library);
  const app = createApp({ health, uploads }, [
    ...(capture === null ? [] : [captureV1Route(capture)]),
    configRoutes,
    library,
  ]);
  const flags = deps.servesFlags ? { ...shared, ...deps.flags } : null;

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    connections.note(response);
    if (hasTooManyHeaders(request)) return void respondToBrokenRequest(headersTooLarge, request.socket);
    const url = withSingleSlashes(request.url ?? '/');
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const query = mark < 0 ? '' : url.slice(mark + 1);
    const capturePath = capture === null ? undefined : findCapturePath(path);
    if (capture !== null && capturePath !== undefined) {
      const reader = createClassicReader({ path: capturePath, query }, capture);
      void serveCaptureRequest({ request, response, requestId: readRequestId(request) }, reader, capture);
    } else if (flags === null || !serveFlagPath(request, response, { path, query }, flags)) {
      request.url = url;
      app(request, response);
    }
  }

  const server = createServer({
    keepAliveTimeout: config.keepAliveTimeoutMs,
    requestTimeout: requestTimeoutMs,
    maxHeaderSize: maxHeaderBytes,
    noDelay: true,
  });
  server.maxHeadersCount = 0;
  const connections = createConnectionDrain(server, { graceMs: config.stopDelayMs, timeoutMs: drainMs(config) });
  server.on('request', onRequest);
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    // A client with `Expect: 100-continue` gets the error before it uploads a body that is too large.
    if (!(readContentLength(request) > config.maxBodyBytes)) response.writeContinue();
    onRequest(request, response);
  });
  server.on('clientError', respondToBrokenRequest);
  return {
    server,
    async stop() {
      await connections.drain();
      refusals.stop();
    },
  };
}

/** Returns the time limit for requests in flight at shutdown. Slow clients must not use up the whole shutdown time. */
function drainMs({ drainTimeoutMs, stopDelayMs }: GatewayDependencies['config']): number {
  const remainingMs = Math.max(0, drainTimeoutMs - stopDelayMs);
  return Math.min(requestTimeoutMs, Math.max(remainingMs - flushMs, remainingMs / 2));
}

/** @returns false if the path is not a flag path */
function serveFlagPath(
  request: IncomingMessage,
  response: ServerResponse,
  { path, query }: { path: string; query: string },
  flags: DefinitionDependencies,
): boolean {
  const flagPath = findFlagPath(path);
  if (flagPath !== undefined) {
    void serveFlagRequest(request, response, { path: flagPath, query }, flags);
    return true;
  }
  const target = matchFlagDefinitionPath(path);
  if (target !== undefined) void serveDefinitionRequest(request, response, { target, query }, flags);
  return target !== undefined;
}

/** Creates the route of Capture v1. It uses Express, whose overhead does not matter for such large batches. */
function captureV1Route(capture: CaptureDependencies): Router {
  const reader = createV1Reader(capture);
  return Router().all(captureV1Path, (request, response) => {
    const requestId = String(response.getHeader('x-request-id') ?? readRequestId(request));
    const echoed = readEchoedRequestId(request.headers);
    if (echoed !== null) response.setHeader('posthog-request-id', echoed);
    return serveCaptureRequest({ request, response, requestId }, reader, capture);
  });
}

function createApp({ health, uploads }: { health: Health; uploads: Uploads }, routes: Router[]): Express {
  const app = express();
  app.disable('x-powered-by');
  // Every origin can read the responses. The security headers for web pages are disabled, because no response is a
  // page. The operator configures TLS.
  app.use(
    helmet({
      strictTransportSecurity: false,
      crossOriginResourcePolicy: false,
      crossOriginOpenerPolicy: false,
      contentSecurityPolicy: false,
    }),
  );
  app.use((request, response, next) => {
    response.set(createCorsHeaders(request)).set('x-request-id', readRequestId(request));
    response.locals.uploads = uploads;
    if (request.method === 'OPTIONS') return void response.set(createPreflightHeaders(request)).status(200).end();
    next();
  });
  app
    .route('/')
    .get((_request, response) => void response.json({ status: 'Ok', service: 'millrace ingest' }))
    .all(rejectOtherMethods('GET', 'HEAD', 'OPTIONS'));
  app.get(['/_liveness', '/_readiness', '/metrics'], async (request, response) => {
    const content = await health.respond(request.path.replace(/\/$/, ''));
    response.status(content?.status ?? 404).set('content-type', content?.contentType ?? 'text/plain');
    response.send(content?.body ?? '');
  });
  app.use(routes);
  app.use((request, response) => {
    const error = new AppError('not_found', 'This path does not exist.');
    return refuse(request, response, error);
  });
  app.use((error: unknown, request: Request, response: Response, _next: unknown) =>
    refuse(request, response, error instanceof URIError ? brokenPath() : error),
  );
  return app;
}

function brokenPath(): AppError {
  return new AppError('invalid', 'The path contains an invalid percent-encoding.', { code: 'invalid_path' });
}

function refuse(request: Request, response: Response, error: unknown): Promise<void> {
  const requestId = String(response.getHeader('x-request-id') ?? readRequestId(request));
  return sendRefusal(request, response, toRefusal(error), {
    requestId,
    isLast: false,
    uploads: response.locals.uploads,
  });
}

/** Node.js's error for headers that exceed `maxHeaderBytes`. */
const headersTooLarge = { code: 'HPE_HEADER_OVERFLOW' };

/**
 * Responds to input that is not HTTP or arrives too slowly. Node.js provides no response object for it, so this
 * function writes to the socket.
 */
function respondToBrokenRequest(error: Pick<NodeJS.ErrnoException, 'code'>, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const refusal =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? toRefusal(new AppError('timeout', 'The request was not received in time.'))
      : error.code === headersTooLarge.code
        ? { ...toRefusal(new AppError('too_large', 'The request headers are too large.')), status: 431 }
        : toRefusal(new AppError('invalid', 'This is not a valid HTTP request.', { code: 'invalid_http' }));
  const head = [
    `HTTP/1.1 ${refusal.status} Refused`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(refusal.body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${refusal.body}`);
  // Without this timer, a client could keep the connection open indefinitely.
  setTimeout(() => socket.destroy(), readingMs).unref();
}

const doubled = /\/{2,}/g;

/**
 * Replaces repeated slashes in the path with a single one, but leaves the query unchanged. If the configured host ends
 * with a slash, SDKs send requests to `//batch`.
 */
function withSingleSlashes(url: string): string {
  const mark = url.indexOf('?');
  const pathEnd = mark < 0 ? url.length : mark;
  const at = url.indexOf('//');
  // A proxy may send an absolute URL. Leave it unchanged, because its scheme is followed by two slashes.
  if (at < 0 || at >= pathEnd || url[0] !== '/') return url;
  return url.slice(0, pathEnd).replace(doubled, '/') + url.slice(pathEnd);
}
