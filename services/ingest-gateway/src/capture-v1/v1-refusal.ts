import { toAppError, toErrorBody } from '@millrace/http';
import { type Refusal, toRefusal } from '../answer/send-answer.ts';

/** Codes of the steps shared with the other paths, in the words of this one (docs/wire-rules.md#capture-v1). */
const tags: Record<string, string> = {
  no_data: 'empty_body',
  invalid_gzip: 'request_decoding_error',
  invalid_utf8: 'request_decoding_error',
  invalid_json: 'request_parsing_error',
  upload_stalled: 'body_read_timeout',
  throttled: 'rate_limited',
  request_too_large: 'payload_too_large',
  too_many_values: 'payload_too_large',
  event_too_large: 'payload_too_large',
  unavailable: 'service_unavailable',
  overloaded: 'service_unavailable',
  body_thread_lost: 'service_unavailable',
  error: 'internal_error',
};

/** For faults of the server, or faults that pass: the client may try again after so many seconds. */
const retriedStatuses = new Set([408, 429, 500, 503]);

/** The answer to a request of Capture v1 that was refused or failed as a whole. */
export function toV1Refusal(error: unknown): Refusal {
  const known = toAppError(error);
  const refusal = toRefusal(known);
  const { status } = refusal;
  const code =
    known.kind === 'unauthenticated' && known.code !== 'missing_authorization'
      ? 'invalid_api_token'
      : (tags[refusal.code] ?? refusal.code);
  return {
    ...refusal,
    code,
    // Errors have no pages of their own; `about:blank` says that the description is all there is.
    body: JSON.stringify({ error: code, error_description: toErrorBody(known).detail, error_uri: 'about:blank' }),
    headers: {
      ...(retriedStatuses.has(status) ? { 'retry-after': '1' } : {}),
      ...refusal.headers,
      ...(status === 405 ? { allow: 'POST, OPTIONS' } : {}),
    },
  };
}
