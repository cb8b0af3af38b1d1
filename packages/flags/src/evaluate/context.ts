/** The complete input of an evaluation: the request, and the stored data that was loaded for it. */
export interface EvaluationContext {
  distinctId: string;
  /** The person's ID before login, which the client sends in `$anon_distinct_id`. */
  anonymousDistinctId?: string;
  deviceId?: string;
  /** Group keys by group type name, as the client sent them. Valid keys are strings and numbers. */
  groups: Record<string, unknown>;
  /** Person properties from the request, which override stored properties. */
  personProperties: Record<string, unknown>;
  /** Group properties from the request, by group type name. */
  groupProperties: Record<string, unknown>;
  stored: StoredData;
  /** The current time in milliseconds since the epoch, for relative dates. */
  now: number;
}

/**
 * Stored data about the person and groups. `unavailable` means that the data could not be loaded, so flags that need
 * the data fail.
 */
export interface StoredData {
  /** Stored person properties, or an empty object for an unknown person. */
  personProperties: Record<string, unknown> | 'unavailable';
  /** Stored group properties by group type index. */
  groupProperties: ReadonlyMap<number, Record<string, unknown>> | 'unavailable';
  staticCohorts: ReadonlySet<number> | 'unavailable';
  /** The stored hash keys, by flag key: IDs that are hashed instead of the person's own ID. */
  hashKeyOverrides: ReadonlyMap<string, string> | 'unavailable';
}

export const nothingStored: StoredData = {
  personProperties: {},
  groupProperties: new Map(),
  staticCohorts: new Set(),
  hashKeyOverrides: new Map(),
};
