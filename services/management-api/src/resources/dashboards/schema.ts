import { freeFormObject, orNull } from '@millrace/http';
import { Type } from 'typebox';
import { embeddedUser, embeddedUserExample } from '../embedded-users/embedded-user.ts';
import { insight, insightExample, tagList } from '../insights/schema.ts';

const largest = 2_147_483_647;
const time = Type.String({ format: 'date-time' });
export const numberOf = (what: string) =>
  Type.Integer({ minimum: 1, maximum: largest, description: `Number of the ${what}.` });

const fields = {
  name: orNull(Type.String({ maxLength: 400 }), 'Name of the dashboard.'),
  description: Type.String({ maxLength: 10_000, description: 'What it is for.' }),
  pinned: Type.Boolean({ description: 'Whether it stands first in lists.' }),
  filters: freeFormObject({
    description:
      'What all its insights are narrowed by: `date_from`, `date_to`, `properties`, `breakdown_filter`. Kept as sent.',
  }),
  variables: orNull(freeFormObject({}), 'Kept as sent, without effect.'),
  breakdown_colors: Type.Unknown({ description: 'Colours that clients chose. Kept as sent.' }),
  data_color_theme_id: orNull(
    Type.Integer({ minimum: -2_147_483_648, maximum: 2_147_483_647 }),
    'Colours that clients draw with.',
  ),
  quick_filter_ids: Type.Unknown({ description: 'Kept as sent, without effect.' }),
  restriction_level: Type.Unsafe<21 | 37>({
    type: 'integer',
    enum: [21, 37],
    description: '21: everybody of the project may change it; 37: only who made it, and administrators.',
  }),
  deleted: Type.Boolean({ description: 'Whether it is deleted; `false` restores it.' }),
};

const tileFields = {
  layouts: freeFormObject({ description: 'Place and size by width of the screen, `sm` and `xs`. Kept as sent.' }),
  color: orNull(Type.String({ maxLength: 400 }), 'Colour of the tile.'),
  filters_overrides: orNull(freeFormObject({}), "Filters that replace the dashboard's for this tile."),
  show_description: orNull(Type.Boolean(), 'Whether the description of the insight is shown.'),
  transparent_background: orNull(Type.Boolean(), 'Whether the tile has no background.'),
};

const textOfTile = Type.Object(
  {
    id: Type.Integer({ description: 'Number of the tile.' }),
    body: Type.String({ description: 'The text, in Markdown.' }),
    created_by: orNull(embeddedUser, 'Who wrote it; null when the user was deleted.'),
    last_modified_at: orNull(time, 'When it was changed last.'),
    last_modified_by: orNull(embeddedUser, 'Who changed it last.'),
    team: Type.Integer({ description: 'Number of the project.' }),
    dashboard_tiles: Type.Array(Type.Integer(), { description: 'Number of the tile.' }),
  },
  { title: 'DashboardText' },
);

/** `layouts` come back as they were sent: clients compare them. */
const tile = Type.Object(
  {
    id: Type.Integer({ description: 'Number of the tile.' }),
    insight: orNull(insight, 'The insight with the filters of the dashboard; null for a text.'),
    text: orNull(textOfTile, 'The text; null for an insight.'),
    button_tile: Type.Null({ description: 'Always null.' }),
    ...tileFields,
    order: Type.Integer({ description: 'Its place among the tiles, from 0: by `layouts.sm.y`, then `x`.' }),
    last_refresh: orNull(time, 'When the result was computed.'),
    is_cached: Type.Boolean({ description: 'Whether the result was kept from an earlier request.' }),
  },
  { title: 'DashboardTile' },
);

