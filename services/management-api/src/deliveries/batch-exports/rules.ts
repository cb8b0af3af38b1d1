// Creates, changes and pauses batch exports, and records the changes in the activity log.

import { recordActivity } from '@millrace/accounts';
import { findEnvironment } from '@millrace/accounts/access';
import type { ExportModel } from '@millrace/contracts';
import type { Sql, Transaction } from '@millrace/db';
import { type ExportQuery, readEventFilters, readExportQuery, type SqlParser } from '@millrace/insights';
import { AppError, isAppError } from '@millrace/runtime';
import { findExportInterval, isTimeZone, nextExportInterval } from '@millrace/schedule';
import type { Static } from 'typebox';
import { v7 as uuidv7 } from 'uuid';
import { requireReferencedRecords } from '../../access/named-records.ts';
import { readRecordRights } from '../../access/record-rights.ts';
import { requireScope } from '../../access/require-scope.ts';
import { findTimeZone } from '../../time/time-zone-store.ts';
import { startBackfill } from './backfills.ts';
import { changeDestination, type Destination, type DestinationSecrets } from './destinations.ts';
import type { batchExportChanges, newBatchExport } from './schema.ts';
import {
  type BatchExportFields,
  type BatchExportRow,
  type ExportAddress,
  findBatchExport,
  insertBatchExport,
  lockBatchExport,
  readEncryptedSecrets,
  updateBatchExport,
} from './store.ts';

type Changes = Static<typeof batchExportChanges>;

interface Writing {
  now: Date;
  parser: SqlParser;
  destinationSecrets: DestinationSecrets;
}

/**
 * Checks that the caller has the scopes to read the exported data, and access to the cohorts in the export's filters.
 * Callers must pass this check to create an export, to change an active export, and to start a run. Exported events
 * include person properties.
 * @throws AppError `forbidden`, or `not_found` if the environment is no longer accessible
 */
export async function requireExportScopes(
  tx: Transaction,
  { userId, scopes }: ExportAddress,
  { team_id: environmentId, model, filters }: Pick<BatchExportRow, 'team_id' | 'model' | 'filters'>,
): Promise<void> {
  if (model === 'events') requireScope({ scopes }, 'event:read');
  requireScope({ scopes }, 'person:read');
  if (filters === null || filters.length === 0) return;
  const environment = await findEnvironment(tx, userId, environmentId);
  if (!environment || environment.level === null) throw new AppError('not_found', 'Not found.');
  const rights = await readRecordRights(tx, userId, { ...environment, level: environment.level });
  await requireReferencedRecords(tx, { environmentId, rights }, filters);
}

/** Creates a batch export. @throws AppError `invalid` naming the field */
export async function createBatchExport(
  tx: Transaction,
  address: ExportAddress & { environmentId: number },
  { body, now, destinationSecrets, parser }: { body: Static<typeof newBatchExport> } & Writing,
): Promise<BatchExportRow> {
  const { type, config, secrets } = changeDestination(null, body.destination);
  const id = uuidv7();
  const fields: BatchExportFields = {
    name: body.name,
    model: modelOf(body.model),
    filters: body.filters ?? null,
    query: await readQuery(tx, body.hogql_query, { projectId: address.environmentId, now, parser }),
    destination_type: type,
    destination_config: config,
    destination_secrets: destinationSecrets.seal(secrets, id),
    interval: body.interval,
    timezone: body.timezone ?? (await findTimeZone(tx, address.environmentId)),
    offset_day: body.offset_day ?? null,
    offset_hour: body.offset_hour ?? null,
    paused: body.paused ?? false,
    last_paused_at: body.paused ? now : null,
    start_at: toTime(body.start_at),
    end_at: toTime(body.end_at),
  };
  await checkFields(tx, address.environmentId, { fields, now });
  if (!fields.paused) await requireExportScopes(tx, address, { ...fields, team_id: address.environmentId });
  await insertBatchExport(
    tx,
    { id, environmentId: address.environmentId },
    { fields, next: nextExportInterval(fields, now) },
  );
  return found(await findBatchExport(tx, address, id));
}

/**
 * Changes only the given fields. The next interval begins where the last exported interval ended, even if the schedule
 * changes or the export is paused during the change. If the export is unpaused, the next interval is the current one.
 * @throws AppError `not_found`, or `invalid` naming the field
 */
