import type { MembershipLevel, Scope } from '@millrace/contracts';
import type { Static, TObject, TSchema } from 'typebox';
import type { ApiRequest } from './api-request.ts';
import type { FileField } from './file-field.ts';
import type { TextContent } from './text-content.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
/**
 * The status of a route that does its work. 405 declares the opposite: a method that is refused with an empty body, after
 * key, scope and address were checked (docs/api-rules.md#ordered-routes, row 22). 400 declares it too, with a body that is
 * not that of all errors.
 */
export type SuccessStatus = 200 | 201 | 202 | 204 | 400 | 405;

export interface ResponseDeclaration<S extends TSchema = TSchema> {
  description: string;
  /** Absent: the answer has no body. */
  schema?: S;
  /**
   * The answer has an empty body unless the request says `Prefer: return=representation` (RFC 7240); then it holds what
   * the handler returned, with `Preference-Applied`. For the contract's "200, no body" actions.
   */
  onlyIfPreferred?: true;
  /** The request may ask for this in place of the body: the handler then returns `TextContent`. */
  text?: { mediaType: string; example: string };
}

/** Answers by status, exactly one of them a success. What the pipeline itself answers (401, 404, …) is not listed. */
export type ResponseDeclarations = Partial<Record<SuccessStatus | 402 | 403 | 404 | 409, ResponseDeclaration>>;

/** The type of the value a handler returns: that of the declared success body. */
export type SuccessValue<R extends ResponseDeclarations> = {
  [S in keyof R & SuccessStatus]: R[S] extends { schema: infer B extends TSchema; text: object }
    ? Static<B> | TextContent
    : R[S] extends { schema: infer B extends TSchema }
      ? Static<B>
      : undefined;
}[keyof R & SuccessStatus];

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
export interface RouteDeclaration<
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
  /** Of a GET that changes something: it is not done for HEAD, which is refused. */
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
  body?: B;
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
  /**
   * Finds what the path addresses and refuses what the caller may not touch, before query and body are looked at
   * (docs/api-rules.md#requests).
   */
  target?: (context: TargetContext<CallerOf<Caller, S>, Static<P>>) => Promise<Target>;
  handler: (
    context: HandlerContext<CallerOf<Caller, S>, Target, Static<P>, Static<Q>, Static<B>, File>,
  ) => Promise<SuccessValue<R>>;
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
  params: TObject;
  query: TObject;
  /** Absent: a body is not read. */
  body?: TSchema;
  file?: FileField<unknown>;
  responses: ResponseDeclarations;
  successStatus: SuccessStatus;
  examples: { request?: unknown; response?: unknown };
  target: (context: TargetContext<Caller | null, unknown>) => Promise<unknown>;
  handler: (context: HandlerContext<Caller | null, unknown, unknown, unknown, unknown, unknown>) => Promise<unknown>;
}
