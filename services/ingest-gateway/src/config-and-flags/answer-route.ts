import { Router } from 'express';
import type { AnswerDependencies } from './answer-dependencies.ts';
import { configRoutes } from './config-route.ts';
import { earlyAccessFeatureRoutes } from './early-access-feature-route.ts';
import { emptyListRoutes } from './empty-list-route.ts';
import { recordingRoutes } from './recording-route.ts';

/**
 * What SDKs ask for besides capturing: every path with and without a trailing slash
 * (docs/wire-rules.md#config-and-flags).
 */
export function answerRoutes(deps: AnswerDependencies): Router {
  const router = Router();
  configRoutes(router, deps);
  earlyAccessFeatureRoutes(router, deps);
  emptyListRoutes(router, deps);
  recordingRoutes(router);
  return router;
}
