import { formatDateTime } from '@millrace/http';
import { type Editor, mayChangeInsight, shownRights } from '../../access/dashboard-restriction.ts';
import type { InsightRow } from './store.ts';

/** What is known of an insight that was not computed yet. */
const noResult = {
  timezone: null,
  result: null,
  hasMore: null,
  columns: null,
  types: null,
  hogql: null,
  query_status: null,
  resolved_date_range: null,
  is_cached: false,
  last_refresh: null,
  cache_target_age: null,
  next_allowed_client_refresh: null,
  filters_hash: null,
};

/** A row as the API shows it. */
export function toInsight(row: InsightRow, editor: Editor) {
  const { tiles, ...fields } = row;
  return {
    ...fields,
    query: row.query && { ...row.query },
    filters: {},
    dashboards: tiles.map(({ dashboard_id }) => dashboard_id),
    dashboard_tiles: tiles.map(({ id, dashboard_id }) => ({ id, dashboard_id, deleted: false })),
    created_at: formatDateTime(row.created_at),
    updated_at: formatDateTime(row.updated_at),
    last_modified_at: formatDateTime(row.last_modified_at),
    last_viewed_at: row.last_viewed_at && formatDateTime(row.last_viewed_at),
    is_sample: false,
    ...shownRights(tiles, mayChangeInsight(tiles, editor)),
    ...noResult,
    refreshing: null,
    alerts: [],
  };
}

/** Without its result and what goes with it. */
export function toBasicInsight(row: InsightRow, editor: Editor) {
  const {
    result: _,
    hasMore: __,
    cache_target_age: ___,
    effective_restriction_level: ____,
    effective_privilege_level: _____,
    timezone: ______,
    alerts: _______,
    ...basic
  } = toInsight(row, editor);
  return basic;
}
