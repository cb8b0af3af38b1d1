import type { Sql } from '@millrace/db/sql';

/** A feature as browsers show it to who may enrol. */
export interface PublicFeature {
  id: string;
  name: string;
  description: string;
  stage: string;
  documentationUrl: string;
  flagKey: string;
}

/** More than a page shows; the newest first. */
const mostFeatures = 500;

/** Features persons may enrol in: neither drafts nor archived ones. Errors of the database reach the caller. */
export async function findPublicFeatures(sql: Sql, environmentId: number): Promise<PublicFeature[]> {
  return sql.query<PublicFeature & Record<string, unknown>>(
    `SELECT e.id, e.name, e.description, e.stage, e.documentation_url AS "documentationUrl", f.key AS "flagKey"
       FROM early_access_feature e
       JOIN feature_flag f ON f.id = e.feature_flag_id AND NOT f.deleted
      WHERE e.project_id = $1 AND e.stage IN ('concept', 'alpha', 'beta', 'general-availability')
      ORDER BY e.created_at DESC, e.id DESC LIMIT ${mostFeatures}`,
    [environmentId],
  );
}
