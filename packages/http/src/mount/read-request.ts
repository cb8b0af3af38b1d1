/** Reads and validates a request, with one function for each step of `serveRequest` (mount.ts). */

import { isDeepStrictEqual } from 'node:util';
import { isObject, type MembershipLevel, type Scope } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';
import type { Static, TObject } from 'typebox';
import type { ApiRequest, Route } from '../route/route.ts';
import { findFieldError } from '../schema/field-error.ts';
import { nullCharacterError } from '../schema/json.ts';
import { coerce, parseInput } from '../schema/parse-input.ts';
import { typeOf } from '../schema/schema-shape.ts';
import { isForm, parseFormValues } from './read-form.ts';

/**
 * Checks the `Accept` header. Every response is JSON unless the route declares another type.
 * @throws AppError `not_acceptable` if the header excludes all types of the route
 */
export function requireAcceptableType<Caller>({ responses, successStatus }: Route<Caller>, request: ApiRequest): void {
  const header = request.header('accept');
  if (header === undefined || header.trim() === '') return;
  const success = responses[successStatus];
  const text = (success?.stream ?? success?.text)?.mediaType.split(';')[0] ?? 'application/json';
  const accepted = ['*/*', 'application/*', 'application/json', text, `${text.split('/')[0]}/*`];
  const isAccepted = header.split(',').some((range) => {
    const [mediaType = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const refused = parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
    return !refused && accepted.includes(mediaType);
  });
  if (!isAccepted) throw new AppError('not_acceptable', 'Could not satisfy the request Accept header.');
}

/** Returns the caller after checking the scope and the rate limit, or null for a public route. */
export async function authenticateCaller<Caller>(
  { scope, isSensitive, isBeforeSecondFactor, isUnsafe }: Route<Caller>,
  access: Access<Caller>,
  request: ApiRequest,
): Promise<Caller | null> {
  const caller = scope === 'public' ? null : await access.authenticate(request, isUnsafe === true);
  if (caller !== null && scope !== 'public') {
    access.authorize(caller, scope);
    await access.throttle?.(caller);
    if (!isBeforeSecondFactor) access.requireSecondFactor?.(caller);
    if (isSensitive) access.requireRecent?.(caller);
  }
  // The access check has already read these parameters, and links must not contain them.
  for (const name of access.queryParameters ?? []) request.query.delete(name);
  return caller;
}

export function requireMembershipLevel<Caller>(
  { level }: Route<Caller>,
  access: Access<Caller>,
  target: unknown,
): void {
  if (level === undefined) return;
  if (!access.requireLevel)
    throw new Error('A route declares a membership level, but the service does not define membership levels.');
  access.requireLevel(target, level);
}

/**
 * Parses the path parameters.
 * @throws AppError `not_found` if a parameter has the wrong format (docs/api/README.md#paths-and-ids)
 */
export function parseParams<Caller>(route: Route<Caller>, raw: Record<string, unknown>): unknown {
  const params = coerce(route.params, raw, { trimStrings: false });
  const isOdd = Object.entries(raw).some(([name, value]) => {
    if (typeof value !== 'string') return false;
    // A JSON number can be written in several ways. In a path, each record must have a single URL, so `07` and `7.0`
    // are not found.
    const isInteger = typeOf(route.params.properties[name] ?? {}) === 'integer';
    return value.includes('\0') || (isInteger && !/^(0|[1-9]\d*)$/.test(value));
  });
  if (isOdd || findFieldError(route.params, params)) throw new AppError('not_found', 'Not found.');
  return params;
}

/** Reads and parses the body. For a public route, accepts only a small body. */
export async function parseBody<Caller>(
  route: Route<Caller>,
  request: ApiRequest,
): Promise<{ body: unknown; file: unknown }> {
  const schema = route.body;
  if (schema === undefined) return { body: undefined, file: undefined };
  if (route.file !== undefined && isForm(request.header('content-type'))) {
    const { fields, file } = await request.form(route.file);
    const form = parseFormValues(schema, withoutRefused(route, fields) as typeof fields);
    return { body: parseInput(schema, form, { trimStrings: true }), file };
  }
  const body = await (route.scope === 'public' ? request.smallBody() : request.body());
  return { body: parseInput(schema, withoutRefused(route, body), { trimStrings: true }), file: undefined };
}

/**
 * Removes rejected fields whose values have no effect.
 * @throws AppError `invalid` naming the first rejected field with another value
 */
function withoutRefused<Caller>({ refusedBody = {} }: Route<Caller>, body: unknown): unknown {
  if (!isObject(body)) return body;
  const allowed = Object.entries(body).filter(([name, value]) => {
    const refused = Object.hasOwn(refusedBody, name) ? refusedBody[name] : undefined;
    if (refused === undefined) return true;
    if (refused.unless.some((harmless) => isDeepStrictEqual(harmless, value))) return false;
    throw new AppError('invalid', refused.detail, { code: 'unsupported_field', attr: name });
  });
  return Object.fromEntries(allowed);
}

/**
 * How a service authenticates and authorizes callers. For each request, the methods are called in the order below. The
 * route's `target` runs just before `requireLevel`.
 */
export interface Access<Caller> {
  /** Query parameters that `authenticate` reads on every route. They are removed before the query is parsed. */
  readonly queryParameters?: readonly string[];
  /**
   * Finds the caller of a request.
   * @param isUnsafe true if the route is a GET that changes something
   * @throws AppError `unauthenticated`
   */
  authenticate(request: ApiRequest, isUnsafe: boolean): Promise<Caller>;
  /** @throws AppError `forbidden` if the caller's key does not have the scope */
  authorize(caller: Caller, scope: Scope): void;
  /**
   * Counts an authorized request. If this method is absent, requests are not limited.
   * @throws AppError `rate_limited` if the caller exceeds its limit
   */
  throttle?(caller: Caller): Promise<void>;
  /**
   * Checks whether the caller must provide a second factor first. If this method is absent, no second factor is
   * required.
   * @throws AppError `forbidden` if a second factor is missing
   */
  requireSecondFactor?(caller: Caller): void;
  /**
   * Checks that the caller's last sign-in is recent. If this method is absent, the age of the sign-in is not checked.
   * @throws AppError `forbidden` if the sign-in is too old
   */
  requireRecent?(caller: Caller): void;
  /**
   * Compares the caller's level in the result of the route's `target` with the level that the route declares.
   * @throws AppError `forbidden`
   */
  requireLevel?(target: unknown, level: MembershipLevel): void;
}

/** Maximum length of names in error messages. Longer names are truncated. */
const maxNameLength = 100;

/**
 * Parses the query string by the route's schema. If a parameter occurs twice, the last value is used. `format=json` is
 * accepted, because generated clients add it everywhere and every response is JSON.
 * @throws AppError `invalid` naming the first unknown parameter. If an unknown filter were ignored, the response would
 * contain unfiltered data.
 */
export function parseQuery<Q extends TObject>(
  {
    query: schema,
    refusedQuery = {},
    queryWithoutEffect = {},
  }: {
    query: Q;
    refusedQuery?: Record<string, string> | undefined;
    queryWithoutEffect?: Record<string, string> | undefined;
  },
  query: URLSearchParams,
): Static<Q> {
  const given = Object.fromEntries([...query].filter(([name]) => !Object.hasOwn(queryWithoutEffect, name)));
  for (const [name, value] of Object.entries(given)) {
    const refusal = Object.hasOwn(refusedQuery, name) ? refusedQuery[name] : undefined;
    if (refusal !== undefined) throw new AppError('invalid', refusal, { code: 'unsupported_parameter', attr: name });
    if (!Object.hasOwn(schema.properties, name)) refuseUnknown(name, value, Object.keys(schema.properties));
    else if (value.includes('\0')) throw nullCharacterError([name]);
  }
  return parseInput(schema, given, { trimStrings: false });
}

function refuseUnknown(name: string, value: string, known: string[]): void {
  if (name === 'format' && value === 'json') return;
  const attr = name.slice(0, maxNameLength);
  const detail =
    name === 'format'
      ? 'Responses are always JSON: the only supported value is format=json.'
      : `Unknown query parameter "${attr}". ` +
        (known.length > 0 ? `Supported parameters: ${known.join(', ')}.` : 'This endpoint has no query parameters.');
  throw new AppError('invalid', detail, { code: 'unknown_parameter', attr });
}
