import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isObject } from '@millrace/contracts';
import type { EvaluationContext } from '@millrace/flags';
import { jsonExcess } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { requirePossibleKey } from '../access/authorize.ts';
import type { ProjectKeys } from '../access/project-keys.ts';
import type { ByteLease } from '../body/byte-budget.ts';
import { decodeBody } from '../body/decode.ts';
import { receiveBody } from '../body/receive.ts';
import type { Uploads } from '../body/uploads.ts';
import { cutDistinctId, invalidField } from '../capture/client-event.ts';
import { findProjectApiKey } from '../capture/project-api-key.ts';
import type { CaptureLimits } from '../config.ts';
import { type CaptureQuery, parseCaptureQuery, sdkOf } from '../head.ts';
import { cleanValue, mayNeedCleaning, parseJson, quoteLongNumericIds } from '../json/parse.ts';

interface ReadingFlagRequest {
  limits: CaptureLimits;
  lease: ByteLease;
  uploads: Uploads;
  projectKeys: ProjectKeys;
}

/** A question is small, whoever asks: it is parsed whole, beside the events of everybody else. */
const maxQuestionBytes = 1024 * 1024;

/**
 * From the bytes of a request to its question, in every encoding that events come in.
 *
 * @returns null for a GET that asks nothing.
 * @throws AppError see `receiveBody`, `decodeBody`, `readQuestion`.
 */
export async function readFlagRequest(
  request: IncomingMessage,
  query: FlagQuery,
  { limits, lease, uploads, projectKeys }: ReadingFlagRequest,
): Promise<FlagQuestion | null> {
  if (request.method === 'GET' && query.body.data === null) {
    const { apiKey } = query.body;
    return apiKey === null ? null : readQuestion({ distinct_id: query.distinctId }, apiKey);
  }
  const body = await receiveBody(request, query.body, {
    limits: {
      maxBodyBytes: Math.min(limits.maxBodyBytes, maxQuestionBytes),
      bodyTimeoutMs: limits.bodyTimeoutMs,
    },
    lease,
    uploads,
    onReceived: () => {},
  });
  const maxDecompressedBytes = Math.min(limits.maxDecompressedBytes, maxQuestionBytes);
  const { json, apiKey, envelopeKey } = await decodeBody(body, { maxDecompressedBytes, lease });
  // A large body is not parsed for somebody whose key is nobody's.
  if (envelopeKey !== null) await requirePossibleKey(envelopeKey, projectKeys);
  return parseQuestion(json, apiKey ?? query.body.apiKey);
}

function parseQuestion(json: Buffer, fallbackKey: string | null): FlagQuestion {
  const excess = jsonExcess(json);
  if (excess !== null) throw unusable(`The body has ${excess}.`);
  const text = json.toString('utf8');
  let question = parseJson(text, 'a JSON object');
  if (!isObject(question)) throw unusable('The body must be a JSON object.');
  const id = question.distinct_id ?? question.$distinct_id;
  if (typeof id === 'number' && Number.isInteger(id) && !Number.isSafeInteger(id)) {
    question = parseJson(quoteLongNumericIds(text));
  }
  if (mayNeedCleaning(text)) cleanValue(question);
  return readQuestion(question as Record<string, unknown>, fallbackKey);
}

function unusable(sentence: string): AppError {
  return new AppError('invalid', sentence, { code: 'invalid_payload' });
}

type Fields = Record<string, unknown>;

/** Who asks for which flags. */
export interface FlagQuestion {
  /** The project API key, well-shaped; whose it is has not been asked yet. */
  token: string;
  /** Only what is told to browsers is asked for. */
  isDisabled: boolean;
  /** Null where flags are not asked for and nobody is named. */
  context: Omit<EvaluationContext, 'stored' | 'now'> | null;
  /** Keys of the flags that are asked for; absent: all. */
  keys?: readonly string[];
  contexts: readonly string[];
  /** As it was sent; null when nothing is said. */
  runtime: string | null;
}

/**
 * The fields of a question, with the names they have had over time.
 *
 * @param fallbackKey the project API key beside the body.
 * @throws AppError `unauthenticated` without a key, `invalid` naming the field.
 */
