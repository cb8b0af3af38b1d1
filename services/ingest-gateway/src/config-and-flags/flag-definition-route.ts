import { AppError } from '@millrace/errors';
import type { Request, Router } from 'express';
import type { AnswerDependencies } from './answer-dependencies.ts';
import { onlyMethods } from './only-methods-route.ts';
import { requireKnownToken } from './require-known-token.ts';

/** To be changed whenever the answer changes. */
const etag = '"no-flags-1"';

/**
 * Flag definitions for servers that evaluate by themselves (docs/wire-rules.md#config-and-flags). There are none, so
 * nothing is behind the secret key: it must be there, and is not looked up.
 */
export function flagDefinitionRoutes(router: Router, { projectKeys }: AnswerDependencies): void {
  router
    .route(['/flags/definitions', '/api/feature_flag/local_evaluation'])
    .get(async (request, response) => {
      requireBearer(request);
      await requireKnownToken(request.query.token ?? request.headers['x-posthog-project-api-key'], projectKeys);
      response.set('etag', etag);
      // Not left to Express: `fetch` adds `cache-control: no-cache` to such a request, and it would then send all again.
      if (request.headers['if-none-match']?.includes(etag)) return void response.status(304).end();
      response.json({ flags: [], group_type_mapping: {}, cohorts: {} });
    })
    .all(onlyMethods('GET', 'HEAD', 'OPTIONS'));
}

function requireBearer(request: Request): void {
  if (/^Bearer\s+\S/i.test(request.headers.authorization ?? '')) return;
  throw new AppError('unauthenticated', 'Send a personal API key in the Authorization header.');
}
