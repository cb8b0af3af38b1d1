// Deletes data that is older than its retention period: events, warnings, activity, reports and replaced keys.

import type { Database, Sql, Transaction } from '@millrace/db';
import type { Logger } from '@millrace/runtime';
import { runAtIntervals, type Task } from '../poll.ts';
import {
  countIdentityPages,
  deleteAncientEvents,
  deleteFormerKeys,
  deleteOldActivity,
  deleteOldEvents,
  deleteOldIdentities,
  deleteOldOutcomes,
  deleteOldWarnings,
  detachPartition,
  dropDetachedPartitions,
  findCommonRetentionEnd,
  listOwnRetentionEnds,
  listPartitionsBefore,
} from './store.ts';

export interface RetentionOptions {
  /** The maximum age of events in days, or 0 for unlimited. An environment can have a lower one. */
  eventRetentionDays: number;
  keepWarningsDays: number;
  keepActivityDays: number;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const portion = 2000;

export function createRetentionTasks(
  deps: RetentionDeps,
  { eventRetentionDays: installationDays, keepWarningsDays, keepActivityDays }: RetentionOptions,
): Task[] {
  const { sql } = deps.database;
  const expireIdentities = createIdentityExpiryTask(sql, installationDays);
  const expireWarnings = async () =>
    (await deleteOldWarnings(sql, { installationDays, days: keepWarningsDays, limit: portion })) > 0;
  const expireActivity = async () => (await deleteOldActivity(sql, { days: keepActivityDays, limit: portion })) > 0;
  return [
    { name: 'drop_months', work: runAtIntervals(minuteMs, () => dropMonths(deps, installationDays)) },
    { name: 'expire_events', work: runAtIntervals(minuteMs, () => expireEvents(sql, installationDays)) },
    { name: 'expire_identities', work: runAtIntervals(dayMs, expireIdentities) },
    { name: 'expire_warnings', work: runAtIntervals(10 * minuteMs, expireWarnings) },
    { name: 'expire_activity', work: runAtIntervals(10 * minuteMs, expireActivity) },
  ];
}

export interface RetentionDeps {
  database: Pick<Database, 'sql' | 'transaction'>;
  logger: Logger;
}

/**
 * Drops the oldest month if all its events have expired, which is a thousand times cheaper than deleting its rows.
 * Skips a month in use, so that writers wait for at most 200 ms.
 * @param installationDays the maximum age of events in days, or 0 for unlimited
 * @returns whether more months may be due
 */
export async function dropMonths(deps: RetentionDeps, installationDays: number): Promise<boolean> {
  const { sql } = deps.database;
  await dropDetachedPartitions(sql);
  const end = await findCommonRetentionEnd(sql, installationDays);
  const [partition] = end === null ? [] : await listPartitionsBefore(sql, end);
  return partition !== undefined && (await dropMonth(deps, partition));
}

/**
 * Drops a month of events.
 * @param mayGo checks the month's table one last time while no other transaction can write to it. All access to events
 *   waits for this check.
 * @returns whether the month was dropped, or false if it is in use
 */
export async function dropMonth(
  { database, logger }: RetentionDeps,
  partition: string,
  mayGo: (tx: Transaction, table: string) => Promise<boolean> = async () => true,
): Promise<boolean> {
  try {
    await database.transaction(async (tx) => {
      if (!(await mayGo(tx, await detachPartition(tx, partition)))) throw new Stays();
    });
  } catch (error) {
    if (error instanceof Stays) return false;
    if (!takesTooLong(error)) throw error;
    logger.info('could not drop an expired month of events yet, because the table is in use', { partition });
    return false;
  }
  await dropDetachedPartitions(database.sql);
  logger.info('dropped expired month of events', { partition });
  return true;
}

/** Thrown to roll back the transaction, so that the month is kept. */
class Stays extends Error {}

/** SQLSTATEs of the lock timeout, and of the statement timeout. */
const tooLong = new Set<unknown>(['55P03', '57014']);

function takesTooLong(error: unknown): boolean {
  return error instanceof Error && 'code' in error && tooLong.has(error.code);
}

/** Each month from this one on has its own partition, which `dropMonths` can drop. */
const firstMonth = new Date('2015-01-01T00:00:00Z');

/**
 * Deletes a batch of expired events that `dropMonths` cannot drop: events of environments with shorter retention
 * periods, exact to the day, and events from before 2015.
 * @param installationDays the maximum age of events in days, or 0 for unlimited
 * @returns whether more events may be due
 */
export async function expireEvents(sql: Sql, installationDays: number, limit = portion): Promise<boolean> {
  const commonEnd = await findCommonRetentionEnd(sql, installationDays);
  if (commonEnd !== null && commonEnd >= firstMonth && (await deleteAncientEvents(sql, limit)) > 0) return true;
  for (const end of await listOwnRetentionEnds(sql, installationDays)) {
    if ((await deleteOldEvents(sql, end, limit)) > 0) return true;
  }
  return false;
}

/** Number of pages per statement. 1,000 pages are 8 MiB, or about 150,000 identities. */
const pagesAtOnce = 1000;

/**
 * How many days identities are kept after their events have expired. The consumer drops expired events, but accepts
 * older records from the log again if the retention period is increased. It then needs their identities to detect
 * duplicates.
 */
const graceDays = 30;

/**
 * Creates a task that scans the identities of events page by page, and deletes those of expired events. The position is
 * only in memory, so the scan starts again after a restart. Two workers can scan at the same time.
 */
export function createIdentityExpiryTask(sql: Sql, installationDays: number, pages = pagesAtOnce) {
  let fromPage = 0;
  /** Deletes the expired identities on the table's next pages. @returns whether this pass has more pages */
  return async (): Promise<boolean> => {
    if (fromPage === 0 && !(await isAnythingLimited(sql, installationDays))) return false;
    await deleteOldIdentities(sql, { installationDays, graceDays }, { fromPage, pages });
    fromPage += pages;
    if (fromPage < (await countIdentityPages(sql))) return true;
    fromPage = 0;
    return false;
  };
}

async function isAnythingLimited(sql: Sql, installationDays: number): Promise<boolean> {
  if ((await findCommonRetentionEnd(sql, installationDays)) !== null) return true;
  return (await listOwnRetentionEnds(sql, installationDays)).length > 0;
}

const outcomesPortion = 1000;
/**
 * How many days replaced keys are kept. This exceeds the retention of the log, which may still contain records with a
 * replaced key and no environment ID.
 */
const formerKeyDays = 90;

/**
 * Deletes old reports, export runs and replaced keys, so that lists and tables stay small.
 * @returns whether more rows may be due
 */
export async function deleteOldRecords(sql: Sql, days: number): Promise<boolean> {
  const outcomes = await deleteOldOutcomes(sql, { days, limit: outcomesPortion });
  const keys = await deleteFormerKeys(sql, { days: formerKeyDays, limit: outcomesPortion });
  return outcomes + keys > 0;
}
