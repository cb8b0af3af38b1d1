// Request and response schemas for dashboards, which show insights and texts as tiles on one page.

import { freeFormObject, orNull } from '@millrace/http';
import { Type } from 'typebox';
import { embeddedUser, embeddedUserExample } from '../../identity/embedded-users/embedded-user.ts';
import { insight, insightExample, tagList } from '../insights/schema.ts';

const largest = 2_147_483_647;
const time = Type.String({ format: 'date-time' });
export const numberOf = (what: string) =>
  Type.Integer({ minimum: 1, maximum: largest, description: `ID of the ${what}.` });

const fields = {
  name: orNull(Type.String({ maxLength: 400 }), 'Name of the dashboard.'),
  description: Type.String({ maxLength: 10_000, description: 'Description of the dashboard.' }),
  pinned: Type.Boolean({ description: 'Whether the dashboard is pinned to the top of the list.' }),
  filters: freeFormObject({
    description:
      'Filters applied to all insights on the dashboard: `date_from`, `date_to`, `properties`, `breakdown_filter`. Stored as sent.',
  }),
  variables: orNull(
    freeFormObject({}),
    'Values of variables in SQL insights, by variable ID: `{"<id>": {"code_name": "plan", "value": "pro"}}`. They ' +
      'replace the values of the insights.',
  ),
  breakdown_colors: Type.Unknown({ description: 'Colors chosen by clients for breakdown values. Stored as sent.' }),
  data_color_theme_id: orNull(
    Type.Integer({ minimum: -2_147_483_648, maximum: 2_147_483_647 }),
    'ID of the color theme that clients use. Stored as sent.',
  ),
  quick_filter_ids: Type.Unknown({ description: 'Stored as sent, but has no effect.' }),
  restriction_level: Type.Unsafe<21 | 37>({
    type: 'integer',
    enum: [21, 37],
    description:
      '21: everyone in the project can edit the dashboard. 37: only its creator and administrators can edit it.',
  }),
  deleted: Type.Boolean({ description: 'Whether the dashboard is deleted. Set it to false to restore the dashboard.' }),
};

const tileFields = {
  layouts: freeFormObject({
    description: 'Position and size of the tile for each screen width, `sm` and `xs`. Stored as sent.',
  }),
  color: orNull(Type.String({ maxLength: 400 }), 'Color of the tile.'),
  filters_overrides: orNull(freeFormObject({}), 'Filters that replace the dashboard filters for this tile.'),
  show_description: orNull(Type.Boolean(), 'Whether the tile shows the description of the insight.'),
  transparent_background: orNull(Type.Boolean(), 'Whether the tile has a transparent background.'),
};

const textOfTile = Type.Object(
  {
    id: Type.Integer({ description: 'ID of the text.' }),
    body: Type.String({ description: 'Text in Markdown.' }),
    created_by: orNull(embeddedUser, 'User who wrote the text, or null if that user was deleted.'),
    last_modified_at: orNull(time, 'When the text was last changed.'),
    last_modified_by: orNull(embeddedUser, 'User who last changed the text.'),
    team: Type.Integer({ description: 'ID of the project.' }),
    dashboard_tiles: Type.Array(Type.Integer(), { description: 'ID of the tile.' }),
  },
  { title: 'DashboardText' },
);

/** `layouts` are returned exactly as the client sent them, because clients compare them. */
const tile = Type.Object(
  {
    id: Type.Integer({ description: 'ID of the tile.' }),
    insight: orNull(insight, 'The insight, with the dashboard filters applied; null for a text tile.'),
    text: orNull(textOfTile, 'The text; null for an insight tile.'),
    button_tile: Type.Null({ description: 'Always null.' }),
    ...tileFields,
    order: Type.Integer({
      description:
        'Position among the tiles, starting at 0. Tiles are ordered by `layouts.sm.y`, then by `layouts.sm.x`.',
    }),
    last_refresh: orNull(time, 'When the result was calculated.'),
    is_cached: Type.Boolean({ description: 'Whether the result was already cached before this request.' }),
  },
  { title: 'DashboardTile' },
);

/** List responses omit the optional fields. */
export const dashboard = Type.Object(
  {
    id: Type.Integer({ description: 'ID of the dashboard.' }),
    name: fields.name,
    description: fields.description,
    pinned: fields.pinned,
    created_at: Type.String({ format: 'date-time', description: 'When the dashboard was created.' }),
    created_by: orNull(embeddedUser, 'User who created the dashboard, or null if that user was deleted.'),
    last_accessed_at: orNull(time, 'Approximate time when the dashboard was last opened.'),
    last_viewed_at: orNull(time, 'The same as `last_accessed_at`.'),
    last_refresh: orNull(time, 'When the oldest result on the dashboard was calculated.'),
    is_shared: Type.Boolean({ description: 'Whether the dashboard is shared by a public link.' }),
    deleted: fields.deleted,
    creation_mode: Type.String({
      description: 'How the dashboard was created: `default`, or `duplicate` for a copy of another dashboard.',
    }),
    tags: tagList,
    restriction_level: fields.restriction_level,
    effective_restriction_level: Type.Integer({ description: 'The same as `restriction_level`.' }),
    effective_privilege_level: Type.Integer({
      description: 'Your access to the dashboard: 21 (can view) or 37 (can edit).',
    }),
    user_access_level: Type.String({ description: '`editor` or `viewer`.' }),
    access_control_version: Type.String({ description: '`v2` if everyone can edit the dashboard, otherwise `v1`.' }),
    team_id: Type.Integer({ description: 'ID of the project.' }),
    filters: Type.Optional(fields.filters),
    variables: Type.Optional(fields.variables),
    persisted_filters: Type.Optional(
      orNull(freeFormObject({}), 'The stored filters, if the request replaces them with `filters_override`.'),
    ),
    persisted_variables: Type.Optional(orNull(freeFormObject({}), 'The stored variables.')),
    breakdown_colors: Type.Optional(fields.breakdown_colors),
    data_color_theme_id: Type.Optional(fields.data_color_theme_id),
    quick_filter_ids: Type.Optional(fields.quick_filter_ids),
    tiles: orNull(Type.Array(tile), 'The tiles, ordered by `layouts.sm.y`, then by `layouts.sm.x`; null in lists.'),
  },
  { title: 'Dashboard' },
);

