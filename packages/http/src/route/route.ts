/** Defines route declarations, and the request that a handler receives. */

import type { Readable } from 'node:stream';
import type { MembershipLevel, Scope } from '@millrace/contracts';
import { type Static, type TObject, type TSchema, Type } from 'typebox';
import type { MessageStream, PageStream, TextContent, WithHeaders, WithStatus } from './results.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
/**
 * The status of a route's success response. Routes that always fail declare 400 or 405 instead: 405 has an empty body,
 * and is sent after the key, the scope and the path were checked (docs/api/README.md#routes-and-fields). 400 has a body
 * that differs from other errors.
 */
type SuccessStatus = 200 | 201 | 202 | 204 | 400 | 405;

export interface ResponseDeclaration<S extends TSchema = TSchema> {
  description: string;
  schema?: S;
  /**
   * Whether the body is empty unless the request contains `Prefer: return=representation` (RFC 7240). With this header,
   * the body contains the handler's result, and the response has the header `Preference-Applied`. For actions of the
   * PostHog API that return 200 without a body.
   */
  onlyIfPreferred?: true;
  /** A text format that requests can select instead of JSON. The handler then returns `TextContent`. */
  text?: { mediaType: string; example: string };
  /**
   * If set, the response is a stream of messages that lasts as long as the client stays connected. The handler returns
   * `MessageStream`.
   */
  stream?: { mediaType: string; example: string };
}

/**
 * Responses by status. Exactly one of them is the success response. In addition to 200, a route can declare 202 and
 * 400. A handler returns these with `WithStatus`. Responses that every route can have (401, 404, …) are not listed.
 */
type ResponseDeclarations = Partial<Record<SuccessStatus | 401 | 402 | 403 | 404 | 409, ResponseDeclaration>>;

export type SuccessValue<R extends ResponseDeclarations> = {
  [S in keyof R & SuccessStatus]: S extends OtherStatus<R>
    ? never
    : R[S] extends { stream: object }
      ? MessageStream
      : R[S] extends { schema: infer B extends TSchema; text: object }
        ? Static<B> | TextContent
        : R[S] extends { schema: infer B extends TSchema }
          ? Static<B>
          : undefined;
}[keyof R & SuccessStatus];

type OtherStatus<R extends ResponseDeclarations> = 200 extends keyof R ? 202 | 400 : never;

/**
 * A body field that Millrace does not support. The values in `unless`, such as the default, are accepted. Any other
 * value is rejected with the message `detail`.
 */
export type RefusedField = { detail: string; unless: readonly unknown[] };

/** A personal API key scope, or `public` if no key is needed. */
export type RouteScope = Scope | 'public';

export type CallerOf<Caller, S extends RouteScope> = S extends 'public' ? null : Caller;

export interface TargetContext<Caller, P> {
  caller: Caller;
  params: P;
  request: ApiRequest;
}

export interface HandlerContext<Caller, Target, P, Q, B, File = undefined> extends TargetContext<Caller, P> {
  target: Target;
  query: Q;
  body: B;
  /** The result of reading the file, or undefined if the client did not send a file. */
  file: File | undefined;
}

/** The declaration of a route. Validation, the handler's types and the OpenAPI operation are derived from it. */
interface RouteDeclaration<
  Caller,
  S extends RouteScope,
  Target,
  P extends TObject,
  Q extends TObject,
  B extends TSchema,
  R extends ResponseDeclarations,
  File = undefined,
