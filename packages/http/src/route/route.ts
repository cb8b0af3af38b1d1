/** A route as a service declares it, and the request its handler is given. */

import type { Readable, Writable } from 'node:stream';
import type { MembershipLevel, Scope } from '@millrace/contracts';
import { type Static, type TObject, type TSchema, Type } from 'typebox';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
/**
 * The status of a route that does its work. 405 declares the opposite: a method that is refused with an empty body, after
 * key, scope and address were checked (docs/api/README.md#routes-and-fields). 400 declares it too, with a body that is
 * not that of all errors.
 */
type SuccessStatus = 200 | 201 | 202 | 204 | 400 | 405;

export interface ResponseDeclaration<S extends TSchema = TSchema> {
  description: string;
  /** Absent: the answer has no body. */
  schema?: S;
  /**
   * The answer has an empty body unless the request says `Prefer: return=representation` (RFC 7240); then it holds what
   * the handler returned, with `Preference-Applied`. For actions of PostHog's API that answer with 200 and no body.
   */
  onlyIfPreferred?: true;
  /** The request may ask for this in place of the body: the handler then returns `TextContent`. */
  text?: { mediaType: string; example: string };
  /** The answer is no body but messages for as long as the client stays: the handler returns `MessageStream`. */
  stream?: { mediaType: string; example: string };
}

/**
 * Answers by status. One of them is the success; beside a 200 a 202 and a 400 may be declared, which a handler gives by
 * `WithStatus`. What the pipeline itself answers (401, 404, …) is not listed.
 */
type ResponseDeclarations = Partial<Record<SuccessStatus | 401 | 402 | 403 | 404 | 409, ResponseDeclaration>>;

/** The type of the value a handler returns: that of the declared success body. */
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

/** Declared beside a 200. */
type OtherStatus<R extends ResponseDeclarations> = 200 extends keyof R ? 202 | 400 : never;

/** A body field that a route refuses with the sentence `detail`, except for values that change nothing, such as its default. */
export type RefusedField = { detail: string; unless: readonly unknown[] };

/** A scope of a personal API key, or the explicit decision that anybody may call. */
export type RouteScope = Scope | 'public';

export type CallerOf<Caller, S extends RouteScope> = S extends 'public' ? null : Caller;

export interface TargetContext<Caller, P> {
  caller: Caller;
  params: P;
  request: ApiRequest;
}

export interface HandlerContext<Caller, Target, P, Q, B, File = undefined> extends TargetContext<Caller, P> {
  /** What `target` found. */
  target: Target;
  query: Q;
  body: B;
  /** What was made of the declared file; absent when none was sent. */
  file: File | undefined;
}

/** One declaration: validation, the types of the handler and the OpenAPI operation are made of it. */
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
  /** A GET with effects: HEAD is refused. */
  isUnsafe?: true;
  /** With `:name` for parameters and without a trailing slash; served with and without one. */
  path: string;
  /** Unique; also the metric label. */
  operationId: string;
  summary: string;
  description: string;
  tags: [string, ...string[]];
  scope: S;
  params?: P;
  query?: Q;
  /** Query parameters that clients are known to send and that are refused, with the sentence that says why. */
  refusedQuery?: Record<string, string>;
  /** Query parameters that clients are known to send and that change nothing, with the reason. The handler does not see them. */
  queryWithoutEffect?: Record<string, string>;
  body?: B;
  /** Body fields that clients are known to send and that are refused. */
  refusedBody?: Record<string, RefusedField>;
  /** The body may also come as a form, with this file. */
  file?: FileField<File>;
  responses: R;
  examples?: { request?: unknown; response?: unknown };
  /**
   * Membership level the caller needs on what the path addresses: 8 administrator, 15 owner (`membershipLevels`). Checked
   * after `target`, which must return an object with the caller's `level` there, and before query and body. Absent: any
   * level that `target` lets pass.
   */
  level?: MembershipLevel;
  /** Wants a caller who has proved a short while ago who they are (`Access.requireRecent`). */
  isSensitive?: true;
  /** May be called by who still has to show a second factor, or to set one up (`Access.requireSecondFactor`). */
  isBeforeSecondFactor?: true;
  /**
   * Finds what the path addresses and refuses what the caller may not touch, before query and body are looked at
   * (docs/api/README.md#requests).
   */
  target?: (context: TargetContext<CallerOf<Caller, S>, Static<P>>) => Promise<Target>;
  handler: (
    context: HandlerContext<CallerOf<Caller, S>, Target, Static<P>, Static<Q>, Static<B>, File>,
  ) => Promise<SuccessValue<R> | StreamOf<SuccessValue<R>> | WithHeaders<SuccessValue<R>> | WithStatus>;
}

/** A declared route as the pipeline runs it: types erased, the parts that were left out filled in. */
export interface Route<Caller> {
  method: Method;
  isUnsafe?: true;
  path: string;
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
  /** Absent: a body is not read. */
  body?: TSchema;
  refusedBody?: Record<string, RefusedField>;
  file?: FileField<unknown>;
  responses: ResponseDeclarations;
  successStatus: SuccessStatus;
  examples: { request?: unknown; response?: unknown };
  target: (context: TargetContext<Caller | null, unknown>) => Promise<unknown>;
  handler: (context: HandlerContext<Caller | null, unknown, unknown, unknown, unknown, unknown>) => Promise<unknown>;
}

