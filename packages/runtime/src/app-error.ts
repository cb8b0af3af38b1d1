/** What went wrong, in words that know no transport. `packages/http` alone turns a kind into a status code. */
export type ErrorKind =
  | 'invalid'
  | 'unauthenticated'
  | 'payment_required'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'not_acceptable'
  | 'conflict'
  | 'too_large'
  | 'unsupported_media_type'
  | 'timeout'
  | 'rate_limited'
  | 'unavailable'
  | 'internal';

export interface AppErrorOptions {
  /** Stable machine-readable word, e.g. `invalid_api_key`. Defaults to the kind. */
  code?: string;
  /** Name of the offending field; parts joined by two underscores (`batch__3__uuid`). */
  attr?: string | null;
  /** Facts for the log; never property values, keys or e-mail addresses. */
  details?: Record<string, unknown>;
  /** For `unavailable` and `rate_limited`: when a client may come again. */
  retryAfterSeconds?: number;
  /** Of the answer over HTTP, e.g. a cookie with which the client goes on. */
  headers?: Record<string, string | string[]>;
  cause?: unknown;
}

/** The one error class of the product. `message` is written for the person who made the request. */
export class AppError extends Error {
  readonly kind: ErrorKind;
  readonly code: string;
  readonly attr: string | null;
  readonly details: Record<string, unknown>;
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Record<string, string | string[]>;

  constructor(kind: ErrorKind, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.kind = kind;
    this.code = options.code ?? kind;
    this.attr = options.attr ?? null;
    this.details = options.details ?? {};
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.headers = options.headers ?? {};
  }
}

/** Narrows an unknown to an AppError, optionally of one kind. */
export function isAppError(error: unknown, kind?: ErrorKind): error is AppError {
  return error instanceof AppError && (kind === undefined || error.kind === kind);
}