export async function changeBatchExport(
  tx: Transaction,
  { address, id }: { address: ExportAddress; id: string },
  { changes, now, destinationSecrets, parser }: { changes: Changes } & Writing,
): Promise<{ before: BatchExportRow; after: BatchExportRow }> {
  const before = found(await lockBatchExport(tx, address, id));
  const destination = await changedDestination(tx, before, { changes, destinationSecrets });
  const paused = changes.paused ?? before.paused;
  const fields: BatchExportFields = {
    name: changes.name ?? before.name,
    model: changes.model === undefined ? before.model : modelOf(changes.model),
    filters: changes.filters === undefined ? before.filters : changes.filters,
    query:
      changes.hogql_query === undefined
        ? before.query
        : await readQuery(tx, changes.hogql_query, { projectId: before.team_id, now, parser }),
    destination_type: destination.type,
    destination_config: destination.config,
    destination_secrets: destination.secrets,
    ...(await changedRhythm(tx, before, changes)),
    paused,
    last_paused_at: paused && !before.paused ? now : before.last_paused_at,
    start_at: changes.start_at === undefined ? before.start_at : toTime(changes.start_at),
    end_at: changes.end_at === undefined ? before.end_at : toTime(changes.end_at),
  };
  await checkFields(tx, before.team_id, { fields, now });
  if (!fields.paused) await requireExportScopes(tx, address, { ...fields, team_id: before.team_id });
  const reached = before.next_interval_start;
  const continues = before.paused && !paused;
  // `reached` is in the future if `start_at` is in the future.
  const from = reached === null || reached > now || continues ? now : reached;
  await updateBatchExport(tx, id, { fields, next: nextExportInterval(fields, from, reached) });
  return { before, after: found(await findBatchExport(tx, address, id)) };
}

/** Returns the changed interval settings. Resets an unchanged offset that the new interval does not support. */
async function changedRhythm(
  tx: Transaction,
  before: BatchExportRow,
  changes: Changes,
): Promise<Pick<BatchExportFields, 'interval' | 'timezone' | 'offset_day' | 'offset_hour'>> {
  const interval = changes.interval ?? before.interval;
  const { timezone = before.timezone } = changes;
  return {
    interval,
    timezone: timezone ?? (await findTimeZone(tx, before.team_id)),
    offset_day:
      changes.offset_day === undefined ? (interval === 'week' ? before.offset_day : null) : changes.offset_day,
    offset_hour:
      changes.offset_hour === undefined ? (hasDays(interval) ? before.offset_hour : null) : changes.offset_hour,
  };
}

const hasDays = (interval: BatchExportFields['interval']) => interval === 'day' || interval === 'week';

/**
 * Pauses or unpauses an export. Does nothing if it already is in this state.
 * @param withBackfill whether to export the intervals that were missed during the pause
 * @throws AppError `not_found`
 */
export async function setExportPaused(
  tx: Transaction,
  { address, id }: { address: ExportAddress; id: string },
  { paused, withBackfill = false, ...writing }: { paused: boolean; withBackfill?: boolean } & Writing,
): Promise<{ before: BatchExportRow; after: BatchExportRow } | null> {
  const row = found(await lockBatchExport(tx, address, id));
  if (row.paused === paused) return null;
  const changed = await changeBatchExport(tx, { address, id }, { changes: { paused }, ...writing });
  if (withBackfill) await startMissedBackfill(tx, changed, writing.now);
  return changed;
}

/**
 * Exports the intervals between the last one before the pause and the first one after it. Exports each event only once.
 */
async function startMissedBackfill(
  tx: Transaction,
  { before, after }: { before: BatchExportRow; after: BatchExportRow },
  now: Date,
): Promise<void> {
  const start = before.next_interval_start;
  const until = after.next_interval_start ?? findExportInterval(after, now).start;
  const end = after.end_at !== null && after.end_at < until ? after.end_at : until;
  if (start !== null && start < end) await startBackfill(tx, after, { start, end, byStoredTime: true });
}

/** Returns the changed destination with encrypted secrets. Keeps the encrypted form of unchanged secrets. */
async function changedDestination(
  tx: Transaction,
  { id, destination_type: type, destination_config: config }: BatchExportRow,
  { changes, destinationSecrets }: { changes: Changes; destinationSecrets: DestinationSecrets },
): Promise<Destination> {
  const stored = await readEncryptedSecrets(tx, id);
  if (changes.destination === undefined) return { type, config, secrets: stored };
  const before = { type, config, secrets: destinationSecrets.open(stored, id) };
  const after = changeDestination(before, changes.destination);
  return { ...after, secrets: destinationSecrets.seal(after.secrets, id) };
}

function modelOf(model: 'events' | 'persons' | '' | null | undefined): ExportModel {
  return model === 'persons' ? 'persons' : 'events';
}

