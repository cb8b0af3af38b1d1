// Defines the body of error responses, and converts errors to it.

import { AppError, type ErrorKind, isAppError } from '@millrace/runtime';

/** The JSON body of error responses. The keys are sent in this order (docs/api/README.md#errors). */
export interface ErrorBody {
  type: string;
  /** A stable, machine-readable code. */
  code: string;
  detail: string;
  /** The keys that lead to the invalid field, joined by two underscores. Null if the error is not about a field. */
  attr: string | null;
  /** The request ID, for finding the cause in the log. Only in 5xx responses. */
  error_event_id?: string;
}

interface Transport {
  status: number;
  type: string;
  /** The code for errors without their own code. */
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

/** Error codes whose type differs from other errors of the same kind. */
const typeOfCode: Record<string, string> = {
  parse_error: 'invalid_request',
  protected_error: 'invalid_request',
};

export function toHttpStatus(kind: ErrorKind): number {
  return transports[kind].status;
}

/** Returns an AppError unchanged. Converts any other error to `internal`, with the original error as its cause. */
export function toAppError(error: unknown): AppError {
  return isAppError(error) ? error : new AppError('internal', 'A server error occurred.', { cause: error });
}

/**
 * Converts an error to the response body (docs/api/README.md#errors). The body for an unknown or internal error does
 * not mention the cause, because it could contain confidential data.
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