> {
  method: Method;
  /** Whether this GET route has side effects. If it does, it rejects HEAD. */
  isUnsafe?: true;
  /** Path of the route, with `:name` for parameters. Requests match with and without a trailing slash. */
  path: string;
  /** A second path that existing clients use. The OpenAPI document does not list this path. */
  alias?: string;
  /** Origins whose pages can read the response (CORS). If absent, only pages on the service's own host can. */
  origins?: readonly string[];
  /** The operation's unique name. It is also used as a metric label. */
  operationId: string;
  summary: string;
  description: string;
  tags: [string, ...string[]];
  scope: S;
  params?: P;
  query?: Q;
  /** Query parameters that some clients send but Millrace rejects, each with its error message. */
  refusedQuery?: Record<string, string>;
  /**
   * Query parameters that some clients send and that have no effect, each with the reason. The handler does not receive
   * them.
   */
  queryWithoutEffect?: Record<string, string>;
  body?: B;
  refusedBody?: Record<string, RefusedField>;
  /** A file that a multipart form can contain in addition to the body's fields. */
  file?: FileField<File>;
  responses: R;
  examples?: { request?: unknown; response?: unknown };
  /**
   * Membership level that the caller must have for the record in the path: 8 (administrator) or 15 (owner), see
   * `membershipLevels`. The level is checked after `target`, which must return an object with the caller's `level`, and
   * before the query and the body are parsed. If absent, any level that `target` accepts is enough.
   */
  level?: MembershipLevel;
  isSensitive?: true;
  /**
   * Whether the route can be called before the caller has provided or set up a second factor
   * (`Access.requireSecondFactor`).
   */
  isBeforeSecondFactor?: true;
  /**
   * Finds the record in the path and checks the caller's access to it, before the query and the body are parsed
   * (docs/api/README.md#requests).
   */
  target?: (context: TargetContext<CallerOf<Caller, S>, Static<P>>) => Promise<Target>;
  handler: (
    context: HandlerContext<CallerOf<Caller, S>, Target, Static<P>, Static<Q>, Static<B>, File>,
  ) => Promise<SuccessValue<R> | StreamOf<SuccessValue<R>> | WithHeaders<SuccessValue<R>> | WithStatus>;
}

/** A declared route in the form that the pipeline uses, with erased types and all defaults. */
export interface Route<Caller> {
  method: Method;
  isUnsafe?: true;
  path: string;
  alias?: string;
  origins?: readonly string[];
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  scope: RouteScope;
  level?: MembershipLevel;
  isSensitive?: true;
  isBeforeSecondFactor?: true;
  params: TObject;
  query: TObject;
  refusedQuery?: Record<string, string>;
  queryWithoutEffect?: Record<string, string>;
  /** If absent, the body is not read. */
  body?: TSchema;
  refusedBody?: Record<string, RefusedField>;
  file?: FileField<unknown>;
  responses: ResponseDeclarations;
  successStatus: SuccessStatus;
  examples: { request?: unknown; response?: unknown };
  target: (context: TargetContext<Caller | null, unknown>) => Promise<unknown>;
  handler: (context: HandlerContext<Caller | null, unknown, unknown, unknown, unknown, unknown>) => Promise<unknown>;
}

export interface ApiRequest {
  /** The request ID: from `X-Request-Id`, or generated. It is returned in the response and logged. */
  id: string;
  method: string;
  /**
   * Scheme and host that the caller used, without a trailing slash. Use this URL only for links, because the caller can
   * choose the host.
   */
  baseUrl: string;
  /** The configured public URL without a trailing slash, or null if it is not configured. */
  publicUrl: string | null;
  path: string;
  /** The client's IP address as seen by the last trusted proxy, or an empty string if the connection is closed. */
  address: string;
  query: URLSearchParams;
  header(name: string): string | undefined;
  /** Returns a signal that aborts if the client disconnects before the response is complete. */
  disconnectSignal(): AbortSignal;
  /**
   * Reads the body once, and returns the parsed JSON, or `{}` for an empty body. Use this method only for authenticated
   * callers, because the body can be large.
   * @throws AppError like `createJsonBodyReader`
   */
  body(): Promise<unknown>;
  /**
   * Like `body`, but accepts only small, uncompressed bodies, and can be used for callers without credentials.
   * @throws AppError
   */
  smallBody(): Promise<unknown>;
  /**
   * Reads the body once as a form with a file. Use this method only for authenticated callers.
   * @throws AppError like `readForm`
   */
  form<File>(file: FileField<File>): Promise<Form<File>>;
}

/** A file in a `multipart/form-data` body. The file is read as a stream, and only the result of `read` is kept. */
export interface FileField<File> {
  name: string;
  description: string;
  maxBytes: number;
  /**
   * Reads the file as a stream. Unread content is discarded.
   * @throws AppError `invalid` naming the file's form field
   */
  read(content: Readable): Promise<File>;
}

export interface Form<File> {
  fields: Record<string, string>;
  /** Undefined if the client did not send a file. */
  file: File | undefined;
}

type StreamOf<Value> = Value extends { results: unknown[] } ? PageStream<Value> : never;

