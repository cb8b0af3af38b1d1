// SQL that finds the projects to which events belong.

import { hasPlanFeature } from '@millrace/contracts';
import type { Sql } from '@millrace/db/sql';

export interface ProjectRow {
  id: number;
  token: string;
  anonymizeIps: boolean;
  personProcessingOptOut: boolean;
  hasIngestedEvent: boolean;
  mayMigrate: boolean;
  isCookieless: boolean;
  timezone: string;
  /** The environment's event retention in days, or null for no limit. */
  eventRetentionDays: number | null;
}

export async function selectProjects(sql: Sql, ids: number[], tokens: string[]): Promise<ProjectRow[]> {
  const rows = await sql.query<Omit<ProjectRow, 'mayMigrate'> & { features: unknown }>(
    `SELECT environment.id, api_token AS token, anonymize_ips AS "anonymizeIps",
            person_processing_opt_out AS "personProcessingOptOut", ingested_event AS "hasIngestedEvent",
            coalesce(cookieless_server_hash_mode, 0) <> 0 AS "isCookieless", timezone,
            event_retention_days AS "eventRetentionDays", organization.available_product_features AS features
       FROM environment
       JOIN project ON project.id = environment.project_id
       JOIN organization ON organization.id = project.organization_id
      WHERE environment.id = ANY ($1::int[]) OR api_token = ANY ($2::text[])`,
    [ids, tokens],
  );
  return rows.map(({ features, ...row }) => ({
    ...row,
    mayMigrate: hasPlanFeature(features, 'historical_migrations'),
  }));
}

export interface FormerKey {
  token: string;
  environmentId: number;
  replacedAtMs: number;
}

/** Selects replaced keys, which a database trigger stores. */
export async function selectFormerKeys(sql: Sql, tokens: string[]): Promise<FormerKey[]> {
  return sql.query<FormerKey & Record<string, unknown>>(
    `SELECT token, environment_id AS "environmentId", (extract(epoch FROM replaced_at) * 1000)::float8 AS "replacedAtMs"
       FROM former_project_key
      WHERE token = ANY ($1::text[])`,
    [tokens],
  );
}
