// Reads flag requests in all formats that PostHog's SDKs use.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isObject } from '@millrace/contracts';
import type { EvaluationContext } from '@millrace/flags';
import { findExceededJsonLimit } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { rejectUnknownKey } from '../access/authorize.ts';
import type { ProjectKeys } from '../access/project-keys.ts';
import type { ByteLease } from '../body/byte-budget.ts';
import { decodeBody } from '../body/decode.ts';
import { receiveBody } from '../body/receive.ts';
import type { Uploads } from '../body/uploads.ts';
import { invalidFieldError, truncateDistinctId } from '../capture/client-event.ts';
import { findProjectApiKey } from '../capture/project-api-key.ts';
import type { CaptureLimits } from '../config.ts';
import { cleanValue, mayNeedCleaning, parseJson, quoteLongNumericIds } from '../json/parse.ts';
import { type CaptureQuery, findSdk, parseCaptureQuery } from '../request-head.ts';

interface ReadOptions {
  limits: CaptureLimits;
  lease: ByteLease;
  uploads: Uploads;
  projectKeys: ProjectKeys;
}

/** Flag requests are small. They are parsed in the main thread, which also serves events, so the limit is low. */
const maxFlagRequestBytes = 1024 * 1024;

/**
 * Receives and parses a flag request, with the same encodings as for events.
 * @returns null for a GET request without an API key
 * @throws the errors of `receiveBody`, `decodeBody` and `readFields`
 */
export async function readFlagRequest(
  request: IncomingMessage,
  query: FlagQuery,
  { limits, lease, uploads, projectKeys }: ReadOptions,
): Promise<FlagRequest | null> {
  if (request.method === 'GET' && query.body.data === null) {
    const { apiKey } = query.body;
    return apiKey === null ? null : readFields({ distinct_id: query.distinctId }, apiKey);
  }
  const body = await receiveBody(request, query.body, {
    limits: {
      maxBodyBytes: Math.min(limits.maxBodyBytes, maxFlagRequestBytes),
      bodyTimeoutMs: limits.bodyTimeoutMs,
    },
    lease,
    uploads,
    onReceived: () => {},
  });
  const maxDecompressedBytes = Math.min(limits.maxDecompressedBytes, maxFlagRequestBytes);
  const { json, apiKey, envelopeKey } = await decodeBody(body, { maxDecompressedBytes, lease });
  // Parse a large body only if its API key may be valid.
  if (envelopeKey !== null) await rejectUnknownKey(envelopeKey, projectKeys);
  return parseFlagRequest(json, apiKey ?? query.body.apiKey);
}

function parseFlagRequest(json: Buffer, fallbackKey: string | null): FlagRequest {
  const excess = findExceededJsonLimit(json);
  if (excess !== null) throw unusable(`The body has ${excess}.`);
  const text = json.toString('utf8');
  let fields = parseJson(text, 'a JSON object');
  if (!isObject(fields)) throw unusable('The body must be a JSON object.');
  const id = fields.distinct_id ?? fields.$distinct_id;
  if (typeof id === 'number' && Number.isInteger(id) && !Number.isSafeInteger(id)) {
    fields = parseJson(quoteLongNumericIds(text));
  }
  if (mayNeedCleaning(text)) cleanValue(fields);
  return readFields(fields as Fields, fallbackKey);
}

function unusable(sentence: string): AppError {
  return new AppError('invalid', sentence, { code: 'invalid_payload' });
}

type Fields = Record<string, unknown>;

export interface FlagRequest {
  /** A well-formed project API key, which may not exist. */
  token: string;
  /** Whether the client requests only the browser config, without flags. */
  isDisabled: boolean;
  /** The context for evaluation, or null if the client requests no flags and sends no distinct ID. */
  context: Omit<EvaluationContext, 'stored' | 'now'> | null;
  /** The keys of the requested flags. Undefined if the client requests all flags. */
  keys?: readonly string[];
  contexts: readonly string[];
  /** `evaluation_runtime` as the client sent it, or null if it is missing. */
  runtime: string | null;
}

/**
 * Reads a request's fields, including their older names.
 * @param fallbackKey the project API key in the query or in a form field
 * @throws AppError `unauthenticated` without a key, or `invalid` naming the field
 */
function readFields(fields: Fields, fallbackKey: string | null): FlagRequest {
  const { token, api_key, $token } = fields;
  const key = findProjectApiKey({ token: token ?? api_key ?? $token }, [], fallbackKey);
  const isDisabled = fields.disable_flags === true;
  const distinctId = readDistinctId(fields.distinct_id ?? fields.$distinct_id);
  if (distinctId === null && !isDisabled) throw missingDistinctId();
  const keys = textsIn(fields, 'flag_keys_to_evaluate', 'flag_keys');
  const runtime = fields.evaluation_runtime;
  return {
    token: key,
    isDisabled,
    context: distinctId === null ? null : contextOf(fields, distinctId),
    ...(keys === undefined ? {} : { keys }),
    contexts: textsIn(fields, 'evaluation_contexts', 'evaluation_environments') ?? [],
    runtime: runtime === undefined || runtime === null ? null : String(runtime),
  };
}

