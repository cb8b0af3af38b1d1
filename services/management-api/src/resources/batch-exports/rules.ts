// Making, changing and pausing a batch export, and the activity records about it.

import { recordActivity } from '@millrace/accounts';
import type { ExportModel } from '@millrace/contracts';
import type { Sql, Transaction } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import { nextExportInterval } from '@millrace/schedule';
import type { Static } from 'typebox';
import { v7 as uuidv7 } from 'uuid';
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
  readDestinationSecrets,
  updateBatchExport,
} from './store.ts';

type Changes = Static<typeof batchExportChanges>;

interface Writing {
  now: Date;
  destinationSecrets: DestinationSecrets;
}

/** @throws AppError `invalid` naming the field. */
export async function createBatchExport(
  tx: Transaction,
  address: ExportAddress & { environmentId: number },
  { body, now, destinationSecrets }: { body: Static<typeof newBatchExport> } & Writing,
): Promise<BatchExportRow> {
  const { type, config, secrets } = changeDestination(null, body.destination);
  checkQuery(body);
  const id = uuidv7();
  const fields: BatchExportFields = {
    name: body.name,
    model: modelOf(body.model),
    destination_type: type,
    destination_config: config,
    destination_secrets: destinationSecrets.seal(secrets, id),
    interval: body.interval,
    timezone: await findTimeZone(tx, address.environmentId),
    paused: body.paused ?? false,
    last_paused_at: body.paused ? now : null,
    start_at: toTime(body.start_at),
    end_at: toTime(body.end_at),
  };
  checkTimes(fields);
  await insertBatchExport(
    tx,
    { id, environmentId: address.environmentId },
    { fields, next: nextExportInterval(fields, now) },
  );
  return found(await findBatchExport(tx, address, id));
}

/**
 * Changes what is sent and leaves the rest. The next interval follows on the last one exported, also when its length has
 * changed; what a paused export misses is not made up for.
 *
 * @throws AppError `not_found`, or `invalid` naming the field.
 */
export async function changeBatchExport(
  tx: Transaction,
  { address, id }: { address: ExportAddress; id: string },
  { changes, now, destinationSecrets }: { changes: Changes } & Writing,
): Promise<{ before: BatchExportRow; after: BatchExportRow }> {
  const before = found(await lockBatchExport(tx, address, id));
  const destination = await changedDestination(tx, before, { changes, destinationSecrets });
  checkQuery(changes);
  const paused = changes.paused ?? before.paused;
  const fields: BatchExportFields = {
    name: changes.name ?? before.name,
    model: changes.model === undefined ? before.model : modelOf(changes.model),
    destination_type: destination.type,
    destination_config: destination.config,
    destination_secrets: destination.secrets,
    interval: changes.interval ?? before.interval,
    timezone: before.timezone,
    paused,
    last_paused_at: paused && !before.paused ? now : before.last_paused_at,
    start_at: changes.start_at === undefined ? before.start_at : toTime(changes.start_at),
    end_at: changes.end_at === undefined ? before.end_at : toTime(changes.end_at),
  };
  checkTimes(fields);
  const goesOn = !before.paused && before.next_interval_start !== null;
  const from = goesOn && before.next_interval_start !== null ? before.next_interval_start : now;
  await updateBatchExport(tx, id, { fields, next: nextExportInterval(fields, from) });
  return { before, after: found(await findBatchExport(tx, address, id)) };
}

/**
 * Pauses or continues. What is so already stays untouched, to the date of the last change.
 *
 * @param withBackfill whether to export what was missed since the pause.
 * @throws AppError `not_found`.
 */
export async function setPaused(
  tx: Transaction,
  { address, id }: { address: ExportAddress; id: string },
  { paused, withBackfill = false, ...writing }: { paused: boolean; withBackfill?: boolean } & Writing,
): Promise<{ before: BatchExportRow; after: BatchExportRow } | null> {
  const row = found(await lockBatchExport(tx, address, id));
  if (row.paused === paused) return null;
  const changed = await changeBatchExport(tx, { address, id }, { changes: { paused }, ...writing });
  const { now } = writing;
  if (withBackfill && row.last_paused_at && row.last_paused_at < now) {
    await startBackfill(tx, row, { start: row.last_paused_at, end: now, byStoredTime: true });
  }
  return changed;
}

/** The destination after a change, its secrets as they are to be stored. Untouched ones stay as they are. */
async function changedDestination(
  tx: Transaction,
  { id, destination_type: type, destination_config: config }: BatchExportRow,
  { changes, destinationSecrets }: { changes: Changes; destinationSecrets: DestinationSecrets },
): Promise<Destination> {
  const stored = await readDestinationSecrets(tx, id);
  if (changes.destination === undefined) return { type, config, secrets: stored };
  const before = { type, config, secrets: destinationSecrets.open(stored, id) };
  const after = changeDestination(before, changes.destination);
  return { ...after, secrets: destinationSecrets.seal(after.secrets, id) };
}

function modelOf(model: 'events' | 'persons' | '' | null | undefined): ExportModel {
  return model === 'persons' ? 'persons' : 'events';
}

const toTime = (text: string | null | undefined) => (text == null ? null : new Date(text));

function checkTimes({ start_at, end_at }: BatchExportFields): void {
  if (start_at === null || end_at === null || start_at < end_at) return;
  throw new AppError('invalid', "'end_at' must be later than 'start_at'.", { code: 'invalid_input', attr: 'end_at' });
}

function checkQuery({ hogql_query }: Changes): void {
  if (!hogql_query) return;
  throw new AppError('invalid', 'Queries are not supported here: leave hogql_query out to export whole records.', {
    code: 'invalid_input',
    attr: 'hogql_query',
  });
}

function found(row: BatchExportRow | undefined): BatchExportRow {
  if (!row) throw new AppError('not_found', 'Not found.');
  return row;
}

/** Fields a person may change; secrets are not among them, a row never has them. */
function visible(row: BatchExportRow) {
  const { name, model, interval, paused, start_at, end_at, destination_type, destination_config } = row;
  const times = { start_at: start_at?.toISOString() ?? null, end_at: end_at?.toISOString() ?? null };
  return {
    name,
    model,
    interval,
    paused,
    ...times,
    destination: { type: destination_type, config: destination_config },
  };
}

/** Records who had a range exported or kept from being exported; `before` and `after` are what was asked for. */
export async function recordExportWork(
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

/** Records who made, changed or deleted an export, in the transaction that does it. */
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