const toTime = (text: string | null | undefined) => (text == null ? null : new Date(text));

/** Checks rules about several fields, which the schema cannot express. */
async function checkFields(
  tx: Transaction,
  projectId: number,
  { fields, now }: { fields: BatchExportFields; now: Date },
): Promise<void> {
  const { model, filters, interval, timezone, offset_day, offset_hour, start_at, end_at } = fields;
  if (start_at !== null && end_at !== null && start_at >= end_at)
    throw refusal('end_at', "'end_at' must be later than 'start_at'.");
  if (!isTimeZone(timezone))
    throw refusal(
      'timezone',
      `"${timezone.slice(0, 100)}" is not a known time zone. Use an IANA time zone name such as Europe/Berlin.`,
    );
  if (offset_day !== null && interval !== 'week')
    throw refusal('offset_day', "'offset_day' can only be set when 'interval' is 'week'.");
  if (offset_hour !== null && !hasDays(interval))
    throw refusal('offset_hour', "'offset_hour' can only be set when 'interval' is 'day' or 'week'.");
  checkQueryFits(fields);
  if (filters === null || filters.length === 0) return;
  if (model === 'persons') throw refusal('filters', "'filters' can only be set when 'model' is 'events'.");
  try {
    await readEventFilters(tx, { projectId, filters, now: now.getTime() });
  } catch (error) {
    throw isAppError(error, 'invalid') ? refusal('filters', error.message) : error;
  }
}

/**
 * Reads the query that selects the exported columns.
 * @returns null if all fields are exported
 * @throws AppError `invalid` naming `hogql_query`
 */
async function readQuery(
  tx: Transaction,
  text: string | null | undefined,
  { projectId, now, parser }: { projectId: number } & Pick<Writing, 'now' | 'parser'>,
): Promise<ExportQuery | null> {
  return text ? readExportQuery({ sql: tx, parser }, { projectId, text, now: now.getTime() }) : null;
}

/**
 * If the destination is a table, checks that the query selects the event's ID. The ID is required because a new row
 * replaces the row with the same ID.
 */
function checkQueryFits({ query, model, destination_type: type }: BatchExportFields): void {
  if (query === null) return;
  if (model === 'persons') throw refusal('hogql_query', "'hogql_query' can only be used with the model 'events'.");
  if (type === 'Postgres' && !query.hasKey)
    throw refusal(
      'hogql_query',
      'A query for a PostgreSQL table must select `uuid`, because a row that is exported again replaces the row of the same event.',
    );
}

function refusal(attr: string, detail: string): AppError {
  return new AppError('invalid', detail, { code: 'invalid_input', attr });
}

function found(row: BatchExportRow | undefined): BatchExportRow {
  if (!row) throw new AppError('not_found', 'Not found.');
  return row;
}

function visible(row: BatchExportRow) {
  const { name, model, filters, query, interval, timezone, offset_day, offset_hour, paused } = row;
  const { start_at, end_at, destination_type, destination_config } = row;
  return {
    name,
    model,
    filters,
    hogql_query: query?.text ?? null,
    interval,
    timezone,
    offset_day,
    offset_hour,
    paused,
    start_at: start_at?.toISOString() ?? null,
    end_at: end_at?.toISOString() ?? null,
    destination: { type: destination_type, config: destination_config },
  };
}

/** Records that a user started or canceled a backfill or run, with its time range in `before` and `after`. */
export async function recordRunActivity(
  tx: Sql,
  address: ExportAddress,
  { row, ...change }: { row: BatchExportRow; field: 'backfill' | 'run'; action: 'created' | 'deleted'; what: object },
): Promise<void> {
  const { field, action, what } = change;
  const sides = action === 'created' ? { before: null, after: what } : { before: what, after: null };
  await recordActivity(tx, {
    organizationId: address.organizationId,
    environmentId: row.team_id,
    scope: 'BatchExport',
    itemId: row.id,
    activity: 'updated',
    actor: { userId: address.userId },
    name: row.name,
    changes: [{ type: 'BatchExport', action, field, ...sides }],
  });
}

export async function recordExportActivity(
  tx: Sql,
  address: ExportAddress,
  {
    activity,
    before,
    after,
  }: { activity: 'created' | 'updated' | 'deleted'; before?: BatchExportRow; after: BatchExportRow },
): Promise<void> {
  await recordActivity(tx, {
    organizationId: address.organizationId,
    environmentId: after.team_id,
    scope: 'BatchExport',
    itemId: after.id,
    activity,
    actor: { userId: address.userId },
    name: after.name,
    ...(before && { change: { before: visible(before), after: visible(after) } }),
  });
}
