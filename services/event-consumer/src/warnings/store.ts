// SQL that stores ingestion warnings.

import type { JsonObject } from '@millrace/contracts';
import type { Transaction } from '@millrace/db/sql';
import { type WarningType, warningSeverity } from '../model/warning.ts';

export interface StoredWarning {
  projectId: number;
  /** The warning ID. It is derived from the warning's subject, so that a repeated warning is stored once. */
  id: string;
  type: WarningType;
  details: JsonObject;
  count: number;
  timestampMs: number;
}

/** Inserts new warnings in the order of (project, ID), as the lock order requires. */
export async function insertWarnings(tx: Transaction, warnings: StoredWarning[]): Promise<void> {
  if (warnings.length === 0) return;
  await tx.query(
    `INSERT INTO ingestion_warning (project_id, id, type, severity, details, count, timestamp)
     SELECT project_id, id, type, severity, details, count, to_timestamp(timestamp_ms / 1000.0)
       FROM jsonb_to_recordset($1::jsonb)
         AS w (project_id int, id uuid, type text, severity text, details jsonb, count int, timestamp_ms bigint)
      ORDER BY project_id, id
         ON CONFLICT DO NOTHING`,
    [
      JSON.stringify(
        warnings.map((warning) => ({
          project_id: warning.projectId,
          id: warning.id,
          type: warning.type,
          severity: warningSeverity[warning.type],
          details: warning.details,
          count: warning.count,
          timestamp_ms: warning.timestampMs,
        })),
      ),
    ],
  );
}
