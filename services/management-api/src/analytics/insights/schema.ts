// Request and response schemas for insights, which are saved queries with a name.

import { freeFormObject, orNull } from '@millrace/http';
import { Type } from 'typebox';
import { embeddedUser, embeddedUserExample } from '../../identity/embedded-users/embedded-user.ts';
import { noResult } from './result.ts';

const largest = 2_147_483_647;
const text = Type.String({ maxLength: 400 });
const time = Type.String({ format: 'date-time' });
const ids = (description: string) => Type.Array(Type.Integer({ minimum: 1, maximum: largest }), { description });

export const tagList = Type.Array(Type.String({ maxLength: 255 }), {
  maxItems: 100,
  description: 'Tags, in the order in which they were sent.',
});

const fields = {
  name: orNull(text, 'Name of the insight.'),
  derived_name: orNull(text, 'Name that a client generated from the query. Millrace does not generate it.'),
  description: orNull(text, 'Description of the insight.'),
  query: orNull(
    freeFormObject({}),
    'The query, or an `InsightVizNode`, `DataTableNode` or `DataVisualizationNode` that contains the query as its `source`. Stored exactly as it was sent.',
  ),
  order: orNull(Type.Integer({ minimum: -largest, maximum: largest }), 'Position of the insight in lists.'),
  deleted: Type.Boolean({ description: 'Whether the insight is deleted. Set it to false to restore the insight.' }),
  dashboards: ids('IDs of the dashboards that contain the insight. In an update, replaces the entire list.'),
  favorited: Type.Boolean({ description: 'Whether the insight is marked as a favorite.' }),
  saved: Type.Boolean({
    description:
      'Whether the insight was saved explicitly. Every update sets this to true, unless the request contains another value.',
  }),
};

const nothingYet = 'Null if no result is cached.';

/** The optional fields are omitted if the request has `basic=true`. */
export const insight = Type.Object(
  {
    id: Type.Integer({ description: 'ID of the insight.' }),
    short_id: Type.String({ description: 'Short ID of eight letters and digits, unique within the project.' }),
    name: fields.name,
    derived_name: fields.derived_name,
    description: fields.description,
    query: fields.query,
    filters: freeFormObject({ description: 'Always empty. Older insights stored filters here instead of a `query`.' }),
    order: fields.order,
    deleted: fields.deleted,
    dashboards: ids('IDs of the dashboards that contain the insight.'),
    dashboard_tiles: Type.Array(
      Type.Object({
        id: Type.Integer({ description: 'ID of the tile.' }),
        dashboard_id: Type.Integer({ description: 'ID of the dashboard.' }),
        deleted: Type.Boolean({ description: 'Always false.' }),
      }),
      { description: 'Tiles of the insight on these dashboards.' },
    ),
    tags: tagList,
    favorited: fields.favorited,
    saved: fields.saved,
    created_at: Type.String({ format: 'date-time', description: 'When the insight was created.' }),
    created_by: orNull(embeddedUser, 'User who created the insight, or null if that user was deleted.'),
    updated_at: Type.String({ format: 'date-time', description: 'When any field of the insight was last changed.' }),
    last_modified_at: Type.String({
      format: 'date-time',
      description: 'When the name, description or query was last changed.',
    }),
    last_modified_by: orNull(embeddedUser, 'User who last changed the name, description or query.'),
    last_viewed_at: orNull(time, 'When the insight was last viewed by any user.'),
    is_sample: Type.Boolean({ description: 'Always false.' }),
    effective_restriction_level: Type.Optional(
      Type.Integer({ description: '37 if the insight is on a dashboard with restricted editing, otherwise 21.' }),
    ),
    effective_privilege_level: Type.Optional(
      Type.Integer({ description: 'Your access to the insight: 21 (can view) or 37 (can edit).' }),
    ),
    user_access_level: Type.String({ description: 'Access level of the caller: `editor` or `viewer`.' }),
    timezone: Type.Optional(orNull(Type.String(), 'Time zone of the result. Null if no result is cached.')),
    result: Type.Optional(Type.Unknown({ description: `The cached or computed result. ${nothingYet}` })),
    hasMore: Type.Optional(orNull(Type.Boolean(), `Whether the result was truncated. ${nothingYet}`)),
    columns: Type.Unknown({ description: `Column names, if the result is a table. ${nothingYet}` }),
    types: Type.Unknown({ description: `Types of the columns. ${nothingYet}` }),
    hogql: orNull(
      Type.String(),
      `Text of an SQL query with its placeholders replaced. Null for other kinds. ${nothingYet}`,
    ),
    query_status: Type.Unknown({ description: 'Status of the query, if it runs in the background. Otherwise null.' }),
    resolved_date_range: Type.Unknown({ description: `Start and end of the result's date range. ${nothingYet}` }),
    is_cached: Type.Boolean({ description: 'Whether this is a cached result.' }),
    last_refresh: orNull(time, `When the result was computed. ${nothingYet}`),
    cache_target_age: Type.Optional(orNull(time, `Time until which the result is considered fresh. ${nothingYet}`)),
    next_allowed_client_refresh: orNull(time, `Time from which clients should request a newer result. ${nothingYet}`),
    filters_hash: orNull(Type.String(), `Key of the cached result. ${nothingYet}`),
    refreshing: Type.Null({ description: 'Always null.' }),
    alerts: Type.Optional(Type.Array(Type.Unknown(), { description: 'Always empty.' })),
  },
  { title: 'Insight' },
);

/** Body of POST, PUT and PATCH requests. All fields are optional. */
export const insightChanges = Type.Object(
  {
    name: Type.Optional(fields.name),
    derived_name: Type.Optional(fields.derived_name),
    description: Type.Optional(fields.description),
    query: Type.Optional(fields.query),
    filters: Type.Optional(
      Type.Unknown({ description: 'Older form of the query. Rejected unless empty; use `query` instead.' }),
    ),
    order: Type.Optional(fields.order),
    deleted: Type.Optional(fields.deleted),
    dashboards: Type.Optional(
      orNull(
        fields.dashboards,
        'IDs of the dashboards that contain the insight. In an update, replaces the entire list.',
      ),
    ),
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
  id: Type.String({ description: 'ID or `short_id` of the insight.' }),
});
