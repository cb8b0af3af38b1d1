import { cutToCodePoints } from '@millrace/contracts';
import { formatDateTime } from '@millrace/http';
import type { PersonRow } from './person-row.ts';

/** Converts a person to an API response. @param lastSeen the time of the person's latest event, if it was requested */
export function toPerson(row: PersonRow, distinctIds: string[] | undefined, lastSeen?: Date) {
  return {
    ...row,
    id: Number(row.id),
    name: personName(row.properties, row.main_distinct_id),
    distinct_ids: distinctIds ?? [row.main_distinct_id],
    created_at: formatDateTime(row.created_at),
    last_seen_at: lastSeen === undefined ? null : formatDateTime(lastSeen),
  };
}

/** Properties that can contain a display name, in PostHog's default order. The first property with a value is used. */
const nameProperties = ['email', 'name', 'username'];

/** Maximum length of a display name in characters. The property itself is not truncated. */
const maxLength = 400;

function personName(properties: Record<string, unknown>, mainDistinctId: string): string {
  for (const property of nameProperties) {
    const value = properties[property];
    if (typeof value === 'string' && value.trim() !== '') return cutToCodePoints(value, maxLength);
    if (typeof value === 'number') return String(value);
  }
  return mainDistinctId;
}
