// Defines the query parameters for the list of insights, and converts them to SQL conditions and a sort order.

import { offsetQuery } from '@millrace/http';
import { Type } from 'typebox';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { addVisibilityCondition } from '../../access/record-rights.ts';
import { type Conditions, createConditions } from '../../sql/conditions.ts';
import { parseIds, parseTexts } from '../../sql/listed-values.ts';
import { longestNeedle } from '../../sql/longest-needle.ts';
import { parseTimeParameter } from '../../time/relative-time.ts';
import { kindsByName } from './rules.ts';
import { isOnDashboard, kindOfQuery, lastViewedAt } from './store.ts';

const text = (description: string) => Type.Optional(Type.String({ description }));
const time = (of: string, end: string) =>
  text(`Only insights ${of} ${end} this time: an ISO 8601 time, or a relative time such as \`-7d\`.`);

/** Filters for the list of insights. An invalid time causes an error. Any other invalid value is ignored. */
const insightFilters = {
  short_id: text('Only the insight with this short ID.'),
  saved: Type.Optional(
    Type.Boolean({
      description:
        'If true, only insights that were saved or are on a dashboard. If false, only insights that were not saved and are not on a dashboard.',
    }),
  ),
  favorited: Type.Optional(
    Type.Boolean({ description: 'If true, only favorites. If false, only insights that are not favorites.' }),
  ),
  user: text('If sent with any value, only insights created by the caller.'),
  created_by: text('Only insights created by these users: user IDs as `1,2` or `[1, 2]`.'),
  insight: text(
    'Only insights of this type: `TRENDS`, `FUNNELS`, `RETENTION`, `LIFECYCLE`, `STICKINESS`, `PATHS`, or `JSON` for tables.',
  ),
  search: Type.Optional(
    Type.String({
      maxLength: longestNeedle,
      description: 'Only insights whose name, description or tags contain this text, ignoring case.',
    }),
  ),
  tags: text('Only items with at least one of these tags, as a JSON array.'),
  dashboards: text('Only insights that are on all of these dashboards: dashboard IDs as a JSON array.'),
  events: text('Only insights whose query contains at least one of these events, as a JSON array.'),
  date_from: time('whose name, description or query was changed', 'after'),
  date_to: time('whose name, description or query was changed', 'before'),
  created_date_from: time('created', 'after'),
  created_date_to: time('created', 'before'),
  last_viewed_date_from: time('last viewed', 'after'),
  last_viewed_date_to: time('last viewed', 'before'),
};
type InsightFilterValues = { [Name in keyof typeof insightFilters]?: string | boolean };

export const listInsightsQuery = Type.Object({
  ...offsetQuery,
  ...insightFilters,
  order: text(
    'Field to sort by, with a leading `-` for descending order. By default, sorted by `order`, then newest first.',
  ),
  basic: Type.Optional(Type.Boolean({ description: 'Whether to leave out the results and related fields.' })),
  refresh: text(
    'If sent with any value, the response contains cached results, up to 4 MiB in total. Lists never compute results.',
  ),
});

/**
 * Returns the SQL conditions for insights that are not deleted, that the caller can see, and that match the filters.
 * @throws AppError `invalid`
 */
export function insightConditions(
  { environmentId, rights }: Pick<AddressedProject, 'environmentId' | 'rights'>,
  { userId }: Pick<Caller, 'userId'>,
  query: InsightFilterValues,
): Conditions {
  const where = createConditions();
  addVisibilityCondition(where, rights, 'insight', { id: 'i.id', createdById: 'i.created_by_id' });
  where.add(`i.project_id = ${where.parameter(environmentId)}`);
  where.add('NOT i.deleted');
  if (query.short_id) where.add(`i.short_id = ${where.parameter(query.short_id)}`);
  if (query.user) where.add(`i.created_by_id = ${where.parameter(userId)}::int`);
  if (query.favorited !== undefined) where.add(query.favorited ? 'i.favorited' : 'NOT i.favorited');
  if (query.saved !== undefined) where.add(`(i.saved OR ${isOnDashboard}) = ${where.parameter(query.saved)}::boolean`);
  addText(where, query);
  addLists(where, query);
  addTimes(where, query);
  return where;
}

function addText(where: Conditions, { search, insight }: InsightFilterValues): void {
  if (typeof search === 'string' && search !== '') {
    const part = `lower(${where.parameter(search)}::text)`;
    const texts = `concat_ws(chr(10), i.name, i.derived_name, i.description, array_to_string(i.tags, chr(10)))`;
    where.add(`strpos(lower(${texts}), ${part}) > 0`);
  }
  const kinds = typeof insight === 'string' ? kindsByName.get(insight.toUpperCase()) : undefined;
  if (kinds) where.add(`${kindOfQuery} = ANY (${where.parameter(kinds)}::text[])`);
}

function addLists(where: Conditions, query: InsightFilterValues): void {
  const listed = (name: 'tags' | 'events' | 'dashboards' | 'created_by') => {
    const value = query[name];
    return typeof value === 'string' ? value : undefined;
  };
  const creators = parseIds(listed('created_by'));
  if (creators.length > 0) where.add(`i.created_by_id = ANY (${where.parameter(creators)}::int[])`);
  const tags = parseTexts(listed('tags'));
  if (tags.length > 0) where.add(`i.tags && ${where.parameter(tags)}::text[]`);
  for (const id of new Set(parseIds(listed('dashboards')))) {
    where.add(`EXISTS (SELECT FROM dashboard_tile t
                        WHERE t.insight_id = i.id AND t.dashboard_id = ${where.parameter(id)}::int AND NOT t.deleted)`);
  }
  const events = parseTexts(listed('events'));
  if (events.length > 0) {
    where.add(`EXISTS (SELECT FROM jsonb_path_query(i.query::jsonb, '$.**.event') AS named (event)
                        WHERE named.event #>> '{}' = ANY (${where.parameter(events)}::text[]))`);
  }
}

function addTimes(where: Conditions, query: InsightFilterValues): void {
  const now = new Date();
  const columns = [
    ['date', 'i.last_modified_at'],
    ['created_date', 'i.created_at'],
    ['last_viewed_date', lastViewedAt],
  ] as const;
  for (const [name, column] of columns) {
    for (const [end, comparison] of [
      ['from', '>'],
      ['to', '<'],
    ] as const) {
      const value = query[`${name}_${end}`];
      if (typeof value !== 'string' || value === '' || value === 'all') continue;
      where.add(
        `${column} ${comparison} ${where.parameter(parseTimeParameter(value, `${name}_${end}`, now))}::timestamptz`,
      );
    }
  }
}

const orders: ReadonlyMap<string, string> = new Map([
  ...['id', 'name', 'created_at', 'updated_at', 'last_modified_at', 'favorited', 'order'].map(
    (name) => [name, `i."${name}"`] as const,
  ),
  ['created_by', 'u.first_name'],
  ['last_modified_by', 'm.first_name'],
  ['last_viewed_at', lastViewedAt],
]);

/** Returns SQL for the sort order. An unknown field results in the default order. */
export function toInsightOrder(order: string | undefined): string {
  const column = orders.get(order?.replace(/^-/, '') ?? '');
  if (column === undefined) return 'i."order" NULLS LAST, i.id DESC';
  return order?.startsWith('-') ? `${column} DESC NULLS LAST, i.id DESC` : `${column} ASC NULLS FIRST, i.id ASC`;
}
