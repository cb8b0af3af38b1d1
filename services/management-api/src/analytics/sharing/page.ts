import type { ServerResponse } from 'node:http';
import type { Sql } from '@millrace/db';
import type { PageRoute } from '@millrace/http';
import { isAppError } from '@millrace/runtime';
import { type LinkLimits, openPublicLink } from './public-link.ts';

interface PageDeps {
  sql: Sql;
  linkLimits: LinkLimits;
  /** The built page. It is the same for every link, and loads the shared data in the browser. */
  html: Buffer;
}

/**
 * Serves the page of a public link at `/shared/<token>`, and at `/embedded/<token>` for frames on other sites. The page
 * is the same for every link. The status depends on the token, so that programs can detect a link that was turned off.
 */
export function createSharedPages({ sql, linkLimits: limits, html }: PageDeps): PageRoute[] {
  return (['/shared', '/embedded'] as const).map((path) => ({
    path: `${path}/:access_token`,
    methods: ['GET', 'HEAD'],
    async serve({ request, params, response }) {
      setHeaders(response, { isFramed: path === '/embedded' });
      try {
        await openPublicLink({ sql, limits }, params.access_token ?? '', request);
      } catch (error) {
        setFailure(response, error);
      }
      response.setHeader('Content-Type', 'text/html; charset=utf-8');
      response.setHeader('Content-Length', html.length);
      response.end(html);
    },
  }));
}

/** Sets the status for an unknown link or for too many requests. @throws any other error */
function setFailure(response: ServerResponse, error: unknown): void {
  if (isAppError(error, 'not_found')) response.statusCode = 404;
  else if (isAppError(error, 'rate_limited')) {
    response.statusCode = 429;
    response.setHeader('Retry-After', String(Math.ceil(error.retryAfterSeconds ?? 1)));
  } else throw error;
}

/**
 * Sets headers that forbid inline scripts, inline styles and external resources, as in the console. Only the embedded
 * page can be shown in a frame.
 */
function setHeaders(response: ServerResponse, { isFramed }: { isFramed: boolean }): void {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "object-src 'none'",
    `frame-ancestors ${isFramed ? '*' : "'none'"}`,
    "require-trusted-types-for 'script'",
  ];
  response.setHeader('Content-Security-Policy', policy.join('; '));
  response.setHeader('Permissions-Policy', 'camera=(), geolocation=(), microphone=()');
  response.setHeader('Referrer-Policy', 'no-referrer');
  response.setHeader('X-Robots-Tag', 'noindex');
  response.setHeader('Cache-Control', 'no-store');
  if (isFramed) {
    response.removeHeader('X-Frame-Options');
    response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
  } else response.setHeader('X-Frame-Options', 'DENY');
}