function readQuestion(fields: Fields, fallbackKey: string | null): FlagQuestion {
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

function contextOf(fields: Fields, distinctId: string): FlagQuestion['context'] {
  const personProperties = objectIn(fields, 'person_properties', '$properties');
  const anonymousDistinctId = textOrNumber(fields.$anon_distinct_id);
  const deviceId = textOrNumber(fields.$device_id ?? fields.device_id ?? personProperties.$device_id);
  return {
    distinctId,
    ...(anonymousDistinctId === null ? {} : { anonymousDistinctId: cutDistinctId(anonymousDistinctId) }),
    ...(deviceId === null ? {} : { deviceId }),
    groups: objectIn(fields, 'groups', '$groups'),
    personProperties,
    groupProperties: objectIn(fields, 'group_properties', '$group_properties'),
  };
}

/** The empty text is an id here. Null when there is none. */
function readDistinctId(sent: unknown): string | null {
  if (sent === undefined || sent === null) return null;
  const text = textOrNumber(sent);
  if (text === null) throw invalidField(['distinct_id'], 'The field `distinct_id` must be a string or a number', sent);
  return cutDistinctId(text);
}

function textOrNumber(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? JSON.stringify(value) : null;
}

/** An empty list counts as an empty object, because PHP writes both as `[]`. */
function objectIn(fields: Fields, name: string, alias: string): Fields {
  const value = fields[name] ?? fields[alias] ?? {};
  if (Array.isArray(value) && value.length === 0) return {};
  if (!isObject(value)) throw invalidField([name], `The field \`${name}\` must be an object`, value);
  return value;
}

/** What is no text in the list is left out. */
function textsIn(fields: Fields, name: string, alias: string): string[] | undefined {
  const value = fields[name] ?? fields[alias];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw invalidField([name], `The field \`${name}\` must be an array of strings`, value);
  return value.filter((member) => typeof member === 'string');
}

function missingDistinctId(): AppError {
  return new AppError('invalid', 'The field `distinct_id` is required.', {
    code: 'missing_distinct_id',
    attr: 'distinct_id',
  });
}

/** How a question wants to be answered. */
export interface FlagQuery {
  /** What stands in for a body, and how the body is encoded. */
  body: CaptureQuery;
  /** The distinct id of a request without a body. */
  distinctId: string | null;
  shape: AnswerShape;
  /** Whether the answer carries what browsers are told to do, as well. */
  withConfig: boolean;
  onlySurveys: boolean;
  /** The stored properties of the person are not looked at. */
  onlySentProperties: boolean;
}

/**
 * `keys`: a list of the flags that are on. `on`: an object of them. `values`: all of them, with payloads. `details`: with
 * reasons as well. `typed`: with the value of each flag in one field.
 */
export type AnswerShape = 'keys' | 'on' | 'values' | 'details' | 'typed';

/** @param text the text after `?`; empty when there is none. */
export function parseFlagQuery(path: FlagPath, text: string): FlagQuery {
  const values = new URLSearchParams(text);
  const isOn = (name: string) => /^(?:true|1)$/i.test(values.get(name) ?? '');
  const version = values.get('v');
  const asksNothing = version === null && !values.has('config');
  return {
    body: parseCaptureQuery(text),
    distinctId: values.get('distinct_id'),
    shape: path === '/decide' ? shapeOfDecide(version) : asksNothing ? 'details' : shapeOfFlags(version),
    withConfig: path === '/decide' || asksNothing || isOn('config'),
    onlySurveys: isOn('only_evaluate_survey_feature_flags'),
    onlySentProperties: isOn('only_use_override_person_properties'),
  };
}

function shapeOfFlags(version: string | null): AnswerShape {
  const number = numberOf(version);
  if (number >= 4) return 'typed';
  return number >= 2 ? 'details' : 'values';
}

function shapeOfDecide(version: string | null): AnswerShape {
  const number = numberOf(version);
  if (number >= 4) return 'details';
  if (number === 3) return 'values';
  return number === 2 ? 'on' : 'keys';
}

/** 0 for what is no whole number. */
function numberOf(version: string | null): number {
  return version !== null && /^-?\d{1,9}$/.test(version) ? Number(version) : 0;
}

/** A path on which flags are asked for; the name is for metrics and logs. */
export type FlagPath = '/flags' | '/decide';

const paths = new Map<string, FlagPath>([
  ['/flags', '/flags'],
  ['/flags/', '/flags'],
  ['/decide', '/decide'],
  ['/decide/', '/decide'],
]);

/** @param path without the query. */
export function findFlagPath(path: string): FlagPath | undefined {
  return paths.get(path);
}

/** What the asking program runs on: `all` for one that wants flags of both kinds, `unknown` for one that says nothing. */
type RequestRuntime = 'all' | 'client' | 'server' | 'unknown';

const browser = /Mozilla\/|Chrome\/|Safari\/|Firefox\/|Edge\//;
const serverProgram = /python-requests\/|curl\//;
const browserHeaders = ['origin', 'referer', 'sec-fetch-mode', 'sec-fetch-site'];

/** @param said the field `evaluation_runtime`, null without one. Else the headers tell. */
export function requestRuntime(said: string | null, headers: IncomingHttpHeaders): RequestRuntime {
  if (said !== null) {
    const name = said.toLowerCase();
    return name === 'client' || name === 'server' ? name : 'all';
  }
  const agent = headers['user-agent'] ?? '';
  const sdk = sdkOf(agent);
  if (sdk !== null) return sdk.runtime;
  if (browser.test(agent)) return 'client';
  if (serverProgram.test(agent)) return 'server';
  return browserHeaders.some((name) => headers[name] !== undefined) ? 'client' : 'unknown';
}
