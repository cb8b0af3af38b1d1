// Serves the declared routes. For each request, finds the route, authenticates the caller, validates the input and
// sends the response.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError, type Logger, type Metrics } from '@millrace/runtime';
import type { TSchema } from 'typebox';
import type { PageRoute } from '../route/page-route.ts';
import { MessageStream, PageStream, TextContent, WithHeaders, WithStatus } from '../route/results.ts';
import type { ApiRequest, Route } from '../route/route.ts';
import { compileSerializer, describeSchemaFailure } from '../schema/compile.ts';
import { shapeOf } from '../schema/schema-shape.ts';
import { allowOrigin } from './allow-origin.ts';
import { createPathTable, type PathMatch, readRequestPath } from './path-table.ts';
import { readForm } from './read-form.ts';
import { createJsonBodyReader, type JsonBodyReader } from './read-json-body.ts';
import {
  type Access,
  authenticateCaller,
  parseBody,
  parseParams,
  parseQuery,
  requireAcceptableType,
  requireMembershipLevel,
} from './read-request.ts';
import { sendPage } from './send-page.ts';
import { beginResponse, createRouteMetrics, type ResponseContent, sendError, sendResponse } from './send-response.ts';
import { requestIdFrom, toApiRequest } from './to-api-request.ts';

export interface MountDeps<Caller> {
  access: Access<Caller>;
  logger: Logger;
  metrics: Metrics;
  /** Base URL for absolute links. Defaults to the host of the request. */
  publicUrl?: string | undefined;
  /** The number of proxies that the operator runs. Their `X-Forwarded-…` headers are trusted. The default is 0. */
  trustedProxies?: number | undefined;
  /** Routes that are not in the API documentation. */
  pages?: readonly PageRoute[];
  /** The maximum request body size for API routes after decompression. The default is 1 MiB. */
  bodyLimitBytes?: number;
  /** Whether a response that does not match its schema is replaced with a 500 response. For tests and development. */
  checkResponses?: boolean;
  /** Translates errors from outside this package, such as database errors. Returns null for an unknown error. */
  translateError?: (error: unknown) => AppError | null;
}

/**
 * Creates a listener for Node's HTTP server that serves the API routes and the pages. Each path works with and without
 * a trailing slash, and without a redirect. A known path returns 405 for other methods, and every other path returns
 * 404 `Endpoint not found.`
 *
 * This function does not use Express, whose routing alone would add a quarter to the time of a list request.
 * @throws Error at startup if a response schema cannot be used (`findRouteProblems` finds other unusable schemas), or
 *   if two paths match the same requests
 */
export function createRequestListener<Caller>(
  routes: readonly Route<Caller>[],
  deps: MountDeps<Caller>,
): (request: IncomingMessage, response: ServerResponse) => void {
  const { access, logger, publicUrl, trustedProxies = 0, bodyLimitBytes = defaultBodyLimitBytes, pages = [] } = deps;
  const translateError = deps.translateError ?? (() => null);
  const routeMetrics = createRouteMetrics(deps.metrics);
  const bodies = createJsonBodyReader(bodyLimitBytes);
  const findPath = createPathTable(pathsOf(routes, pages, deps.checkResponses ?? false));

  /**
   * Handles one API request from the socket to its response, in the order of docs/api/README.md#order-of-checks. The
   * first step that rejects the request throws an error, which becomes the response.
   */
  async function serveRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const found = findPath(readRequestPath(request.url ?? ''));
    const id = requestIdFrom(request.headers['x-request-id']);
    const { page, entry } = choose(found, request);
    if (page !== undefined && found.kind === 'found') {
      return servePage(page, { request, response, id, params: found.params });
    }
    if (entry?.origins !== undefined) allowOrigin(request, response, entry.origins);
    const served = entry?.byMethod.get(request.method ?? '');
    const operation = served?.route.operationId ?? (entry ? 'method_not_allowed' : 'unknown_path');
    beginResponse(response, { operation, id, allow: entry?.allow }, routeMetrics);
    try {
      const apiRequest = describeRequest(request, response, { id, publicUrl, trustedProxies, bodies, bodyLimitBytes });
      if (found.kind !== 'found' || entry === undefined) throw noSuchPath(found.kind);
      if (served === undefined) return sendResponse(response, await refuseMethod(entry.siblings, access, apiRequest));

      const { route, toContent } = served;
      requireAcceptableType(route, apiRequest);
      const caller = await authenticateCaller(route, access, apiRequest);
      const params = parseParams(route, found.params);
      const target = await route.target({ caller, params, request: apiRequest });
      requireMembershipLevel(route, access, target);
      const query = parseQuery(route, apiRequest.query);
      const { body, file } = await parseBody(route, apiRequest);
      const result = await route.handler({ caller, params, target, query, body, file, request: apiRequest });
      if (result instanceof PageStream) await sendPage(response, result, pageOf(served, request.method));
      else sendResponse(response, toContent(result, apiRequest));
    } catch (error) {
      const known = error instanceof AppError ? error : (translateError(error) ?? error);
      if (response.headersSent) noteBrokenPage(known, { operation, id });
      else sendError(response, known, { operation, id, logger });
    }
  }

  /**
   * Serves a page. The page writes its own response. If it throws an error, the client gets the API's error response.
   */
  async function servePage(
    { page, bodies, bodyLimitBytes }: MountedPage,
    { request: incoming, response, id, params }: PageCall,
  ): Promise<void> {
    try {
      const known = { id, publicUrl, trustedProxies, bodies, bodyLimitBytes };
      await page.serve({ request: describeRequest(incoming, response, known), params, incoming, response });
    } catch (error) {
      if (response.headersSent) throw error;
      beginResponse(response, { operation: 'page', id, allow: undefined }, routeMetrics);
      sendError(response, translateError(error) ?? error, { operation: 'page', id, logger });
    }
  }

  /**
   * Logs an error that occurs after the headers were sent. The client notices the error because the connection is
   * closed. Ignores clients that disconnect.
   */
  function noteBrokenPage(error: unknown, { operation, id }: { operation: string; id: string }): void {
    if ((error as { code?: unknown } | null)?.code === 'ERR_STREAM_PREMATURE_CLOSE') return;
    logger.log('warn', 'page aborted while it was being sent', { requestId: id, operation, error });
  }

  return (request, response) => {
    serveRequest(request, response).catch((error) => {
      // Errors during request processing are handled before this point, so this error occurred while sending the
      // response.
      logger.error('could not send a response', { error });
      response.destroy();
    });
  };
}

