/** Defines the declaration of a route, and the request that its handler gets. */

import type { Readable } from 'node:stream';
import type { MembershipLevel, Scope } from '@millrace/contracts';
import { type Static, type TObject, type TSchema, Type } from 'typebox';
import type { MessageStream, PageStream, TextContent, WithHeaders, WithStatus } from './results.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
/**
 * The status of a successful response. A route can also declare that it always fails: 405 for a method that returns an
 * empty body after key, scope and path were checked (docs/api/README.md#routes-and-fields), or 400 with a body that
 * differs from other errors.
 */
type SuccessStatus = 200 | 201 | 202 | 204 | 400 | 405;

export interface ResponseDeclaration<S extends TSchema = TSchema> {
  description: string;
  schema?: S;
  /**
   * If true, the body is empty unless the request contains `Prefer: return=representation` (RFC 7240). With this
   * header, the body contains the result of the handler, and the response has the header `Preference-Applied`. It is
   * for actions of the PostHog API that return 200 without a body.
   */
  onlyIfPreferred?: true;
  /** Another type that a request can ask for. The handler then returns `TextContent`. */
  text?: { mediaType: string; example: string };
  /**
   * If set, the response is a stream of messages that lasts as long as the client stays connected. The handler returns
   * `MessageStream`.
   */
  stream?: { mediaType: string; example: string };
}

/**
 * Responses by status. One of them is the success. In addition to 200, a route can declare 202 and 400, which a handler
 * returns with `WithStatus`. Responses that every route can have (401, 404, …) are not listed.
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
 * A body field that Millrace does not support. All values are rejected with the message `detail`, except for those in
 * `unless`, such as the default.
 */
export type RefusedField = { detail: string; unless: readonly unknown[] };

/** A scope of a personal API key, or `public` if no key is needed. */
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
  /** The result of reading the declared file. It is undefined if the client sent none. */
  file: File | undefined;
}

/**
 * The declaration of a route. The validation, the types of the handler and the OpenAPI operation are derived from it.
 */
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
  /** Whether the GET changes something, so that HEAD is rejected. */
  isUnsafe?: true;
  /** The path, with `:name` for parameters and without a trailing slash. It is served with and without the slash. */
  path: string;
  /** A second path that existing clients use. The OpenAPI document does not list it. */
  alias?: string;
  /** Origins whose pages can read the response (CORS). If absent, only pages of this host can. */
  origins?: readonly string[];
  /** The unique name of the operation, which is also a metric label. */
  operationId: string;
  summary: string;
  description: string;
  tags: [string, ...string[]];
  scope: S;
  params?: P;
  query?: Q;
  /** The query parameters that some clients send and that are rejected, each with its error message. */
  refusedQuery?: Record<string, string>;
  /**
   * The query parameters that some clients send and that have no effect, each with the reason. The handler does not get
   * them.
   */
  queryWithoutEffect?: Record<string, string>;
  body?: B;
  /** The body fields that some clients send and that are rejected. */
  refusedBody?: Record<string, RefusedField>;
  /** A file with which the body can also be sent as a form. */
  file?: FileField<File>;
  responses: R;
  examples?: { request?: unknown; response?: unknown };
  /**
   * The membership level that the caller must have for the record in the path: 8 (administrator) or 15 (owner), see
   * `membershipLevels`. It is checked after `target`, which must return an object with the caller's `level`, and before
   * query and body. If absent, any level that `target` accepts is enough.
   */
  level?: MembershipLevel;
  /** Whether the route requires a recent sign-in (`Access.requireRecent`). */
  isSensitive?: true;
  /**
   * Whether the route can be called before the caller has provided or set up a second factor
   * (`Access.requireSecondFactor`).
   */
  isBeforeSecondFactor?: true;
  /**
   * Finds the record in the path and checks the caller's access to it, before query and body are parsed
   * (docs/api/README.md#requests).
   */
  target?: (context: TargetContext<CallerOf<Caller, S>, Static<P>>) => Promise<Target>;
  handler: (
    context: HandlerContext<CallerOf<Caller, S>, Target, Static<P>, Static<Q>, Static<B>, File>,
  ) => Promise<SuccessValue<R> | StreamOf<SuccessValue<R>> | WithHeaders<SuccessValue<R>> | WithStatus>;
}

/** A declared route in the form that the pipeline uses, with erased types and default values. */
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
  /** The schema of the body. If absent, the body is not read. */
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
  /** The ID of the request: from `X-Request-Id`, or generated. It is also in the response and in the log. */
  id: string;
  method: string;
  /**
   * The scheme and host that the caller used, without a trailing slash. Use it only for links, because the caller can
   * choose it.
   */
  baseUrl: string;
  /** The configured public URL, without a trailing slash. It is null if the operator has not set one. */
  publicUrl: string | null;
  /** The path as the caller sent it, with or without a trailing slash. */
  path: string;
  /** The client's IP address as seen by the last trusted proxy. It is empty if the connection is closed. */
  address: string;
  query: URLSearchParams;
  header(name: string): string | undefined;
  /** Returns a signal that is aborted if the client disconnects before it has the response. */
  disconnectSignal(): AbortSignal;
  /**
   * Returns the parsed JSON body, or `{}` if it is empty. It is read once. Use it only for authenticated callers,
   * because it can be large.
   * @throws AppError like `createJsonBodyReader`
   */
  body(): Promise<unknown>;
  /**
   * Returns the body of any caller, but only if it is small and not compressed. Otherwise like `body`.
   * @throws AppError
   */
  smallBody(): Promise<unknown>;
  /**
   * Reads the body as a form with a file, once. Use it only for authenticated callers.
   * @throws AppError like `readForm`
   */
  form<File>(file: FileField<File>): Promise<Form<File>>;
}

/** A file in a `multipart/form-data` body. It is read as it arrives, and only the result of `read` is kept. */
export interface FileField<File> {
  name: string;
  description: string;
  maxBytes: number;
  /**
   * Reads the file as it arrives. Content that it does not read is discarded.
   * @throws AppError `invalid` naming the part
   */
  read(content: Readable): Promise<File>;
}

/** A `multipart/form-data` body: its fields as sent, and the result of reading the file. */
export interface Form<File> {
  fields: Record<string, string>;
  /** Undefined if no file was sent. */
  file: File | undefined;
}

type StreamOf<Value> = Value extends { results: unknown[] } ? PageStream<Value> : never;

/**
 * One of several paths under which the same routes are served, and the record to which it refers. For example,
 * `/api/projects/:project_id` and `/api/environments/:project_id`.
 */
export interface BasePath<Caller, Found> {
  path: string;
  /** The prefix of the operation ids. */
  operations: string;
  params: TObject;
  /** Finds the record in the base path and checks the caller's access to it, before the route does. */
  find: (context: BaseContext<Caller, unknown>) => Promise<Found>;
}

/** The part of a request that a base path can read. */
export interface BaseContext<Caller, P> extends TargetContext<Caller, P> {
  /** The requested route: its path after the base path, and its scope. */
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
  /** The operation ID after the prefix of the base path. */
  operationId: string;
  params?: P;
  /** Finds the target, starting from the record of the base path. By default, that record is the target. */
  target?: (context: TargetContext<Caller, Static<P>> & { found: Found }) => Promise<Target>;
}

const noFields = Type.Object({});

/** Creates the functions with which a service declares routes for its type of caller. */
export function routeDefiner<Caller>() {
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
      // The types are erased only here. The pipeline passes exactly the values that it parsed with these schemas.
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

  /** Declares a base path. The types of its parameters are erased here, like those of routes. */
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
