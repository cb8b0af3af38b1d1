/** All input of an evaluation: the request, and the stored data that was loaded for it. */
export interface EvaluationContext {
  distinctId: string;
  /** ID of the person before login, as sent in `$anon_distinct_id`. */
  anonymousDistinctId?: string;
  deviceId?: string;
  /** Group keys by group type name, as sent: strings and numbers are valid keys. */
  groups: Record<string, unknown>;
  /** Properties from the request, which override stored ones. */
  personProperties: Record<string, unknown>;
  /** Properties from the request, by group type name. */
  groupProperties: Record<string, unknown>;
  stored: StoredData;
  /** Milliseconds since 1970, for relative dates. */
  now: number;
}

/** Stored data. `unavailable` means that it could not be loaded; flags that need it fail. */
export interface StoredData {
  /** Empty for an unknown person. */
  personProperties: Record<string, unknown> | 'unavailable';
  /** By group type index. */
  groupProperties: ReadonlyMap<number, Record<string, unknown>> | 'unavailable';
  /** IDs of the static cohorts the person belongs to. */
  staticCohorts: ReadonlySet<number> | 'unavailable';
  /** IDs to hash in place of the person's own, by flag key. */
  hashKeyOverrides: ReadonlyMap<string, string> | 'unavailable';
}

/** Stored data of an unknown person. */
export const nothingStored: StoredData = {
  personProperties: {},
  groupProperties: new Map(),
  staticCohorts: new Set(),
  hashKeyOverrides: new Map(),
};
