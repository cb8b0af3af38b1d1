/** All input of an evaluation: the request, and the stored data that was loaded for it. */
export interface EvaluationContext {
  distinctId: string;
  /** ID that the person had before login, as sent in `$anon_distinct_id`. */
  anonymousDistinctId?: string;
  deviceId?: string;
  /** Group keys by the name of the group type, as sent. Valid keys are strings and numbers. */
  groups: Record<string, unknown>;
  /** Person properties from the request, which override stored ones. */
  personProperties: Record<string, unknown>;
  /** Group properties from the request, by the name of the group type. */
  groupProperties: Record<string, unknown>;
  stored: StoredData;
  /** The current time in milliseconds since 1970, for relative dates. */
  now: number;
}

/**
 * Stored data about the person and groups. `unavailable` means that it could not be loaded. Flags that need it then
 * fail.
 */
export interface StoredData {
  /** Stored person properties. Empty if the person is unknown. */
  personProperties: Record<string, unknown> | 'unavailable';
  /** Stored group properties, by the index of the group type. */
  groupProperties: ReadonlyMap<number, Record<string, unknown>> | 'unavailable';
  /** IDs of the static cohorts the person belongs to. */
  staticCohorts: ReadonlySet<number> | 'unavailable';
  /** IDs to hash instead of the person's own, by flag key. */
  hashKeyOverrides: ReadonlyMap<string, string> | 'unavailable';
}

/** The stored data of a person who is unknown. */
export const nothingStored: StoredData = {
  personProperties: {},
  groupProperties: new Map(),
  staticCohorts: new Set(),
  hashKeyOverrides: new Map(),
};
