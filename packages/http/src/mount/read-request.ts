/** What is read of a request, one function for each step of `serveRequest` (mount.ts). */

import { isDeepStrictEqual } from 'node:util';
import { isObject, type MembershipLevel, type Scope } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';
import type { Static, TObject } from 'typebox';
import type { ApiRequest, Route } from '../route/route.ts';
import { firstFieldError } from '../schema/field-error.ts';
import { nullCharacterError } from '../schema/json.ts';
import { coerce, parseInput } from '../schema/parse-input.ts';
import { typeOf } from '../schema/schema-shape.ts';
import { formValues, isForm } from './read-form.ts';

/** Every answer is JSON, unless the route has another one too. @throws AppError `not_acceptable` when `Accept` leaves no room for it. */
export function requireAccepted<Caller>({ responses, successStatus }: Route<Caller>, request: ApiRequest): void {
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

/** Who calls, with the scope of the route and not too often; null where anybody may. */
export async function identify<Caller>(
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
  // They are read now, and no link of an answer repeats them.
  for (const name of access.queryParameters ?? []) request.query.delete(name);
  return caller;
}

export function requireLevel<Caller>({ level }: Route<Caller>, access: Access<Caller>, target: unknown): void {
  if (level === undefined) return;
  if (!access.requireLevel)
    throw new Error('A route declares a membership level, but the service does not define membership levels.');
  access.requireLevel(target, level);
}

/** @throws AppError `not_found`: an address of the wrong shape addresses nothing (docs/api/README.md#paths-and-ids). */
export function parseParams<Caller>(route: Route<Caller>, raw: Record<string, unknown>): unknown {
  const params = coerce(route.params, raw, { trimStrings: false });
  const isOdd = Object.entries(raw).some(([name, value]) => {
    if (typeof value !== 'string') return false;
    // Bodies are read loosely, but a record has one address: `07` and `7.0` address nothing.
    const isInteger = typeOf(route.params.properties[name] ?? {}) === 'integer';
    return value.includes('\0') || (isInteger && !/^(0|[1-9]\d*)$/.test(value));
  });
  if (isOdd || firstFieldError(route.params, params)) throw new AppError('not_found', 'Not found.');
  return params;
}

/** Whoever needs no key is a stranger, of whom little is read. */
export async function parseBody<Caller>(
  route: Route<Caller>,
  request: ApiRequest,
): Promise<{ body: unknown; file: unknown }> {
  const schema = route.body;
  if (schema === undefined) return { body: undefined, file: undefined };
  if (route.file !== undefined && isForm(request.header('content-type'))) {
    const { fields, file } = await request.form(route.file);
    const form = formValues(schema, withoutRefused(route, fields) as typeof fields);
    return { body: parseInput(schema, form, { trimStrings: true }), file };
  }
  const body = await (route.scope === 'public' ? request.smallBody() : request.body());
  return { body: parseInput(schema, withoutRefused(route, body), { trimStrings: true }), file: undefined };
}

/** Leaves out refused fields whose values ask for nothing. @throws AppError `invalid` naming the first of the others. */
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

/** How a service knows its callers. The pipeline calls both in the order of this list; `target` of the route runs before `requireLevel`, the rest of it after. */
export interface Access<Caller> {
  /** Query parameters that `authenticate` reads, on every route; nothing behind it sees them. */
  readonly queryParameters?: readonly string[];
  /** @param isUnsafe whether a GET changes something. @throws AppError `unauthenticated`. */
  authenticate(request: ApiRequest, isUnsafe: boolean): Promise<Caller>;
  /** @throws AppError `forbidden` when the caller's key lacks the scope. */
  authorize(caller: Caller, scope: Scope): void;
  /**
   * Counts a request that may use the route. @throws AppError `rate_limited` when there were too many. Absent: no limit.
   */
  throttle?(caller: Caller): Promise<void>;
  /** @throws AppError `forbidden` when the caller has to show a second factor first. Absent: nobody has. */
  requireSecondFactor?(caller: Caller): void;
  /** @throws AppError `forbidden` when it is too long ago that the caller proved who they are. Absent: it never is. */
  requireRecent?(caller: Caller): void;
  /**
   * Compares the caller's level on what the route's `target` found with the one the route declares.
   * @throws AppError `forbidden`.
   */
  requireLevel?(target: unknown, level: MembershipLevel): void;
}

/** A longer name is not repeated in full. */
const maxNameLength = 100;

/**
 * The query of a request by its route's schema. Of a parameter given twice the last one counts.
 *
 * @throws AppError `invalid` naming the first parameter the route does not know: left unread, a filter would answer with
 *   everything as if that were what was asked for. `format=json`, which generated clients add everywhere, asks for what
 *   every answer is.
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
