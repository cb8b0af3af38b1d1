import { formatDateTime } from '@millrace/http';
import type { BackfillRow } from './backfill-store.ts';
import type { BatchExportRow } from './batch-export-store.ts';
import type { RunRow } from './run-store.ts';

const orNull = (time: Date | null) => time && formatDateTime(time);

/** A row as the API shows it, with its own ones among some runs. */
export function toBatchExport(row: BatchExportRow, runs: RunRow[]) {
  return {
    ...row,
    destination: { type: row.destination_type, config: row.destination_config },
    created_at: formatDateTime(row.created_at),
    last_updated_at: formatDateTime(row.last_updated_at),
    last_paused_at: orNull(row.last_paused_at),
    start_at: orNull(row.start_at),
    end_at: orNull(row.end_at),
    latest_runs: runs.filter((run) => run.batch_export === row.id).map(toRun),
    schema: null,
  };
}

export function toRun(row: RunRow) {
  return {
    ...row,
    // What was not exported within an interval does not exist: a run is all or nothing.
    records_total_count: row.status === 'Completed' ? row.records_completed : null,
    data_interval_start: formatDateTime(row.data_interval_start),
    data_interval_end: formatDateTime(row.data_interval_end),
    cursor: null,
    created_at: formatDateTime(row.created_at),
    finished_at: orNull(row.finished_at),
    last_updated_at: formatDateTime(row.last_updated_at),
  };
}

export function toBackfill({ total_runs, finished_runs, ...row }: BackfillRow) {
  return {
    ...row,
    start_at: formatDateTime(row.start_at),
    end_at: formatDateTime(row.end_at),
    progress: { total_runs, finished_runs },
    created_at: formatDateTime(row.created_at),
    finished_at: orNull(row.finished_at),
    last_updated_at: formatDateTime(row.last_updated_at),
  };
}
