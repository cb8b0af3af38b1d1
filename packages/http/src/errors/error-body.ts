import { AppError, type ErrorKind, isAppError } from '@millrace/runtime';

/** The body of every error answer, in this order of keys (docs/api/README.md#errors). */
export interface ErrorBody {
  type: string;
  /** Stable machine-readable word. */
  code: string;
  /** A sentence for the person who made the request. */
  detail: string;
  /** The offending field, parts joined by two underscores; null when the error is about no field. */
  attr: string | null;
  /** Only on a 5xx answer: the request id under which the log has the cause. */
  error_event_id?: string;
}

interface Transport {
  status: number;
  type: string;
  /** Used when the error carries no code of its own. */
  code: string;
}

const transports: Record<ErrorKind, Transport> = {
  invalid: { status: 400, type: 'validation_error', code: 'invalid_input' },
  unauthenticated: { status: 401, type: 'authentication_error', code: 'not_authenticated' },
  payment_required: { status: 402, type: 'server_error', code: 'payment_required' },
  forbidden: { status: 403, type: 'authentication_error', code: 'permission_denied' },
  not_found: { status: 404, type: 'invalid_request', code: 'not_found' },
  method_not_allowed: { status: 405, type: 'invalid_request', code: 'method_not_allowed' },
  not_acceptable: { status: 406, type: 'invalid_request', code: 'not_acceptable' },
  timeout: { status: 408, type: 'timeout_error', code: 'timeout' },
  conflict: { status: 409, type: 'server_error', code: 'conflict' },
  too_large: { status: 413, type: 'client_error', code: 'request_too_large' },
  unsupported_media_type: { status: 415, type: 'invalid_request', code: 'unsupported_media_type' },
  rate_limited: { status: 429, type: 'throttled_error', code: 'throttled' },
  internal: { status: 500, type: 'server_error', code: 'error' },
  unavailable: { status: 503, type: 'server_error', code: 'unavailable' },
};

/** Codes that have a type of their own within their kind. */
const typeOfCode: Record<string, string> = {
  parse_error: 'invalid_request',
  protected_error: 'invalid_request',
};

/** HTTP status code of a kind of error. */
export function statusOf(kind: ErrorKind): number {
  return transports[kind].status;
}

/** An AppError as it is; anything else becomes `internal`, the original kept as the cause. */
export function toAppError(error: unknown): AppError {
  return isAppError(error) ? error : new AppError('internal', 'A server error occurred.', { cause: error });
}

/**
 * What a client may read of an error (docs/api/README.md#errors). An unknown or internal error says nothing of
 * its cause: the text may hold anything.
 */
export function toErrorBody(error: unknown): ErrorBody {
  const known = toAppError(error);
  const transport = transports[known.kind];
  const code = known.code === known.kind ? transport.code : known.code;
  return {
    type: typeOfCode[code] ?? transport.type,
    code,
    detail: known.kind === 'internal' ? 'A server error occurred.' : known.message,
    attr: known.attr,
  };
}
