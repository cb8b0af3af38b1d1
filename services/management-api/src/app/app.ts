import type { IncomingMessage, ServerResponse } from 'node:http';
import { isTransientError } from '@millrace/db';
import { healthRoutes, mount, securityHeaders } from '@millrace/http';
import { AppError, type Health, type Metrics } from '@millrace/runtime';
import type { KeyValue } from '@millrace/runtime/cache';
import express, { type RequestHandler } from 'express';
import { callerAccess } from '../access/caller-access.ts';
import { createGuessLimit, createRateLimit, createSignUpLimit } from '../access/rate-limit.ts';
import { createSignInLimits, type SignInLimitSettings } from '../access/sign-in-limits.ts';
import { createScim, isScim } from '../identity/scim/listener.ts';
import { createSignInCount } from '../identity/sign-in/sign-in-count.ts';
import { createSignOnPages, isSignOnPage } from '../identity/single-sign-on/pages.ts';
import { allowOrigins } from '../operations/live/routes.ts';
import { type RouteDeps, routes } from './routes.ts';
import { docsContentSecurityPolicy, docsPage } from './schema/routes.ts';
import { isOfSdk } from './sdk-requests/pass-to-gateway.ts';

export interface AppDeps extends Omit<RouteDeps, 'signUpLimit' | 'signInLimits' | 'countSignIn' | 'userChangeLimit'> {
  /** Where limits are counted: Redis, or this process alone. */
  keyValue: KeyValue;
  /** 0 = no limit (docs/api/README.md#rate-limits). */
  limits: {
    requestsPerMinute: number;
    requestsPerHour: number;
    wrongKeysPerMinute: number;
    signUpsPerMinute: number;
    userChangesPerMinute: number;
  } & SignInLimitSettings;
  metrics: Metrics;
  health: Health;
  /** Address for links; without it the request's own host. */
  publicUrl?: string | undefined;
  /** How many proxies of ours are in front, whose `X-Forwarded-…` is believed; none by default. */
  trustedProxies?: number;
  /** The pages below `/console/`, if any are served. */
  console?: RequestHandler | null;
  /** Origins whose pages may read live events by token; by default none. */
  liveOrigins?: readonly string[];
  /** Takes the requests of SDKs that are a gateway's; without it they are answered as those of scripts. */
  gateway?: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  /** Answers that do not fit their schema become errors; for tests. */
  checkResponses?: boolean;
}

/**
 * The management API as a request listener. Express serves what is not a route: probes and the page of documentation.
 */
export function createApp(deps: AppDeps): (request: IncomingMessage, response: ServerResponse) => void {
  const {
    sql,
    logger,
    metrics,
    health,
    publicUrl,
    trustedProxies,
    checkResponses,
    keyValue,
    limits,
    gateway,
    liveOrigins,
  } = deps;
  const { requestLimit, guessLimit, staleLimit, tokenLimit, ...limitsOfRoutes } = createLimits(keyValue, limits);
  const limited = { ...deps, ...limitsOfRoutes, countSignIn: createSignInCount(metrics) };
  const declared = routes(limited);
  const signOnPages = deps.withSignIn
    ? createSignOnPages({ ...limited, publicUrl, trustedProxies: trustedProxies ?? 0 })
    : null;
  const scim = createScim({
    ...deps,
    trustedProxies: trustedProxies ?? 0,
    requestLimit,
    guessLimit: tokenLimit,
    translateError: translateDatabaseError,
  });
  const setSecurityHeaders = securityHeaders();
  const api = mount(declared, {
    access: callerAccess({
      ...{ sql, logger, requestLimit, guessLimit },
      staleLimit: deps.withSignIn ? staleLimit : undefined,
    }),
    logger,
    metrics,
    publicUrl,
    trustedProxies,
    checkResponses,
    translateError: translateDatabaseError,
  });

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.use(healthRoutes(health));
  app.use((_request, response, next) => {
    setSecurityHeaders(response);
    next();
  });
  if (deps.console) app.use(consolePath, deps.console);
  const docs = Buffer.from(docsPage(declared));
  app.get(docsPath, (_request, response) => {
    response.setHeader('Content-Security-Policy', docsContentSecurityPolicy);
    response.type('html').send(docs);
  });
  // Whoever opens the API's address in a browser gets the console, or without it what the API can do.
  const start = below(publicUrl, deps.console ? `${consolePath}/` : docsPath);
  app.get('/', (request, response, next) => {
    if (request.headers.accept?.includes('text/html')) response.redirect(302, start);
    else next();
  });
  app.use(api);

  return (request, response) => {
    if (gateway !== undefined && isOfSdk(request)) return gateway(request, response);
    // As existing clients write it.
    if (/^\/logout\/?$/.test(request.url ?? '')) request.url = '/api/logout';
    allowOrigins(request, response, liveOrigins);
    if (signOnPages && isSignOnPage(request.url ?? '')) {
      setSecurityHeaders(response);
      return signOnPages(request, response);
    }
    if (isScim(request.url ?? '')) {
      setSecurityHeaders(response);
      return scim(request, response);
    }
    const isRoute = request.url?.startsWith('/api/') && !request.url.startsWith(docsPath);
    if (!isRoute) return app(request, response);
    setSecurityHeaders(response);
    api(request, response);
  };
}

function createLimits(keyValue: KeyValue, limits: AppDeps['limits']) {
  const hour = { seconds: 3600, limit: limits.requestsPerHour };
  const requestWindows = [{ seconds: 60, limit: limits.requestsPerMinute }, hour];
  const perMinute = (name: string, limit: number) =>
    createRateLimit({ keyValue, name, windows: [{ seconds: 60, limit }] });
  const { wrongKeysPerMinute } = limits;
  return {
    requestLimit: createRateLimit({ keyValue, name: 'key', windows: requestWindows }),
    guessLimit: createGuessLimit(perMinute('wrong', wrongKeysPerMinute)),
    staleLimit: createGuessLimit(perMinute('stale', wrongKeysPerMinute * staleSessionsPerWrongKey), {
      what: 'an expired session cookie',
    }),
    tokenLimit: createGuessLimit(perMinute('scim', wrongKeysPerMinute), {
      what: 'an invalid or missing SCIM token',
    }),
    signInLimits: createSignInLimits(keyValue, limits),
    signUpLimit: createSignUpLimit({ keyValue, perMinute: limits.signUpsPerMinute }),
    userChangeLimit: perMinute('user', limits.userChangesPerMinute),
  };
}

/** A page that was left open asks for several things at once, and nobody guesses 256 bits. */
const staleSessionsPerWrongKey = 10;

const docsPath = '/api/docs';
const consolePath = '/console';

/** Below the path under which a proxy shows the API, if any. */
function below(publicUrl: string | undefined, path: string): string {
  return publicUrl === undefined ? path : publicUrl.replace(/\/+$/, '') + path;
}

/** SQLSTATE of a statement cancelled, here because it ran longer than the pool's limit. */
const queryCanceled = '57014';

/** What a failure of the database means for the person who asked; null for everything that is no such failure. */
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