/** Lists leave out the optional ones. */
export const dashboard = Type.Object(
  {
    id: Type.Integer({ description: 'Number of the dashboard.' }),
    name: fields.name,
    description: fields.description,
    pinned: fields.pinned,
    created_at: Type.String({ format: 'date-time', description: 'When it was made.' }),
    created_by: orNull(embeddedUser, 'Who made it; null when the user was deleted.'),
    last_accessed_at: orNull(time, 'About when it was opened last.'),
    last_viewed_at: orNull(time, 'The same as `last_accessed_at`.'),
    last_refresh: orNull(time, 'When the oldest of its results was computed.'),
    is_shared: Type.Boolean({ description: 'Always false.' }),
    deleted: fields.deleted,
    creation_mode: Type.String({ description: '`default`, or `duplicate` for a copy of another.' }),
    tags: tagList,
    restriction_level: fields.restriction_level,
    effective_restriction_level: Type.Integer({ description: 'The same as `restriction_level`.' }),
    effective_privilege_level: Type.Integer({ description: 'What the caller may do: 21 look at it, 37 change it.' }),
    user_access_level: Type.String({ description: '`editor` or `viewer`.' }),
    access_control_version: Type.String({ description: '`v2` where everybody may change it, otherwise `v1`.' }),
    team_id: Type.Integer({ description: 'Number of the project.' }),
    filters: Type.Optional(fields.filters),
    variables: Type.Optional(fields.variables),
    persisted_filters: Type.Optional(orNull(freeFormObject({}), 'The stored filters, where a request brings others.')),
    persisted_variables: Type.Optional(orNull(freeFormObject({}), 'The stored variables.')),
    breakdown_colors: Type.Optional(fields.breakdown_colors),
    data_color_theme_id: Type.Optional(fields.data_color_theme_id),
    quick_filter_ids: Type.Optional(fields.quick_filter_ids),
    tiles: orNull(Type.Array(tile), 'What is on it, by `layouts.sm.y`, then `x`; null in lists.'),
  },
  { title: 'Dashboard' },
);

const writable = {
  name: Type.Optional(fields.name),
  description: Type.Optional(orNull(fields.description, 'What it is for; null is empty.')),
  pinned: Type.Optional(fields.pinned),
  filters: Type.Optional(orNull(fields.filters, 'What all its insights are narrowed by; null is nothing.')),
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
    use_dashboard: Type.Optional(orNull(numberOf('dashboard'), 'A dashboard to copy: its filters, colours and tiles.')),
    duplicate_tiles: Type.Optional(
      Type.Boolean({ description: 'With `use_dashboard`: whether its insights are copied, too, and not shared.' }),
    ),
    use_template: Type.Optional(orNull(Type.String({ maxLength: 400 }), 'Refused: there are no templates.')),
  },
  { title: 'DashboardToCreate' },
);

/** A text of a tile is read as it is, white space included. */
const tileChanges = Type.Object(
  {
    id: Type.Optional(orNull(numberOf('tile'), 'Number of the tile; without it a text is added.')),
    text: Type.Optional(orNull(freeFormObject({}), '`{"body": …}`: at most 4000 characters.')),
    layouts: Type.Optional(orNull(tileFields.layouts, 'Place and size; null is none.')),
    color: Type.Optional(tileFields.color),
    filters_overrides: Type.Optional(tileFields.filters_overrides),
    show_description: Type.Optional(tileFields.show_description),
    transparent_background: Type.Optional(tileFields.transparent_background),
    deleted: Type.Optional(Type.Boolean({ description: 'Takes the tile off; its insight stays.' })),
  },
  { title: 'DashboardTileChanges' },
);

export const dashboardChanges = Type.Object(
  {
    ...writable,
    deleted: Type.Optional(fields.deleted),
    delete_insights: Type.Optional(
      Type.Boolean({ description: 'With `deleted: true`: whether insights that are on no other dashboard go, too.' }),
    ),
    tiles: Type.Optional(
      Type.Array(tileChanges, { maxItems: 400, description: 'Tiles to add or to change; others stay as they are.' }),
    ),
  },
  { title: 'DashboardChanges' },
);

/** A new dashboard is not deleted. */
export const refusedOfNew = {
  deleted: { detail: 'A dashboard cannot be created as deleted. Leave `deleted` out, or send false.', unless: [false] },
  delete_insights: {
    detail: '`delete_insights` belongs to a change with `deleted: true`. Leave it out of a new dashboard.',
    unless: [false],
  },
};
/** What a dashboard is made from is said once. */
export const refusedOfChange = {
  use_dashboard: {
    detail: 'Only a new dashboard can be a copy. Send `use_dashboard` with POST.',
    unless: [null],
  },
  use_template: {
    detail: 'Millrace has no dashboard templates, and `use_template` is for new dashboards only. Leave it out.',
    unless: [null, ''],
  },
};

export const newDashboardExample = { name: 'Growth', description: 'Who comes, who stays.', pinned: true };

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
  description: 'Who comes, who stays.',
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
