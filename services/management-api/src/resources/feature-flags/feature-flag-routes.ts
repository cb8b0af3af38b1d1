import { flagExposuresRoute } from './exposures/flag-exposures-route.ts';
import { flagActivityRoutes } from './flag-activity-routes.ts';
import { flagBlastRadiusRoute } from './flag-blast-radius-route.ts';
import { flagBulkRoutes } from './flag-bulk-routes.ts';
import { flagCohortRoute } from './flag-cohort-route.ts';
import { flagDashboardRoutes } from './flag-dashboard-routes.ts';
import { flagDefinitionRoutes } from './flag-definition-routes.ts';
import type { FlagDeps } from './flag-deps.ts';
import { flagEvaluationRoutes } from './flag-evaluation-routes.ts';
import { flagReadRoutes } from './flag-read-routes.ts';
import { flagWriteRoutes } from './flag-write-routes.ts';

/** Feature flags of an environment. Words in a path come before `:id`, which would take them for one. */
export function featureFlagRoutes(deps: FlagDeps) {
  return [
    ...flagActivityRoutes(deps),
    ...flagEvaluationRoutes(deps),
    ...flagDefinitionRoutes(deps),
    ...flagBulkRoutes(deps),
    flagBlastRadiusRoute(deps),
    flagCohortRoute(deps),
    ...flagDashboardRoutes(deps),
    flagExposuresRoute(deps),
    ...flagReadRoutes(deps),
    ...flagWriteRoutes(deps),
  ];
}
