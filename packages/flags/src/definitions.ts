/**
 * A flag as stored. `filters` and cohort trees have the type `unknown`, because an invalid filter must match nothing,
 * and must never make an evaluation fail.
 */
export interface FlagDefinition {
  id: number;
  key: string;
  version?: number;
  active: boolean;
  deleted?: boolean;
  /** Conditions (`groups`), variants, payloads, holdout and enrollment. */
  filters: unknown;
  /** The rollout percentage of older flags. Used only if `filters` has no `groups`. */
  rollout_percentage?: number | null;
  ensure_experience_continuity?: boolean | null;
  /** Which ID is hashed. `device_id` means the device ID, and any other value means the distinct ID. */
  bucketing_identifier?: string | null;
  /** Which callers receive the flag. `client` and `server` mean only these callers, and any other value means both. */
  evaluation_runtime?: string | null;
  evaluation_contexts?: string[];
}

export interface CohortDefinition {
  id: number;
  isStatic: boolean;
  /** A tree of `{type: 'AND' | 'OR', values: [...]}`, which is ignored for static cohorts. */
  tree: unknown;
}

export interface ProjectDefinitions {
  flags: FlagDefinition[];
  cohorts: CohortDefinition[];
  /** Group type names by index, from 0 to 4. */
  groupTypes: Record<string, string>;
  /** IANA name of the project time zone, which applies to dates without an offset. */
  timeZone: string;
  matchingVersion: 1 | 2;
}