interface PageCall {
  request: IncomingMessage;
  response: ServerResponse;
  id: string;
  params: Record<string, string>;
}

function describeRequest(
  request: IncomingMessage,
  response: ServerResponse,
  {
    bodies,
    bodyLimitBytes,
    ...known
  }: {
    id: string;
    publicUrl: string | undefined;
    trustedProxies: number;
    bodies: JsonBodyReader;
    bodyLimitBytes: number;
  },
): ApiRequest {
  return toApiRequest(request, {
    ...known,
    path: readRequestPath(request.url ?? ''),
    disconnectSignal: () => disconnectSignal(response),
    readBody: () => bodies.read(request, response),
    readSmallBody: () => bodies.readSmall(request),
    readForm: (file) => readForm(request, file, bodyLimitBytes),
  });
}

/** Returns a signal that aborts if the connection closes before the response is complete. */
function disconnectSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const leave = () => {
    if (!response.writableFinished) controller.abort(new AppError('timeout', 'The client closed the connection.'));
  };
  if (response.closed) leave();
  else response.once('close', leave);
  return controller.signal;
}

function noSuchPath(kind: PathMatch<unknown>['kind']): AppError {
  return kind === 'undecodable'
    ? new AppError('invalid', 'The URL is not valid percent-encoded UTF-8.', { code: 'parse_error' })
    : new AppError('not_found', 'Endpoint not found.');
}

interface PathEntry<Caller> {
  siblings: Route<Caller>[];
  byMethod: Map<string, Served<Caller>>;
  pages: MountedPage[];
  allow: string;
  origins: readonly string[] | undefined;
}

interface MountedPage {
  page: PageRoute;
  bodies: JsonBodyReader;
  bodyLimitBytes: number;
}

const defaultBodyLimitBytes = 1024 * 1024;

function pathsOf<Caller>(routes: readonly Route<Caller>[], pages: readonly PageRoute[], checkResponses: boolean) {
  const aliases = routes.flatMap((route) => (route.alias === undefined ? [] : [{ ...route, path: route.alias }]));
  const all = [...routes, ...aliases];
  return [...new Set([...all, ...pages].map(({ path }) => path))].map((path) => {
    const siblings = all.filter((route) => route.path === path);
    const byMethod = new Map<string, Served<Caller>>();
    for (const route of siblings) {
      const served = { route, ...createResponders(route, checkResponses) };
      byMethod.set(route.method, served);
      // Node.js omits the body from HEAD responses.
      if (hasHead(route)) byMethod.set('HEAD', served);
    }
    const mounted = pages
      .filter((page) => page.path === path)
      .map((page) => {
        const { bodyLimitBytes = defaultBodyLimitBytes } = page;
        return { page, bodyLimitBytes, bodies: createJsonBodyReader(bodyLimitBytes) };
      });
    const allow = allowedMethods(siblings, mounted).join(', ');
    const origins = siblings.find((route) => route.origins !== undefined)?.origins;
    return { path, value: { siblings, byMethod, pages: mounted, allow, origins } };
  });
}

/**
 * Returns the page for a request. If no page accepts the request, returns the API routes of its path, or no routes if
 * the path has only pages.
 */
