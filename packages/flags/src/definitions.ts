/**
 * Flag and cohort definitions of a project, as stored. `filters` and cohort trees have the type `unknown` because
 * invalid content must make a filter match nothing, and never make an evaluation fail.
 */
export interface FlagDefinition {
  id: number;
  key: string;
  version?: number;
  active: boolean;
  deleted?: boolean;
  /** Conditions (`groups`), variants, payloads, holdout, enrollment. */
  filters: unknown;
  /** Legacy rollout, used only if `filters` has no `groups`. */
  rollout_percentage?: number | null;
  ensure_experience_continuity?: boolean | null;
  /** `device_id` to hash the device ID; any other value hashes the distinct ID. */
  bucketing_identifier?: string | null;
  /** `client` or `server`; any other value means both. */
  evaluation_runtime?: string | null;
  evaluation_contexts?: string[];
}

export interface CohortDefinition {
  id: number;
  isStatic: boolean;
  /** `{type: 'AND' | 'OR', values: [...]}`; ignored for a static cohort. */
  tree: unknown;
}

export interface ProjectDefinitions {
  flags: FlagDefinition[];
  /** Does not include deleted cohorts. */
  cohorts: CohortDefinition[];
  /** Group type names by index, from 0 to 4. */
  groupTypes: Record<string, string>;
  /** IANA name of the project time zone, for dates without an offset. */
  timeZone: string;
  matchingVersion: 1 | 2;
}
