import { isObject } from '@millrace/contracts';
import { formatDateTime } from '@millrace/http';
import type { FlagRow } from './flag-row.ts';
import { flagStatus } from './flag-status.ts';
import { redactedFilters } from './shown-filters.ts';

/** A row as the API shows it. @param filters with the payloads the caller may see. */
export function toFeatureFlag(row: FlagRow, filters: Record<string, unknown>) {
  const { rollout_percentage: _, environment_id: __, is_stale: ___, ...fields } = row;
  const simple = simpleRollout(filters);
  return {
    ...fields,
    filters,
    created_at: formatDateTime(row.created_at),
    updated_at: formatDateTime(row.updated_at),
    last_called_at: row.last_called_at && formatDateTime(row.last_called_at),
    evaluation_tags: row.evaluation_contexts,
    is_simple_flag: simple !== undefined,
    rollout_percentage: simple ?? null,
    status: flagStatus(row).toUpperCase(),
    can_edit: true,
    user_access_level: 'editor',
    // Of products that are not here.
    rollback_conditions: row.rollback_conditions ?? [],
    usage_dashboard: null,
    analytics_dashboards: [],
    experiment_set: [],
    surveys: [],
    features: [],
  };
}

/** The rollout of a flag that has one condition and nothing else; undefined for any other. */
function simpleRollout({ groups, multivariate }: Record<string, unknown>): number | null | undefined {
  const [condition, ...others] = Array.isArray(groups) ? groups : [];
  const variants = isObject(multivariate) && Array.isArray(multivariate.variants) ? multivariate.variants : [];
  if (!isObject(condition) || others.length > 0 || variants.length > 0) return undefined;
  const hasFilters = Array.isArray(condition.properties) && condition.properties.length > 0;
  if (hasFilters) return undefined;
  return typeof condition.rollout_percentage === 'number' ? condition.rollout_percentage : null;
}

/** A flag as others refer to it. */
export function toMinimalFlag(row: FlagRow) {
  return {
    id: row.id,
    team_id: row.environment_id,
    name: row.name,
    key: row.key,
    filters: redactedFilters(row),
    deleted: row.deleted,
    active: row.active,
    ensure_experience_continuity: row.ensure_experience_continuity,
    has_encrypted_payloads: row.has_encrypted_payloads,
    version: row.version,
    evaluation_runtime: row.evaluation_runtime,
    bucketing_identifier: row.bucketing_identifier,
    evaluation_contexts: row.evaluation_contexts,
    evaluation_tags: row.evaluation_contexts,
  };
}