/**
 * One of several paths that serve the same routes, and the record that the path refers to. For example,
 * `/api/projects/:project_id` and `/api/environments/:project_id`.
 */
export interface BasePath<Caller, Found> {
  path: string;
  /** Prefix of the operation IDs. */
  operations: string;
  params: TObject;
  /** Finds the base path's record and checks the caller's access to it, before the route's `target` runs. */
  find: (context: BaseContext<Caller, unknown>) => Promise<Found>;
}

export interface BaseContext<Caller, P> extends TargetContext<Caller, P> {
  route: { path: string; scope: Scope };
}

interface SharedRouteDeclaration<
  Caller,
  S extends RouteScope,
  Found,
  Target,
  P extends TObject,
  Q extends TObject,
  B extends TSchema,
  R extends ResponseDeclarations,
  File = undefined,
> extends Omit<RouteDeclaration<Caller, S, Target, P, Q, B, R, File>, 'target'> {
  below: readonly BasePath<Caller, Found>[];
  path: string;
  operationId: string;
  params?: P;
  /** Finds the route's target within the base path's record. By default, the target is that record. */
  target?: (context: TargetContext<Caller, Static<P>> & { found: Found }) => Promise<Target>;
}

const noFields = Type.Object({});

/** Creates the functions that a service uses to declare routes for its type of caller. */
export function createRouteDefiner<Caller>() {
  /**
   * Declares a route.
   * @throws Error at startup if the declaration does not have exactly one success response
   */
  function defineRoute<
    S extends RouteScope,
    R extends ResponseDeclarations,
    Target = undefined,
    P extends TObject = TObject,
    Q extends TObject = TObject,
    B extends TSchema = TSchema,
    File = undefined,
  >(declaration: RouteDeclaration<Caller, S, Target, P, Q, B, R, File>): Route<Caller> {
    const { target = async () => undefined, handler } = declaration;
    return {
      ...declaration,
      params: declaration.params ?? noFields,
      query: declaration.query ?? noFields,
      examples: declaration.examples ?? {},
      successStatus: successStatus(declaration.operationId, declaration.responses),
      // Erasing the types here is safe, because the pipeline passes exactly the values that it parsed with these
      // schemas.
      target: target as Route<Caller>['target'],
      handler: handler as Route<Caller>['handler'],
    };
  }

  /**
   * Declares the same route under each of its base paths.
   * @throws Error like `defineRoute`
   */
  function defineRoutes<
    S extends Scope,
    R extends ResponseDeclarations,
    Found,
    Target = Found,
    P extends TObject = TObject,
    Q extends TObject = TObject,
    B extends TSchema = TSchema,
    File = undefined,
  >({
    below,
    target,
    ...declaration
  }: SharedRouteDeclaration<Caller, S, Found, Target, P, Q, B, R, File>): Route<Caller>[] {
    const route = { path: declaration.path, scope: declaration.scope };
    return below.map((base) => ({
      ...defineRoute(declaration as RouteDeclaration<Caller, S, Target, P, Q, B, R, File>),
      path: base.path + declaration.path,
      operationId: base.operations + declaration.operationId,
      params: Type.Object({ ...base.params.properties, ...declaration.params?.properties }),
      target: async (context) => {
        const { params, request } = context;
        const known = { caller: context.caller as Caller, request };
        const found = await base.find({ ...known, params, route });
        return target === undefined ? found : target({ ...known, params: params as Static<P>, found });
      },
    }));
  }

  function basePath<P extends TObject, Found>(
    declaration: Omit<BasePath<Caller, Found>, 'params' | 'find'> & {
      params: P;
      find: (context: BaseContext<Caller, Static<P>>) => Promise<Found>;
    },
  ): BasePath<Caller, Found> {
    return { ...declaration, find: declaration.find as BasePath<Caller, Found>['find'] };
  }

  return { defineRoute, defineRoutes, basePath };
}

function successStatus(operationId: string, responses: ResponseDeclarations): SuccessStatus {
  const [status, ...others] = ([200, 201, 202, 204, 400, 405] as const).filter((candidate) => responses[candidate]);
  const isOther = (candidate: SuccessStatus) =>
    candidate === 405 || (status === 200 && (candidate === 202 || candidate === 400));
  if (status === undefined || !others.every(isOther)) {
    throw new Error(`${operationId} must declare exactly one success response.`);
  }
  return status;
}
