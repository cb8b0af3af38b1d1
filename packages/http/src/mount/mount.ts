import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError, type Logger, type Metrics } from '@millrace/runtime';
import { type ApiRequest, type Route, TextContent } from '../route/route.ts';
import { compileSchema, compileSerializer, describeSchemaFailure } from '../schema/compile.ts';
import { type Access, answer } from './answer.ts';
import { type Answer, createRouteMetrics, type ExchangeDeps, exchange } from './exchange.ts';
import { createPathTable, pathOf } from './path-table.ts';
import { createJsonBodyReader } from './read-json-body.ts';

export interface MountDeps<Caller> {
  access: Access<Caller>;
  logger: Logger;
  metrics: Metrics;
  /** Address for absolute links; without it the request's own host. */
  publicUrl?: string | undefined;
  /** How many proxies of ours are in front, whose `X-Forwarded-…` is believed; none by default. */
  trustedProxies?: number | undefined;
  /** Largest request body, inflated. Default 1 MiB. */
  bodyLimitBytes?: number;
  /**
   * For tests and development: compiles every schema at once, and turns an answer that does not fit its declared schema
   * into a 500.
   */
  checkResponses?: boolean;
  /** Gives meaning to errors this package cannot know, e.g. those of a database; null for the rest. */
  translateError?: (error: unknown) => AppError | null;
}

/**
 * A listener of Node's HTTP server that serves the routes, each with and without a trailing slash and without a redirect.
 * A known path answers 405 to other methods, everything else 404 `Endpoint not found.`
 *
 * It stands on Node alone: what Express does for a request before a route sees it was a quarter of the time of a list.
 *
 * @throws Error at start when the schema of a response is not usable; with `checkResponses` for any schema.
 */
export function mount<Caller>(
  routes: readonly Route<Caller>[],
  deps: MountDeps<Caller>,
): (request: IncomingMessage, response: ServerResponse) => void {
  const bodyLimitBytes = deps.bodyLimitBytes ?? 1024 * 1024;
  const exchangeDeps: ExchangeDeps = {
    logger: deps.logger,
    routeMetrics: createRouteMetrics(deps.metrics),
    bodies: createJsonBodyReader(bodyLimitBytes),
    bodyLimitBytes,
    publicUrl: deps.publicUrl,
    trustedProxies: deps.trustedProxies ?? 0,
    translateError: deps.translateError ?? (() => null),
  };
  const paths = [...new Set(routes.map((route) => route.path))];
  const find = createPathTable(
    paths.map((path) => ({
      path,
      value: prepareRoutes(
        routes.filter((route) => route.path === path),
        deps,
      ),
    })),
  );

  function serveRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = pathOf(request.url ?? '');
    const found = find(path);
    if (found.kind !== 'found') {
      return exchange({ operation: 'unknown_path' }, exchangeDeps, { request, response, path }, async () => {
        throw found.kind === 'unknown'
          ? new AppError('not_found', 'Endpoint not found.')
          : new AppError('invalid', 'The address is not valid percent-encoded UTF-8.', { code: 'parse_error' });
      });
    }
    const { allow, byMethod, refuse } = found.value;
    const { operation, run } = byMethod.get(request.method ?? '') ?? refuse;
    return exchange({ operation, allow }, exchangeDeps, { request, response, path }, (apiRequest) =>
      run(apiRequest, found.params),
    );
  }

  return (request, response) => {
    serveRequest(request, response).catch((error) => {
      // An error is answered inside; this one came while answering.
      deps.logger.error('an answer could not be sent', { error });
      response.destroy();
    });
  };
}

interface PreparedRoute {
  /** Metric label and the name in the log. */
  operation: string;
  run(request: ApiRequest, params: Record<string, unknown>): Promise<Answer>;
}

/** What one path answers: to the methods it has, and to all others. */
function prepareRoutes<Caller>(siblings: readonly Route<Caller>[], deps: MountDeps<Caller>) {
  const byMethod = new Map<string, PreparedRoute>();
  for (const route of siblings) {
    const prepared = { operation: route.operationId, run: prepare(route, deps) };
    byMethod.set(route.method, prepared);
    // The server itself leaves the body out.
    if (hasHead(route)) byMethod.set('HEAD', prepared);
  }
  const refuse: PreparedRoute = {
    operation: 'method_not_allowed',
    run: (request) => refuseMethod(siblings, deps.access, request),
  };
  return { allow: allowedMethods(siblings).join(', '), byMethod, refuse };
}

function prepare<Caller>(route: Route<Caller>, { access, checkResponses = false }: MountDeps<Caller>) {
  // Else when first used: compiling hundreds of schemas is half of a start, and most of them are asked for rarely.
  if (checkResponses) {
    for (const schema of [route.params, route.query, route.body]) if (schema) compileSchema(schema);
  }
  const { schema, text, onlyIfPreferred = false } = route.responses[route.successStatus] ?? {};
  const serialize = schema && compileSerializer(schema);
  return async (request: ApiRequest, params: Record<string, unknown>): Promise<Answer> => {
    const result = await answer(route, access, request, params);
    if (text && result instanceof TextContent) {
      const content = { mediaType: text.mediaType, content: result.text };
      return { status: route.successStatus, text: content, headers: result.headers };
    }
    const isPreferred = onlyIfPreferred && prefersRepresentation(request);
    if (!schema || !serialize || (onlyIfPreferred && !isPreferred)) return { status: route.successStatus };
    const value = serialize(result);
    const failure = checkResponses ? describeSchemaFailure(schema, JSON.parse(JSON.stringify(value))) : null;
    if (failure) throw new AppError('internal', `The answer does not fit its schema: ${failure}`);
    const headers: Record<string, string> = isPreferred ? { 'Preference-Applied': 'return=representation' } : {};
    return { status: route.successStatus, value, headers };
  };
}

/** HEAD is answered by a GET that changes nothing. */
function hasHead<Caller>({ method, isUnsafe }: Route<Caller>): boolean {
  return method === 'GET' && isUnsafe !== true;
}

/** What `Allow` names: every method that does something here. */
function allowedMethods<Caller>(siblings: readonly Route<Caller>[]): string[] {
  const methods = siblings.filter((route) => route.successStatus !== 405).map((route) => route.method);
  return [...methods, ...(siblings.some(hasHead) ? ['HEAD'] : []), 'OPTIONS'];
}

/** Who may not call at all learns nothing about methods: 401 goes before 405 (docs/api-rules.md#order-of-checks). */
async function refuseMethod<Caller>(
  siblings: readonly Route<Caller>[],
  access: Access<Caller>,
  request: ApiRequest,
): Promise<Answer> {
  if (siblings.every((route) => route.scope !== 'public')) await access.authenticate(request);
  if (request.method === 'OPTIONS') return { status: 204 };
  throw new AppError('method_not_allowed', `Method "${request.method}" not allowed.`);
}

/**
 * Whether the request asks for the changed record in the answer: `Prefer: return=representation` (RFC 7240), alone or
 * among other preferences, in any case and with or without quotes.
 */
function prefersRepresentation(request: ApiRequest): boolean {
  const preferences = (request.header('prefer') ?? '').toLowerCase().split(/[,;]/);
  return preferences.some((preference) => /^\s*return\s*=\s*"?representation"?\s*$/.test(preference));
}
