import type { JsonObject } from '@millrace/contracts';

/** The group a group identify names. The texts are as sent; their length is checked by whoever uses them. */
export interface GroupIdentifyTarget {
  type: string;
  key: string;
}

/**
 * Reads `$group_type` and `$group_key`. A missing or empty one, 0, and everything that is neither text nor a number
 * names no group: null (docs/ingestion-rules.md#groups).
 */
export function groupIdentifyTarget(properties: JsonObject): GroupIdentifyTarget | null {
  const type = nameOf(properties.$group_type);
  const key = nameOf(properties.$group_key);
  return type === '' || key === '' ? null : { type, key };
}

function nameOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' && Number.isFinite(value) && value !== 0 ? String(value) : '';
}
