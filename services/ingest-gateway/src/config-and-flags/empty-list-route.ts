import type { Router } from 'express';
import type { AnswerDependencies } from './answer-dependencies.ts';
import { onlyMethods } from './only-methods-route.ts';
import { requireKnownToken } from './require-known-token.ts';

/** Lists this service keeps nothing in, by path (docs/wire-rules.md#config-and-flags). */
const lists: Record<string, object> = {
  '/api/surveys': { surveys: [], survey_config: null },
  '/api/web_experiments': { experiments: [] },
};

export function emptyListRoutes(router: Router, { projectKeys }: AnswerDependencies): void {
  for (const [path, answer] of Object.entries(lists)) {
    router
      .route(path)
      .get(async (request, response) => {
        await requireKnownToken(request.query.token ?? request.query.api_key, projectKeys);
        response.json(answer);
      })
      .all(onlyMethods('GET', 'HEAD', 'OPTIONS'));
  }
}
