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
import { createRefusalLog } from './answer/refusal-log.ts';
import { corsHeaders, preflightHeaders, sendRefusal, toRefusal } from './answer/send-answer.ts';
import { createByteBudget } from './body/byte-budget.ts';
import { createUploads, declaredLength, type Uploads } from './body/receive.ts';
import { createCaptureMetrics } from './capture/capture-metrics.ts';
import { classicReader } from './capture/classic-reader.ts';
import type { CaptureDependencies } from './capture/reader.ts';
import { captureV1Path, v1Reader } from './capture/v1-reader.ts';
import { captureRoute } from './capture.ts';
import { answerRoutes } from './config/answer-route.ts';
import type { BrowserLibrary } from './config/library.ts';
import { libraryRoutes } from './config/library-route.ts';
import { onlyMethods } from './config/only-methods-route.ts';
import type { GatewayConfig } from './config.ts';
import { type DefinitionDependencies, definitionRoute, findDefinitionTarget } from './flags/definition-route.ts';
import { flagRoute } from './flags/flag-route.ts';
import type { FlagParts } from './flags/parts.ts';
import { findFlagPath } from './flags/question.ts';
import { findCapturePath, requestIdOf } from './head.ts';
import { createLargeBodies } from './large-bodies/large-bodies.ts';
import type { TrafficControl } from './limits/traffic-control.ts';
import { echoedRequestId } from './readers/v1-request.ts';

/** What only events need. */
export interface IngestParts {
  log: Pick<EventLog, 'append'>;
  topics: TopicNames;
  traffic: TrafficControl;
  /** The program of threads for large bodies (large-bodies.ts). */
  bodyProgram: URL;
}

export interface GatewayDependencies {
  projectKeys: ProjectKeys;
  /** Null where events are not taken. */
  ingest: IngestParts | null;
  flags: FlagParts;
  /** False where flags are not answered; browsers are told of them all the same. */
  answersFlags: boolean;
  /** Null where it was not built: `/static/array.js` is not found then. */
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
  /** Null: nothing is traced. */
  tracing: Tracing | null;
}

export interface Gateway {
  /** Not listening yet. */
  server: Server;
  /** Resolves when every request under way, and those that still come for a moment, have been answered. */
  stop(): Promise<void>;
}

/**
 * A request that takes longer than this, headers and body together, is cut off: bytes that arrive slowly hold memory too.
 */
const wholeRequestTimeoutMs = 300_000;
/** Time reserved at shutdown for flushing counts, warnings and records. */
const restAfterDrainMs = 5000;
/** How long a client may read the answer to a malformed request before its socket is closed. */
const readingMs = 2000;
/** A payload in the query of a GET needs more than the usual 16 KiB. */
const maxHeaderBytes = 64 * 1024;

/**
 * The public ingest host. Paths of events and flags are answered before Express sees the request, because for a small one
 * Express costs several times what the work itself does. Everything else goes to Express.
 */
export function createGateway(deps: GatewayDependencies): Gateway {
  const { config, metrics, health } = deps;
  const { largeBodyThreads: threads, largeBodyHeapMb: heapMb } = config;
  // One more for bodies whose key is not known before they are unpacked.
  const budget = createByteBudget(config.maxInFlightBytes, threads + 1);
  const uploads = createUploads(config.trustProxy);
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
    largeBodies: createLargeBodies({ program: deps.ingest.bodyProgram, budget, threads, heapMb, logger: deps.logger }),
    metrics: createCaptureMetrics(metrics, budget),
  };
  const answers = answerRoutes({ ...shared, ...deps.flags });
  const library = libraryRoutes({ ...shared, ...deps.flags }, deps.library);
  const app = createApp({ health, uploads }, [
    ...(capture === null ? [] : [captureV1Route(capture)]),
    answers,
    library,
  ]);
  const flags = deps.answersFlags ? { ...shared, ...deps.flags } : null;

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    connections.note(response);
    if (hasTooManyHeaders(request)) return void answerBrokenRequest(headersTooLarge, request.socket);
    const url = withSingleSlashes(request.url ?? '/');
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const query = mark < 0 ? '' : url.slice(mark + 1);
    const capturePath = capture === null ? undefined : findCapturePath(path);
    if (capture !== null && capturePath !== undefined) {
      const reader = classicReader({ path: capturePath, query }, capture);
      void captureRoute({ request, response, requestId: requestIdOf(request) }, reader, capture);
    } else if (flags === null || !serveFlagPath(request, response, { path, query }, flags)) {
      request.url = url;
      app(request, response);
    }
  }

  const server = createServer({
    keepAliveTimeout: config.keepAliveTimeoutMs,
    requestTimeout: wholeRequestTimeoutMs,
    maxHeaderSize: maxHeaderBytes,
    noDelay: true,
  });
  server.maxHeadersCount = 0;
  const connections = createConnectionDrain(server, { graceMs: config.stopDelayMs, timeoutMs: drainMs(config) });
  server.on('request', onRequest);
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    // A client that sends `Expect: 100-continue` is refused before it sends too much.
    if (!(declaredLength(request) > config.maxBodyBytes)) response.writeContinue();
    onRequest(request, response);
  });
  server.on('clientError', answerBrokenRequest);
  return {
    server,
    async stop() {
      await connections.drain();
      refusals.stop();
    },
  };
}

