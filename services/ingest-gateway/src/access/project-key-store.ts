// SQL that finds the project of a project API key.

import { hasPlanFeature, type PlanLimits, readPlanLimits } from '@millrace/contracts';
import type { Sql } from '@millrace/db/sql';

export interface KnownProject extends PlanLimits {
  environmentId: number;
  /** Whether the organization's plan includes historical migrations (docs/ingestion-rules.md#historical-migrations). */
  mayMigrate: boolean;
}

export async function findProjectByKey(sql: Sql, token: string): Promise<KnownProject | null> {
  const [row] = await sql.query<{ id: number; features: unknown }>(
    `SELECT environment.id, organization.available_product_features AS features
       FROM environment
       JOIN project ON project.id = environment.project_id
       JOIN organization ON organization.id = project.organization_id
      WHERE environment.api_token = $1`,
    [token],
  );
  if (row === undefined) return null;
  const { features } = row;
  return {
    environmentId: row.id,
    mayMigrate: hasPlanFeature(features, 'historical_migrations'),
    ...readPlanLimits(features),
  };
}