/** What handlers may see of a request. */
export interface ApiRequest {
  /** From `X-Request-Id` or made here; also in the answer and in the log. */
  id: string;
  method: string;
  /** Scheme and host under which the caller reached us, without a trailing slash. For links: the caller may choose it. */
  baseUrl: string;
  /** The configured address of the installation, without a trailing slash; null if the operator has not set one. */
  publicUrl: string | null;
  /** The path as the caller wrote it, with or without its trailing slash. */
  path: string;
  /** IP address of the client as far as it can be trusted; empty when the connection is gone. */
  address: string;
  query: URLSearchParams;
  header(name: string): string | undefined;
  /** Aborts when the client leaves before it has its answer. */
  leaves(): AbortSignal;
  /**
   * The parsed JSON body, `{}` when empty; read once. Only for a caller who is known: it may be large.
   * @throws AppError, see `createJsonBodyReader`.
   */
  body(): Promise<unknown>;
  /** The same as far as anybody may have it read: small and not compressed. @throws AppError. */
  smallBody(): Promise<unknown>;
  /** The body as a form with a file, read once. Only for a caller who is known. @throws AppError, see `readForm`. */
  form<File>(file: FileField<File>): Promise<Form<File>>;
}

/**
 * A file that may come with the fields of a body, as `multipart/form-data`. It is read as it arrives: what `read` makes of
 * it is all that is ever kept of it.
 */
export interface FileField<File> {
  /** Name of the part. */
  name: string;
  description: string;
  /** Limit of the file. */
  maxBytes: number;
  /** @throws AppError `invalid` naming the part. What it does not read is thrown away. */
  read(content: Readable): Promise<File>;
}

/** A body as `multipart/form-data`: its fields as they were written, and what was made of the file. */
export interface Form<File> {
  fields: Record<string, string>;
  /** Absent: no file was sent. */
  file: File | undefined;
}

/** What a handler returns in place of the declared body where the request asked for a text, e.g. `format=csv`. */
export class TextContent {
  readonly text: string;
  readonly headers: Record<string, string>;

  /** @param headers beside the content's type, which the route declares. */
  constructor(text: string, headers: Record<string, string> = {}) {
    this.text = text;
    this.headers = headers;
  }
}

/** What a handler returns for a declared `stream`. */
export class MessageStream {
  readonly headers: Record<string, string>;
  readonly begin: (output: Writable) => void;

  /**
   * @param headers beside the content's type, which the route declares.
   * @param begin is called once, with the head on its way. It ends the output, and hears by its `close` that the client has
   *   left, which may be so already.
   */
  constructor(headers: Record<string, string>, begin: (output: Writable) => void) {
    this.headers = headers;
    this.begin = begin;
  }
}

/** A part of a page's results. */
export interface PagePortion<Page> {
  results: Page extends { results: (infer Item)[] } ? Item[] : never;
  /** The other fields of the page where this is its last portion, else null. */
  end: Omit<Page, 'results'> | null;
}

/**
 * What a handler returns for a page whose results may be large. They are read and sent portion by portion, so that no page
 * is in memory as a whole. An error of the first portion is answered like any other. After that the head is on its way, and
 * an error ends the connection before the body is complete.
 */
export class PageStream<Page> {
  readonly portions: AsyncGenerator<PagePortion<Page>, void>;

  constructor(portions: AsyncGenerator<PagePortion<Page>, void>) {
    this.portions = portions;
  }
}

/** The pages that a handler may return as a stream. */
type StreamOf<Value> = Value extends { results: unknown[] } ? PageStream<Value> : never;

/** What a handler returns in place of the declared success: another answer that its route declares, e.g. that the work goes on. */
export class WithStatus {
  readonly status: 202 | 400;
  readonly value: unknown;

  constructor(status: 202 | 400, value: unknown) {
    this.status = status;
    this.value = value;
  }
}

/** What a handler returns where its answer has headers of its own, e.g. a cookie. */
export class WithHeaders<T> {
  readonly value: T;
  readonly headers: Record<string, string | string[]>;

  constructor(value: T, headers: Record<string, string | string[]>) {
    this.value = value;
    this.headers = headers;
  }
}

/**
 * One of the paths below which the same routes are served, e.g. `/api/projects/:project_id` and
 * `/api/environments/:project_id`, and what it addresses.
 */
export interface BasePath<Caller, Found> {
  path: string;
  /** Begins the operation ids. */
  operations: string;
  params: TObject;
  /** Finds what it addresses and refuses what the caller may not touch, before a route does. */
  find: (context: BaseContext<Caller, unknown>) => Promise<Found>;
}

/** What a base path knows of a request. */
export interface BaseContext<Caller, P> extends TargetContext<Caller, P> {
  /** The route that is asked for: what follows the base path, and what it needs. */
  route: { path: string; scope: Scope };
}

/** A route that is served below several base paths. */
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
  /** What follows a base path. */
  path: string;
  /** What follows the beginning of the base path. */
  operationId: string;
  /** Those of `path`. */
  params?: P;
  /** Goes on from what the base path addresses, which is the target where this is absent. */
  target?: (context: TargetContext<Caller, Static<P>> & { found: Found }) => Promise<Target>;
}

const noFields = Type.Object({});

/** Makes the functions by which a service, which knows its type of caller, declares routes. */
export function routeDefiner<Caller>() {
  /** @throws Error at start when the declaration has no single success answer. */
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
      // The one place where types are erased: the pipeline hands over exactly what it parsed by these schemas.
      target: target as Route<Caller>['target'],
      handler: handler as Route<Caller>['handler'],
    };
  }

  /** The same route below each of the base paths it names. @throws as `defineRoute`. */
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

  /** A base path with the types of its parameters, which are erased here as those of routes are. */
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
