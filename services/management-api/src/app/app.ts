// Builds this service's HTTP application: rate limits, authentication, routes and error translation.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { isTransientError } from '@millrace/db';
import { createRequestListener, createSecurityHeaders } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import type { KeyValueStore } from '@millrace/runtime/cache';
import { createCallerAccess } from '../access/caller-access.ts';
import { createGuessLimit, createRateLimit, createSignUpLimit } from '../access/rate-limit.ts';
import { createSignInLimits, type SignInLimitSettings } from '../access/sign-in-limits.ts';
import { createLinkLimits } from '../analytics/sharing/public-link.ts';
import { createSignInCount } from '../identity/sign-in/sign-in-count.ts';
import { type RouteDeps, routes } from './routes.ts';

export interface AppDeps
  extends Omit<
    RouteDeps,
    'signUpLimit' | 'signInLimits' | 'countSignIn' | 'userChangeLimit' | 'linkLimits' | 'scimLimits' | 'translateError'
  > {
  /** The store for rate limit counters: Redis or this process's memory. */
  keyValue: KeyValueStore;
  /** Rate limits. 0 means no limit (docs/api/README.md#rate-limits). */
  limits: {
    requestsPerMinute: number;
    requestsPerHour: number;
    wrongKeysPerMinute: number;
    signUpsPerMinute: number;
    userChangesPerMinute: number;
  } & SignInLimitSettings;
  /** The number of trusted proxies, which may set `X-Forwarded-…` headers. The default is 0. */
  trustedProxies?: number;
  /** For tests: whether a response that does not match its schema becomes an error. */
  checkResponses?: boolean;
}

export function createApp(deps: AppDeps): (request: IncomingMessage, response: ServerResponse) => void {
  const { sql, logger, metrics, publicUrl, trustedProxies, checkResponses } = deps;
  const { requestLimit, guessLimit, staleLimit, ...routeLimits } = createLimits(deps.keyValue, deps.limits);
  const translateError = translateDatabaseError;
  const { api, pages } = routes({ ...deps, ...routeLimits, countSignIn: createSignInCount(metrics), translateError });
  const access = createCallerAccess({
    sql,
    logger,
    requestLimit,
    guessLimit,
    staleLimit: deps.withSignIn ? staleLimit : undefined,
  });
  const setSecurityHeaders = createSecurityHeaders();
  const serve = createRequestListener(api, {
    pages,
    access,
    logger,
    metrics,
    publicUrl,
    trustedProxies,
    checkResponses,
    translateError,
  });
  return (request, response) => {
    setSecurityHeaders(response);
    serve(request, response);
  };
}

function createLimits(keyValue: KeyValueStore, limits: AppDeps['limits']) {
  const hour = { seconds: 3600, limit: limits.requestsPerHour };
  const requestWindows = [{ seconds: 60, limit: limits.requestsPerMinute }, hour];
  const perMinute = (name: string, limit: number) =>
    createRateLimit({ keyValue, name, windows: [{ seconds: 60, limit }] });
  const { wrongKeysPerMinute } = limits;
  const requestLimit = createRateLimit({ keyValue, name: 'key', windows: requestWindows });
  const scimGuessLimit = createGuessLimit(perMinute('scim', wrongKeysPerMinute), {
    what: 'an invalid or missing SCIM token',
  });
  return {
    requestLimit,
    guessLimit: createGuessLimit(perMinute('wrong', wrongKeysPerMinute)),
    staleLimit: createGuessLimit(perMinute('stale', wrongKeysPerMinute * staleSessionsPerWrongKey), {
      what: 'an expired session',
    }),
    scimLimits: { requestLimit, guessLimit: scimGuessLimit },
    signInLimits: createSignInLimits(keyValue, limits),
    signUpLimit: createSignUpLimit({ keyValue, perMinute: limits.signUpsPerMinute }),
    userChangeLimit: perMinute('user', limits.userChangesPerMinute),
    linkLimits: createLinkLimits(keyValue, {
      requestsPerMinute: limits.requestsPerMinute,
      wrongPerMinute: wrongKeysPerMinute,
    }),
  };
}

/**
 * Number of requests with an invalid session that count like one request with a wrong key. The limit is higher for
 * sessions because an open page sends several requests at the same time, and because a session secret has 256 bits and
 * cannot be guessed.
 */
const staleSessionsPerWrongKey = 10;

/** SQLSTATE of a canceled statement. Here, it means that the statement exceeded the pool's time limit. */
const queryCanceled = '57014';

/** Converts a database failure to an error for the client. Returns null for all other errors. */
function translateDatabaseError(error: unknown): AppError | null {
  if (!isTransientError(error)) return null;
  if ((error as { code?: unknown }).code === queryCanceled) {
    return new AppError('unavailable', 'The database took too long to respond. Try again in a moment.', {
      code: 'query_timeout',
      retryAfterSeconds: 1,
      cause: error,
    });
  }
  return new AppError('unavailable', 'The service is temporarily unavailable. Try again in a moment.', {
    retryAfterSeconds: 1,
    cause: error,
  });
}