/** Whoever sends or reads slowly, as anybody can, must not take all the time there is to stop. */
function drainMs({ drainTimeoutMs, stopDelayMs }: GatewayDependencies['config']): number {
  const leftMs = Math.max(0, drainTimeoutMs - stopDelayMs);
  return Math.min(wholeRequestTimeoutMs, Math.max(leftMs - restAfterDrainMs, leftMs / 2));
}

/** @returns false for a path that has nothing to do with flags. */
function serveFlagPath(
  request: IncomingMessage,
  response: ServerResponse,
  { path, query }: { path: string; query: string },
  flags: DefinitionDependencies,
): boolean {
  const flagPath = findFlagPath(path);
  if (flagPath !== undefined) {
    void flagRoute(request, response, { path: flagPath, query }, flags);
    return true;
  }
  const target = findDefinitionTarget(path);
  if (target !== undefined) void definitionRoute(request, response, { target, query }, flags);
  return target !== undefined;
}

/** Capture v1, whose batches are large: what Express costs is not noticed. */
function captureV1Route(capture: CaptureDependencies): Router {
  const reader = v1Reader(capture);
  return Router().all(captureV1Path, (request, response) => {
    const requestId = String(response.getHeader('x-request-id') ?? requestIdOf(request));
    const echoed = echoedRequestId(request.headers);
    if (echoed !== null) response.setHeader('posthog-request-id', echoed);
    return captureRoute({ request, response, requestId }, reader, capture);
  });
}

/** Operational paths, preflights of any path, and the answer to what does not exist. */
function createApp({ health, uploads }: { health: Health; uploads: Uploads }, routes: Router[]): Express {
  const app = express();
  app.disable('x-powered-by');
  // Answers are read by pages of any origin and are no pages themselves. TLS is up to the operator.
  app.use(
    helmet({
      strictTransportSecurity: false,
      crossOriginResourcePolicy: false,
      crossOriginOpenerPolicy: false,
      contentSecurityPolicy: false,
    }),
  );
  app.use((request, response, next) => {
    response.set(corsHeaders(request)).set('x-request-id', requestIdOf(request));
    response.locals.uploads = uploads;
    if (request.method === 'OPTIONS') return void response.set(preflightHeaders(request)).status(200).end();
    next();
  });
  app
    .route('/')
    .get((_request, response) => void response.json({ status: 'Ok', service: 'millrace ingest' }))
    .all(onlyMethods('GET', 'HEAD', 'OPTIONS'));
  app.get(['/_liveness', '/_readiness', '/metrics'], async (request, response) => {
    const answer = await health.answer(request.path.replace(/\/$/, ''));
    response.status(answer?.status ?? 404).set('content-type', answer?.contentType ?? 'text/plain');
    response.send(answer?.body ?? '');
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
  const requestId = String(response.getHeader('x-request-id') ?? requestIdOf(request));
  return sendRefusal(request, response, toRefusal(error), {
    requestId,
    isLast: false,
    uploads: response.locals.uploads,
  });
}

/** As Node.js reports headers of more than `maxHeaderBytes`. */
const headersTooLarge = { code: 'HPE_HEADER_OVERFLOW' };

/**
 * Input that is not HTTP, or takes too long to become a request, has no response object: the answer is written by hand.
 */
function answerBrokenRequest(error: Pick<NodeJS.ErrnoException, 'code'>, socket: Duplex): void {
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
  // A client that does not close its end would keep the connection for as long as it likes.
  setTimeout(() => socket.destroy(), readingMs).unref();
}

const doubled = /\/{2,}/g;

/**
 * An address whose path has single slashes only. SDKs that are given a host with a slash at its end ask for `//batch`.
 * The query stays as it is.
 */
function withSingleSlashes(url: string): string {
  const mark = url.indexOf('?');
  const pathEnd = mark < 0 ? url.length : mark;
  const at = url.indexOf('//');
  // A whole address, which a proxy may send, has two slashes that belong to it.
  if (at < 0 || at >= pathEnd || url[0] !== '/') return url;
  return url.slice(0, pathEnd).replace(doubled, '/') + url.slice(pathEnd);
}
