import { effectiveLevel, environmentsOfCaller } from '@millrace/accounts/access';
import type { ExportDestinationType, ExportModel } from '@millrace/contracts';
import type { Columns, Sql, Transaction } from '@millrace/db';
import type { ExportQuery } from '@millrace/insights';
import type { ExportInterval, TimeSpan } from '@millrace/schedule';
import type { Caller } from '../../access/caller.ts';
import { createConditions } from '../../sql/conditions.ts';
import { limitPageBytes } from '../../sql/limit-page-bytes.ts';
import type { TimePosition } from '../../time/time-range.ts';

/**
 * Selects exports by the path of a request: the exports of one environment, or of all environments of an organization
 * that the caller can access.
 */
export interface ExportAddress extends Pick<Caller, 'userId' | 'scopes'> {
  organizationId: string;
  /** The environment ID, or null for all environments of the organization. */
  environmentId: number | null;
}

export interface BatchExportRow
  extends Columns<'batch_export', 'id' | 'created_at' | 'last_updated_at' | 'next_interval_start'>,
    Omit<BatchExportFields, 'destination_secrets'> {
  team_id: number;
}
type Row = BatchExportRow & Record<string, unknown>;

/** The columns do not include the secrets, so that code that returns an export never reads them. */
const columns = `b.id, b.environment_id AS team_id, b.name, b.model, b.destination_type, b.destination_config,
  b.filters, b.query, b."interval", b.timezone, b.offset_day, b.offset_hour, b.paused, b.created_at, b.last_updated_at, b.last_paused_at, b.start_at, b.end_at,
  b.next_interval_start`;

/**
 * SQL condition for the exports that a path selects. Its parameters are the caller, the organization, and the
 * environment or null.
 */
const isAddressed = `NOT b.deleted AND b.environment_id IN (
  SELECT e.id FROM ${environmentsOfCaller}
   WHERE p.organization_id = $2 AND ($3::int IS NULL OR e.id = $3) AND (${effectiveLevel}) IS NOT NULL)`;

const addressValues = ({ userId, organizationId, environmentId }: ExportAddress) => [
  userId,
  organizationId,
  environmentId,
];

