/** All input of an evaluation: the request, and the stored data that was loaded for it. */
export interface EvaluationContext {
  distinctId: string;
  /** The ID that the person had before login, as sent in `$anon_distinct_id`. */
  anonymousDistinctId?: string;
  deviceId?: string;
  /** Group keys by the name of the group type, as the client sent them. Valid keys are strings and numbers. */
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
 * Stored data about the person and groups. `unavailable` means that the data could not be loaded, so flags that need
 * the data fail.
 */
export interface StoredData {
  /** Stored person properties. Empty for an unknown person. */
  personProperties: Record<string, unknown> | 'unavailable';
  /** Stored group properties, by the index of the group type. */
  groupProperties: ReadonlyMap<number, Record<string, unknown>> | 'unavailable';
  /** IDs of the static cohorts that the person belongs to. */
  staticCohorts: ReadonlySet<number> | 'unavailable';
  /** IDs to hash instead of the person's own ID, by flag key. */
  hashKeyOverrides: ReadonlyMap<string, string> | 'unavailable';
}

/** The stored data of an unknown person. */
export const nothingStored: StoredData = {
  personProperties: {},
  groupProperties: new Map(),
  staticCohorts: new Set(),
  hashKeyOverrides: new Map(),
};
