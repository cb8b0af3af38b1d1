/** The kinds of errors, independent of HTTP. Only `packages/http` maps kinds to status codes. */
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
  /** A stable, machine-readable code, for example `invalid_api_key`. Defaults to the kind. */
  code?: string;
  /** The path of the invalid field, with its segments joined by two underscores: `batch__3__uuid`. */
  attr?: string | null;
  /** Details for the log, which must not contain property values, keys or email addresses. */
  details?: Record<string, unknown>;
  /** For `unavailable` and `rate_limited`: how long the client must wait before it retries. */
  retryAfterSeconds?: number;
  headers?: Record<string, string | string[]>;
  cause?: unknown;
}

/** An expected failure. The client receives `message` in the response. */
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

export function isAppError(error: unknown, kind?: ErrorKind): error is AppError {
  return error instanceof AppError && (kind === undefined || error.kind === kind);
}
