import type { Route } from '@millrace/http';
import type { Caller } from './caller.ts';

const projects = '/api/projects/';

/**
 * The routes, and each of them below `/api/environments/` as well: newer clients address data by the environment, older
 * ones by the project. Both kinds of number find the same environment (`addressedProject`).
 */
export function belowEnvironmentsToo(routes: Route<Caller>[]): Route<Caller>[] {
  return routes.flatMap((route) => [
    route,
    {
      ...route,
      path: route.path.replace(projects, '/api/environments/'),
      operationId: `environments_${route.operationId}`,
    },
  ]);
}
