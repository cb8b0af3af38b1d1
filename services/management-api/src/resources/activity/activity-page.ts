import type { Sql } from '@millrace/db';
import { type ApiRequest, formatDateTime, pageLink } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { type ActivityFilter, type ActivityRow, listActivity } from './activity-store.ts';

export const maxPage = 1_000_000;

/** Pages of this list have numbers, unlike all others (docs/api/activity.md). A bad number is 400. */
export const activityQuery = Type.Object({
  limit: Type.Integer({ default: 10, minimum: 1, maximum: 1000, description: 'Number of records per page.' }),
  page: Type.Integer({ default: 1, minimum: 1, maximum: maxPage, description: 'Number of the page, from 1.' }),
});

export const nullableText = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

export const activityItem = Type.Object(
  {
    user: Type.Object(
      {
        first_name: Type.String({
          description:
            'First name; `System` for the system itself, `Command line` for its operator, `SCIM` for a provider.',
        }),
        email: nullableText('E-mail address.'),
        is_system: Type.Optional(Type.Boolean({ description: 'Present and true for the system itself.' })),
      },
      { description: 'Who did it.' },
    ),
    activity: Type.String({
      description:
        '`created`, `updated`, `deleted` or `restored`; of persons also `split_person`; of users also `logged_in`, `logged_out`, `second_factor_refused`.',
    }),
    scope: Type.String({ description: 'Kind of the record; an environment is a `Team`.' }),
    item_id: Type.String({ description: 'Id of the record.' }),
    detail: Type.Object(
      {
        name: nullableText('What the record is called.'),
        short_id: Type.Null({ description: 'Always null.' }),
        type: Type.Null({ description: 'Always null.' }),
        trigger: Type.Union(
          [
            Type.Object({
              job_type: Type.String({
                description:
                  '`command_line`: an operator did it with `millrace`; `scim`: the provider of a domain did it.',
              }),
              job_id: Type.String({ description: 'The command, or the domain.' }),
              payload: Type.Object({}, { description: 'Always empty.' }),
            }),
            Type.Null(),
          ],
          { description: 'What did it, when it was no user; null otherwise.' },
        ),
        changes: Type.Union(
          [
            Type.Array(
              Type.Object({
                type: Type.String({ description: 'Kind of the record.' }),
                action: Type.String({ description: '`created`, `changed` or `deleted`.' }),
                field: Type.String({ description: 'The field.' }),
                before: Type.Unknown({ description: 'Its value before.' }),
                after: Type.Unknown({ description: 'Its value after.' }),
              }),
            ),
            Type.Null(),
          ],
          {
            description:
              'What changed; null when the record was made or removed, and behind the first 2 MiB of changes on a page.',
          },
        ),
      },
      { description: 'What happened.' },
    ),
    created_at: Type.String({ format: 'date-time', description: 'When.' }),
  },
  { title: 'Activity' },
);

export const activityPage = Type.Object(
  {
    results: Type.Array(activityItem, { description: 'The records of this page, the latest first.' }),
    next: nullableText('Address of the next page.'),
    previous: nullableText('Address of the previous page.'),
    total_count: Type.Integer({ description: 'Number of records on all pages together.' }),
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
 * One page of what happened to a record, or to all of a kind in an environment.
 * @throws AppError `not_found` for a page after the last.
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
