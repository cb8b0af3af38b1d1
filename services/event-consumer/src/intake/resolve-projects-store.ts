import type { Sql } from '@millrace/db';

/** An environment as event processing sees it. */
export interface ProjectRow {
  id: number;
  token: string;
  anonymizeIps: boolean;
  personProcessingOptOut: boolean;
  hasIngestedEvent: boolean;
}

/** The environments that own any of the project API keys. */
export async function selectProjects(sql: Sql, tokens: string[]): Promise<ProjectRow[]> {
  return sql.query<ProjectRow & Record<string, unknown>>(
    `SELECT id, api_token AS token, anonymize_ips AS "anonymizeIps",
            person_processing_opt_out AS "personProcessingOptOut", ingested_event AS "hasIngestedEvent"
       FROM environment
      WHERE api_token = ANY ($1::text[])`,
    [tokens],
  );
}
