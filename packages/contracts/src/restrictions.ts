/**
 * What an operator can do to the events of one project API key, or of one distinct id of it
 * (docs/wire-rules.md#quotas-and-limits).
 * - `drop_event`: accepted with 200, not stored, counted and reported.
 * - `force_overflow`: to the overflow lane without a key and without person processing; historical events stay where
 *   they are.
 * - `skip_person_processing`: stored without creating or changing a person.
 */
export const restrictionKinds = ['drop_event', 'force_overflow', 'skip_person_processing'] as const;
export type RestrictionKind = (typeof restrictionKinds)[number];

/** One entry of the operator's lists. */
export interface Restriction {
  kind: RestrictionKind;
  /** Project API key. */
  token: string;
  /** Null: all events of the key. */
  distinctId: string | null;
}

export function isRestrictionKind(text: string): text is RestrictionKind {
  return (restrictionKinds as readonly string[]).includes(text);
}
