// The activity log of a project, for all kinds of records.

import type { Sql } from '@millrace/db';
import { pageLink } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { environmentBasePaths } from '../access/addressed-project.ts';
import { defineRoutes } from '../access/define-route.ts';
import type { RecordRights } from '../access/record-rights.ts';
import type { Searches } from '../access/searches.ts';
import { activityExample, activityItem, maxPage, nullableText, toActivity } from './activity-page.ts';
import { type ActivityFilter, type ActivityRow, listActivity } from './activity-store.ts';

const logEntry = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'ID of the log entry.' }),
    organization_id: nullableText('ID of the organization.'),
    ...activityItem.properties,
    is_system: Type.Boolean({ description: 'Whether the change was made by something other than a user.' }),
    was_impersonated: Type.Boolean({ description: 'Always false: users cannot impersonate other users.' }),
    unread: Type.Boolean({ description: 'Always false: Millrace does not store which entries a user has read.' }),
  },
  { title: 'ActivityLogEntry' },
);

const logPage = Type.Object(
  {
    count: Type.Integer({ description: 'Total number of entries across all pages.' }),
    next: nullableText('URL of the next page, or null on the last page.'),
    previous: nullableText('URL of the previous page, or null on the first page.'),
    results: Type.Array(logEntry, { description: 'The log entries on this page, most recent first.' }),
  },
  { title: 'ActivityLogPage' },
);

const query = Type.Object({
  page: Type.Integer({ default: 1, minimum: 1, maximum: maxPage, description: 'Page number, starting at 1.' }),
  page_size: Type.Integer({ default: 100, minimum: 1, maximum: 1000, description: 'Number of entries per page.' }),
  user: Type.Optional(Type.String({ format: 'uuid', description: 'Only changes made by the user with this UUID.' })),
  scope: Type.Optional(
    Type.String({ description: 'Only entries about records of this type, for example `FeatureFlag` or `Team`.' }),
  ),
  scopes: Type.Optional(
    Type.String({
      description: 'Only entries about records of these types. Separate them with commas, or repeat the parameter.',
    }),
  ),
  item_id: Type.Optional(
    Type.String({ description: 'Only entries about the record with this ID. IDs are unique within a type.' }),
  ),
});

/**
 * Kinds of activity that members cannot see, because only administrators can use the dead-letter routes. Activity of
 * the kinds in `canContainClosed` can mention records that a member cannot see, such as a restricted insight in a
 * subscription. It is therefore hidden if any access rule applies to the caller.
 */
const onlyForAdministrators = ['DeadLetter', 'IngestionRestriction'];
const canContainClosed = ['Annotation', 'BatchExport', 'Subscription'];

function hiddenScopes({ rules }: RecordRights): string[] {
  if (rules === null) return [];
  return rules.length > 0 ? [...onlyForAdministrators, ...canContainClosed] : onlyForAdministrators;
}

export function projectActivityRoutes({ sql, searches }: { sql: Sql; searches: Searches }) {
  return defineRoutes({
    method: 'GET',
    below: environmentBasePaths(sql),
    path: '/activity_log',
    operationId: 'activity_log_list',
    summary: "Show a project's activity log",
    description:
      'Returns the changes made in the project, most recent first. If you send several filters, only entries that match all of them are ' +
      'returned. Entries about records that you cannot access are left out. If an access rule applies to you, entries about ' +
      'annotations, batch exports and subscriptions are also left out. Only ' +
      'administrators see entries about dead letters and ingestion restrictions.',
    tags: ['projects'],
    scope: 'activity_log:read',
    query,
    responses: { 200: { description: 'One page of log entries.', schema: logPage } },
    examples: {
      response: { count: 1, next: null, previous: null, results: activityExample.results.map(exampleEntry) },
    },
    handler: async ({ caller, target, query: parameters, request }) => {
      const { page, page_size: limit, user, item_id, scope, scopes } = parameters;
      const filter: ActivityFilter = {
        environmentId: target.environmentId,
        seen: target.rights,
        hiddenScopes: hiddenScopes(target.rights),
        ...(user !== undefined && { userUuid: user }),
        ...(item_id !== undefined && { itemId: item_id }),
        ...((scope ?? scopes) !== undefined && { scopes: scopesOf(scope, request.query.getAll('scopes')) }),
      };
      const offset = (page - 1) * limit;
      const { count, rows } = await searches.run({ caller, target }, 'a lower `page`', (on) =>
        listActivity(on, filter, { limit, offset }),
      );
      if (page > 1 && rows.length === 0) throw new AppError('not_found', 'Invalid page.');
      return {
        count,
        next: offset + rows.length < count ? pageLink(request, { page: page + 1 }) : null,
        previous: page > 1 ? pageLink(request, { page: page - 1 }) : null,
        results: rows.map(toLogEntry),
      };
    },
  });
}

function scopesOf(scope: string | undefined, scopes: string[]): string[] {
  const listed = scopes.flatMap((text) => text.split(',')).map((one) => one.trim());
  if (scope === undefined) return listed;
  return listed.length === 0 || listed.includes(scope) ? [scope] : [];
}

function toLogEntry(row: ActivityRow) {
  const { id, organization_id, user } = row;
  return { id, organization_id, ...toActivity(row), is_system: user === null, was_impersonated: false, unread: false };
}

function exampleEntry(item: (typeof activityExample.results)[number]) {
  return {
    id: '0193f0c5-7a4e-7000-8000-00000000ac71',
    organization_id: '0193f0c5-7a4e-7000-8000-000000000001',
    ...item,
    is_system: false,
    was_impersonated: false,
    unread: false,
  };
}
