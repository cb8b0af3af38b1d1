import type { Database, Sql, Transaction } from '@millrace/db';
import type { Logger } from '@millrace/runtime';
import { atIntervals, type Task } from '../poll.ts';
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
  dropDetached,
  findCommonEnd,
  listOwnEnds,
  listPartitionsBefore,
} from './store.ts';

export interface RetentionOptions {
  /** How long events are kept at most; 0: for ever. Environments can say less. */
  eventRetentionDays: number;
  keepWarningsDays: number;
  keepActivityDays: number;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const portion = 2000;

/** Everything that is deleted because of its age. */
export function retentionTasks(
  deps: RetentionDeps,
  { eventRetentionDays: installationDays, keepWarningsDays, keepActivityDays }: RetentionOptions,
): Task[] {
  const { sql } = deps.database;
  const expireIdentities = createIdentityExpiry(sql, installationDays);
  const expireWarnings = async () =>
    (await deleteOldWarnings(sql, { installationDays, days: keepWarningsDays, limit: portion })) > 0;
  const expireActivity = async () => (await deleteOldActivity(sql, { days: keepActivityDays, limit: portion })) > 0;
  return [
    { name: 'drop_months', work: atIntervals(minuteMs, () => dropMonths(deps, installationDays)) },
    { name: 'expire_events', work: atIntervals(minuteMs, () => expireEvents(sql, installationDays)) },
    { name: 'expire_identities', work: atIntervals(dayMs, expireIdentities) },
    { name: 'expire_warnings', work: atIntervals(10 * minuteMs, expireWarnings) },
    { name: 'expire_activity', work: atIntervals(10 * minuteMs, expireActivity) },
  ];
}

export interface RetentionDeps {
  database: Pick<Database, 'sql' | 'transaction'>;
  logger: Logger;
}

/**
 * Drops the oldest month that no environment keeps any more: a thousand times cheaper than deleting its rows. One that is in use
 * is left for later, so that writers wait for a fifth of a second at most.
 *
 * @param installationDays how long events are kept at most; 0: for ever.
 * @returns whether there may be more at once.
 */
export async function dropMonths(deps: RetentionDeps, installationDays: number): Promise<boolean> {
  const { sql } = deps.database;
  await dropDetached(sql);
  const end = await findCommonEnd(sql, installationDays);
  const [partition] = end === null ? [] : await listPartitionsBefore(sql, end);
  return partition !== undefined && (await dropMonth(deps, partition));
}

/**
 * Drops a month of events.
 * @param mayGo asked of the table once nobody writes to it any more, for a moment in which everybody waits.
 * @returns whether it is gone: one that is in use is left for later.
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
  await dropDetached(database.sql);
  logger.info('dropped expired month of events', { partition });
  return true;
}

/** A month is put back where it was. */
class Stays extends Error {}

/** SQLSTATEs: waited too long for a lock; took too long while everybody waited. */
const tooLong = new Set<unknown>(['55P03', '57014']);

function takesTooLong(error: unknown): boolean {
  return error instanceof Error && 'code' in error && tooLong.has(error.code);
}

/** From here on there is a partition for each month, which is dropped as a whole (`dropMonths`). */
const firstMonth = new Date('2015-01-01T00:00:00Z');

/**
 * Deletes a portion of the events that are not kept any more and do not go with their month: those an environment keeps
 * for a shorter time than the others, to the day, and those from before 2015.
 *
 * @param installationDays how long events are kept at most; 0: for ever.
 * @returns whether there may be more.
 */
export async function expireEvents(sql: Sql, installationDays: number, limit = portion): Promise<boolean> {
  const commonEnd = await findCommonEnd(sql, installationDays);
  if (commonEnd !== null && commonEnd >= firstMonth && (await deleteAncientEvents(sql, limit)) > 0) return true;
  for (const end of await listOwnEnds(sql, installationDays)) {
    if ((await deleteOldEvents(sql, end, limit)) > 0) return true;
  }
  return false;
}

/** 8 MiB, some 150,000 identities, in one statement. */
const pagesAtOnce = 1000;

/**
 * Identities outlive their events by this long. Events this old are dropped by the consumer when they come again; should
 * somebody make a limit longer, what the log still holds of before must find its identities for a while.
 */
const graceDays = 30;

/**
 * Goes through the identities of events from end to end, some pages at a time, and deletes those whose events are not kept any
 * more. Where it is, it keeps in memory: who restarts begins from the start, and two workers do each other no harm.
 */
export function createIdentityExpiry(sql: Sql, installationDays: number, pages = pagesAtOnce) {
  let fromPage = 0;
  /** @returns whether there is more of this round. */
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
  if ((await findCommonEnd(sql, installationDays)) !== null) return true;
  return (await listOwnEnds(sql, installationDays)).length > 0;
}

const outcomesPortion = 1000;
/** For records that wait in the log under a replaced key and carry no environment: longer than a log keeps records. */
const formerKeyDays = 90;

/**
 * Deletes what came of reports and runs after some days, and replaced project keys: lists stay short and the tables small.
 * @returns whether there may be more.
 */
export async function forgetOld(sql: Sql, days: number): Promise<boolean> {
  const outcomes = await deleteOldOutcomes(sql, { days, limit: outcomesPortion });
  const keys = await deleteFormerKeys(sql, { days: formerKeyDays, limit: outcomesPortion });
  return outcomes + keys > 0;
}
