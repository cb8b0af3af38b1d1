import { formatDateTime } from '@millrace/http';
import { canChangeInsight, describeRights, type Editor } from '../../access/dashboard-restriction.ts';
import { hasRecordLevel, toRecordName } from '../../access/record-rights.ts';
import { noResult } from './result.ts';
import type { InsightRow } from './store.ts';

export function toInsight(row: InsightRow, editor: Editor, result = noResult) {
  const { tiles, ...fields } = row;
  const mayEdit =
    canChangeInsight(tiles, editor) && hasRecordLevel(editor.rights, 'insight', 'editor', toRecordName(row));
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
    ...describeRights(tiles, mayEdit),
    ...result,
    refreshing: null,
    alerts: [],
  };
}

/** Like `toInsight`, but without the fields that describe the result. */
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
