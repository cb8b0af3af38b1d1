/**
 * What an operator can do with the events of a project API key or of one of its distinct IDs
 * (docs/wire-rules.md#quotas-and-limits).
 *
 * - `drop_event`: accept the event with 200, but do not store it. Count and report it.
 * - `force_overflow`: send the event to the overflow topic without a record key, and without person processing.
 *   Historical events stay in their topic.
 * - `skip_person_processing`: store the event without creating or changing a person.
 */
export const restrictionKinds = ['drop_event', 'force_overflow', 'skip_person_processing'] as const;
export type RestrictionKind = (typeof restrictionKinds)[number];

export interface Restriction {
  kind: RestrictionKind;
  token: string;
  /** The distinct ID, or null for all events with the key. */
  distinctId: string | null;
}

export function isRestrictionKind(text: string): text is RestrictionKind {
  return (restrictionKinds as readonly string[]).includes(text);
}
