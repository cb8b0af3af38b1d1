import { AppError } from '@millrace/errors';
import type { Router } from 'express';
import { requirePossible } from '../access/authorize.ts';
import { findProjectApiKey } from '../request/project-api-key.ts';
import type { AnswerDependencies } from './answer-dependencies.ts';
import { onlyMethods } from './only-methods-route.ts';

const defaultStages = ['beta'];

/**
 * Features that whoever has the page open may enrol in: `?token=&stage=`, several stages as several parameters. Of drafts
 * and archived features nothing is told.
 */
export function earlyAccessFeatureRoutes(router: Router, { projectKeys, features }: AnswerDependencies): void {
  router
    .route('/api/early_access_features')
    .get(async (request, response) => {
      const { token, api_key, stage } = request.query;
      const lookup = await projectKeys.find(findProjectApiKey({ token: token ?? api_key }, [], null));
      requirePossible(lookup.outcome, 'token');
      // A client keeps what it has on an error, and would forget it on an empty answer.
      if (lookup.outcome !== 'known') {
        throw new AppError('unavailable', 'Whose key this is cannot be found out now.');
      }
      const stages: unknown[] = stage === undefined || stage === '' ? defaultStages : [stage].flat();
      const found = await features.find(lookup.project.environmentId);
      response.json({ earlyAccessFeatures: found.filter((feature) => stages.includes(feature.stage)) });
    })
    .all(onlyMethods('GET', 'HEAD', 'OPTIONS'));
}
