import { AppError } from '@millrace/errors';
import type { Router } from 'express';
import { discardBody } from '../bytes/discard-body.ts';
import { onlyMethods } from './only-methods-route.ts';

const patience = { maxBytes: 25 * 1024 * 1024, maxMs: 30_000 };

/**
 * Session recordings are not kept. A client that sends them all the same is told to pause, and not to send the same
 * again (docs/wire-rules.md#config-and-flags). What it sent is not looked at, so neither is its key.
 */
export function recordingRoutes(router: Router): void {
  router
    .route('/s')
    .post(async (request, response) => {
      if (!(await discardBody(request, patience))) throw new AppError('too_large', 'The request body is too large.');
      if (request.query.beacon === '1') return void response.status(204).end();
      response.json({ status: 'Ok', quota_limited: ['recordings'] });
    })
    .all(onlyMethods('POST', 'OPTIONS'));
}
