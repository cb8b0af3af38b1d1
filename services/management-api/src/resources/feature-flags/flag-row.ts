import type { EmbeddedUserRow } from '../embedded-users/embedded-user.ts';

/** What a caller decides of a flag. */
export interface FlagFields {
  key: string;
  name: string;
  filters: Record<string, unknown>;
  active: boolean;
  deleted: boolean;
  archived: boolean;
  ensure_experience_continuity: boolean | null;
  bucketing_identifier: string | null;
  evaluation_runtime: string | null;
  evaluation_contexts: string[];
  tags: string[];
  is_remote_configuration: boolean | null;
  has_encrypted_payloads: boolean | null;
  has_enriched_analytics: boolean | null;
  rollback_conditions: unknown;
  performed_rollback: boolean | null;
}

/** A flag as it is stored: its payloads may be encrypted, its filters of the form of old. */
export interface FlagRow extends FlagFields {
  id: number;
  environment_id: number;
  version: number;
  /** Of flags of old, whose filters have no condition sets. */
  rollout_percentage: number | null;
  created_at: Date;
  updated_at: Date;
  last_called_at: Date | null;
  created_by: EmbeddedUserRow | null;
  last_modified_by: EmbeddedUserRow | null;
  /** Active, and of no use any more. */
  is_stale: boolean;
}
