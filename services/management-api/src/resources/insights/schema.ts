import { freeFormObject, orNull } from '@millrace/http';
import { Type } from 'typebox';
import { embeddedUser, embeddedUserExample } from '../embedded-users/embedded-user.ts';
import { noResult } from './result.ts';

const largest = 2_147_483_647;
const text = Type.String({ maxLength: 400 });
const time = Type.String({ format: 'date-time' });
const ids = (description: string) => Type.Array(Type.Integer({ minimum: 1, maximum: largest }), { description });

/** Free labels, as insights and dashboards have them. */
export const tagList = Type.Array(Type.String({ maxLength: 255 }), {
  maxItems: 100,
  description: 'Free labels, in the order they were sent.',
});

const fields = {
  name: orNull(text, 'Name of the insight.'),
  derived_name: orNull(text, 'A name that the client made of the query; never made here.'),
  description: orNull(text, 'What it is for.'),
  query: orNull(
    freeFormObject({}),
    'The question: a query, or an `InsightVizNode` or a `DataTableNode` with one as its `source`. Kept exactly as it was sent.',
  ),
  order: orNull(Type.Integer({ minimum: -largest, maximum: largest }), 'Its place in lists.'),
  deleted: Type.Boolean({ description: 'Whether it is deleted; `false` restores it.' }),
  dashboards: ids('The dashboards it is on. A change replaces the whole list.'),
  favorited: Type.Boolean({ description: 'Whether it is a favourite.' }),
  saved: Type.Boolean({
    description: 'Whether it was saved on purpose: true after a change that does not say otherwise.',
  }),
};

const nothingYet = 'Null while there is no result.';

/** `basic=true` leaves out the optional ones. */
export const insight = Type.Object(
  {
    id: Type.Integer({ description: 'Number of the insight.' }),
    short_id: Type.String({ description: 'Eight letters and digits; unique in the project.' }),
    name: fields.name,
    derived_name: fields.derived_name,
    description: fields.description,
    query: fields.query,
    filters: freeFormObject({ description: 'Always empty: the form before `query`.' }),
    order: fields.order,
    deleted: fields.deleted,
    dashboards: ids('The dashboards it is on.'),
    dashboard_tiles: Type.Array(
      Type.Object({
        id: Type.Integer({ description: 'Number of the tile.' }),
        dashboard_id: Type.Integer({ description: 'Number of the dashboard.' }),
        deleted: Type.Boolean({ description: 'Always false.' }),
      }),
      { description: 'Its tiles on these dashboards.' },
    ),
    tags: tagList,
    favorited: fields.favorited,
    saved: fields.saved,
    created_at: Type.String({ format: 'date-time', description: 'When it was made.' }),
    created_by: orNull(embeddedUser, 'Who made it; null when the user was deleted.'),
    updated_at: Type.String({ format: 'date-time', description: 'When anything of it changed last.' }),
    last_modified_at: Type.String({
      format: 'date-time',
      description: 'When name, description or query changed last.',
    }),
    last_modified_by: orNull(embeddedUser, 'Who changed these last.'),
    last_viewed_at: orNull(time, 'When anybody opened it last.'),
    is_sample: Type.Boolean({ description: 'Always false.' }),
    effective_restriction_level: Type.Optional(
      Type.Integer({ description: '37 where it is on a dashboard that not everybody may change, otherwise 21.' }),
    ),
    effective_privilege_level: Type.Optional(
      Type.Integer({ description: 'What the caller may do: 21 look at it, 37 change it.' }),
    ),
    user_access_level: Type.String({ description: '`editor` or `viewer`.' }),
    timezone: Type.Optional(orNull(Type.String(), 'Time zone of the result.')),
    result: Type.Optional(Type.Unknown({ description: `The result that is kept. ${nothingYet}` })),
    hasMore: Type.Optional(orNull(Type.Boolean(), `Whether there is more than the result shows. ${nothingYet}`)),
    columns: Type.Unknown({ description: `Columns of a result that is a table. ${nothingYet}` }),
    types: Type.Unknown({ description: `Types of these columns. ${nothingYet}` }),
    hogql: Type.Null({ description: 'Always null.' }),
    query_status: Type.Unknown({ description: 'How far a run in the background is; null where there is none.' }),
    resolved_date_range: Type.Unknown({ description: `First and last moment of the result. ${nothingYet}` }),
    is_cached: Type.Boolean({ description: 'Whether the result was kept from an earlier request.' }),
    last_refresh: orNull(time, `When the result was computed. ${nothingYet}`),
    cache_target_age: Type.Optional(orNull(time, `Until when it counts as fresh. ${nothingYet}`)),
    next_allowed_client_refresh: orNull(time, `When clients should ask for a newer one at the earliest. ${nothingYet}`),
    filters_hash: orNull(Type.String(), `Under what the result is kept. ${nothingYet}`),
    refreshing: Type.Null({ description: 'Always null.' }),
    alerts: Type.Optional(Type.Array(Type.Unknown(), { description: 'Always empty.' })),
  },
  { title: 'Insight' },
);

/** For POST, PUT and PATCH: nothing is required. */
export const insightChanges = Type.Object(
  {
    name: Type.Optional(fields.name),
    derived_name: Type.Optional(fields.derived_name),
    description: Type.Optional(fields.description),
    query: Type.Optional(fields.query),
    filters: Type.Optional(Type.Unknown({ description: 'The form before `query`: refused unless empty.' })),
    order: Type.Optional(fields.order),
    deleted: Type.Optional(fields.deleted),
    dashboards: Type.Optional(orNull(fields.dashboards, 'The dashboards it is on. A change replaces the whole list.')),
    tags: Type.Optional(tagList),
    favorited: Type.Optional(fields.favorited),
    saved: Type.Optional(fields.saved),
  },
  { title: 'InsightChanges' },
);

export const newInsightExample = {
  name: 'Weekly sign-ups',
  query: {
    kind: 'InsightVizNode',
    source: {
      kind: 'TrendsQuery',
      series: [{ kind: 'EventsNode', event: 'sign up', math: 'dau' }],
      dateRange: { date_from: '-7d' },
      interval: 'day',
    },
  },
  tags: ['growth'],
};

export const insightExample = {
  id: 7,
  short_id: 'Ab3dE6gh',
  name: 'Weekly sign-ups',
  derived_name: null,
  description: null,
  query: newInsightExample.query,
  filters: {},
  order: null,
  deleted: false,
  dashboards: [3],
  dashboard_tiles: [{ id: 12, dashboard_id: 3, deleted: false }],
  tags: ['growth'],
  favorited: false,
  saved: true,
  created_at: '2026-11-01T12:00:00Z',
  created_by: embeddedUserExample,
  updated_at: '2026-11-01T12:00:00Z',
  last_modified_at: '2026-11-01T12:00:00Z',
  last_modified_by: embeddedUserExample,
  last_viewed_at: null,
  is_sample: false,
  effective_restriction_level: 21,
  effective_privilege_level: 37,
  user_access_level: 'editor',
  ...noResult,
  refreshing: null,
  alerts: [],
};

export const insightsPath = '/insights';
export const insightTags: [string] = ['insights'];

export const insightParams = Type.Object({
  id: Type.String({ description: 'Number of the insight, or its `short_id`.' }),
});
