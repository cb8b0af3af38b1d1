import { cutToCodePoints } from '@millrace/contracts';
import { formatDateTime } from '@millrace/http';
import type { PersonRow } from './person-row.ts';

/** A person as the API shows it. @param lastSeen when the latest event happened, if that is known */
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

/** Properties that name a person, the first that is set wins (PostHog's default for display names). */
const nameProperties = ['email', 'name', 'username'];

/** Longer texts are no names; they stand in the properties as a whole. */
const maxLength = 400;

/** What to call a person in a list. */
function personName(properties: Record<string, unknown>, mainDistinctId: string): string {
  for (const property of nameProperties) {
    const value = properties[property];
    if (typeof value === 'string' && value.trim() !== '') return cutToCodePoints(value, maxLength);
    if (typeof value === 'number') return String(value);
  }
  return mainDistinctId;
}
