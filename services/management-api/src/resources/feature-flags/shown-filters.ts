import { isObject, redactedPayload } from '@millrace/contracts';
import type { FlagRow } from './flag-row.ts';
import { mapPayloads, type PayloadSecrets } from './payload-secrets.ts';

type StoredFilters = Pick<FlagRow, 'filters' | 'rollout_percentage'>;

/** Filters as they are evaluated: flags of old have one list of filters, and their rollout in a column of its own. */
function withConditions({ filters, rollout_percentage }: StoredFilters): Record<string, unknown> {
  if (Object.hasOwn(filters, 'groups')) return filters;
  const { properties, ...others } = filters;
  return { ...others, groups: [{ properties: properties ?? [], rollout_percentage }] };
}

/** The payloads of a flag as they are stored. */
export function payloadsOf({ filters }: Pick<FlagRow, 'filters'>): Record<string, string> {
  return isObject(filters.payloads) ? (filters.payloads as Record<string, string>) : {};
}

/** Filters with payloads as somebody reads them who knows a personal API key. */
export function openedFilters(row: FlagRow, secrets: PayloadSecrets): Record<string, unknown> {
  return withPayloads(row, (payloads) => secrets.open(payloads, row.environment_id));
}

/** Filters for lists and the activity log, which show no encrypted payload to anybody. */
export function redactedFilters(row: FlagRow): Record<string, unknown> {
  return withPayloads(row, (payloads) => mapPayloads(payloads, () => redactedPayload));
}

function withPayloads(row: FlagRow, change: (payloads: Record<string, string>) => Record<string, string>) {
  const filters = withConditions(row);
  return row.has_encrypted_payloads === true ? { ...filters, payloads: change(payloadsOf(row)) } : filters;
}
