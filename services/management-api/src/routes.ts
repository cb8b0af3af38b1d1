import type { Sql } from '@millrace/db';
import type { Route } from '@millrace/http';
import type { Caller } from './access/caller.ts';
import { eventRoutes } from './resources/events/event-routes.ts';
import { groupRoutes } from './resources/groups/group-routes.ts';
import { ingestionWarningRoutes } from './resources/ingestion-warnings/ingestion-warning-routes.ts';
import { organizationRoutes } from './resources/organizations/organization-routes.ts';
import { personRoutes } from './resources/persons/person-routes.ts';
import { projectRoutes } from './resources/projects/project-routes.ts';
import { schemaRoutes } from './resources/schema/schema-routes.ts';
import { userRoutes } from './resources/users/user-routes.ts';

/** Every route of the management API. */
export function routes(deps: { sql: Sql }): Route<Caller>[] {
  const resources = [
    ...organizationRoutes(deps),
    ...projectRoutes(deps),
    ...userRoutes(deps),
    ...eventRoutes(deps),
    ...personRoutes(deps),
    ...groupRoutes(deps),
    ...ingestionWarningRoutes(deps),
  ];
  return [...resources, ...schemaRoutes(resources)];
}
