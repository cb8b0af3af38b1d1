// Reads the headers and the body of a Capture v1 request.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { AppError } from '@millrace/runtime';
import type { ByteLease } from '../body/byte-budget.ts';
import { type BodyHints, decodeBody, type ReceivedBody } from '../body/decode.ts';
import { findDecompressor } from '../body/inflate.ts';
import { receiveBytes } from '../body/receive.ts';
import type { Uploads } from '../body/uploads.ts';
import type { CaptureLimits } from '../config.ts';
import { parseZonedTimestamp } from './event-time.ts';
import { findProjectApiKey } from './project-api-key.ts';

export interface V1Head {
  /** A well-formed project API key, which may not exist. */
  token: string;
  /** The SDK's name and version. They become the event properties `$lib` and `$lib_version`. */
  sdk: { name: string; version: string };
  /** When the client sent this attempt, by its own clock, in milliseconds since the epoch. */
  sentAtMs: number;
}

const requiredHeaders = [
  'content-type',
  'user-agent',
  'posthog-sdk-info',
  'posthog-attempt',
  'posthog-request-id',
  'posthog-request-timestamp',
];

const uuidText = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const sdkText = /^([\w.@/+-]{1,100})\/([\w.+-]{1,100})$/;

/**
 * @throws AppError `unauthenticated` (`missing_authorization`, `invalid_api_token`), `invalid`
 * (`missing_required_headers`, `invalid_header_value`), or `unsupported_media_type` (`unsupported_content_type`)
 */
export function readV1Head(headers: IncomingHttpHeaders): V1Head {
  const token = readToken(headers.authorization);
  const missing = requiredHeaders.filter((name) => textOf(headers, name) === '');
  if (missing.length > 0) {
    throw new AppError('invalid', `Required headers are missing: ${missing.join(', ')}.`, {
      code: 'missing_required_headers',
    });
  }
  if (!/^application\/json\s*(?:;|$)/i.test(textOf(headers, 'content-type'))) {
    throw new AppError('unsupported_media_type', 'The Content-Type must be application/json.', {
      code: 'unsupported_content_type',
    });
  }
  const [, name = '', version = ''] = sdkText.exec(textOf(headers, 'posthog-sdk-info')) ?? [];
  if (name === '') throw invalidHeader('posthog-sdk-info', 'a name and a version, such as `posthog-node/5.0.0`');
  if (!/^[1-9]\d{0,8}$/.test(textOf(headers, 'posthog-attempt'))) {
    throw invalidHeader('posthog-attempt', 'an integer of at least 1');
  }
  if (readEchoedRequestId(headers) === null) throw invalidHeader('posthog-request-id', 'a UUID');
  const sentAtMs = parseZonedTimestamp(textOf(headers, 'posthog-request-timestamp'));
  if (sentAtMs === null)
    throw invalidHeader('posthog-request-timestamp', 'a date and time with a UTC offset (RFC 3339)');
  return { token, sdk: { name, version }, sentAtMs };
}

/** Returns the client's request ID, which is the same for all attempts. Returns null if it is missing or not a UUID. */
export function readEchoedRequestId(headers: IncomingHttpHeaders): string | null {
  const id = textOf(headers, 'posthog-request-id');
  return uuidText.test(id) ? id : null;
}

function readToken(authorization: string | undefined): string {
  const [, credentials] = /^Bearer\s+(\S.*)$/i.exec(authorization?.trim() ?? '') ?? [];
  if (credentials === undefined) {
    throw new AppError('unauthenticated', 'Send the project API key as `Authorization: Bearer <key>`.', {
      code: 'missing_authorization',
    });
  }
  return findProjectApiKey({ api_key: credentials }, [], null);
}

function textOf(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value.trim() : '';
}

function invalidHeader(name: string, expected: string): AppError {
  return new AppError('invalid', `The header ${name} must be ${expected}.`, {
    code: 'invalid_header_value',
    attr: name,
  });
}

/**
 * Returns the hints for a JSON body.
 * @param contentEncoding the encoding, or an empty string if the body is not encoded
 */
export function createJsonHints(contentEncoding: string): BodyHints {
  return { compression: null, contentType: 'application/json', contentEncoding };
}

/**
 * Receives a body if its encoding is supported.
 * @param options.onReceived a function that is called with the size of the body before decompression
 * @throws the errors of `findDecompressor` and `receiveBytes`
 */
export async function receiveV1Body(
  request: IncomingMessage,
  options: { limits: CaptureLimits; lease: ByteLease; uploads: Uploads; onReceived(bytes: number): void },
): Promise<ReceivedBody> {
  const { limits, lease, uploads } = options;
  const { maxBodyBytes, bodyTimeoutMs } = limits;
  const contentEncoding = (request.headers['content-encoding'] ?? '').toLowerCase();
  findDecompressor(contentEncoding);
  const raw = await receiveBytes(request, { maxBodyBytes, bodyTimeoutMs, lease, uploads });
  options.onReceived(raw.length);
  return { raw, hints: createJsonHints(contentEncoding) };
}

/**
 * Decompresses a body to JSON. If the result is not text, decodes it as on the other paths, because some clients do not
 * declare gzip.
 * @throws the errors of `findDecompressor` and `decodeBody`
 */
export async function decodeV1Body(
  { raw, hints }: ReceivedBody,
  { maxDecompressedBytes, lease }: { maxDecompressedBytes: number; lease: ByteLease },
): Promise<Buffer> {
  const decompress = findDecompressor(hints.contentEncoding);
  const bytes = raw.length === 0 ? raw : await decompress(raw, maxDecompressedBytes, lease);
  const body = { raw: bytes, hints: bytes === raw ? hints : createJsonHints('') };
  const { json } = await decodeBody(body, { maxDecompressedBytes, lease });
  return json;
}
