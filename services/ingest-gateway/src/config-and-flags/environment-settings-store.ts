import type { Sql } from '@millrace/db/sql';

/** What an environment's people have decided about the browser client. Null: nothing was decided. */
export interface ClientSettings {
  autocaptureOptOut: boolean | null;
  exceptionsOptIn: boolean | null;
  webVitalsOptIn: boolean | null;
  /** JSON as stored: an array of metric names, or null. */
  webVitalsMetrics: unknown;
  heatmapsOptIn: boolean | null;
  captureDeadClicks: boolean | null;
}

/** Null when no environment has this key. Errors of the database reach the caller. */
export async function findClientSettings(sql: Sql, token: string): Promise<ClientSettings | null> {
  const [row] = await sql.query<ClientSettings & Record<string, unknown>>(
    `SELECT autocapture_opt_out AS "autocaptureOptOut",
            autocapture_exceptions_opt_in AS "exceptionsOptIn",
            autocapture_web_vitals_opt_in AS "webVitalsOptIn",
            autocapture_web_vitals_allowed_metrics AS "webVitalsMetrics",
            heatmaps_opt_in AS "heatmapsOptIn",
            capture_dead_clicks AS "captureDeadClicks"
       FROM environment
      WHERE api_token = $1`,
    [token],
  );
  return row ?? null;
}
