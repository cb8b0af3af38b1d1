// Copies events from PostgreSQL to ClickHouse, and removes deleted events from ClickHouse.

import type { Database } from '@millrace/db';
import {
  type ClickHouseClient,
  type CopyClaim,
  claimCopy,
  copyEvents,
  createCopySpan,
  createTables,
  deleteEventRemovals,
  deleteEvents,
  deleteEventsSince,
  deleteOldEvents,
  type EventRemoval,
  type EventsToRemove,
  finishRestoredCopy,
  isRebuilding,
  type ReadablePostgres,
  readCopiedUntil,
  readEventRemovals,
  readOldestStoredAt,
  readRestoredCopy,
  releaseCopyClaim,
  removePersonData,
  saveCopiedUntil,
} from '@millrace/insights';
import type { Logger, Metrics } from '@millrace/runtime';
import type { SettledUntil } from '../batch-exports/read.ts';
import { findCommonRetentionEnd, listOwnRetentionEnds } from '../retention/store.ts';

export interface CopyTarget {
  client: ClickHouseClient;
  postgres: ReadablePostgres;
}

export interface EventCopierDeps {
  database: Pick<Database, 'sql'>;
  target: CopyTarget;
  settledUntil: SettledUntil;
  /** Minimum age in seconds of events to copy (see `settledUntil`). */
  settleSeconds: number;
  /** The installation's retention period in days, or 0 for unlimited. An environment can have a shorter one. */
  eventRetentionDays: number;
  /**
   * Minimum time span of a batch in milliseconds. Events wait until their batch spans this time, because ClickHouse
   * stores each batch as a separate part, which takes as much CPU time as copying thousands of events.
   */
  minPortionMs: number;
  gauge: ReturnType<typeof createCopyMetrics>;
  logger: Logger;
}

/** How long a claim lasts in seconds. This is longer than any batch takes. */
const leaseSeconds = 600;
const removalsAtOnce = 500;
const forgetEveryMs = 3_600_000;

export function createCopyMetrics(metrics: Metrics) {
  return metrics.gauge(
    'millrace_event_store_lag_seconds',
    'Age of the newest data known to be in ClickHouse, in seconds. Up to about ten seconds if ClickHouse is up to date',
    [],
  );
}

/**
 * Creates a task that copies events in batches, in the order they were stored. It starts with the oldest event, and
 * continues where it stopped. Only one worker copies at a time. An interrupted batch is copied again without
 * duplicating events.
 * @returns a task that returns whether more events may have to be copied
 */
export function createEventCopier({
  database: { sql },
  target,
  settledUntil,
  settleSeconds,
  gauge,
  logger,
  eventRetentionDays,
  minPortionMs,
}: EventCopierDeps) {
  const { client, postgres } = target;
  let isReady = false;
  const span = createCopySpan();
  let forgottenAt = Number.NEGATIVE_INFINITY;

  const reportLag = (until: Date) => gauge.set(Math.max(0, (Date.now() - until.getTime()) / 1000));

  /**
   * After PostgreSQL was restored from a backup, moves the copy's position back.
   * @returns the position where copying continues
   */
  async function followRestore(claim: CopyClaim): Promise<Date | null> {
    const since = await readRestoredCopy(sql);
    if (since === null) return claim.copiedUntil;
    await deleteEventsSince(client, since);
    await finishRestoredCopy(sql, claim, since);
    return since;
  }

  async function remove(): Promise<void> {
    const removals = await readEventRemovals(sql, removalsAtOnce);
    for (const group of alike(removals)) await removeOf(group);
    await deleteEventRemovals(
      sql,
      removals.map(({ id }) => id),
    );
  }

  const removeOf = ({ keepsEvents, ...removed }: Removals): Promise<void> =>
    keepsEvents ? removePersonData(client, removed) : deleteEvents(client, removed);

  /** Deletes events from ClickHouse when their retention period ends. */
  async function forget(): Promise<void> {
    if (performance.now() - forgottenAt < forgetEveryMs) return;
    const common = await findCommonRetentionEnd(sql, eventRetentionDays);
    const own = await listOwnRetentionEnds(sql, eventRetentionDays);
    await deleteOldEvents(client, {
      common,
      own: own.map(({ environment_id: projectId, ends_at: before }) => ({ projectId, before })),
    });
    forgottenAt = performance.now();
  }

  async function copy(claim: CopyClaim): Promise<boolean> {
    const from = claim.copiedUntil;
    const [settled, begin] = [await settledUntil(), from ?? (await readOldestStoredAt(sql))];
    if (settled === null) {
      // An open transaction delays the copy, so report the lag.
      if (begin !== null) reportLag(begin);
      return false;
    }
    if (begin === null) await saveCopiedUntil(sql, claim, settled);
    if (begin === null || begin >= settled) {
      reportLag(begin ?? settled);
      return false;
    }
    if (from !== null && settled.getTime() - from.getTime() < minPortionMs) return false;
    const end = new Date(Math.min(settled.getTime(), begin.getTime() + span.ms));
    await span.measure(() => copyEvents(client, postgres, { from: begin, until: end }));
    await saveCopiedUntil(sql, claim, end);
    reportLag(end);
    return end < settled;
  }

  return async (): Promise<boolean> => {
    const claim = await claimCopy(sql, { leaseSeconds, settleSeconds });
    // Report the lag before copying too, so that it grows while ClickHouse does not respond, and while a crashed
    // worker's claim has not expired.
    const position = claim === undefined ? (await readCopiedUntil(sql)).events : claim.copiedUntil;
    if (position !== null) reportLag(position);
    if (claim === undefined) return false;
    try {
      if (!isReady) {
        await createTables(client, postgres);
        isReady = true;
        logger.info('ClickHouse tables are ready; copying stored events');
      }
      const copiedUntil = await followRestore(claim);
      // Postpone removals until after a rebuild, so that they apply to the new table.
      if (!(await isRebuilding(sql))) await remove();
      await forget();
      return await copy({ ...claim, copiedUntil });
    } finally {
      await releaseCopyClaim(sql, claim);
    }
  };
}

interface Removals extends EventsToRemove {
  distinctIds: string[] | null;
  /** Whether to remove only the person's data from the events. */
  keepsEvents: boolean;
}

/** Groups removals that belong to the same deletion. */
function alike(removals: readonly EventRemoval[]): Removals[] {
  const groups = new Map<string, Removals>();
  for (const removal of removals) {
    const { project_id: projectId, distinct_id: id, person_uuid: uuid, requested_at, keeps_events } = removal;
    const key = [projectId, id === null, uuid, requested_at?.getTime(), keeps_events].join(' ');
    const person = uuid !== null && requested_at !== null ? { uuid, requestedAt: requested_at } : null;
    const group = groups.get(key) ?? {
      projectId,
      person,
      keepsEvents: keeps_events,
      distinctIds: id === null ? null : [],
    };
    if (id !== null) group.distinctIds?.push(id);
    groups.set(key, group);
  }
  return [...groups.values()];
}
