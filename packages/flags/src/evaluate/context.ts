/** Everything an evaluation may look at: what the request says, and what is stored, fetched before. */
export interface EvaluationContext {
  distinctId: string;
  /** The id the person had before logging in, as sent (`$anon_distinct_id`). */
  anonymousDistinctId?: string;
  deviceId?: string;
  /** Group keys by the name of their type, as sent: a text or a number counts. */
  groups: Record<string, unknown>;
  /** The request's properties; they stand above stored ones. */
  personProperties: Record<string, unknown>;
  /** By the name of the group type. */
  groupProperties: Record<string, unknown>;
  stored: StoredData;
  /** Milliseconds since 1970, for relative dates. */
  now: number;
}

/** What the store said. `unavailable`: it could not be asked, and whatever needs the answer fails. */
export interface StoredData {
  /** Empty for a person nobody has heard of. */
  personProperties: Record<string, unknown> | 'unavailable';
  /** By index of the group type. */
  groupProperties: ReadonlyMap<number, Record<string, unknown>> | 'unavailable';
  /** Ids of the static cohorts the person belongs to. */
  staticCohorts: ReadonlySet<number> | 'unavailable';
  /** The id to hash instead of the person's own, by key of the flag. */
  hashKeyOverrides: ReadonlyMap<string, string> | 'unavailable';
}

/** For evaluations that know nobody: nothing is stored. */
export const nothingStored: StoredData = {
  personProperties: {},
  groupProperties: new Map(),
  staticCohorts: new Set(),
  hashKeyOverrides: new Map(),
};
