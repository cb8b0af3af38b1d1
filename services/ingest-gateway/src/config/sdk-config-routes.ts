// Routes that serve settings, early access features and other lists to SDKs.

import { AppError } from '@millrace/runtime';
import { Router } from 'express';
import { rejectUnusableLookup } from '../access/authorize.ts';
import { discardBody } from '../body/receive.ts';
import { findProjectApiKey } from '../capture/project-api-key.ts';
import { addConfigRoutes, requireKnownToken } from './config-route.ts';
import { rejectOtherMethods } from './only-methods-route.ts';
import type { SdkConfigDependencies } from './settings.ts';

/**
 * Creates the routes for SDK requests other than events and flags. Each path works with and without a trailing slash
 * (docs/wire-rules.md#config-and-flags).
 */
export function createSdkConfigRoutes(deps: SdkConfigDependencies): Router {
  const router = Router();
  addConfigRoutes(router, deps);
  earlyAccessFeatureRoutes(router, deps);
  emptyListRoutes(router, deps);
  recordingRoutes(router);
  return router;
}

const defaultStages = ['beta'];

/**
 * Serves the early access features that visitors can enroll in: `?token=&stage=`. `stage` can occur several times.
 * Drafts and archived features are omitted.
 */
function earlyAccessFeatureRoutes(router: Router, { projectKeys, features }: SdkConfigDependencies): void {
  router
    .route('/api/early_access_features')
    .get(async (request, response) => {
      const { token, api_key, stage } = request.query;
      const lookup = await projectKeys.find(findProjectApiKey({ token: token ?? api_key }, [], null));
      rejectUnusableLookup(lookup.outcome, 'token');
      // After an error, a client keeps its features. After an empty response, it would delete them.
      if (lookup.outcome !== 'known') {
        throw new AppError('unavailable', 'Could not check the API key. Try again in a moment.');
      }
      const stages: unknown[] = stage === undefined || stage === '' ? defaultStages : [stage].flat();
      const found = await features.find(lookup.project.environmentId);
      response.json({ earlyAccessFeatures: found.filter((feature) => stages.includes(feature.stage)) });
    })
    .all(rejectOtherMethods('GET', 'HEAD', 'OPTIONS'));
}

/** Responses with lists that are always empty, by path (docs/wire-rules.md#config-and-flags). */
const lists: Record<string, object> = {
  '/api/surveys': { surveys: [], survey_config: null },
  '/api/web_experiments': { experiments: [] },
};

function emptyListRoutes(router: Router, { projectKeys }: SdkConfigDependencies): void {
  for (const [path, body] of Object.entries(lists)) {
    router
      .route(path)
      .get(async (request, response) => {
        await requireKnownToken(request.query.token ?? request.query.api_key, projectKeys);
        response.json(body);
      })
      .all(rejectOtherMethods('GET', 'HEAD', 'OPTIONS'));
  }
}

const discardLimits = { maxBytes: 25 * 1024 * 1024, maxMs: 30_000 };

/**
 * Accepts and discards session recordings, which Millrace does not store. The response makes clients pause, and
 * prevents them from sending the same recording again (docs/wire-rules.md#config-and-flags). The API key is not
 * checked.
 */
function recordingRoutes(router: Router): void {
  router
    .route('/s')
    .post(async (request, response) => {
      if (!(await discardBody(request, discardLimits, response.locals.uploads)))
        throw new AppError('too_large', 'The request body is too large.');
      if (request.query.beacon === '1') return void response.status(204).end();
      response.json({ status: 'Ok', quota_limited: ['recordings'] });
    })
    .all(rejectOtherMethods('POST', 'OPTIONS'));
}
