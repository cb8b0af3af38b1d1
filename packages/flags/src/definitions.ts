/**
 * What a project has defined, as it is stored. `filters` and cohort trees are taken as unknown: what is odd in them makes
 * a filter match nothing, and never an evaluation fail.
 */
export interface FlagDefinition {
  id: number;
  key: string;
  version?: number;
  active: boolean;
  deleted?: boolean;
  /** Conditions (`groups`), variants, payloads, holdout, enrollment. */
  filters: unknown;
  /** Legacy rollout, used only where `filters` has no `groups`. */
  rollout_percentage?: number | null;
  ensure_experience_continuity?: boolean | null;
  /** `device_id`, else the distinct id is hashed. */
  bucketing_identifier?: string | null;
  /** `client` or `server`; anything else is both. */
  evaluation_runtime?: string | null;
  evaluation_contexts?: string[];
}

export interface CohortDefinition {
  id: number;
  isStatic: boolean;
  /** `{type: 'AND' | 'OR', values: [...]}`; of no meaning for a static cohort. */
  tree: unknown;
}

export interface ProjectDefinitions {
  flags: FlagDefinition[];
  /** Deleted ones left out. */
  cohorts: CohortDefinition[];
  /** Names of the group types by index, 0 to 4. */
  groupTypes: Record<string, string>;
  /** IANA name; dates without an offset are of these clocks. */
  timeZone: string;
  matchingVersion: 1 | 2;
}
