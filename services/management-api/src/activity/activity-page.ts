// Pages of the activity log: query parameters, response schema, and the function that reads one page.

import type { Sql } from '@millrace/db';
import { type ApiRequest, formatDateTime, pageLink } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { type ActivityFilter, type ActivityRow, listActivity } from './activity-store.ts';

export const maxPage = 1_000_000;

/**
 * Query parameters of an activity list. Unlike all other lists, activity lists use page numbers (docs/api/activity.md).
 * An invalid number returns 400.
 */
export const activityQuery = Type.Object({
  limit: Type.Integer({ default: 10, minimum: 1, maximum: 1000, description: 'Number of entries per page.' }),
  page: Type.Integer({ default: 1, minimum: 1, maximum: maxPage, description: 'Page number, starting at 1.' }),
});

export const nullableText = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

export const activityItem = Type.Object(
  {
    user: Type.Object(
      {
        first_name: Type.String({
          description:
            'First name of the user. `System` for changes made by Millrace, `Command line` for changes made by an operator, ' +
            'and `SCIM` for changes made by an identity provider.',
        }),
        email: nullableText('Email address of the user.'),
        is_system: Type.Optional(
          Type.Boolean({ description: 'True if the change was not made by a user; otherwise absent.' }),
        ),
      },
      { description: 'User who made the change.' },
    ),
    activity: Type.String({
      description:
        'Type of change: `created`, `updated`, `deleted` or `restored`; for persons also `split_person`; for users also ' +
        '`logged_in`, `logged_out` and `second_factor_refused`.',
    }),
    scope: Type.String({ description: 'Record type. Environments have the type `Team`.' }),
    item_id: Type.String({ description: 'ID of the record.' }),
    detail: Type.Object(
      {
        name: nullableText('Name of the record.'),
        short_id: Type.Null({ description: 'Always null.' }),
        type: Type.Null({ description: 'Always null.' }),
        trigger: Type.Union(
          [
            Type.Object({
              job_type: Type.String({
                description:
                  "`command_line` if an operator made the change with `millrace`, or `scim` if a domain's identity provider made it.",
              }),
              job_id: Type.String({
                description: 'Command that the operator ran, or domain that the identity provider belongs to.',
              }),
              payload: Type.Object({}, { description: 'Always empty.' }),
            }),
            Type.Null(),
          ],
          { description: 'Operator or identity provider that made the change; null if a user or Millrace made it.' },
        ),
        changes: Type.Union(
          [
            Type.Array(
              Type.Object({
                type: Type.String({ description: 'Type of the record.' }),
                action: Type.String({ description: 'Type of change to the field: `created`, `changed` or `deleted`.' }),
                field: Type.String({ description: 'Name of the field.' }),
                before: Type.Unknown({ description: 'Value before the change.' }),
                after: Type.Unknown({ description: 'Value after the change.' }),
              }),
            ),
            Type.Null(),
          ],
          {
            description:
              "The changed fields. Null if the record was created or deleted. Also null for the remaining entries on a page once the page's " +
              'changes exceed 2 MiB.',
          },
        ),
      },
      { description: 'Details of the change.' },
    ),
    created_at: Type.String({ format: 'date-time', description: 'When the change was made.' }),
  },
  { title: 'Activity' },
);

export const activityPage = Type.Object(
  {
    results: Type.Array(activityItem, { description: 'The log entries on this page, most recent first.' }),
    next: nullableText('URL of the next page, or null on the last page.'),
    previous: nullableText('URL of the previous page, or null on the first page.'),
    total_count: Type.Integer({ description: 'Total number of entries across all pages.' }),
  },
  { title: 'ActivityPage' },
);

export const activityExample = {
  results: [
    {
      user: { first_name: 'Ada', email: 'ada@example.com' },
      activity: 'updated',
      scope: 'Team',
      item_id: '1',
      detail: {
        name: 'Default project',
        short_id: null,
        type: null,
        trigger: null,
        changes: [{ type: 'Team', action: 'changed', field: 'timezone', before: 'UTC', after: 'Europe/Lisbon' }],
      },
      created_at: '2026-11-21T12:00:00Z',
    },
  ],
  next: null,
  previous: null,
  total_count: 1,
};

/**
 * Returns one page of the activity of a record, or of all records of a kind in an environment.
 * @throws AppError `not_found` for a page after the last one
 */
export async function readActivity(
  sql: Sql,
  request: ApiRequest,
  { limit, page, ...about }: ActivityFilter & { limit: number; page: number },
) {
  const offset = (page - 1) * limit;
  const { count, rows } = await listActivity(sql, about, { limit, offset });
  if (page > 1 && rows.length === 0) throw new AppError('not_found', 'Invalid page.');
  return {
    results: rows.map(toActivity),
    next: offset + rows.length < count ? pageLink(request, { limit, page: page + 1 }) : null,
    previous: page > 1 ? pageLink(request, { limit, page: page - 1 }) : null,
    total_count: count,
  };
}

function nameOfTrigger(type: string | undefined): string {
  if (type === undefined) return 'System';
  return type === 'scim' ? 'SCIM' : 'Command line';
}

export function toActivity({ user, activity, scope, item_id, detail, created_at }: ActivityRow) {
  return {
    user: user ?? { first_name: nameOfTrigger(detail.trigger?.job_type), email: null, is_system: true },
    activity,
    scope,
    item_id,
    detail,
    created_at: formatDateTime(created_at),
  };
}