function choose<Caller>(
  found: PathMatch<PathEntry<Caller>>,
  request: IncomingMessage,
): { page?: MountedPage; entry?: PathEntry<Caller> } {
  if (found.kind !== 'found') return {};
  const { value: entry } = found;
  const accepting = entry.pages.filter(({ page }) => page.accepts?.(request) ?? true);
  const page = accepting.find(({ page: { methods } }) => methods === 'any' || methods.includes(request.method ?? ''));
  if (page !== undefined) return { page };
  return entry.siblings.length > 0 || accepting.length > 0 ? { entry } : {};
}

interface Served<Caller> extends ReturnType<typeof createResponders> {
  route: Route<Caller>;
}

function pageOf<Caller>({ route, toPage }: Served<Caller>, method: string | undefined) {
  return { status: route.successStatus, serialize: toPage, isHead: method === 'HEAD' };
}

/**
 * Creates two functions for a route: one converts the result of the handler to a response, and the other copies the
 * declared fields of a page.
 */
function createResponders<Caller>(route: Route<Caller>, checkResponses: boolean) {
  const { schema, text, stream, onlyIfPreferred = false } = route.responses[route.successStatus] ?? {};
  const serialize = schema && compileSerializer(schema);
  const check = (declared: TSchema, value: unknown) => {
    const failure = checkResponses ? describeSchemaFailure(declared, JSON.parse(JSON.stringify(value))) : null;
    if (failure) throw new AppError('internal', `The response does not match its schema: ${failure}`);
  };
  const toContent = (result: unknown, request: ApiRequest): ResponseContent => {
    if (result instanceof WithStatus) {
      const { status, value } = result;
      const declared = route.responses[status]?.schema;
      if (declared === undefined)
        throw new AppError('internal', `The route declares no response with status ${status}.`);
      check(declared, value);
      return { status, value };
    }
    if (result instanceof WithHeaders) {
      const { headers, ...content } = toContent(result.value, request);
      return { ...content, headers: { ...headers, ...result.headers } };
    }
    if (text && result instanceof TextContent) {
      const content = { mediaType: text.mediaType, content: result.text };
      return { status: route.successStatus, text: content, headers: result.headers };
    }
    if (stream && result instanceof MessageStream) {
      const { headers, begin } = result;
      return { status: route.successStatus, stream: { mediaType: stream.mediaType, begin }, headers };
    }
    const isPreferred = onlyIfPreferred && prefersRepresentation(request);
    if (!schema || !serialize || (onlyIfPreferred && !isPreferred)) return { status: route.successStatus };
    const value = serialize(result);
    check(schema, value);
    const headers: Record<string, string> = isPreferred ? { 'Preference-Applied': 'return=representation' } : {};
    return { status: route.successStatus, value, headers };
  };
  const toPage = (fields: Record<string, unknown>): Record<string, unknown> => {
    if (!schema || !serialize) throw new AppError('internal', 'The route does not declare a page.');
    const value = serialize(fields) as Record<string, unknown>;
    const { properties = {} } = shapeOf(schema);
    for (const name of Object.keys(fields)) {
      const field = properties[name];
      if (field !== undefined) check(field, value[name]);
    }
    return value;
  };
  return { toContent, toPage };
}

/** HEAD is supported by all GET routes without side effects. */
function hasHead<Caller>({ method, isUnsafe }: Route<Caller>): boolean {
  return method === 'GET' && isUnsafe !== true;
}

function allowedMethods<Caller>(siblings: readonly Route<Caller>[], mounted: readonly MountedPage[]): string[] {
  const methods: string[] = siblings.filter((route) => route.successStatus !== 405).map((route) => route.method);
  if (siblings.some(hasHead)) methods.push('HEAD');
  for (const { page } of mounted) if (page.methods !== 'any') methods.push(...page.methods);
  return [...new Set([...methods, 'OPTIONS'])];
}

/**
 * Returns the error for an unsupported method. A caller without valid credentials gets 401 instead, so that the caller
 * cannot find out which methods exist (docs/api/README.md#order-of-checks).
 */
async function refuseMethod<Caller>(
  siblings: readonly Route<Caller>[],
  access: Access<Caller>,
  request: ApiRequest,
): Promise<ResponseContent> {
  if (siblings.length > 0 && siblings.every((route) => route.scope !== 'public'))
    await access.authenticate(request, false);
  if (request.method === 'OPTIONS') return { status: 204 };
  throw new AppError('method_not_allowed', `Method "${request.method}" not allowed.`);
}

/**
 * Returns whether the client requests the changed record in the response with `Prefer: return=representation` (RFC
 * 7240). The header can contain several preferences, is not case-sensitive, and may quote the value.
 */
function prefersRepresentation(request: ApiRequest): boolean {
  const preferences = (request.header('prefer') ?? '').toLowerCase().split(/[,;]/);
  return preferences.some((preference) => /^\s*return\s*=\s*"?representation"?\s*$/.test(preference));
}