const writable = {
  name: Type.Optional(fields.name),
  description: Type.Optional(
    orNull(fields.description, 'Description of the dashboard. Null is stored as an empty string.'),
  ),
  pinned: Type.Optional(fields.pinned),
  filters: Type.Optional(
    orNull(fields.filters, 'Filters applied to all insights on the dashboard. Null removes all filters.'),
  ),
  variables: Type.Optional(fields.variables),
  breakdown_colors: Type.Optional(fields.breakdown_colors),
  data_color_theme_id: Type.Optional(fields.data_color_theme_id),
  quick_filter_ids: Type.Optional(fields.quick_filter_ids),
  tags: Type.Optional(tagList),
  restriction_level: Type.Optional(fields.restriction_level),
};

export const newDashboard = Type.Object(
  {
    ...writable,
    use_dashboard: Type.Optional(
      orNull(numberOf('dashboard'), 'ID of a dashboard to copy, including its filters, colors and tiles.'),
    ),
    duplicate_tiles: Type.Optional(
      Type.Boolean({
        description:
          'Used with `use_dashboard`. True duplicates the insights, and false shares them between the two dashboards.',
      }),
    ),
    use_template: Type.Optional(
      orNull(Type.String({ maxLength: 400 }), 'Rejected with 400: Millrace has no dashboard templates.'),
    ),
  },
  { title: 'DashboardToCreate' },
);

/** A tile's text keeps surrounding whitespace. */
const tileChanges = Type.Object(
  {
    id: Type.Optional(orNull(numberOf('tile'), 'ID of the tile to change. Leave it out to add a text tile.')),
    text: Type.Optional(orNull(freeFormObject({}), 'Text of the tile: `{"body": "…"}` with at most 4000 characters.')),
    layouts: Type.Optional(orNull(tileFields.layouts, 'Position and size of the tile. Null removes them.')),
    color: Type.Optional(tileFields.color),
    filters_overrides: Type.Optional(tileFields.filters_overrides),
    show_description: Type.Optional(tileFields.show_description),
    transparent_background: Type.Optional(tileFields.transparent_background),
    deleted: Type.Optional(
      Type.Boolean({ description: 'True removes the tile from the dashboard. Its insight is not deleted.' }),
    ),
  },
  { title: 'DashboardTileChanges' },
);

export const dashboardChanges = Type.Object(
  {
    ...writable,
    deleted: Type.Optional(fields.deleted),
    delete_insights: Type.Optional(
      Type.Boolean({
        description:
          'Whether to also delete the insights that are not on any other dashboard. Only allowed with `deleted: true`.',
      }),
    ),
    tiles: Type.Optional(
      Type.Array(tileChanges, {
        maxItems: 400,
        description: 'Tiles to add or change. Tiles that are not listed stay unchanged.',
      }),
    ),
  },
  { title: 'DashboardChanges' },
);

export const fieldsRejectedOnCreate = {
  deleted: { detail: '`deleted` cannot be true for a new dashboard. Leave it out, or send false.', unless: [false] },
  delete_insights: {
    detail:
      '`delete_insights` can only be sent together with `deleted: true` when you change a dashboard. Leave it out here.',
    unless: [false],
  },
};
/** Fields that have an effect only when a dashboard is created. */
export const fieldsRejectedOnChange = {
  use_dashboard: {
    detail: '`use_dashboard` can only be sent when you create a dashboard. Leave it out here.',
    unless: [null],
  },
  use_template: {
    detail: 'Millrace has no dashboard templates. Leave `use_template` out.',
    unless: [null, ''],
  },
};

export const newDashboardExample = { name: 'Growth', description: 'Signups and retention', pinned: true };

const tileExample = {
  id: 12,
  insight: insightExample,
  text: null,
  button_tile: null,
  layouts: { sm: { x: 0, y: 0, w: 6, h: 5 } },
  color: null,
  filters_overrides: null,
  show_description: null,
  transparent_background: null,
  order: 0,
  last_refresh: null,
  is_cached: false,
};

export const basicDashboardExample = {
  id: 3,
  name: 'Growth',
  description: 'Signups and retention',
  pinned: true,
  created_at: '2026-11-01T12:00:00Z',
  created_by: embeddedUserExample,
  last_accessed_at: null,
  last_viewed_at: null,
  last_refresh: null,
  is_shared: false,
  deleted: false,
  creation_mode: 'default',
  tags: [],
  restriction_level: 21,
  effective_restriction_level: 21,
  effective_privilege_level: 37,
  user_access_level: 'editor',
  access_control_version: 'v2',
  team_id: 1,
  tiles: null,
};

export const dashboardExample = {
  ...basicDashboardExample,
  filters: {},
  variables: null,
  persisted_filters: {},
  persisted_variables: null,
  breakdown_colors: null,
  data_color_theme_id: null,
  quick_filter_ids: null,
  tiles: [tileExample],
};

export const dashboardsPath = '/dashboards';
export const dashboardTags: [string] = ['dashboards'];

export const dashboardParams = Type.Object({ id: numberOf('dashboard') });
