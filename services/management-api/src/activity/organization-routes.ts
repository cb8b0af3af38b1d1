// The activity log of an organization and all of its projects.

import { membershipLevels } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import { decodeCursor, keysetPageSchema, keysetQuery } from '@millrace/http';
import { Type } from 'typebox';
import { addressedOrganization, organizationParams } from '../access/addressed-organization.ts';
import { defineRoute } from '../access/define-route.ts';
import type { Searches } from '../access/searches.ts';
import type { LargePages } from '../sql/large-page.ts';
import { timeRangeQuery, toTimeRange } from '../time/time-range.ts';
import { activityExample, activityItem, toActivity } from './activity-page.ts';
import { findActivityKeys, readOrganizationActivity } from './activity-store.ts';

/**
 * The cursor: the time of the previous page's last change, in microseconds since the epoch, and the ID of that change.
 */
const position = Type.Object({
  at: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  id: Type.String({ format: 'uuid' }),
});

const organizationItem = Type.Object(
  {
    ...activityItem.properties,
    team_id: Type.Union([Type.Integer(), Type.Null()], {
      description: 'ID of the environment that the record belongs to. Null for records of the organization.',
    }),
  },
  { title: 'OrganizationActivity' },
);

/** This list uses cursors. The other activity lists use page numbers. */
const organizationActivity = Type.Object(keysetPageSchema(organizationItem).properties, {
  title: 'OrganizationActivityPage',
});

/**
 * Creates the route that lists an organization's activity. Only administrators can use the route, because the activity
 * includes private environments.
 */
export function organizationActivityRoute({
  sql,
  searches,
  pages,
}: {
  sql: Sql;
  searches: Searches;
  pages: LargePages;
}) {
  return defineRoute({
    method: 'GET',
    path: '/api/organizations/:organization_id/activity',
    operationId: 'organizations_activity',
    summary: "Show an organization's activity log",
    description:
      'Returns the changes made in the organization and in all of its projects, most recent first. If you send several ' +
      'filters, only entries that match all of them are returned.',
    tags: ['organizations'],
    scope: 'activity_log:read',
    level: membershipLevels.administrator,
    params: organizationParams,
    query: Type.Object({
      ...keysetQuery,
      scope: Type.Optional(
        Type.String({ description: 'Only entries about records of this type, such as `FeatureFlag` or `Team`.' }),
      ),
      item_id: Type.Optional(Type.String({ description: 'Only entries about the record with this ID.' })),
      team_id: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 2_147_483_647,
          description: 'Only entries about records of the environment with this ID.',
        }),
      ),
      user: Type.Optional(
        Type.String({ format: 'uuid', description: 'Only changes made by the user with this UUID.' }),
      ),
      ...timeRangeQuery,
    }),
    responses: { 200: { description: 'One page of log entries.', schema: organizationActivity } },
    examples: { response: { next: null, results: activityExample.results.map((item) => ({ ...item, team_id: 1 })) } },
    target: addressedOrganization(sql),
    handler: async ({ caller, target, query, request }) => {
      const { organizationId } = target;
      const { scope, item_id, team_id, user, limit, cursor, ...range } = query;
      const filter = {
        ...toTimeRange(range),
        ...(scope !== undefined && { scope }),
        ...(item_id !== undefined && { itemId: item_id }),
        ...(team_id !== undefined && { environmentId: team_id }),
        ...(user !== undefined && { userUuid: user }),
      };
      const isSearch = (scope ?? item_id ?? team_id ?? user) !== undefined;
      return pages.page(request, {
        behind: decodeCursor(position, cursor),
        limit,
        findKeys(window) {
          const find = (on: Sql) => findActivityKeys(on, organizationId, filter, window);
          return isSearch ? searches.run({ caller, target }, '`after` and `before`', find) : find(sql);
        },
        async read(keys, maxBytes) {
          const { rows, used } = await readOrganizationActivity(sql, organizationId, { keys, maxBytes });
          return { rows: rows.map((row) => ({ ...toActivity(row), team_id: row.environment_id })), used };
        },
        toCursor: ({ at, id }) => ({ at, id }),
      });
    },
  });
}
