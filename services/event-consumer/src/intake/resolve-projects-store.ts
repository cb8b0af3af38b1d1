import { hasPlanFeature } from '@millrace/contracts';
import type { Sql } from '@millrace/db/sql';

/** An environment as event processing sees it. */
export interface ProjectRow {
  id: number;
  token: string;
  anonymizeIps: boolean;
  personProcessingOptOut: boolean;
  hasIngestedEvent: boolean;
  mayMigrate: boolean;
}

/** The environments that own any of the project API keys. */
export async function selectProjects(sql: Sql, tokens: string[]): Promise<ProjectRow[]> {
  const rows = await sql.query<Omit<ProjectRow, 'mayMigrate'> & { features: unknown }>(
    `SELECT environment.id, api_token AS token, anonymize_ips AS "anonymizeIps",
            person_processing_opt_out AS "personProcessingOptOut", ingested_event AS "hasIngestedEvent",
            organization.available_product_features AS features
       FROM environment
       JOIN project ON project.id = environment.project_id
       JOIN organization ON organization.id = project.organization_id
      WHERE api_token = ANY ($1::text[])`,
    [tokens],
  );
  return rows.map(({ features, ...row }) => ({
    ...row,
    mayMigrate: hasPlanFeature(features, 'historical_migrations'),
  }));
}
