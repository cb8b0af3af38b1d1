// SQL that reads an environment's settings and early access features for SDKs.

import type { Sql } from '@millrace/db/sql';

/** An environment's settings for browser clients. Null means that a setting is not set. */
export interface ClientSettings {
  autocaptureOptOut: boolean | null;
  exceptionsOptIn: boolean | null;
  webVitalsOptIn: boolean | null;
  /** An array of metric names, or null. */
  webVitalsMetrics: unknown;
}

export async function findClientSettings(sql: Sql, token: string): Promise<ClientSettings | null> {
  const [row] = await sql.query<ClientSettings & Record<string, unknown>>(
    `SELECT autocapture_opt_out AS "autocaptureOptOut",
            autocapture_exceptions_opt_in AS "exceptionsOptIn",
            autocapture_web_vitals_opt_in AS "webVitalsOptIn",
            autocapture_web_vitals_allowed_metrics AS "webVitalsMetrics"
       FROM environment
      WHERE api_token = $1`,
    [token],
  );
  return row ?? null;
}

export interface PublicFeature {
  id: string;
  name: string;
  description: string;
  stage: string;
  documentationUrl: string;
  flagKey: string;
}

/** If an environment has more features, only the newest are returned. Pages show far fewer than this. */
const maxFeatures = 500;

export async function findPublicFeatures(sql: Sql, environmentId: number): Promise<PublicFeature[]> {
  return sql.query<PublicFeature & Record<string, unknown>>(
    `SELECT e.id, e.name, e.description, e.stage, e.documentation_url AS "documentationUrl", e.payload,
            f.key AS "flagKey"
       FROM early_access_feature e
       JOIN feature_flag f ON f.id = e.feature_flag_id AND NOT f.deleted
      WHERE e.project_id = $1 AND e.stage IN ('concept', 'alpha', 'beta', 'general-availability')
      ORDER BY e.created_at DESC, e.id DESC LIMIT ${maxFeatures}`,
    [environmentId],
  );
}