/** Returns a page of the exports that a path selects, newest first, and the total count. */
export async function listBatchExports(
  sql: Sql,
  address: ExportAddress,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ count: number; rows: BatchExportRow[] }> {
  const [counted, rows] = await Promise.all([
    sql.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM batch_export b WHERE ${isAddressed}`,
      addressValues(address),
    ),
    sql.query<Row>(
      limitPageBytes(
        `SELECT ${columns} FROM batch_export b WHERE ${isAddressed}
          ORDER BY b.created_at DESC, b.id DESC LIMIT $4 OFFSET $5`,
        ['destination_config'],
      ),
      [...addressValues(address), limit, offset],
    ),
  ]);
  return { count: counted[0]?.count ?? 0, rows };
}

export async function findBatchExport(
  sql: Sql,
  address: ExportAddress,
  id: string,
): Promise<BatchExportRow | undefined> {
  const rows = await sql.query<Row>(`SELECT ${columns} FROM batch_export b WHERE ${isAddressed} AND b.id = $4`, [
    ...addressValues(address),
    id,
  ]);
  return rows[0];
}

/** Like `findBatchExport`, but also locks the row until the transaction ends. */
export async function lockBatchExport(
  tx: Transaction,
  address: ExportAddress,
  id: string,
): Promise<BatchExportRow | undefined> {
  const rows = await tx.query<Row>(
    `SELECT ${columns} FROM batch_export b WHERE ${isAddressed} AND b.id = $4 FOR UPDATE OF b`,
    [...addressValues(address), id],
  );
  return rows[0];
}

export async function readEncryptedSecrets(tx: Transaction, id: string): Promise<Record<string, unknown>> {
  const rows = await tx.query<{ secrets: Record<string, unknown> }>(
    'SELECT destination_secrets AS secrets FROM batch_export WHERE id = $1',
    [id],
  );
  return rows[0]?.secrets ?? {};
}

export interface BatchExportFields
  extends Columns<
    'batch_export',
    'name' | 'timezone' | 'offset_day' | 'offset_hour' | 'paused' | 'last_paused_at' | 'start_at' | 'end_at'
  > {
  model: ExportModel;
  /** The event filters as the client sent them, or null to export all events. */
  filters: Record<string, unknown>[] | null;
  /** The query that selects the exported columns, or null to export all fields. */
  query: ExportQuery | null;
  destination_type: ExportDestinationType;
  destination_config: Record<string, unknown>;
  destination_secrets: Record<string, unknown>;
  interval: ExportInterval;
}

const writable = [
  'name',
  'model',
  'filters',
  'query',
  'destination_type',
  'destination_config',
  'destination_secrets',
  'interval',
  'timezone',
  'offset_day',
  'offset_hour',
  'paused',
  'last_paused_at',
  'start_at',
  'end_at',
] as const;

interface WrittenBatchExport {
  fields: BatchExportFields;
  /** The next interval to export, or null after the last interval. */
  next: TimeSpan | null;
}

/** Converts lists to JSON strings, because the driver would send them as PostgreSQL arrays. */
const valuesOf = (fields: BatchExportFields) =>
  writable.map((name) => (name === 'filters' ? fields.filters && JSON.stringify(fields.filters) : fields[name]));

export async function insertBatchExport(
  tx: Transaction,
  { id, environmentId }: { id: string; environmentId: number },
  { fields, next }: WrittenBatchExport,
): Promise<void> {
  await tx.query(
    `INSERT INTO batch_export (id, environment_id, next_interval_start, next_interval_end,
                               ${writable.map((name) => `"${name}"`).join(', ')})
     VALUES ($1, $2, $3, $4, ${writable.map((_, index) => `$${index + 5}`).join(', ')})`,
    [id, environmentId, next?.start ?? null, next?.end ?? null, ...valuesOf(fields)],
  );
}

/** The caller must hold a lock on the export. */
export async function updateBatchExport(
  tx: Transaction,
  id: string,
  { fields, next }: WrittenBatchExport,
): Promise<void> {
  await tx.query(
    `UPDATE batch_export SET last_updated_at = now(), next_interval_start = $2, next_interval_end = $3,
            ${writable.map((name, index) => `"${name}" = $${index + 4}`).join(', ')}
      WHERE id = $1`,
    [id, next?.start ?? null, next?.end ?? null, ...valuesOf(fields)],
  );
}

/** Marks an export as deleted, deletes its secrets and cancels its runs. A run in progress stops at its next step. */
export async function deleteBatchExport(tx: Transaction, id: string): Promise<void> {
  await tx.query(
    `UPDATE batch_export SET deleted = true, destination_secrets = '{}', last_updated_at = now() WHERE id = $1`,
    [id],
  );
  await tx.query(
    `UPDATE batch_export_backfill SET status = 'Cancelled', finished_at = now(), last_updated_at = now()
      WHERE batch_export_id = $1 AND status = 'Running'`,
    [id],
  );
  await tx.query(
    `UPDATE batch_export_run SET status = 'Cancelled', finished_at = now(), last_updated_at = now()
      WHERE batch_export_id = $1 AND status IN ('Starting', 'Running', 'FailedRetryable')`,
    [id],
  );
}

export interface RunRow
  extends Columns<
    'batch_export_run',
    | 'id'
    | 'status'
    | 'records_completed'
    | 'bytes_exported'
    | 'latest_error'
    | 'data_interval_start'
    | 'data_interval_end'
    | 'created_at'
    | 'finished_at'
    | 'last_updated_at'
  > {
  batch_export: string;
  backfill: string | null;
}
type StoredRun = RunRow & Record<string, unknown>;

/** Maximum length of a stored error in characters. Other servers' error messages can be long. */
const maxErrorLength = 2000;

const runColumns = `r.id, r.batch_export_id AS batch_export, r.backfill_id AS backfill, r.status, r.records_completed, r.bytes_exported,
  left(r.latest_error, ${maxErrorLength}) AS latest_error, r.data_interval_start, r.data_interval_end, r.created_at, r.finished_at, r.last_updated_at`;

/** Returns the last ten runs of each export, newest first. Uses a single statement. */
export async function latestRuns(sql: Sql, exportIds: string[]): Promise<RunRow[]> {
  return sql.query<StoredRun>(
    `SELECT ${runColumns} FROM unnest($1::uuid[]) AS wanted (id)
       JOIN LATERAL (SELECT * FROM batch_export_run WHERE batch_export_id = wanted.id
                      ORDER BY created_at DESC, id DESC LIMIT 10) r ON true
      ORDER BY r.created_at DESC, r.id DESC`,
    [exportIds],
  );
}

export const runOrders = ['-created_at', 'created_at', '-data_interval_start', 'data_interval_start'] as const;

export function buildOrder<Column extends string>(ordering: Column | `-${Column}`) {
  const isDescending = ordering.startsWith('-');
  return {
    column: ordering.replace(/^-/, '') as Column,
    direction: isDescending ? ('DESC' as const) : ('ASC' as const),
  };
}

/** Lists an export's runs in a time range, sorted by `ordering`, starting after a cursor position. */
export async function listRuns(
  sql: Sql,
  exportId: string,
  {
    after,
    before,
    position,
    limit,
    ordering,
  }: {
    after: Date | null;
    before: Date | null;
    position: TimePosition | null;
    limit: number;
    ordering: (typeof runOrders)[number];
  },
): Promise<RunRow[]> {
  const { column, direction } = buildOrder(ordering);
  const time = `date_trunc('milliseconds', r.${column})`;
  const where = createConditions();
  where.add(`r.batch_export_id = ${where.parameter(exportId)}`);
  if (after) where.add(`r.created_at > ${where.parameter(after)}`);
  if (before) where.add(`r.created_at < ${where.parameter(before)}`);
  if (position) {
    // Cursors have millisecond precision. Rows within the cursor's millisecond are therefore compared by ID.
    const [at, id] = [where.parameter(position.timestamp), where.parameter(position.id)];
    where.add(`(${time}, r.id) ${direction === 'DESC' ? '<' : '>'} (${at}::timestamptz, ${id}::uuid)`);
  }
  return sql.query<StoredRun>(
    `SELECT ${runColumns} FROM batch_export_run r WHERE ${where.text()}
      ORDER BY ${time} ${direction}, r.id ${direction} LIMIT ${where.parameter(limit)}`,
    where.values,
  );
}

/**
 * Returns whether a run selects events by the time when they were stored, as scheduled runs do, or by their own
 * timestamps.
 */
export async function isByStoredTime(sql: Sql, { backfill }: Pick<RunRow, 'backfill'>): Promise<boolean> {
  if (backfill === null) return true;
  const rows = await sql.query<{ by_stored_time: boolean }>(
    'SELECT by_stored_time FROM batch_export_backfill WHERE id = $1',
    [backfill],
  );
  return rows[0]?.by_stored_time ?? false;
}

export async function findRun(sql: Sql, exportId: string, id: string): Promise<RunRow | undefined> {
  const rows = await sql.query<StoredRun>(
    `SELECT ${runColumns} FROM batch_export_run r WHERE r.batch_export_id = $1 AND r.id = $2`,
    [exportId, id],
  );
  return rows[0];
}

/** Cancels a run. Returns false if the run had already ended. */
export async function cancelRun(tx: Transaction, id: string): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE batch_export_run SET status = 'Cancelled', finished_at = now(), last_updated_at = now()
      WHERE id = $1 AND status IN ('Starting', 'Running', 'FailedRetryable') RETURNING id`,
    [id],
  );
  return rows.length > 0;
}