function contextOf(fields: Fields, distinctId: string): FlagRequest['context'] {
  const personProperties = objectIn(fields, 'person_properties', '$properties');
  const anonymousDistinctId = textOrNumber(fields.$anon_distinct_id);
  const deviceId = textOrNumber(fields.$device_id ?? fields.device_id ?? personProperties.$device_id);
  return {
    distinctId,
    ...(anonymousDistinctId === null ? {} : { anonymousDistinctId: truncateDistinctId(anonymousDistinctId) }),
    ...(deviceId === null ? {} : { deviceId }),
    groups: objectIn(fields, 'groups', '$groups'),
    personProperties,
    groupProperties: objectIn(fields, 'group_properties', '$group_properties'),
  };
}

/** Returns null if the distinct ID is missing. Unlike in events, an empty string is a valid distinct ID. */
function readDistinctId(sent: unknown): string | null {
  if (sent === undefined || sent === null) return null;
  const text = textOrNumber(sent);
  if (text === null)
    throw invalidFieldError(['distinct_id'], 'The field `distinct_id` must be a string or a number', sent);
  return truncateDistinctId(text);
}

function textOrNumber(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? JSON.stringify(value) : null;
}

/** Reads a field that must be an object. An empty list counts as an empty object, because PHP writes both as `[]`. */
function objectIn(fields: Fields, name: string, alias: string): Fields {
  const value = fields[name] ?? fields[alias] ?? {};
  if (Array.isArray(value) && value.length === 0) return {};
  if (!isObject(value)) throw invalidFieldError([name], `The field \`${name}\` must be an object`, value);
  return value;
}

/** Ignores items that are not strings. */
function textsIn(fields: Fields, name: string, alias: string): string[] | undefined {
  const value = fields[name] ?? fields[alias];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value))
    throw invalidFieldError([name], `The field \`${name}\` must be an array of strings`, value);
  return value.filter((member) => typeof member === 'string');
}

function missingDistinctId(): AppError {
  return new AppError('invalid', 'The field `distinct_id` is required.', {
    code: 'missing_distinct_id',
    attr: 'distinct_id',
  });
}

export interface FlagQuery {
  /** The query parameters that replace the body or describe its encoding. */
  body: CaptureQuery;
  distinctId: string | null;
  shape: ResponseShape;
  withConfig: boolean;
  onlySurveys: boolean;
  onlySentProperties: boolean;
}

/**
 * The format of the response.
 *
 * - `keys`: an array of the enabled flags
 * - `on`: an object with the enabled flags
 * - `values`: all flags with payloads
 * - `details`: all flags with payloads and reasons
 * - `typed`: like `details`, with each flag's value in one field
 */
export type ResponseShape = 'keys' | 'on' | 'values' | 'details' | 'typed';

/** @param text the query string without `?`, or an empty string */
export function parseFlagQuery(path: FlagPath, text: string): FlagQuery {
  const values = new URLSearchParams(text);
  const isOn = (name: string) => /^(?:true|1)$/i.test(values.get(name) ?? '');
  const version = values.get('v');
  const hasNoVersion = version === null && !values.has('config');
  return {
    body: parseCaptureQuery(text),
    distinctId: values.get('distinct_id'),
    shape: path === '/decide' ? shapeOfDecide(version) : hasNoVersion ? 'details' : shapeOfFlags(version),
    withConfig: path === '/decide' || hasNoVersion || isOn('config'),
    onlySurveys: isOn('only_evaluate_survey_feature_flags'),
    onlySentProperties: isOn('only_use_override_person_properties'),
  };
}

function shapeOfFlags(version: string | null): ResponseShape {
  const number = numberOf(version);
  if (number >= 4) return 'typed';
  return number >= 2 ? 'details' : 'values';
}

function shapeOfDecide(version: string | null): ResponseShape {
  const number = numberOf(version);
  if (number >= 4) return 'details';
  if (number === 3) return 'values';
  return number === 2 ? 'on' : 'keys';
}

/** Returns 0 if the version is not an integer. */
function numberOf(version: string | null): number {
  return version !== null && /^-?\d{1,9}$/.test(version) ? Number(version) : 0;
}

export type FlagPath = '/flags' | '/decide';

const paths = new Map<string, FlagPath>([
  ['/flags', '/flags'],
  ['/flags/', '/flags'],
  ['/decide', '/decide'],
  ['/decide/', '/decide'],
]);

/** @param path the path without the query */
export function findFlagPath(path: string): FlagPath | undefined {
  return paths.get(path);
}

/**
 * Where the client runs. `all` means that it requests the flags for clients and for servers. `unknown` means that the
 * request does not show where it runs.
 */
type RequestRuntime = 'all' | 'client' | 'server' | 'unknown';

const browser = /Mozilla\/|Chrome\/|Safari\/|Firefox\/|Edge\//;
const serverProgram = /python-requests\/|curl\//;
const browserHeaders = ['origin', 'referer', 'sec-fetch-mode', 'sec-fetch-site'];

/**
 * Determines where a request's client runs.
 * @param declared the field `evaluation_runtime`. If it is null, the headers determine the runtime.
 */
export function findRequestRuntime(declared: string | null, headers: IncomingHttpHeaders): RequestRuntime {
  if (declared !== null) {
    const name = declared.toLowerCase();
    return name === 'client' || name === 'server' ? name : 'all';
  }
  const agent = headers['user-agent'] ?? '';
  const sdk = findSdk(agent);
  if (sdk !== null) return sdk.runtime;
  if (browser.test(agent)) return 'client';
  if (serverProgram.test(agent)) return 'server';
  return browserHeaders.some((name) => headers[name] !== undefined) ? 'client' : 'unknown';
}
